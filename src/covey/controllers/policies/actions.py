"""Actions: records that turn the choices of a policy into motions of robots."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from covey.controllers.policies.knowledge import Knowledge, Numbers, OneOf
from covey.errors import InvalidValueError
from covey.geometry.se2 import wrap_angle
from covey.named import Named
from covey.registry import Registry

actions: Registry[Any] = Registry("action", shelf="covey.controllers.policies.actions")
"""Actions by name; packages add theirs under the entry-point group ``covey.action``."""


class Action(Named, ABC):
    """What a policy chooses, and what its robots do.

    Attributes:
        moves: whether `command` returns twists, in each control step, or goals, once for each decision.
        every_s: time between two decisions if nothing else is said [s]; 0: a control step.
        in_many_worlds: whether `command` may get the robots of many worlds, as what a robot does follows from its own
            rows.
    """

    registry = actions
    moves: ClassVar[Literal["twists", "goals"]] = "twists"
    every_s: ClassVar[float] = 0.0
    in_many_worlds: ClassVar[bool] = False

    @property
    def says(self) -> int:
        """How many numbers a robot sends to all in reach with each choice; 0: it sends nothing."""
        return 0

    def said(self, chosen: np.ndarray) -> np.ndarray:
        """Return what robots send with their choices, float32 (n, `says`)."""
        return np.empty((len(chosen), 0), np.float32)

    @abstractmethod
    def space(self, known: Knowledge) -> Numbers | OneOf:
        """Return the space of one robot.

        Raises:
            InvalidValueError: the robots lack what it needs.
        """

    @abstractmethod
    def command(self, chosen: np.ndarray, known: Knowledge) -> np.ndarray:
        """Return what robots are to do.

        Args:
            chosen: their choices: float32 (n, k) of a box, int64 (n,) of a discrete space.
            known: what they know.

        Returns:
            Twists vx, vy [m/s], turn rate [rad/s], float64 (n, 3), or goals x, y [m], float64 (n, 2); see `moves`.
        """


@actions.register("twist")
class ChosenTwist(Action):
    """Speed forward and turn rate as parts of the largest, from -1 to 1; of holonomic robots vx, vy and turn rate.

    The observation ``messages`` shows what others have sent.

    Attributes:
        message: how many numbers from -1 to 1 follow, which a robot sends over its radio to all in reach.
    """

    message: int = Field(default=0, ge=0, le=1000)

    @property
    def in_many_worlds(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Not of robots that send."""
        return not self.message

    @property
    def says(self) -> int:
        """The length of the message."""
        return self.message

    def said(self, chosen: np.ndarray) -> np.ndarray:
        """Return the messages."""
        return np.clip(chosen[:, chosen.shape[1] - self.message :], -1, 1)

    def space(self, known: Knowledge) -> Numbers:
        """Return the space."""
        return Numbers(((3 if known.robot.kinematics == "holonomic" else 2) + self.message,))

    def command(self, chosen: np.ndarray, known: Knowledge) -> np.ndarray:
        """Return the twists."""
        twists, moves = np.zeros((len(chosen), 3)), chosen[:, : chosen.shape[1] - self.message]
        twists[:, [0, 1, 2] if moves.shape[1] == 3 else [0, 2]] = np.clip(moves, -1, 1)
        robot = known.robot
        return twists * (robot.max_speed_m_s, robot.max_speed_m_s, robot.max_turn_rad_s)


@actions.register("headings")
class Headings(Action):
    """One of some headings in the world frame, to which a robot turns while it drives; the last choice is to stand.

    Attributes:
        count: number of headings; the first is along x.
        gain: turn rate per angle that is left [1/s].
    """

    every_s: ClassVar[float] = 0.5
    in_many_worlds: ClassVar[bool] = True
    count: int = Field(default=8, ge=2, le=1000)
    gain: float = Field(default=3.0, gt=0)

    def space(self, known: Knowledge) -> OneOf:
        """Return the space."""
        return OneOf(self.count + 1)

    def command(self, chosen: np.ndarray, known: Knowledge) -> np.ndarray:
        """Return the twists."""
        off = wrap_angle(2 * np.pi * chosen / self.count - known.pose[:, 2])
        twists = np.zeros((len(chosen), 3))
        twists[:, 0] = known.robot.max_speed_m_s * np.maximum(np.cos(off), 0)
        twists[:, 2] = np.clip(self.gain * off, -known.robot.max_turn_rad_s, known.robot.max_turn_rad_s)
        twists[chosen == self.count] = 0.0
        return twists


@actions.register("frontiers")
class ChooseFrontier(Action):
    """One of the nearest frontiers of a robot's map, to which its navigator drives; where there is none, it stands.

    The observation ``frontiers`` shows them in the same order.

    Attributes:
        most: how many there are to choose from.
    """

    moves: ClassVar[Literal["twists", "goals"]] = "goals"
    every_s: ClassVar[float] = 5.0
    most: int = Field(default=8, ge=1, le=1000)

    def space(self, known: Knowledge) -> OneOf:
        """Return the space."""
        if not known.beliefs:
            raise InvalidValueError(f"frontiers: robots of {known.name!r} keep no map; give them a lidar and `mapping`")
        return OneOf(self.most)

    def command(self, chosen: np.ndarray, known: Knowledge) -> np.ndarray:
        """Return the goals."""
        places, _, count = known.frontiers(self.most)
        rows = np.arange(len(chosen))
        return places[rows, np.minimum(chosen, np.maximum(count - 1, 0))]
