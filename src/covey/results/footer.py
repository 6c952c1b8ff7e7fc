"""Footers of parquet files: those of files of one block each become that of a file with all blocks.

A footer is written in Thrift's compact protocol, which says what each value is: it can be read, changed and written
again without knowing all that it may hold.

References:
    Apache Parquet: ``parquet.thrift``, and the layout of files. Apache Thrift: compact protocol encoding.
"""

from collections.abc import Sequence
from typing import Any

MAGIC = b"PAR1"
"""Begins a file, and ends it."""
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_ROWS, _GROUPS = 3, 4  # fields of a file: number of rows, row groups
_COLUMNS, _GROUP_ROWS, _GROUP_OFFSET, _ORDINAL = 1, 3, 5, 7  # of a row group
_CHUNK_OFFSET, _CHUNK = 2, 3  # of a column of a row group
_PAGES = 9, 10, 11  # of a chunk: offsets of its pages

_Fields = dict[int, tuple[int, Any]]
"""A struct: type and value of each field, by number."""


def split(file: bytes) -> tuple[bytes, bytes]:
    """Return the blocks of a parquet file, without what begins it, and its footer."""
    size = int.from_bytes(file[-8:-4], "little")
    return file[len(MAGIC) : -8 - size], file[-8 - size : -8]


def group_of(footer: bytes, begin: int, number: int) -> tuple[bytes, int]:
    """Return the entry of a block for the footer of the file that it is a part of, and its number of rows.

    Args:
        footer: of a file of this block alone.
        begin: where the data of the block are in the whole file; in its own they are behind `MAGIC`.
        number: of the block in the whole file.
    """
    (group,) = _read(footer)[_GROUPS][1][1] or [None]
    if group is None:
        return b"", 0
    return _bytes(_STRUCT, _moved(group, begin - len(MAGIC), number)), group[_GROUP_ROWS][1]


def joined(footer: bytes, groups: Sequence[tuple[bytes, int]]) -> bytes:
    """Return the footer of a file of several blocks, as one writer would have written it.

    Args:
        footer: of a file of one of the blocks.
        groups: of `group_of`, for each block.
    """
    whole = _read(footer)
    whole[_ROWS] = _I64, sum(rows for _, rows in groups)
    whole[_GROUPS] = _LIST, (_STRUCT, [group for group, _ in groups])
    return _bytes(_STRUCT, whole)


def closed(footer: bytes) -> bytes:
    """Return the end of a file: a footer, its length, and `MAGIC`."""
    return footer + len(footer).to_bytes(4, "little") + MAGIC


def _moved(group: _Fields, by: int, number: int) -> _Fields:
    """Return a row group that lies elsewhere in its file, and has another number."""
    for column in group[_COLUMNS][1][1]:
        _move(column, _CHUNK_OFFSET, by)
        for field in _PAGES:
            _move(column[_CHUNK][1], field, by)
    _move(group, _GROUP_OFFSET, by)
    if _ORDINAL in group:
        group[_ORDINAL] = _I16, number
    return group


def _move(fields: _Fields, number: int, by: int) -> None:
    if number in fields and fields[number][1]:  # 0: it is not used
        fields[number] = _I64, fields[number][1] + by


def _read(data: bytes) -> _Fields:
    return _Reader(data).value(_STRUCT)


class _Reader:
    """Reads values of the compact protocol."""

    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def value(self, kind: int) -> Any:
        if kind in (_I16, _I32, _I64):
            number = self._varint()
            return (number >> 1) ^ -(number & 1)
        if kind == _BINARY:
            return self._take(self._varint())
        if kind == _STRUCT:
            return self._fields()
        if kind in (_LIST, _SET):
            head = self._take(1)[0]
            count = head >> 4 if head < 0xF0 else self._varint()
            return head & 15, [self.value(head & 15) for _ in range(count)]
        return self._take(8 if kind == _DOUBLE else 1)

    def _fields(self) -> _Fields:
        found, number = {}, 0
        while head := self._take(1)[0]:
            number = number + (head >> 4) if head >> 4 else self.value(_I16)
            kind = head & 15
            found[number] = kind, None if kind in (_TRUE, _FALSE) else self.value(kind)
        return found

    def _take(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]

    def _varint(self) -> int:
        number = shift = 0
        while (byte := self._take(1)[0]) & 128:
            number, shift = number | (byte & 127) << shift, shift + 7
        return number | byte << shift


def _bytes(kind: int, value: Any) -> bytes:
    out = bytearray()
    _put(out, kind, value)
    return bytes(out)


def _put(out: bytearray, kind: int, value: Any) -> None:
    """Append a value in the compact protocol; bytes in the place of a struct are as they will be."""
    if kind == _STRUCT and isinstance(value, bytes):
        out += value
    elif kind in (_I16, _I32, _I64):
        _put_varint(out, (value << 1) ^ (value >> 63))
    elif kind == _BINARY:
        _put_varint(out, len(value))
        out += value
    elif kind == _STRUCT:
        before = 0
        for number, (of, one) in value.items():
            step, before = number - before, number
            out.append((step if 0 < step < 16 else 0) << 4 | of)
            if not 0 < step < 16:
                _put(out, _I16, number)
            if of not in (_TRUE, _FALSE):
                _put(out, of, one)
        out.append(0)
    elif kind in (_LIST, _SET):
        of, values = value
        out.append(min(len(values), 15) << 4 | of)
        if len(values) > 14:
            _put_varint(out, len(values))
        for one in values:
            _put(out, of, one)
    else:
        out += value


def _put_varint(out: bytearray, number: int) -> None:
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
