"""Encoding of tiles of evidence for transmission, and the size of the code.

A tile has few different values, in long runs. A uniform tile has a code of 5 bytes, for example. The code consists of:

- the number of values less 1, as a byte, and the values in ascending order, a byte each;
- then bits: 1 if the cells follow by columns, 0 if by rows; every second column or row runs backwards;
- the index of the first value, and the length of its run in Elias' gamma code;
- for each further run: the index of its value among the values other than that of the previous run, and its length.

The shorter code of columns and rows is used.

References:
    P. Elias: Universal codeword sets and representations of the integers. IEEE Trans. Inf. Theory 21(2), 1975.
"""

import struct

import numpy as np

from covey.kernel import kernel
from covey.mapping.occupancy.tiles import TILE, TILE_CELLS, Store

_HEAD = struct.Struct("<HH")  # who tells, about how many robots
_ORIGIN = struct.Struct("<HIIH")  # which, since and until which publication, how many tiles
_TILE = struct.Struct("<H")  # which; its age and code follow
_HEAD_BYTES, _ORIGIN_BYTES, _TILE_BYTES = _HEAD.size, _ORIGIN.size, _TILE.size

_GAMMA_BITS = np.array([0, *(2 * (length.bit_length() - 1) + 1 for length in range(1, TILE_CELLS + 1))])


@kernel
def size_of(items, until, origins, store):
    """Return the bytes of an update when encoded; the sizes of tiles that were not known are kept in the store.

    Args:
        items: int32 (k, 3) of `covey.mapping.occupancy.tiles.gather`. until: int64 (n,): the publications that ages of
            versions are counted back from. origins: of how many robots it holds publications.
    """
    total = _HEAD_BYTES + origins * _ORIGIN_BYTES
    for i in range(items.shape[0]):
        slot = items[i, 2]
        if store.size[slot] == 0:
            store.size[slot] = tile_size(store.evidence[slot])
        age = until[items[i, 1]] - store.version[slot]
        total += _TILE_BYTES + 1 + store.size[slot]
        while age >= 128:
            age >>= 7
            total += 1
    return total


@kernel
def tile_size(cells):
    """Return the size of the code of a tile, int8 (1024,), in bytes."""
    values = np.zeros(256, np.uint8)
    count, least = 0, 1 << 30
    for by_columns in range(2):
        runs, bits, length, last = 1, 0, 0, cells[0]
        for i in range(TILE):
            for j in range(TILE):
                k = j if i % 2 == 0 else TILE - 1 - j
                value = cells[k * TILE + i] if by_columns else cells[i * TILE + k]
                if value != last:
                    if by_columns == 0:
                        values[np.int64(last) + 128] = 1
                    bits += _GAMMA_BITS[length]
                    runs, length, last = runs + 1, 0, value
                length += 1
        bits += _GAMMA_BITS[length]
        if by_columns == 0:
            values[np.int64(last) + 128] = 1
            for v in range(256):
                count += values[v]
        least = min(least, 1 + _index_bits(count) + bits + (runs - 1) * _index_bits(count - 1))
    return 1 + count + (least + 7) // 8


@kernel
def _index_bits(count):
    """Return the number of bits of a number from 0 to count - 1."""
    bits = 0
    while (1 << bits) < count:
        bits += 1
    return bits


def encode(giver: int, items: np.ndarray, since: np.ndarray, until: np.ndarray, store: Store) -> bytes:
    """Return an update as bytes: the head, and for each robot that it is about its publications and tiles.

    A tile is its number, its age in publications (7 bits in a byte, the lowest first, the top bit set on all but the
    last), and its code. Arguments as in `covey.mapping.exchange.map_updates.MapUpdate`.
    """
    origins = np.flatnonzero(until > since)
    out = [_HEAD.pack(giver, len(origins))]
    for o in origins:
        some = items[items[:, 1] == o]
        out.append(_ORIGIN.pack(o, since[o], until[o], len(some)))
        for tile, _, slot in some:
            age = int(until[o] - store.version[slot])
            out.append(_TILE.pack(tile))
            while age >= 128:
                out.append(bytes([age & 127 | 128]))
                age >>= 7
            out += [bytes([age]), encode_tile(store.evidence[slot])]
    return b"".join(out)


def decode(code: bytes, robots: int) -> tuple[int, list[tuple[int, int, int, np.ndarray]], np.ndarray, np.ndarray]:
    """Return who tells, tiles as (tile, robot it comes from, version, cells), and since and until when, int64 (n,).

    What the update is not about has since = until = 0.
    """
    giver, origins = _HEAD.unpack_from(code)
    at, found = _HEAD.size, []
    since, until = np.zeros(robots, np.int64), np.zeros(robots, np.int64)
    for _ in range(origins):
        o, since[o], until[o], count = _ORIGIN.unpack_from(code, at)
        at += _ORIGIN.size
        for _ in range(count):
            (tile,) = _TILE.unpack_from(code, at)
            at, age, shift = at + _TILE.size, 0, 0
            while code[at] >= 128:
                age, shift, at = age + ((code[at] & 127) << shift), shift + 7, at + 1
            age, at = age + (code[at] << shift), at + 1
            cells, used = decode_tile(code[at:])
            at += used
            found.append((tile, o, int(until[o]) - age, cells))
    return giver, found, since, until


def encode_tile(cells: np.ndarray) -> bytes:
    """Return the code of a tile, int8 (1024,).

    Examples:
        >>> len(encode_tile(np.zeros(1024, np.int8)))
        5
    """
    values = np.unique(cells)
    bits = min((_bits(cells, values, by_columns) for by_columns in (0, 1)), key=len)
    padded = bits + "0" * (-len(bits) % 8)
    packed = bytes(int(padded[i : i + 8], 2) for i in range(0, len(padded), 8))
    return bytes([len(values) - 1]) + values.tobytes() + packed


def decode_tile(code: bytes) -> tuple[np.ndarray, int]:
    """Return the cells of the first tile in a code, int8 (1024,), and the size of its code in bytes."""
    count = code[0] + 1
    values = np.frombuffer(code[1 : 1 + count], np.int8)
    bits = "".join(f"{byte:08b}" for byte in code[1 + count : 1 + count + 4 * TILE_CELLS])
    by_columns, at = bits[0] == "1", 1

    def number(width: int) -> int:
        nonlocal at
        at += width
        return int(bits[at - width : at], 2) if width else 0

    cells, index = np.empty(TILE_CELLS, np.int8), number(_index_bits(count))
    filled = 0
    while True:
        zeros = bits.index("1", at) - at
        at += zeros
        length = number(zeros + 1)
        cells[filled : filled + length] = values[index]
        filled += length
        if filled == TILE_CELLS:
            break
        other = number(_index_bits(count - 1))
        index = other + (other >= index)
    return _serpentine(cells.reshape(TILE, TILE), by_columns, back=True), 1 + count + (at + 7) // 8


def _bits(cells: np.ndarray, values: np.ndarray, by_columns: int) -> str:
    """Return the part of the code after the values, as text of 0 and 1."""
    line = np.searchsorted(values, _serpentine(cells.reshape(TILE, TILE), bool(by_columns)))
    begins = np.concatenate(([0], np.flatnonzero(np.diff(line)) + 1))
    lengths = np.diff(np.concatenate((begins, [line.size])))
    out, before = [str(by_columns)], -1
    for index, length in zip(line[begins].tolist(), lengths.tolist(), strict=True):
        width = _index_bits(len(values) - (before >= 0))
        shown = index - (0 <= before < index)
        out.append(f"{shown:0{width}b}" if width else "")
        out.append("0" * (length.bit_length() - 1) + f"{length:b}")
        before = index
    return "".join(out)


def _serpentine(cells: np.ndarray, by_columns: bool, back: bool = False) -> np.ndarray:
    """Return cells, (32, 32), in the order of the code, (1024,); with ``back`` the reverse."""
    out = cells.T.copy() if by_columns and not back else cells.copy()
    out[1::2] = out[1::2, ::-1]
    return (out.T if by_columns and back else out).ravel()
