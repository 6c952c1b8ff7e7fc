"""Packets in transit, stored as columns, so that a thousand cost little more than one."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np


@dataclass(eq=False, slots=True)  # a frozen one takes three times as long to make
class Packets:
    """Packets in transit, one in each row.

    Attributes:
        number: number of the message in the packet, counted over the run, int64 (m,).
        origin, final: author and final receiver of the message (-1: all), as indices into the team.
        source, to: transmitter and receiver of the packet (-1: all).
        kind: topic of the message, an index into the kinds of the network.
        size: transmitted size [bytes].
        sent_s, expires_s: times of writing and of expiry [s], float64 (m,).
        start_s, end_s: start and end of the transmission [s].
        hops: number of radio links that the message has taken before.
        payload: the content; object (m,).
        note: the protocol's data on the packet, or None; object (m,).
    """

    number: np.ndarray
    origin: np.ndarray
    final: np.ndarray
    source: np.ndarray
    to: np.ndarray
    kind: np.ndarray
    size: np.ndarray
    sent_s: np.ndarray
    expires_s: np.ndarray
    start_s: np.ndarray
    end_s: np.ndarray
    hops: np.ndarray
    payload: np.ndarray
    note: np.ndarray

    def __len__(self) -> int:
        return len(self.number)

    def select(self, rows: np.ndarray) -> "Packets":
        """Return the chosen rows, by a bool mask or indices."""
        return Packets(*[column[rows] for column in _columns(self)])

    def replace(self, **columns: np.ndarray) -> "Packets":
        """Return a copy with other columns."""
        copy = Packets(*_columns(self))
        for name, column in columns.items():
            setattr(copy, name, column)
        return copy

    @property
    def transmission(self) -> np.ndarray:
        """Tells each transmission from every other one of the same radio between the same robots, int64 (m,)."""
        begin = np.ascontiguousarray(self.start_s).view(np.int64)
        return self.number + begin * _SPREAD

    @staticmethod
    def join(parts: Sequence["Packets"]) -> "Packets":
        """Return the rows of several, one after another."""
        parts = [part for part in parts if len(part)] or [NONE]
        if len(parts) == 1:
            return parts[0]
        return Packets(*map(np.concatenate, zip(*map(_columns, parts), strict=True)))

    @staticmethod
    def written(
        number: np.ndarray,
        origin: np.ndarray,
        final: np.ndarray,
        kind: np.ndarray,
        size: np.ndarray,
        sent_s: np.ndarray,
        expires_s: np.ndarray,
        payload: np.ndarray,
    ) -> "Packets":
        """Return packets that carry messages directly to their receivers."""
        zero = np.zeros(len(number), np.int64)
        note = np.full(len(number), None, object)
        return Packets(
            number, origin, final, origin, final, kind, size, sent_s, expires_s, sent_s, sent_s, zero, payload, note
        )


COLUMNS = tuple(f.name for f in dataclasses.fields(Packets))
_columns = attrgetter(*COLUMNS)
_TIMES, _OBJECTS = ("sent_s", "expires_s", "start_s", "end_s"), ("payload", "note")
_TYPES = {name: float if name in _TIMES else object if name in _OBJECTS else np.int64 for name in COLUMNS}
_SPREAD = np.int64(-7046029254386353131)
"""An odd number; its products, modulo 2⁶⁴, differ for different times."""
NONE = Packets(**{name: np.zeros(0, kind) for name, kind in _TYPES.items()})


def objects(values: Sequence[Any]) -> np.ndarray:
    """Return a list as an array of objects, (m,)."""
    column = np.empty(len(values), object)
    for i, value in enumerate(values):
        column[i] = value
    return column
