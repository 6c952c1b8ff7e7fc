"""Contacts of hulls with walls and with each other: those that begin and those that last."""

import math
from typing import Any

import numpy as np

from covey.physics.protocol import ROBOT_CONTACT, WALL_CONTACT, Contacts

_WALL = -2  # see `covey.physics.mujoco.bodies.EngineBodies.owner`


class Touching:
    """Keeps the contacts that last, of robots with walls and of pairs of robots."""

    def __init__(self):
        self._last: set[tuple[int, int]] = set()
        self._begun: list[tuple[int, int, int, float, float, int]] = []
        self._felt: list[tuple[int, int, float]] = []

    def update(self, contact: Any, owner: np.ndarray, q: np.ndarray, position: np.ndarray, substep: int) -> None:
        """Record the engine's contacts after a substep; they include pairs with a gap of less than 2 mm.

        Args:
            contact: contacts of the engine (``MjData.contact``).
            owner, position: see `covey.physics.mujoco.bodies.EngineBodies`.
            q: positions of the engine.
            substep: number of the substep, counted from the start of the step.
        """
        owners = owner[contact.geom]
        rows = np.flatnonzero((owners != -1).all(axis=1))
        present: dict[tuple[int, int], tuple[float, float, float]] = {}
        for row in rows.tolist():
            a, b = sorted(owners[row].tolist(), reverse=True)
            pair = (a, -1) if b == _WALL else (b, a)
            found = (float(contact.dist[row]), *contact.pos[row, :2].tolist())
            present[pair] = min(found, present.get(pair, found))
            if found[0] <= 0.0:
                self._felt += [(substep, i, _bearing(q, int(position[i]), *found[1:])) for i in pair if i >= 0]
        self._last.intersection_update(present)
        for (i, other), (gap, x, y) in sorted(present.items()):
            if gap > 0.0:
                continue
            if (i, other) not in self._last:
                self._last.add((i, other))
                self._begun.append((WALL_CONTACT if other < 0 else ROBOT_CONTACT, i, other, x, y, substep))

    def forget(self) -> None:
        """End all contacts, because nothing is near anything."""
        self._last = set()

    def begun(self) -> Contacts:
        """Return the contacts that began, and all contact points, since the last call."""
        rows, self._begun = self._begun, []
        felt, self._felt = np.array(self._felt, float).reshape(-1, 3), []
        kind, robot, other, x, y, substep = np.array(rows, float).reshape(-1, 6).T
        index = (column.astype(np.int64) for column in (kind, robot, other, substep))
        kind, robot, other, substep = index
        return Contacts(kind, robot, other, x.copy(), y.copy(), substep, felt)


def _bearing(q: np.ndarray, p: int, x: float, y: float) -> float:
    """Return the direction [rad] of a world point in the body frame of the body whose pose starts at ``q[p]``."""
    a, b, c, d = q[p + 3 : p + 7].tolist()
    heading = math.atan2(2.0 * (b * c + a * d), 1.0 - 2.0 * (c * c + d * d))
    return math.remainder(math.atan2(y - q[p + 1], x - q[p]) - heading, 2.0 * math.pi)
