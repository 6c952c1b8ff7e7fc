"""Packets: what is on its way, as columns, so that a thousand cost little more than one."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Packets:
    """Packets on their way, one in each row.

    Attributes:
        number: of the message that the packet carries; counts the messages of a run, int64 (m,).
        origin, final: who wrote the message, and for whom (-1 all), as indices into the team.
        source, to: who transmits the packet, and to whom (-1 all).
        kind: of the message, index into the kinds of the network.
        size: on the air [bytes].
        sent_s, expires_s: when it was written, and when it is worthless [s], float64 (m,).
        start_s, end_s: when the transmission begins and ends [s].
        hops: radio links that the message has come over before.
        payload: the content; object (m,).
        note: what the protocol wrote on the packet, or None; object (m,).
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

    def take(self, rows: np.ndarray) -> "Packets":
        """Return the chosen rows, by a bool mask or indices."""
        return Packets(*(getattr(self, name)[rows] for name in COLUMNS))

    def replace(self, **columns: np.ndarray) -> "Packets":
        """Return a copy with other columns."""
        return dataclasses.replace(self, **columns)

    @staticmethod
    def join(parts: Sequence["Packets"]) -> "Packets":
        """Return the rows of several, one after another."""
        if len(parts) == 1:
            return parts[0]
        return Packets(*(np.concatenate([getattr(p, name) for p in parts]) for name in COLUMNS))

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
        """Return packets that carry messages as they were written, straight to whom they are for."""
        zero = np.zeros(len(number), np.int64)
        note = np.full(len(number), None, object)
        return Packets(
            number, origin, final, origin, final, kind, size, sent_s, expires_s, sent_s, sent_s, zero, payload, note
        )


COLUMNS = tuple(f.name for f in dataclasses.fields(Packets))
_TIMES, _OBJECTS = ("sent_s", "expires_s", "start_s", "end_s"), ("payload", "note")
_TYPES = {name: float if name in _TIMES else object if name in _OBJECTS else np.int64 for name in COLUMNS}
NONE = Packets(**{name: np.zeros(0, kind) for name, kind in _TYPES.items()})


def objects(values: Sequence[Any]) -> np.ndarray:
    """Return a list of anything as an array of objects, (m,)."""
    column = np.empty(len(values), object)
    for i, value in enumerate(values):
        column[i] = value
    return column
