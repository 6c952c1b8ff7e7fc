"""Binary messages: a JSON header and raw arrays, which the page uses without a copy.

A message is the length of the header (uint32, little-endian), the header (JSON, UTF-8), and the arrays. Each array
begins at a multiple of 8 bytes. The header lists the arrays: name, type, shape, and offset from the end of the header.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

_ALIGNMENT = 8
_TYPES = {"|u1", "|i1", "<u2", "<i2", "<i4", "<u4", "<f4", "<f8"}


def pack(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return a message.

    Args:
        header: plain data; NaN and infinity become null.
        arrays: arrays of numbers of 1, 2 or 4 bytes, or float64.

    Examples:
        >>> header, arrays = unpack(pack({"type": "frame"}, {"pose": np.zeros((2, 3), np.float32)}))
        >>> header["type"], arrays["pose"].shape
        ('frame', (2, 3))
    """
    listed, parts = [], []
    size = 0  # from the end of the header on
    for name, array in arrays.items():
        array = np.ascontiguousarray(array)
        if array.dtype.str not in _TYPES:
            raise TypeError(f"array {name!r} is of type {array.dtype}, which the page cannot read")
        listed.append({"name": name, "type": array.dtype.str[1:], "shape": array.shape, "offset": size})
        parts += [array.data.cast("B") if array.size else b"", b"\0" * (-array.nbytes % _ALIGNMENT)]
        size += array.nbytes + (-array.nbytes % _ALIGNMENT)
    text = dumps({**header, "arrays": listed}).encode()
    text += b" " * (-(len(text) + 4) % _ALIGNMENT)
    return b"".join((len(text).to_bytes(4, "little"), text, *parts))


def unpack(message: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return header and arrays of a message.

    Raises:
        ValueError: it is damaged.
    """
    length = int.from_bytes(message[:4], "little")
    header = json.loads(message[4 : 4 + length])
    begin, arrays = 4 + length, {}
    for one in header.pop("arrays"):
        count = math.prod(one["shape"])
        array = np.frombuffer(message, "<" + one["type"], count, begin + one["offset"])
        arrays[one["name"]] = array.reshape(one["shape"])
    return header, arrays


def dumps(data: Any) -> str:
    """Return plain data as JSON; NaN and infinity, which JSON does not have, become null."""
    try:
        return json.dumps(data, separators=(",", ":"), allow_nan=False, default=_plain)
    except ValueError:
        return json.dumps(_finite(data), separators=(",", ":"), allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return _finite(value.tolist())
    raise TypeError(f"{value!r:.60} cannot be sent")


def _finite(data: Any) -> Any:
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, Mapping):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return _plain(data) if isinstance(data, np.ndarray | np.generic) else data
