"""What add-ons gave, as arrays that files can hold, and back: `covey.lab.files` writes them.

The values of all times become columns: numbers one array, equal arrays one array, arrays of different lengths one row
of numbers with their shapes, records and mappings a column for each field, lists one column of all their items.
"""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.voronoi import Cells
from covey.plain import DEEPEST, fields_of


def columns_of(name: str, values: Any, arrays: dict[str, np.ndarray], depth: int = 0) -> dict[str, Any]:
    """Add the values of all times to ``arrays``, and return how they are kept: plain data for `values_of`.

    Args:
        name: begins the names of the arrays.
        values: a list, or an array whose first axis is the time.
        arrays: gets the arrays.

    Raises:
        InvalidValueError: a value is of a kind that files do not hold, or nested deeper than `values_of` reads.
    """
    if depth > DEEPEST:
        raise InvalidValueError("nested too deeply")
    if isinstance(values, np.ndarray):
        return _array(name, values, arrays) | {"is": "array"}
    if all(isinstance(value, np.ndarray) for value in values) and values:
        if len({value.ndim for value in values}) > 1:
            raise InvalidValueError("arrays of different dimensions")
        if len({value.shape for value in values}) == 1:
            return _array(name, np.stack(values), arrays) | {"is": "rows"}
        flat = np.concatenate([value.ravel() for value in values])
        shapes = np.array([value.shape for value in values], np.int64)
        arrays[f"{name}.shapes"] = shapes
        return _array(name, flat, arrays) | {"is": "arrays"}
    kinds = {type(value) for value in values}
    if not kinds or kinds == {type(None)}:
        return _array(name, np.zeros(len(values), np.uint8), arrays) | {"is": "nothing"}
    if kinds == {str} or all(issubclass(kind, (bool, int, float, np.generic)) for kind in kinds):
        return _array(name, np.array(values), arrays) | {"is": "str" if str in kinds else _plain(kinds)}
    if len(kinds) == 1:
        return _of_one_kind(name, values, arrays, kinds.pop(), depth + 1)
    raise InvalidValueError(f"values of several kinds: {', '.join(sorted(kind.__name__ for kind in kinds))}")


def _of_one_kind(name: str, values: list[Any], arrays: dict[str, np.ndarray], kind: type, depth: int) -> dict[str, Any]:
    """Keep records, mappings, lists and tuples."""
    parts: list[Mapping[str, Any]] | None = None
    if issubclass(kind, Mapping):
        parts = [dict(value) for value in values]
    elif (fields := fields_of(kind)) is not None:
        parts = [{one: getattr(value, one) for one in fields} for value in values]
    if parts is not None:
        names = list(parts[0])
        if any(list(part) != names for part in parts) or not all(isinstance(one, str) for one in names):
            raise InvalidValueError("mappings with different keys, or keys that are no texts")
        found = [
            columns_of(f"{name}.{one if one.isidentifier() else k}", [part[one] for part in parts], arrays, depth)
            for k, one in enumerate(names)
        ]
        how = "mapping" if issubclass(kind, Mapping) else "cells" if kind is Cells else "record"
        own = {} if names else _array(name, np.zeros(len(values), np.uint8), arrays)
        return own | {"is": how, "names": names, "of": found}
    if kind in (list, tuple):
        arrays[f"{name}.lengths"] = np.array([len(value) for value in values], np.int64)
        items = columns_of(f"{name}.items", [item for value in values for item in value], arrays, depth)
        return {"is": kind.__name__, "name": name, "of": items}
    raise InvalidValueError(f"values of the kind {kind.__name__}")


def _array(name: str, values: np.ndarray, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    if values.dtype.kind not in "biufU":
        raise InvalidValueError(f"arrays of {values.dtype}")
    arrays[name] = values
    return {"name": name}


def _plain(kinds: set[type]) -> str:
    """Return of which kind single values come back; mixed ones as floating-point numbers."""
    return next(
        (name for name, kind in (("bool", bool), ("int", int)) if all(issubclass(one, kind) for one in kinds)), "float"
    )


def values_of(kept: Any, arrays: Mapping[str, np.ndarray], depth: int = 0) -> Any:
    """Return the values of all times, from what `columns_of` returned and added.

    Raises:
        ValueError, LookupError, TypeError: they do not belong together.
    """
    if depth > DEEPEST:
        raise ValueError("add-on data are nested too deeply")
    how = kept["is"]
    if how == "nothing":
        return [None] * len(arrays[kept["name"]])
    if how in ("mapping", "record", "cells"):
        columns = [values_of(one, arrays, depth + 1) for one in kept["of"]]
        names = [str(one) for one in kept["names"]]
        count = len(columns[0]) if columns else len(arrays[kept["name"]])
        if len(names) != len(columns) or any(len(column) != count for column in columns):
            raise ValueError("the columns of add-on data differ in length")
        makes: dict[str, Callable[..., Any]] = {"mapping": dict, "record": SimpleNamespace, "cells": Cells}
        return [
            makes[how](**{one: column[k] for one, column in zip(names, columns, strict=True)}) for k in range(count)
        ]
    if how in ("list", "tuple"):
        ends = np.cumsum(_lengths(arrays[f"{kept['name']}.lengths"]))
        items = list(values_of(kept["of"], arrays, depth + 1))
        if (ends[-1] if len(ends) else 0) != len(items):
            raise ValueError("the lists of add-on data differ in length")
        parts = [items[begin:end] for begin, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=False)]
        return [tuple(part) for part in parts] if how == "tuple" else parts
    values = arrays[kept["name"]]
    if how == "array":
        return values
    if how == "rows":
        return list(values)
    if how == "arrays":
        shapes = arrays[f"{kept['name']}.shapes"]
        sizes = _lengths(shapes.prod(axis=1, dtype=np.int64))
        if sizes.sum() != len(values) or (shapes < 0).any():
            raise ValueError("the arrays of add-on data differ in length")
        parts = np.split(values, np.cumsum(sizes)[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, shapes.tolist(), strict=True)]
    kind = {"bool": bool, "int": int, "float": float, "str": str}[how]
    return [kind(value) for value in values.ravel()]


def _lengths(values: np.ndarray) -> np.ndarray:
    if values.ndim != 1 or values.dtype.kind != "i" or (values < 0).any():
        raise ValueError("add-on data with lengths that are none")
    return values
