"""What numba computes again and again while it compiles, computed once: the same code comes out, sooner."""

import os
from functools import cache, partial
from typing import Any

from numba.core import ir, postproc, transforms
from numba.core.caching import UserProvidedCacheLocator
from numba.core.compiler import Flags
from numba.core.cpu import CPUContext
from numba.core.postproc import PostProcessor
from numba.core.runtime.nrt import rtsys
from numba.core.targetconfig import ConfigStack
from numba.core.types.functions import BaseFunction as _BaseFunction
from numba.core.typing.templates import _OverloadFunctionTemplate as OverloadTemplate

BaseFunction: Any = _BaseFunction
Inst: Any = ir.Inst
_get_call_type = BaseFunction.get_call_type
_jit_decorator = OverloadTemplate._get_jit_decorator
_load_registries = CPUContext.load_additional_registries
_list_vars = Inst._rec_list_vars
_post_process = PostProcessor.run
_resolved: dict[tuple, tuple] = {}


def hasten() -> None:
    """Let numba remember what it has found out."""
    Flags.__eq__, Flags.__hash__ = _same, _hash
    BaseFunction.get_call_type = get_call_type
    OverloadTemplate._get_impl = _get_impl
    OverloadTemplate._get_jit_decorator = lambda self: partial(_jit_decorator(self), no_cfunc_wrapper=True)
    CPUContext.get_abi_sizeof = cache(CPUContext.get_abi_sizeof)
    CPUContext.get_abi_alignment = cache(CPUContext.get_abi_alignment)
    Inst._rec_list_vars = _rec_list_vars
    PostProcessor.run = _run
    UserProvidedCacheLocator.ensure_cache_path = lambda self: os.makedirs(self.get_cache_path(), exist_ok=True)
    CPUContext.load_additional_registries = load_additional_registries


def _same(self: Any, other: Any) -> bool:
    """Compare two sets of flags, which numba does at each call that it meets: not by a dict of all of them."""
    return isinstance(other, Flags) and (self._values == other._values or self.values() == other.values())


def _hash(self: Any) -> int:
    return hash((self.no_cpython_wrapper, self.no_cfunc_wrapper, self.forceinline))


def _inherited() -> tuple:
    """Return the flags of the function being compiled that what it calls inherits."""
    flags = ConfigStack.top_or_none()
    return () if flags is None else (flags.nrt, str(flags.fastmath), str(flags.error_model), flags.forceinline)


def get_call_type(self: Any, context: Any, args: tuple, kws: dict) -> Any:
    """Return the signature of a call, by what the same call gave before instead of asking each template for it."""
    key = id(self), tuple(args), tuple(kws.items()), _inherited()
    if key not in _resolved:
        signature = _get_call_type(self, context, args, kws)
        _resolved[key] = self, signature, self._impl_keys[signature.args]
    _, signature, self._impl_keys[signature.args] = _resolved[key]
    return signature


def _get_impl(self: Any, args: tuple, kws: dict) -> tuple:
    """Return what implements a call of a function of NumPy or Python, one for all flags that it does not inherit."""
    key = self.context, tuple(args), tuple(kws.items()), _inherited()
    return self._impl_cache[key] if key in self._impl_cache else self._build_impl(key, args, kws)


def _rec_list_vars(self: Any, value: Any) -> list:
    kind = type(value)
    if kind is ir.Var:
        return [value]
    return [] if kind in (ir.Loc, str, int, bool, type(None)) else _list_vars(self, value)


def _run(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Leave out which variables live where, which nothing but generators and code for Python objects asks for."""
    flags, code = ConfigStack.top_or_none(), self.func_ir
    if emit_dels or flags is None or flags.enable_pyobject or flags.force_pyobject or code.is_generator:
        _post_process(self, emit_dels, extend_lifetimes)
    else:
        code.blocks = transforms.canonicalize_cfg(code.blocks)
        code.variable_lifetime = postproc.VariableLifetime(code.blocks)
        code.generator_info = None


def load_overload(self: Any, signature: Any, context: Any) -> Any:
    """Load compiled code without all that numba can compile: half a second, where nothing has to be compiled."""
    rtsys.initialize(context)
    with self._guard_against_spurious_io_errors():
        return self._load_overload(signature, context)


def load_additional_registries(self: Any) -> None:
    """Load what numba can compile without SciPy's linear algebra, which is only looked at for whether it is there."""
    from numba.np import linalg

    needed, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        _load_registries(self)
    finally:
        linalg.ensure_blas = needed
