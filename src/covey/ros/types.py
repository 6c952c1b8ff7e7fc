"""The message types of a ROS 2 distribution: their fields, their bytes (CDR) and their hashes."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from covey.errors import CoveyError, InvalidValueError, UnknownNameError
from covey.ros.definitions import definitions
from covey.ros.libraries import Nodetype, SerdeError, Stores, get_typestore

DISTRIBUTIONS = {
    "humble": Stores.ROS2_HUMBLE,
    "iron": Stores.ROS2_IRON,
    "jazzy": Stores.ROS2_JAZZY,
    "kilted": Stores.ROS2_KILTED,
    "lyrical": Stores.ROS2_LYRICAL,
    "rolling": Stores.LATEST,
}


class MessageError(CoveyError):
    """The bytes are not a message of the type."""


class Types:
    """The types of one distribution; ``types_of`` makes one per distribution.

    ::

        types = types_of("jazzy")
        data = types.encode("geometry_msgs/msg/Twist", {"linear": {"x": 0.5}})
        types.decode("geometry_msgs/msg/Twist", data).linear.x  # 0.5

    Attributes:
        distro: name of the distribution.
        store: the typestore of ``rosbags``, with the types of ``definitions`` added.
    """

    def __init__(self, distro: str):
        if distro not in DISTRIBUTIONS:
            raise UnknownNameError("ROS distribution", distro, DISTRIBUTIONS)
        self.distro, self.store = distro, get_typestore(DISTRIBUTIONS[distro])
        for name, (constants, fields) in self.store.fielddefs.items():
            self.store.fielddefs[name] = constants, [(field, _without_char(kind)) for field, kind in fields]
        self.store.register(definitions(distro))
        self._makers: dict[str, tuple[dict[str, Callable[[Any], Any]], dict[str, Any]]] = {}
        self._hashes: dict[str, str] = {}

    def __contains__(self, kind: str) -> bool:
        return kind in self.store.fielddefs

    def fields(self, kind: str) -> list[tuple[str, Any]]:
        """Return names and kinds of a type's fields, as ``rosbags`` describes them.

        Raises:
            UnknownNameError: the distribution has no such type.
        """
        if kind not in self.store.fielddefs:
            package = kind.split("/")[0]
            beside = [name for name in self.store.fielddefs if name.split("/")[0] == package]
            packages = {name.split("/")[0] for name in self.store.fielddefs}
            raise UnknownNameError(f"type of ROS 2 {self.distro}", kind, beside or packages)
        return self.store.fielddefs[kind][1]

    def hash(self, kind: str) -> str:
        """Return the hash of a type, as ``ros2 topic info --verbose`` shows it: ``RIHS01_`` and 64 digits."""
        if kind not in self._hashes:
            self.fields(kind)
            self._hashes[kind] = self.store.hash_rihs01(kind)
        return self._hashes[kind]

    def message(self, kind: str, values: Mapping[str, Any] | None = None) -> Any:
        """Return a message with values; fields without a value are zero, empty or false, and not to be changed.

        Args:
            kind: such as ``"nav_msgs/msg/Odometry"``.
            values: values of fields; a nested message is a mapping, or a message. Numbers in a row may be any sequence.

        Raises:
            UnknownNameError: the type, or a field, does not exist.
        """
        values, (converters, defaults) = values or {}, self._maker(kind)
        for name in values:
            if name not in converters:
                raise UnknownNameError(f"field of {kind}", name, converters)
        return self.store.types[kind](**defaults | {name: converters[name](value) for name, value in values.items()})

    def encode(self, kind: str, message: Any) -> bytes:
        """Return the bytes of a message (XCDR1, little endian, with the header of 4 bytes).

        Args:
            kind: such as ``"nav_msgs/msg/Odometry"``.
            message: of ``message``, or the values for it.
        """
        if isinstance(message, Mapping):
            message = self.message(kind, message)
        return bytes(self.store.serialize_cdr(message, kind, little_endian=True))

    def decode(self, kind: str, data: bytes) -> Any:
        """Return the message of bytes; rows of numbers are NumPy arrays.

        Raises:
            MessageError: the bytes are too short, too long, or not CDR.
        """
        self.fields(kind)
        try:
            return self.store.deserialize_cdr(memoryview(data), kind)  # without a copy of a large map
        except (SerdeError, ValueError, IndexError, OverflowError, MemoryError) as error:
            raise MessageError(f"{len(data)} bytes are no {kind}: {error}") from error

    def _maker(self, kind: str) -> tuple[dict[str, Callable[[Any], Any]], dict[str, Any]]:
        """Return what turns given values into those of the fields of a type, and the values of those not given."""
        if kind not in self._makers:
            made = {name: self._field(how) for name, how in self.fields(kind)}
            converters, defaults = ({name: one[k] for name, one in made.items()} for k in (0, 1))
            self._makers[kind] = converters, defaults
        return self._makers[kind]

    def _field(self, how: Any) -> tuple[Callable[[Any], Any], Any]:
        """Return what turns a given value into that of a field, and the value if none is given."""
        form, of = how
        if form == Nodetype.BASE:
            number = _PYTHON[of[0]]
            return number, number()
        if form == Nodetype.NAME:
            return lambda value: self.message(of, value) if isinstance(value, Mapping) else value, self.message(of)
        (inner, name), count = of
        count = count if form == Nodetype.ARRAY else 0
        if inner == Nodetype.BASE and name[0] != "string":
            dtype = np.dtype(_DTYPES.get(name[0], name[0]))
            return lambda value: np.ascontiguousarray(value, dtype), np.zeros(count, dtype)
        convert, default = self._field((inner, name))
        return lambda values: [convert(value) for value in values], [default] * count


_PYTHON = {"string": str, "bool": bool, "float32": float, "float64": float}
_PYTHON |= {f"{sign}int{bits}": int for sign in ("", "u") for bits in (8, 16, 32, 64)} | {"byte": int, "octet": int}
_DTYPES = {"byte": "uint8", "octet": "uint8"}


def _without_char(how: Any) -> Any:
    """Return the kind of a field with ``uint8`` for ``char``, which ROS 2 means by it, also in the hashes."""
    form, of = how
    if form == Nodetype.BASE:
        return (form, ("uint8", 0)) if of[0] == "char" else how
    return how if form == Nodetype.NAME else (form, (_without_char(of[0]), of[1]))


@cache
def types_of(distro: str) -> Types:
    """Return the types of a distribution: humble, iron, jazzy, kilted, lyrical or rolling."""
    return Types(distro)


def dds_name(kind: str) -> str:
    """Return the name of a type on the wire.

    >>> dds_name("sensor_msgs/msg/LaserScan")
    'sensor_msgs::msg::dds_::LaserScan_'
    """
    if not re.fullmatch(r"\w+/(msg|srv|action)/\w+", kind):
        raise InvalidValueError(f"{kind!r} is no type; write it like sensor_msgs/msg/LaserScan")
    package, room, name = kind.split("/")
    return f"{package}::{room}::dds_::{name}_"
