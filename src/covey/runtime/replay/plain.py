"""Conversion of records, arrays and messages to JSON with type names, and back; numbers stay exact to the last bit."""

import dataclasses
import importlib
from collections.abc import Mapping
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from covey.errors import InvalidValueError

_PLAIN = (type(None), bool, int, float, str)


def encode(value: Any) -> Any:
    """Return a value in a form that JSON can hold.

    Raises:
        InvalidValueError: its type does not occur in the inputs and outputs of robots.

    Examples:
        >>> encode((1.5, [True]))
        {'tuple': [1.5, [True]]}
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is list:
        return [encode(item) for item in value]
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        fixed = {} if value.flags.writeable else {"read_only": True}
        return {"array": value.dtype.str, "shape": list(value.shape), "values": value.ravel().tolist()} | fixed
    if isinstance(value, np.generic):
        return {"scalar": value.dtype.str, "value": value.item()}
    if isinstance(value, (type, *_FUNCTIONS)):
        return {"code": _name_of(value)}
    names = _fields_of(kind)
    if names is not None:
        return {"record": _name_of(kind), "fields": {name: encode(getattr(value, name)) for name in names}}
    if isinstance(value, (tuple, set, frozenset)):
        return {kind.__name__: [encode(item) for item in value]}
    if isinstance(value, Mapping):
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, Path):
        return {"path": str(value)}
    name = value.__reduce__()
    if isinstance(name, str):  # an object with this name in its module
        return {"code": f"{kind.__module__}:{name}"}
    raise InvalidValueError(f"a {kind.__name__} cannot be recorded in the steps of a robot")


_FUNCTIONS = (type(encode), type(len))


def decode(data: Any) -> Any:
    """Return the value that `encode` encoded; imports the modules that it names.

    Raises:
        InvalidValueError: the data were not made by `encode`.
    """
    if isinstance(data, list):
        return [decode(item) for item in data]
    if not isinstance(data, dict):
        return data
    what = next(iter(data), "")
    if what == "array":
        array = np.array(data["values"], np.dtype(data["array"])).reshape(data["shape"])
        array.flags.writeable = not data.get("read_only", False)
        return array
    if what == "scalar":
        return np.dtype(data["scalar"]).type(data["value"])
    if what == "code":
        return _found(data["code"])
    if what == "record":
        return _found(data["record"])(**{name: decode(item) for name, item in data["fields"].items()})
    if what in _CONTAINERS:
        return _CONTAINERS[what](decode(item) for item in data[what])
    if what == "dict":
        return {decode(key): decode(item) for key, item in data["dict"]}
    if what == "bytes":
        return bytes.fromhex(data["bytes"])
    if what == "path":
        return Path(data["path"])
    raise InvalidValueError(f"{what!r} is not a type that is recorded in the steps of a robot")


_CONTAINERS: dict[str, Any] = {"tuple": tuple, "set": set, "frozenset": frozenset}


def _name_of(item: Any) -> str:
    return f"{item.__module__}:{item.__qualname__}"


def _found(name: str) -> Any:
    module, _, path = name.partition(":")
    try:
        return attrgetter(path)(importlib.import_module(module))
    except (ImportError, AttributeError) as error:
        raise InvalidValueError(f"{name} cannot be loaded: {error}") from error


@cache
def _fields_of(kind: type) -> tuple[str, ...] | None:
    """Return the names of the fields of a record; None if the type is not a record."""
    if issubclass(kind, tuple):
        return getattr(kind, "_fields", None)
    if issubclass(kind, BaseModel):
        return tuple(kind.model_fields)
    return tuple(field.name for field in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else None
