"""Messages that are encoded once, and whose numbers are then changed in place: ten times faster than a new message.

::

    scan = Prepared(types, "sensor_msgs/msg/LaserScan", {"header": {"frame_id": "base_scan"}, "ranges": np.zeros(360)})
    stamp, ranges = scan.view("header.stamp"), scan.view("ranges")
    stamp[:] = sec, nanosec  # each step
    ranges[:] = readings
    writer.write(scan.data())
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from covey.errors import UnknownNameError
from covey.ros.libraries import Nodetype
from covey.ros.types import DTYPES, Types

_TIMES = ("builtin_interfaces/msg/Time", "builtin_interfaces/msg/Duration")


class _Numbers(NamedTuple):
    """Numbers of one kind in a row: the field, and where they are."""

    path: str
    dtype: np.dtype
    count: int
    at: int


class Prepared:
    """A message of fixed length: texts, and how many numbers there are, never change."""

    def __init__(self, types: Types, kind: str, values: Mapping[str, Any]):
        """Encode a message.

        Args:
            types: those of the distribution.
            kind: such as ``sensor_msgs/msg/LaserScan``.
            values: what it has at first, as for ``Types.message``.
        """
        message = types.message(kind, values)
        self._kind, self._buffer = kind, bytearray(types.encode(kind, message))
        self._numbers = list(_Walk(types).message(kind, message, ""))

    def view(self, path: str) -> np.ndarray:
        """Return the numbers of a field as an array; what is written into it is in the next ``data()``.

        Args:
            path: such as ``ranges``; ``header.stamp``: seconds and nanoseconds; ``pose.pose``: x, y, z and the
                quaternion x, y, z, w; or ``transforms.3.transform``, of the same seven.

        Raises:
            UnknownNameError: the message has no such numbers, or they are not of one kind and in a row.
        """
        found = [one for one in self._numbers if f"{one.path}.".startswith(f"{path}.")]
        size = found[0].dtype.itemsize if found else 0
        row = all(b.dtype == a.dtype and b.at == a.at + a.count * size for a, b in pairwise(found))
        if not found or not row:
            raise UnknownNameError(f"row of numbers of {self._kind}", path, [one.path for one in self._numbers])
        return np.frombuffer(self._buffer, found[0].dtype, sum(one.count for one in found), found[0].at)

    def data(self) -> bytes:
        """Return the bytes as they are now."""
        return bytes(self._buffer)


class _Walk:
    """Walks through a message as CDR lays it out: each number at a multiple of its size, after a header of 4 bytes."""

    def __init__(self, types: Types):
        self._types, self._at = types, 0

    def message(self, kind: str, message: Any, path: str) -> Iterator[_Numbers]:
        if kind in _TIMES:
            yield self._take(path, np.dtype("<u4"), 2)
            return
        for name, how in self._types.fields(kind):
            yield from self._field(how, getattr(message, name), f"{path}.{name}" if path else name)

    def _field(self, how: Any, value: Any, path: str) -> Iterator[_Numbers]:
        form, of = how
        if form == Nodetype.NAME:
            yield from self.message(of, value, path)
        elif form == Nodetype.BASE and of[0] == "string":
            self._take(path, np.dtype("<u4"), 1)
            self._at += len(value.encode()) + 1
        elif form == Nodetype.BASE:
            yield self._take(path, np.dtype(DTYPES.get(of[0], of[0])), 1)
        else:
            if form == Nodetype.SEQUENCE:
                self._take(path, np.dtype("<u4"), 1)
            inner = of[0]
            if inner[0] == Nodetype.BASE and inner[1][0] != "string":
                if len(value):
                    yield self._take(path, np.dtype(DTYPES.get(inner[1][0], inner[1][0])), len(value))
            else:
                for k, one in enumerate(value):
                    yield from self._field(inner, one, f"{path}.{k}")

    def _take(self, path: str, dtype: np.dtype, count: int) -> _Numbers:
        self._at += -self._at % dtype.alignment
        numbers = _Numbers(path, dtype, count, self._at + 4)
        self._at += count * dtype.itemsize
        return numbers
