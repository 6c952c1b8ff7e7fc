"""Which contacts of hulls with walls and with each other begin and last."""

import math
from typing import Any

import numpy as np

from covey.sim.physics import ROBOT_CONTACT, WALL_CONTACT, Contacts

_WALL = -2  # see `covey.sim.terrain.bodies.Bodies.owner`


class Touching:
    """Keeps the contacts that last: of each robot with walls, and of each two robots."""

    def __init__(self):
        self._last: set[tuple[int, int]] = set()
        self._begun: list[tuple[int, int, int, float, float, int]] = []
        self._now: dict[int, tuple[float, float]] = {}

    def look(self, contact: Any, owner: np.ndarray, substep: int) -> None:
        """Take in the engine's contacts after a substep; they include those with a gap of less than 2 mm."""
        owners = owner[contact.geom]
        rows = np.flatnonzero((owners != -1).all(axis=1))
        present: dict[tuple[int, int], tuple[float, float, float]] = {}
        for row in rows.tolist():
            a, b = sorted(owners[row].tolist(), reverse=True)
            pair = (a, -1) if b == _WALL else (b, a)
            found = (float(contact.dist[row]), *contact.pos[row, :2].tolist())
            present[pair] = min(found, present.get(pair, found))
        self._last.intersection_update(present)
        self._now = {}
        for (i, other), (gap, x, y) in sorted(present.items()):
            if gap > 0.0:
                continue
            self._now.update({i: (x, y)} if other < 0 else {i: (x, y), other: (x, y)})
            if (i, other) not in self._last:
                self._last.add((i, other))
                self._begun.append((WALL_CONTACT if other < 0 else ROBOT_CONTACT, i, other, x, y, substep))

    def forget(self) -> None:
        """Nothing is near anything."""
        self._last, self._now = set(), {}

    def begun(self) -> Contacts:
        """Return the contacts that began since the last call."""
        rows, self._begun = self._begun, []
        kind, robot, other, x, y, substep = np.array(rows, float).reshape(-1, 6).T
        index = (column.astype(np.int64) for column in (kind, robot, other, substep))
        kind, robot, other, substep = index
        return Contacts(kind, robot, other, x.copy(), y.copy(), substep)

    def bearings(self, pose: np.ndarray, out: np.ndarray) -> None:
        """Set the direction [rad], in the body frame, of what each robot touches now; NaN for nothing."""
        out[:] = np.nan
        for i, (x, y) in self._now.items():
            turn = math.atan2(y - pose[i, 1], x - pose[i, 0]) - pose[i, 2]
            out[i] = math.remainder(turn, 2.0 * math.pi)
