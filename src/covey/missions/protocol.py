"""What the simulation asks of a mission; those that ship are in `covey.missions`."""

from typing import Any, ClassVar, Protocol

import numpy as np

from covey.planning.waypoints import Waypoints
from covey.world.world import World


class Tracker(Protocol):
    """Measures, step by step, what a mission needs beside the explored and the covered share."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of its measurements, columns of ``team.parquet``."""
        ...

    @property
    def facts(self) -> dict[str, Any]:
        """What of it never changes, for the manifest: plain data."""
        ...

    @property
    def waypoints(self) -> Waypoints | None:
        """The graph that every robot is given; None for none."""
        ...

    def measure(self, time_s: float, pose: np.ndarray, able: np.ndarray) -> list[tuple[int, str]]:
        """Take in the true poses (n, 3) of one step and who is able to act, bool (n,).

        Returns:
            What happened, as pairs of a robot and a text; each becomes an event of the kind ``mission``.
        """
        ...

    @property
    def values(self) -> dict[str, float]:
        """The measurements of this step by column."""
        ...


class Mission(Protocol):
    """A mission as it is declared.

    Attributes:
        kind: its name.
    """

    kind: ClassVar[str]

    def begin(self, world: World, start: np.ndarray, radius: np.ndarray) -> Tracker | None:
        """Return what measures it, given start poses (n, 3) and radii (n,) [m]; None when nothing is to be added."""
        ...
