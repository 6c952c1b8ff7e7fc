"""Patches of numba that halve the compile time of kernels; the compiled code is the same.

Numba repeats many computations while it compiles; `hasten` caches them. It optimises and translates each called
function again for each caller; `link_late` links code only where Python calls it. Both patch private parts of numba, so
`covey.kernel` applies them only to one version of numba. Other versions run unpatched and compile in twice the time.
See ``docs/decisions/012-numba-is-patched.md`` for the reasons.
"""

from functools import cache, lru_cache, partial
from importlib import import_module
from typing import Any

from llvmlite import binding
from llvmlite.binding import ffi
from numba.core import ir, postproc, transforms, utils
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler import Flags
from numba.core.cpu import CPUContext as _CPUContext
from numba.core.postproc import PostProcessor
from numba.core.runtime.nrt import rtsys
from numba.core.targetconfig import ConfigStack
from numba.core.types.functions import BaseFunction as _BaseFunction
from numba.core.typing.templates import _OverloadFunctionTemplate as OverloadTemplate

CPUContext: Any = _CPUContext

BaseFunction: Any = _BaseFunction
Inst: Any = ir.Inst
_get_call_type = BaseFunction.get_call_type
_jit_decorator = OverloadTemplate._get_jit_decorator
_load_registries = CPUContext.load_additional_registries
_list_vars = Inst._rec_list_vars
_post_process = PostProcessor.run
_resolved: dict[tuple, tuple] = {}


def hasten() -> None:
    """Let numba cache intermediate results."""
    Flags.__eq__, Flags.__hash__ = _same, _hash
    BaseFunction.get_call_type = get_call_type
    OverloadTemplate._get_impl = _get_impl
    OverloadTemplate._get_jit_decorator = lambda self: partial(_jit_decorator(self), no_cfunc_wrapper=True)
    CPUContext.get_abi_sizeof = cache(CPUContext.get_abi_sizeof)
    CPUContext.get_abi_alignment = cache(CPUContext.get_abi_alignment)
    Inst._rec_list_vars = _rec_list_vars
    PostProcessor.run = _run
    utils.pysignature = lru_cache(maxsize=8)(utils.pysignature)  # pyright: ignore[reportPrivateImportUsage]  # it is asked for twice for each kernel
    ffi.lib._lock._cblist.clear()  # events at each call of LLVM, by which numba measures itself
    CPUContext.load_additional_registries = load_additional_registries


def _same(self: Any, other: Any) -> bool:
    """Compare two sets of flags without building dicts; numba does this at each call in the compiled code."""
    return isinstance(other, Flags) and (self._values == other._values or self.values() == other.values())


def _hash(self: Any) -> int:
    return hash((self.no_cpython_wrapper, self.no_cfunc_wrapper, self.forceinline))


def _inherited() -> tuple:
    """Return the flags that called functions inherit from the function being compiled."""
    flags = ConfigStack.top_or_none()
    return () if flags is None else (flags.nrt, str(flags.fastmath), str(flags.error_model), flags.forceinline)


def get_call_type(self: Any, context: Any, args: tuple, kws: dict) -> Any:
    """Return the signature of a call from a cache, instead of trying each template."""
    key = id(self), tuple(args), tuple(kws.items()), _inherited()
    if key not in _resolved:
        signature = _get_call_type(self, context, args, kws)
        _resolved[key] = self, signature, self._impl_keys[signature.args]
    _, signature, self._impl_keys[signature.args] = _resolved[key]
    return signature


def _get_impl(self: Any, args: tuple, kws: dict) -> tuple:
    """Return the implementation of a NumPy or Python function, shared by all flags that it does not inherit."""
    key = self.context, tuple(args), tuple(kws.items()), _inherited()
    return self._impl_cache[key] if key in self._impl_cache else self._build_impl(key, args, kws)


def _rec_list_vars(self: Any, value: Any) -> list:
    kind = type(value)
    if kind is ir.Var:
        return [value]
    return [] if kind in (ir.Loc, str, int, bool, type(None)) else _list_vars(self, value)


def _run(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Skip the analysis of live variables, which only generators and object mode need."""
    flags, code = ConfigStack.top_or_none(), self.func_ir
    if emit_dels or flags is None or flags.enable_pyobject or flags.force_pyobject or code.is_generator:
        _post_process(self, emit_dels, extend_lifetimes)
    else:
        code.blocks = transforms.canonicalize_cfg(code.blocks)
        code.variable_lifetime = postproc.VariableLifetime(code.blocks)
        code.generator_info = None


def load_overload(self: Any, signature: Any, context: Any) -> Any:
    """Load compiled code without loading numba's compiler, which saves half a second if nothing has to be compiled."""
    rtsys.initialize(context)
    with self._guard_against_spurious_io_errors():
        return self._load_overload(signature, context)


def load_additional_registries(self: Any) -> None:
    """Load numba's registries without importing SciPy's linear algebra, which is only tested for presence."""
    from numba.np import linalg

    needed, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        _load_registries(self)
    finally:
        linalg.ensure_blas = needed


# -- linking late ----------------------------------------------------------------------------------------------------

_dynfunc = import_module("numba._dynfunc")
_get_executable = CPUContext.get_executable


def link_late() -> None:
    """Let numba link code only where it is called from Python."""
    JITCPUCodegen._library_class = Library
    CPUContext.get_executable = get_executable


class Library(JITCodeLibrary):
    """The code of one function; all code that it calls, at any depth, is added when it is translated."""

    _to_link: Any = None
    _code: bytes = b""
    _bitcode: bytes | None = None

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> Any:
        """Return code from the cache; what other code would link is read when it does."""
        name, kind, data = state
        if kind != "object":
            return super()._unserialize(codegen, state)
        self = codegen.create_library(name)
        self._code, self._bitcode = data
        self.enable_object_caching()
        self._set_compiled_object(self._code)
        self._finalize_final_module()
        return self

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of a function, or 0 if there is none."""
        if self._bitcode is not None and name.encode() in self._code:
            return self._codegen._engine.get_function_address(name)
        return super().get_pointer_to_function(name)

    def add_linking_library(self, library: Any) -> None:
        """Record the code that this code calls."""
        self._linking_libraries.append(library)

    def finalize(self) -> None:
        """Link, optimise and translate."""
        for library in self._called({self}):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._optimize_final_module()
        self._final_module.verify()
        self._finalize_final_module()

    def _called(self, seen: set) -> list:
        found = []
        for library in self._linking_libraries:
            if library not in seen:
                seen.add(library)
                found.append(library)
                if isinstance(library, Library) and not library._finalized:
                    found += library._called(seen)
        return found

    def _get_module_for_linking(self) -> Any:
        if self._bitcode is not None:
            self._shared_module, self._bitcode = binding.parse_bitcode(self._bitcode), None
            self._codegen._engine._load_defined_symbols(self._shared_module)
        if self._finalized:
            return super()._get_module_for_linking()
        if self._to_link is None:
            self._to_link = self._final_module.clone()
            for function in self._to_link.functions:
                if not function.is_declaration and function.linkage.name == "external":
                    function.linkage = "linkonce_odr"
        return self._to_link

    def _optimize_functions(self, module: Any) -> None:
        """Skip functions that are only declared."""
        module.data_layout = self._codegen._data_layout
        for function in module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)


def get_executable(self: Any, library: Any, description: Any, environment: Any) -> Any:
    """Return the entry for Python; for a function without one only its name, and nothing is translated."""
    if library._finalized or _defines(library, description.llvm_cpython_wrapper_name):
        return _get_executable(self, library, description, environment)
    name = description.qualname.split(".")[-1]
    return _dynfunc.make_function(description.lookup_module(), name, "", 0, environment, (library,))


def _defines(library: Any, name: str) -> bool:
    try:
        return not library._final_module.get_function(name).is_declaration
    except NameError:
        return False
