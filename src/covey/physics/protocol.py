"""The interface of every physics: it moves a team by some substeps and returns the contacts that begin."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from covey.robots.team import TeamState

WALL_CONTACT, ROBOT_CONTACT = 0, 1


@dataclass(frozen=True, eq=False)
class Contacts:
    """The contacts that begin in one step, one row each, in the order in which they begin.

    A contact lasts until the gap is wider than 2 mm. So a body that slides along a wall, or keeps pushing, gives one
    row.

    Attributes:
        kind: int64 (m,), 0 = a wall, 1 = another robot.
        robot: int64 (m,), index in the team; the smaller index of two robots.
        other: int64 (m,), index of the other robot, -1 for a wall.
        x, y: float64 (m,), contact point [m], in the world frame.
        substep: int64 (m,), counted from the start of the step.
        felt: float64 (k, 3), every contact point in each substep, in the order of the substeps: the substep, the
            robot, and the bearing [rad] of the point in its body frame. Where no sensor feels, it may
            have only the last point of each robot, with the substep -1.
    """

    kind: np.ndarray
    robot: np.ndarray
    other: np.ndarray
    x: np.ndarray
    y: np.ndarray
    substep: np.ndarray
    felt: np.ndarray

    def __len__(self) -> int:
        return len(self.kind)


class Incident(NamedTuple):
    """An incident of a robot: it gets stuck or free again, falls, rolls over or is upright again.

    ``kind`` is stuck, freed, fell, rolled or righted; ``robot`` is its index in the team.
    """

    kind: str
    robot: int


class Physics(Protocol):
    """Moves the bodies of a team.

    Attributes:
        incidents: incidents of the last step.
    """

    incidents: Sequence[Incident]

    def stand(self, state: TeamState) -> None:
        """Write altitude and tilt of robots whose pose was changed from outside; they stand at rest."""
        ...

    def step(
        self,
        state: TeamState,
        commands: np.ndarray,
        substeps: int,
        trace: np.ndarray | None = None,
        wanted: np.ndarray | None = None,
    ) -> Contacts:
        """Advance ``state`` in place by ``substeps`` with constant commands; return the contacts that begin.

        Args:
            state: state of the team; pose, twist, distance and contact bearing are set to those at the end.
            commands: float64 (n, 3), vx, vy [m/s] and turn rate [rad/s] in the body frame.
            substeps: number of substeps.
            trace: float64 (substeps, 2, n, 3), filled with pose and altitude_roll_pitch after each substep; None: no
                trace.
            wanted: uint8 (substeps,), 1 for each substep of the trace to fill; None: all.
        """
        ...
