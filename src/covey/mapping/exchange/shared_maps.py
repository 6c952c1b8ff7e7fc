"""Base of all beliefs that robots can share: a map of states, and the exchange of updates."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.mapping.exchange.map_updates import MapUpdate
from covey.memory import check_room

_CELL_BYTES = 9
"""What the truth that maps are set beside takes for each of their cells, however many maps there are."""
MAX_CELLS = 40_000_000
"""Of a map; what a run keeps of 40 million cells takes half a gigabyte."""


def check_size(shape: Sequence[int]) -> None:
    """Raise `InvalidValueError` if a map of some rows and columns has too many cells."""
    if math.prod(shape) > MAX_CELLS:
        raise InvalidValueError(
            f"a map of {shape[0]} x {shape[1]} cells is too large, at most {MAX_CELLS:,} are allowed: use coarser maps "
            "(mapping.resolution_m), or a smaller world"
        )


def check_memory(maps: int, robots: int, shape: tuple[int, int]) -> None:
    """Check that so many maps of some rows and columns have room, before it is taken.

    Raises:
        InvalidValueError: a map has too many cells, or the machine has not so much memory left.
    """
    check_size(shape)
    check_room(
        (maps + _CELL_BYTES) * math.prod(shape) + 8 * robots**2,
        f"maps of {robots} robots, {shape[0]} x {shape[1]} cells each, take",
        "take fewer robots, coarser maps (mapping.resolution_m), or less world",
    )


class SharedMaps(ABC):
    """The maps of the robots of a team on one grid; ``maps[i]`` is one of them.

    Attributes:
        names: names of the robots.
        grid: place and size of every map; its cells are not used.
        occupancy: int8 (n, rows, columns), -1 unknown, 0 free, 100 occupied.
        version: int64 (n,), grows whenever a cell of that map changes between unknown, free and occupied.
        tile_changed: int64 (n, tiles), the version at which a cell of the tile last did so; tiles in storage order.
        clock: int64 (n, n), row i: the newest publication of each robot that i holds completely.
    """

    names: list[str]
    mapping: Any
    grid: Grid
    occupancy: np.ndarray
    version: np.ndarray
    tile_changed: np.ndarray
    clock: np.ndarray

    def __len__(self) -> int:
        return len(self.names)

    @abstractmethod
    def __getitem__(self, robot: int) -> "SharedMap": ...

    @abstractmethod
    def moved(self, robots: np.ndarray, poses: np.ndarray) -> np.ndarray:
        """Return which robots have moved enough since their last used reading to use another one, bool (m,)."""

    @abstractmethod
    def publish(self, robots: np.ndarray | None = None) -> int:
        """Make the changed tiles of robots' own evidence available to others; return how many there are."""

    @abstractmethod
    def update_since(self, giver: int, since: np.ndarray) -> MapUpdate:
        """Return the update with what a robot holds that was published after ``since``, int64 (n,), a `clock`."""

    @abstractmethod
    def merge_updates(self, received: np.ndarray, updates: Sequence[MapUpdate]) -> np.ndarray:
        """Merge m updates into the robots that received them, bool (n, m); return the number of tiles of each robot."""

    @abstractmethod
    def union(self) -> np.ndarray:
        """Return the map of all robots' own evidence, each counted once, int8 (rows, columns)."""

    def merge(self, robot: int, other: int) -> int:
        """Merge all newer evidence of another robot, of any origin, into a robot; return the number of tiles."""
        if not (self.clock[other] > self.clock[robot]).any():
            return 0
        received = np.arange(len(self))[:, None] == robot
        return int(self.merge_updates(received, [self.update_since(other, self.clock[robot])])[robot])

    def share(self, hears: np.ndarray) -> np.ndarray:
        """Let every robot publish, then merge what the robots that it hears held before this round.

        Args:
            hears: bool (n, n), row i: the robots that robot i hears; the diagonal does not matter.

        Returns:
            int64 (n,), the number of tiles that each robot merged.
        """
        givers = np.flatnonzero(np.any(hears, axis=0)).tolist()
        self.publish(np.array(givers, np.int64))
        return self.merge_updates(
            hears[:, givers], [self.update_since(i, self.clock[hears[:, i]].min(axis=0)) for i in givers]
        )


class SharedMap:
    """The map of one robot: a live view of its row in `SharedMaps`."""

    def __init__(self, beliefs: Any, robot: int):
        self._beliefs, self._robot = beliefs, robot
        self._views: dict[str, tuple[int, np.ndarray]] = {}

    @property
    def name(self) -> str:
        """Name of the robot."""
        return self._beliefs.names[self._robot]

    @property
    def version(self) -> int:
        """Grows whenever a cell changes between unknown, free and occupied."""
        return self._beliefs.version.item(self._robot)

    def occupancy(self) -> np.ndarray:
        """Return int8 (rows, columns): -1 unknown, 0 free, 100 occupied; a live read-only view, copy it to keep it."""
        return self._occupancy

    @cached_property
    def _occupancy(self) -> np.ndarray:
        return read_only(self._beliefs.occupancy[self._robot])

    @cached_property
    def grid(self) -> Grid:
        """The `occupancy` with its place in the world."""
        return self._beliefs.grid.with_cells(self.occupancy())

    @property
    def unknown(self) -> np.ndarray:
        """Which cells are unknown, bool (rows, columns), as of the current version."""
        return self._of_version("unknown", -1)

    @property
    def free(self) -> np.ndarray:
        """Which cells are free, bool (rows, columns), as of the current version."""
        return self._of_version("free", 0)

    @property
    def occupied(self) -> np.ndarray:
        """Which cells are occupied, bool (rows, columns), as of the current version."""
        return self._of_version("occupied", 100)

    def unsafe_ground(
        self, points: np.ndarray, count: int, pose: tuple[float, float, float], reach_m: float, keep_m: float
    ) -> int:
        """Append the border of ground that a robot must not drive on, as points in its body frame [m].

        Maps of walls have no such ground.

        Args:
            points, count: float64 (k, 2) and the number of filled rows.
            pose: pose of the robot, x, y [m], heading [rad].
            reach_m: distance up to which points count [m].
            keep_m: distance that its centre keeps [m].

        Returns:
            The new number of filled rows.
        """
        return count

    def known_share(self, mask: np.ndarray) -> float:
        """Return the share of ``mask`` (bool or weights, (rows, columns)) on known cells; nan if the mask is empty."""
        total = mask.sum()
        return float(mask[~self.unknown].sum() / total) if total else math.nan

    def publish(self) -> int:
        """Make changed tiles of the robot's own evidence available to others; return their number."""
        return self._beliefs.publish(np.array([self._robot]))

    def merge(self, other: "SharedMap") -> int:
        """Merge all newer evidence that ``other`` has published or merged; return the number of tiles.

        Raises:
            InvalidValueError: the two do not belong to the same beliefs of a team.
        """
        if other._beliefs is not self._beliefs:
            raise InvalidValueError(
                f"the beliefs of {self.name} and {other.name} lie on different grids; make both from one "
                f"{type(self._beliefs).__name__}(...)"
            )
        return self._beliefs.merge(self._robot, other._robot)

    def _of_version(self, name: str, state: int) -> np.ndarray:
        version, view = self._views.get(name, (-1, None))
        if view is None or version != self.version:
            view = read_only(self._beliefs.occupancy[self._robot] == state)
            self._views[name] = (self.version, view)
        return view


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a read-only view whose ``base`` does not lead to the whole array."""
    return np.asarray(_Window(array))


class _Window:
    """The memory of an array, for arrays that only read it."""

    def __init__(self, array: np.ndarray):
        self._array = array
        self.__array_interface__ = array.__array_interface__ | {"data": (array.ctypes.data, True)}
