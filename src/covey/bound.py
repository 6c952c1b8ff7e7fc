"""`Bound`: a kernel with its arrays prepared, for a call in each step.

A call of a kernel checks and unpacks each of its arrays, which may take longer than its work. Here the addresses and
the shapes of the arrays are written into a table, once; a call passes the table, and only the arguments that change.

Examples:
    A kernel ``add(values, more)`` that adds a number to an array in place is prepared for one array, and called::

        add_to_numbers = Bound(add, [numbers], (0.0,))
        add_to_numbers(2.0)
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numba import from_dtype, typeof
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from covey.kernel import kernel

_TABLE = types.Array(types.int64, 1, "C")


class Bound:
    """A kernel with its first arguments, contiguous arrays that it changes in place.

    Args:
        function: the kernel.
        arrays: these arguments, each an array or a tuple of arrays. Arrays may be replaced, see `put`, but must never
            be resized.
        others: examples of the other arguments, of the types of those that calls will pass.

    Attributes:
        arrays: its arrays, those of tuples one by one.
    """

    def __init__(self, function: Any, arrays: Sequence[np.ndarray | tuple[np.ndarray, ...]], others: tuple = ()):
        groups = [a if isinstance(a, tuple) else (a,) for a in arrays]
        self.arrays = [a for group in groups for a in group]
        ends = np.cumsum([0, *(1 + a.ndim for a in self.arrays)]).tolist()
        self._part = list(map(slice, ends[:-1], ends[1:]))
        self._table, self._first = np.zeros(ends[-1], np.int64), list[int]()
        for k, array in enumerate(self.arrays):
            self._write(k, array)
        kinds = " ".join(",".join(map(_kind, a)) + "," if isinstance(a, tuple) else _kind(a) for a in arrays)
        self._run = _entry(function, kinds, tuple(map(typeof, others)))

    def __call__(self, *others: Any) -> Any:
        """Call the kernel with its arrays and these arguments."""
        return self._run(self._table, others)

    def put(self, *arrays: np.ndarray) -> None:
        """Replace the first arrays by others of their types, those that are not the same."""
        if (now := list(map(id, arrays))) == self._first:
            return
        for k, (array, held) in enumerate(zip(arrays, self.arrays, strict=False)):
            if array is not held:
                assert _kind(array) == _kind(held)
                self._write(k, array)
        self._first = now

    def _write(self, k: int, array: np.ndarray) -> None:
        assert array.flags.c_contiguous
        assert array.flags.aligned
        self.arrays[k] = array  # which keeps it at its address
        self._table[self._part[k]] = array.ctypes.data, *array.shape


def _kind(array: np.ndarray) -> str:
    return f"{array.dtype.str[1:]}:{array.ndim}"


@cache
def _entry(function: Any, kinds: str, others: tuple) -> Callable[[np.ndarray, tuple], Any]:
    """Return the compiled call of a kernel, which takes a table of arrays and a tuple of the other arguments.

    ``kinds`` has a word for each argument in the table; that of a tuple has a comma after each of its arrays.
    """

    def call(table, others):
        return function(*(_arrays(table, kinds) + others))  # pyright: ignore

    # The linker knows code by its name: two entries of one name, compiled by different processes, would be mixed up.
    what = f"{function.py_func.__module__} {function.py_func.__qualname__} {kinds}"
    call.__name__ = call.__qualname__ = f"call_{hashlib.blake2b(what.encode(), digest_size=8).hexdigest()}"
    compiled = kernel(call)
    compiled._cache._index_key = lambda signature, codegen: (signature, codegen.magic_tuple())  # see `_cache_file`
    signature = _TABLE, types.Tuple(others)
    compiled.compile(signature)
    return compiled.overloads[signature].entry_point  # the types of its arguments are known and need no look


@intrinsic(prefer_literal=True)
def _arrays(_context, table, kinds):
    """Return the arguments that a table describes, without reference counting, see `covey.kernel.bare`."""
    words = kinds.literal_value.split()
    made = types.Tuple([types.Tuple(list(map(_type, w[:-1].split(",")))) if "," in w else _type(w) for w in words])

    def codegen(context, builder, signature, args):
        values, at = context.make_array(signature.args[0])(context, builder, args[0]).data, 0

        def array(kind):
            nonlocal at
            found = [builder.load(builder.gep(values, [cgutils.intp_t(at + k)])) for k in range(1 + kind.ndim)]
            at += len(found)
            size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
            strides = [size]
            for length in reversed(found[2:]):
                strides.insert(0, builder.mul(strides[0], length))
            view = context.make_array(kind)(context, builder)
            populate_array(
                view,
                data=builder.inttoptr(found[0], context.get_data_type(kind.dtype).as_pointer()),
                shape=cgutils.pack_array(builder, found[1:]),
                strides=cgutils.pack_array(builder, strides),
                itemsize=size,
                meminfo=None,
            )
            return view._getvalue()

        def argument(kind):
            if isinstance(kind, types.Array):
                return array(kind)
            return context.make_tuple(builder, kind, [array(one) for one in kind])

        return context.make_tuple(builder, made, [argument(kind) for kind in made])

    return made(table, kinds), codegen


def _type(kind: str) -> types.Array:
    name, ndim = kind.split(":")
    return types.Array(from_dtype(np.dtype(name)), int(ndim), "C")
