"""Claims of selective spiraling: which tiles are open, covered and reserved, and the messages about them."""

import math
from collections.abc import Set as AbstractSet
from functools import lru_cache

import numpy as np

from covey.controllers.coverage.tiles import OPEN, SOLID, Tile, Tiles, coarse
from covey.onboard.handle import Robot
from covey.planning.costs import clearance

KIND = "ssb"
PATIENCE = 3
_TELL_S, _FORGET_S = 1.0, 10.0
_LOOK_S = 0.5
_GAP_M = 0.05


class Claims:
    """What one robot knows about the tiles, and which robot has reserved them.

    Attributes:
        here: the tile that the robot was on last.
        covered: tiles that it or another robot has reported as covered.
        points: its backtracking points.
        mine: tiles that it has reserved.
        refused: tiles that it could not reach.
        room: where its body fits on the map, bool (rows, columns).
        changed: whether something has changed.
        tell_s: when to tell the others again [s].
    """

    def __init__(self, robot: Robot, tile_m: float, here: Tile):
        self._reach_m, self._tile_m = robot.model.outer_radius_m, tile_m
        self._rank = robot.team.index(robot.name)
        self.here, self.mine = here, {here}
        self.covered: set[Tile] = set()
        self.points: set[Tile] = set()
        self.refused: set[Tile] = set()
        self._in_vain: dict[Tile, int] = {}
        self._held: dict[str, tuple[AbstractSet[Tile], float]] = {}
        self._reserved: set[Tile] = set()
        self._untold: set[Tile] = set()
        self.tell_s, self.changed = 0.0, True
        self._seen, self._look_s = -1, -math.inf
        self._tiles: Tiles | None = None
        self.update(robot)

    @property
    def company(self) -> bool:
        """Whether another robot was heard recently."""
        return bool(self._held)

    def update(self, robot: Robot) -> None:
        """Update the tiles from the map."""
        belief = robot.map
        if belief is None or belief.version == self._seen or robot.time < self._look_s:
            return
        self._seen, self._look_s = belief.version, robot.time + _LOOK_S
        room = robot.model.outer_radius_m + _GAP_M
        wide = clearance(belief.occupancy(), belief.grid.resolution, 2.0 * room) >= room
        self.changed = True
        self.room = wide & robot.reachable()
        self._tiles = coarse(belief.grid, self.room, self._tile_m, self._reach_m)

    @property
    def tiles(self) -> Tiles:
        """The tiles of its map."""
        assert self._tiles is not None
        return self._tiles

    def done(self, tile: Tile) -> bool:
        """Return whether a tile is solid or covered."""
        return tile in self.covered or self.tiles.at(tile) == SOLID

    def free(self, tile: Tile) -> bool:
        """Return whether a tile may be driven onto."""
        return self.tiles.at(tile) == OPEN and not (
            tile in self.covered or tile in self.refused or tile in self._reserved
        )

    def refuse(self, tile: Tile) -> None:
        """Record that the robot could not reach a tile."""
        self.refused.add(tile)
        self._in_vain[tile] = self._in_vain.get(tile, 0) + 1

    def try_again(self) -> None:
        """Allow the tiles that the robot could not reach once more, but not forever."""
        self.refused = {t for t in self.refused if self._in_vain[t] >= PATIENCE}

    def cover(self, tile: Tile) -> None:
        """Record a tile as covered."""
        if tile not in self.covered:
            self.covered.add(tile)
            self._untold.add(tile)
        self.points.discard(tile)

    def tell(self, robot: Robot) -> None:
        """Broadcast the reservations and the newly covered tiles."""
        robot.send(("state", _packed(self.mine), _packed(self._untold)), kind=KIND)
        self._untold, self.tell_s = set(), robot.time + _TELL_S

    def hear(self, robot: Robot, sender: str, mine_packed: np.ndarray, covered_packed: np.ndarray) -> None:
        """Process what another robot has reserved and newly covered."""
        if sender not in self._held:  # new or back in reach: it may have missed all messages
            self._untold |= self.covered
        held, covered = _unpacked(mine_packed), _unpacked(covered_packed)
        self._held[sender] = held if robot.team.index(sender) > self._rank else held - self.mine, robot.time
        if robot.team.index(sender) > self._rank:
            self.mine -= held - {self.here}
        self.changed = True
        self.covered |= covered
        self.points -= covered

    def forget(self, now_s: float, heard: bool) -> None:
        """Forget robots that have been silent for long, and their reservations."""
        lost = [n for n, (_, heard_s) in self._held.items() if now_s - heard_s > _FORGET_S]
        for name in lost:
            del self._held[name]
        if heard or lost:
            self._reserved = set().union(*(held for held, _ in self._held.values()))

    def open_points(self) -> list[Tile]:
        """Return its backtracking points that are still open."""
        self.points = {p for p in self.points if not self.done(p)}
        return sorted(self.points)


def _packed(tiles: set[Tile]) -> np.ndarray:
    """Return tiles as int32 (k, 2): eight bytes each over the radio."""
    return np.array(sorted(tiles), np.int32).reshape(-1, 2)


def _unpacked(tiles: np.ndarray) -> frozenset[Tile]:
    return _tiles_in(np.asarray(tiles, np.int32).tobytes())


@lru_cache(maxsize=64)
def _tiles_in(packed: bytes) -> frozenset[Tile]:
    """Return the tiles of a message; cached, because many robots receive it."""
    return frozenset(zip(*np.frombuffer(packed, np.int32).reshape(-1, 2).T.tolist(), strict=True))
