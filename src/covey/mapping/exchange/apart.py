"""Maps of robots that keep them in processes of their own, and the simulator's mirror of all: what all kinds share.

A process turns what its robot measures into evidence, and sends what changed. The mirror stores it. So it holds the
same evidence, maps and versions as if it had used the readings itself. When the mirror adds evidence of other robots to
a robot's map, it is sent to that robot's process too.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from covey.mapping.exchange.map_updates import MapUpdate
from covey.mapping.exchange.shared_maps import SharedMaps

Changes = Any
"""What changed in a robot's own evidence; each kind of map has its own."""
Given = Any
"""Evidence for a robot's process that it lacks; each kind of map has its own."""


class OwnMap(Protocol):
    """The map of one robot in its own process, among those of its team.

    Attributes:
        robot: its row.
    """

    robot: int

    def __getitem__(self, robot: int) -> Any: ...

    def changes(self) -> Changes | None:
        """Return what has changed in its own evidence since the last call; None: nothing."""
        ...

    def add_evidence(self, given: Given) -> None:
        """Add evidence from the mirror."""
        ...


class MapStart(Protocol):
    """What a process needs to begin with the map of its robot; it can be pickled."""

    row: int
    names: list[str]

    def begin(self) -> Any:
        """Return the `OwnMap` that the robot starts with."""
        ...


class MirroredMaps(SharedMaps):
    """The maps of a team of which some robots map in processes of their own. A base before that of a kind of map."""

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self._apart: frozenset[int] = frozenset()
        self._waiting: dict[int, list[Given]] = {}

    def attach(self, rows: Iterable[int]) -> None:
        """Set the robots that map in processes of their own, by row."""
        self._apart = frozenset(rows)

    @abstractmethod
    def start(self, row: int) -> MapStart:
        """Return what the process of a robot begins with."""

    @abstractmethod
    def put(self, row: int, pose: np.ndarray | None, changes: Changes) -> None:
        """Store what has changed in the own evidence of a robot, by a scan from a pose (3,) or by a correction."""

    @abstractmethod
    def lacking(self, row: int, updates: Sequence[MapUpdate]) -> Given | None:
        """Return what is newer in some updates than what a robot holds; None: nothing."""

    def merge_updates(self, received: np.ndarray, updates: Sequence[MapUpdate]) -> np.ndarray:
        """Merge received tiles, and keep them for the robots' processes."""
        for row in np.flatnonzero(received.any(axis=1)).tolist() if len(updates) and self._apart else ():
            if row in self._apart:
                given = self.lacking(row, [updates[k] for k in np.flatnonzero(received[row]).tolist()])
                if given is not None:
                    self.hold(row, given)
        return super().merge_updates(received, updates)  # pyright: ignore[reportAbstractUsage]

    def hold(self, row: int, given: Given) -> None:
        """Keep evidence for the process of a robot."""
        self._waiting.setdefault(row, []).append(given)

    def waiting(self, row: int) -> tuple[Given, ...]:
        """Return, once, what a robot's process has not received yet, oldest first."""
        return tuple(self._waiting.pop(row, ()))
