"""Versions of tiles of evidence about the ground, which robots send each other, and their encoding.

A published version is rounded to the transmitted precision: an altitude to a 32-bit float, a variance to 16 bits with a
mantissa of 10. So beliefs do not depend on whether a version was encoded.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from covey.mapping.elevation.kernels import EVIDENCE
from covey.mapping.exchange.map_updates import MapUpdate
from covey.mapping.occupancy.tiles import TILE, TILE_CELLS

_HEAD = struct.Struct("<IHIHH")
_UPDATE = struct.Struct("<HHI")
_CLOCK = struct.Struct("<HII")
_LEAST = (127 - 48) << 10  # exponent and ten bits of mantissa of 2^-48 m^2


@dataclass(frozen=True, eq=False)
class TileVersion:
    """One robot's knowledge of one tile at its publication.

    Attributes:
        tile: number of the tile, row by row.
        origin: the robot that measured it.
        version: number of the publication.
        evidence: `EVIDENCE` (32, 32), never changed.
    """

    tile: int
    origin: int
    version: int
    evidence: np.ndarray

    @cached_property
    def rows(self) -> tuple[int, int]:
        """The first row with evidence, or with a change that left none, and the last such row + 1."""
        known = np.flatnonzero((self.evidence["mark"] | self.evidence["changed"]).any(axis=1))
        return (int(known[0]), int(known[-1]) + 1) if len(known) else (0, 0)

    @property
    def size_bytes(self) -> int:
        """Encoded length [byte]."""
        known = int(np.count_nonzero(self.evidence["mark"]))
        return _HEAD.size + TILE_CELLS // 4 + 10 * known + 6 * int(np.count_nonzero(self.evidence["changed"]))


def rounded(evidence: np.ndarray) -> np.ndarray:
    """Return a copy of evidence, rounded to the transmitted precision."""
    out = np.zeros(evidence.shape, EVIDENCE)  # not a copy: the padding between the fields is zero
    known = evidence["mark"] > 0
    out["mark"], out["changed"] = evidence["mark"], evidence["changed"]
    out["mean"][known] = evidence["mean"][known].astype(np.float32)
    out["variance"][known] = _widened(_narrowed(evidence["variance"][known]))
    out["seen"][known] = evidence["seen"][known]
    return out


def _narrowed(variance: np.ndarray) -> np.ndarray:
    bits = np.ascontiguousarray(variance, np.float32).view(np.uint32).astype(np.int64)
    return np.clip(((bits + 0xFFF + ((bits >> 13) & 1)) >> 13) - _LEAST, 0, 0xFFFF).astype(np.uint16)


def _widened(short: np.ndarray) -> np.ndarray:
    return ((short.astype(np.uint32) + np.uint32(_LEAST)) << np.uint32(13)).view(np.float32)


def encode(update: MapUpdate) -> bytes:
    """Return an update as the bytes that go over the air."""
    wanted = np.flatnonzero(update.until > update.since)
    out = [_UPDATE.pack(update.giver, len(wanted), len(update.items))]
    out += [_CLOCK.pack(int(o), int(update.since[o]), int(update.until[o])) for o in wanted]
    for item in update.items:
        evidence = item.evidence.ravel()
        mark = evidence["mark"]
        known, changed = np.flatnonzero(mark), np.flatnonzero(evidence["changed"])
        fours = mark.reshape(-1, 4)
        out.append(_HEAD.pack(item.tile, item.origin, item.version, len(known), len(changed)))
        out.append((fours << np.array([0, 2, 4, 6], np.uint8)).sum(axis=1).astype(np.uint8).tobytes())
        out.append(evidence["mean"][known].astype("<f4").tobytes())
        out.append(_narrowed(evidence["variance"][known]).astype("<u2").tobytes())
        out.append(evidence["seen"][known].astype("<i4").tobytes())
        out.append(changed.astype("<u2").tobytes())
        out.append(evidence["changed"][changed].astype("<i4").tobytes())
    return b"".join(out)


def size_of(items: Sequence[TileVersion], since: np.ndarray, until: np.ndarray) -> int:
    """Return the encoded length of an update [byte]."""
    wanted = int(np.count_nonzero(until > since))
    return _UPDATE.size + _CLOCK.size * wanted + sum(item.size_bytes for item in items)


def decode(code: bytes, robots: int) -> MapUpdate:
    """Return the update in the bytes of `encode`, sent by one of ``robots`` robots."""
    since, until = np.zeros(robots, np.int64), np.zeros(robots, np.int64)
    giver, wanted, count = _UPDATE.unpack_from(code)
    at = _UPDATE.size
    for _ in range(wanted):
        robot, since[robot], until[robot] = _CLOCK.unpack_from(code, at)
        at += _CLOCK.size

    def array(kind: str, length: int) -> np.ndarray:
        nonlocal at
        out = np.frombuffer(code, kind, length, at)
        at += out.nbytes
        return out

    items: list[TileVersion] = []
    for _ in range(count):
        tile, origin, version, known_count, changed_count = _HEAD.unpack_from(code, at)
        at += _HEAD.size
        evidence = np.zeros(TILE_CELLS, EVIDENCE)
        fours = array("u1", TILE_CELLS // 4)
        evidence["mark"] = ((fours[:, None] >> np.array([0, 2, 4, 6], np.uint8)) & 3).ravel()
        known = np.flatnonzero(evidence["mark"])
        evidence["mean"][known] = array("<f4", known_count)
        evidence["variance"][known] = _widened(array("<u2", known_count).astype(np.uint16))
        evidence["seen"][known] = array("<i4", known_count)
        changed = array("<u2", changed_count)
        evidence["changed"][changed] = array("<i4", changed_count)
        items.append(TileVersion(tile, origin, version, evidence.reshape(TILE, TILE)))
    return MapUpdate(giver, items, since, until, len(code))
