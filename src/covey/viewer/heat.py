"""`Heat`: when each robot saw each cell, and how often it came there, counted from the first step on.

It counts while a page can be opened, whether somebody looks or not: who comes late sees the whole run. It only reads
the simulation.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from covey.geometry.beams import beam_directions, mark_beam, sensor_in_grid
from covey.geometry.raycast import cast_many
from covey.geometry.se2 import compose
from covey.kernel import kernel
from covey.results.snapshot import Snapshot
from covey.runtime.simulation import Simulation
from covey.viewer.layers import Layer
from covey.world.visibility.beam_culling import BLOCK
from covey.world.visibility.explorable_ground import GroundCells
from covey.world.visibility.explored import ExploredTruth

MOST_CELLS = 20_000_000
"""Robots times cells above which only the visits of the team are counted; else each takes 10 bytes at most."""
_BATCH, _BATCH_BYTES = 20_000, 8_000_000
"""Steps that wait at most until somebody asks for what they add, and the bytes that their poses may take."""
EVERY = 100
"""Steps by which the first and the last look of a robot may be off; the number of robots if that is more."""


class Heat:
    """What each robot saw and where it was, by cell.

    Args:
        sim: the simulation, before its first step.

    Attributes:
        first: the step in which each robot first saw a cell, plus 1; 0: never. int32 (n, rows, columns).
    """

    def __init__(self, sim: Simulation):
        self._sim, self._grid, n = sim, sim.world_state.grid, len(sim.names)
        self._explored, shape = sim.scoring.exploration.cells, self._grid.shape
        self._visits, self._first_covered = np.zeros(shape, np.int32), np.full(shape, -1, np.int32)
        few = n * self._grid.cells.size <= MOST_CELLS
        sees = few and self._explored is not None
        self._each = np.zeros((n * few, *shape), np.uint16)
        self.first, self._last = (np.zeros((n * sees, *shape), np.int32) for _ in range(2))
        self._scans: list[tuple[int, int, np.ndarray, np.ndarray, int]] = []  # robot, lidar, pose, ranges, step + 1
        self._every = max(EVERY, n)  # one robot per step at most
        self._lidars = sim.sensing.feeding("scan") if sees else []
        self._others = sim.sensing.feeding("ground") if sees and sim.world.ground is not None else []
        looks = np.isin(np.arange(n), [i for bank in self._lidars + self._others for i in bank.members])
        self._due = np.where(looks, np.arange(n), np.inf)
        self._soonest = 0 if sees else math.inf
        self._directions = [beam_directions(bank.record.angles) for bank in self._lidars]
        self._bytes = 0  # of the scans that wait
        self._ground = GroundCells(sim.world) if self._others else None
        self._seen = [self._explored.seen(i).copy() for i in range(len(self.first))] if self._explored else []
        self._mark = np.zeros(shape if self._lidars else (0, 0), np.uint8)
        steps = int(np.clip(_BATCH_BYTES // (24 * max(n, 1)), 1, _BATCH))
        self._poses = np.empty((steps + 1, n, 3))
        self._carried = np.zeros((steps + 1, n), np.bool_)  # there from nowhere
        self._poses[1], self._carried[1] = sim.state.pose, True
        self._waiting, self._step = 1, 0
        self._count()
        self._step = 0  # the start is told as step 1, too

    def add_step(self, snapshot: Snapshot) -> None:
        """Take in a step."""
        if self._waiting == len(self._poses) - 1:
            self._count()
        self._waiting += 1
        self._poses[self._waiting] = snapshot.pose
        for event in snapshot.events:
            if event.kind == "placed":  # it was carried, and has passed over nothing
                self._carried[self._waiting, self._sim.names.index(event.robot)] = True
        if snapshot.step >= self._soonest:
            self._look_around(snapshot.step)

    def _look_around(self, step: int) -> None:
        """Note what the robot whose turn it is has explored, and what robots see that are due."""
        assert self._explored is not None
        if (i := step % self._every) < len(self.first):
            note_new(self._explored.seen(i), self._seen[i], self.first[i], step + 1)
        looking = np.zeros(len(self._due), np.bool_)
        for lidar, bank in enumerate(self._lidars):
            if bank.samples:
                self._look(lidar, step, looking)
        for bank in self._others:
            if bank.samples:
                self._look_at_ground(bank, step, looking)
        self._due[looking] = step + self._every
        turn = step + 1 if i + 1 < len(self.first) else step + self._every - i
        self._soonest = min(turn, self._due.min(initial=turn))

    def layers(self) -> dict[str, Callable[[], Layer]]:
        """Return the layers that it adds to those of `covey.viewer.layers.layers_of`."""
        grid, explored, groups = self._grid, self._explored, {group.name: group.names for group in self._sim.groups}
        made = {
            "visits": lambda: Layer("visits", grid, lambda: self.visits),
            "first_covered": lambda: Layer("first_covered", grid, lambda: self.first_covered),
        }

        def add(kind: str, name: str, cells: Callable[[], np.ndarray]) -> None:
            made[f"{kind}:{name}"] = lambda: Layer(f"{kind}:{name}", grid, cells)

        for name, robots in parts_of(self._sim.names, groups).items():
            if len(self._each):
                add("visits", name, lambda robots=robots: self.each[robots].sum(axis=0, dtype=np.int32))
            if explored is not None and len(self.first):
                add("first_seen", name, lambda robots=robots: _earliest(self.first[robots]))
                add("last_seen", name, lambda robots=robots: self.last(robots).max(axis=0) - 1)
                add("overlap", name, lambda robots=robots: self._overlap(explored, robots))
        return made

    def _overlap(self, explored: ExploredTruth, robots: list[int]) -> np.ndarray:
        """Return how many robots of a group have seen each cell; of one robot, how many have seen what it has seen."""
        if len(robots) == 1:
            return explored.seen_by * explored.explored(robots[0])
        return sum((explored.explored(i).astype(np.int32) for i in robots), np.zeros(self._grid.shape, np.int32))

    @property
    def visits(self) -> np.ndarray:
        """How often bodies of the team came onto each cell, int32 (rows, columns); the start is the first time."""
        self._count()
        return self._visits

    @property
    def first_covered(self) -> np.ndarray:
        """The step in which they first did, int32 (rows, columns); 1 for the start, -1: never."""
        self._count()
        return self._first_covered

    @property
    def each(self) -> np.ndarray:
        """Visits of each robot, uint16 (n, rows, columns); without robots if there are too many cells."""
        self._count()
        return self._each

    def last(self, robots: list[int]) -> np.ndarray:
        """Return the step in which each of some robots last saw a cell, plus 1; 0: never. int32 (k, rows, columns)."""
        self._see()
        last, first = self._last[robots], self.first[robots]
        return np.where(last == 0, first, last)

    def _see(self) -> None:
        """Note what the scans have seen that wait since the last time."""
        frame = self._grid.frame
        for robot, lidar, pose, ranges, step in self._scans:
            mount = np.array(self._lidars[lidar].record.mount, float)
            see(self._last[robot], self._mark, frame, pose, mount, self._directions[lidar], ranges, step)
        self._scans.clear()
        self._bytes = 0

    def _count(self) -> None:
        """Count what has been taken in since the last time."""
        if not self._waiting:
            return
        part = slice(self._waiting + 1)
        poses, carried, discs, frame = self._poses[part], self._carried[part], self._sim.model.discs, self._grid.frame
        count_steps(poses, carried, discs, frame, self._visits, self._each, self._first_covered, self._step)
        self._poses[0], carried[:] = poses[-1], False
        self._step, self._waiting = self._step + self._waiting, 0

    def _look(self, lidar: int, step: int, looking: np.ndarray) -> None:
        """Keep the newest scans of the robots that are due."""
        bank = self._lidars[lidar]
        sample, record = bank.samples[-1], bank.record
        for row in np.flatnonzero(self._due[bank.members] <= step).tolist():
            i = int(bank.members[row])
            pose = sample.pose[i].copy()
            if sample.readings is not None:
                ranges = np.array(sample.readings.truth[row], np.float64)
            else:
                x, y, heading = compose(pose, record.mount).tolist()
                walls, rays = (self._sim.world_state.skip, self._grid.frame), len(record.angles)
                at = np.full(rays, x), np.full(rays, y), heading + np.asarray(record.angles)
                ranges = cast_many(*walls, *at, record.range_m)
            looking[i] = True
            self._scans.append((i, lidar, pose, ranges, step + 1))
            self._bytes += ranges.nbytes
        if self._bytes > _BATCH_BYTES:
            self._see()

    def _look_at_ground(self, bank: Any, step: int, looking: np.ndarray) -> None:
        assert self._ground is not None
        sample = bank.samples[-1]
        due = self._due[bank.members] <= step
        if not due.any():
            return
        row, points = sample.readings.seen(sample.pose[bank.members])
        row, points = row[due[row]], points[due[row]]
        which, cells = self._ground.at(points)
        self._last.reshape(len(self._last), -1)[bank.members[row[which]], cells] = step + 1
        looking[bank.members[due]] = True


def parts_of(names: Sequence[str], groups: Mapping[str, Sequence[str]]) -> dict[str, list[int]]:
    """Return of whom there are layers, and their robots: each robot, and each group if there are several.

    Examples:
        >>> parts_of(["a0", "a1", "b0"], {"a": ["a0", "a1"], "b": ["b0"]})
        {'a0': [0], 'a1': [1], 'b0': [2], 'group a': [0, 1], 'group b': [2]}
    """
    several = groups if len(groups) > 1 else {}
    return {name: [i] for i, name in enumerate(names)} | {
        f"group {group}": [names.index(name) for name in its] for group, its in several.items()
    }


def _earliest(first: np.ndarray) -> np.ndarray:
    """Return the least of steps plus 1, (k, rows, columns), as steps; 0, never, counts as the largest, and gives -1."""
    return (first - 1).view(np.uint32).min(axis=0).view(np.int32)


@kernel
def note_new(seen, before, first, step):
    """Set the step in the cells that a robot has explored since the last call, and bring ``before`` up to date.

    Args:
        seen, before: see `ExploredTruth.seen`.
        first: int32 (rows, columns); set where it is 0.
    """
    for row in range(seen.shape[0]):
        changed = np.uint16(0)
        for block in range(seen.shape[1]):
            changed |= before[row, block] ^ seen[row, block]
        for block in range(seen.shape[1] if changed else 0):
            new = seen[row, block] & ~before[row, block]
            before[row, block] = seen[row, block]
            for bit in range(BLOCK * BLOCK if new else 0):
                if (new >> bit) & 1:
                    y, x = BLOCK * row + bit // BLOCK, BLOCK * block + bit % BLOCK
                    if first[y, x] == 0:
                        first[y, x] = step


@kernel
def see(last, mark, frame, pose, mount, directions, ranges, step):
    """Set the step in the cells that beams cross, unless a later one stands there.

    Args:
        last: int32 (rows, columns).
        mark: uint8 (rows, columns), zeros; they are zeros again at the end.
        frame, pose, mount: see `covey.geometry.beams.sensor_in_grid`.
        directions: unit vectors of the beams, (rays, 2). ranges: their lengths [m], (rays,).
    """
    u, v, c, s = sensor_in_grid(frame, pose, mount)
    box = np.array([mark.shape[0], -1, mark.shape[1], -1], np.int64)
    for i in range(ranges.shape[0]):
        length = ranges[i] / frame[4]
        if length > 0.0 and length < np.inf:
            x, y = directions[i, 0], directions[i, 1]
            mark_beam(mark, u, v, u + length * (c * x - s * y), v + length * (s * x + c * y), box)
    for row in range(box[0], box[1] + 1):
        for column in range(box[2], box[3] + 1):
            if mark[row, column]:
                mark[row, column] = 0
                last[row, column] = max(last[row, column], step)


@kernel
def count_steps(poses, carried, discs, frame, visits, each, first, step):
    """Count the entries of bodies in several steps, see `count_entries`.

    Args:
        poses: before the first step, then after each, (k + 1, n, 3).
        carried: which robots came there from nowhere, bool (k + 1, n).
        step: number of the last step before them.
    """
    before = np.empty_like(poses[0])
    for k in range(1, poses.shape[0]):
        before[:] = poses[k - 1]
        for i in range(poses.shape[1]):
            if carried[k, i]:
                before[i, 0] = np.nan
        count_entries(before, poses[k], discs, frame, visits, each, first, step + k)


@kernel
def count_entries(before, pose, discs, frame, visits, each, first, step):
    """Add 1 in the cells onto which bodies have come: cells whose centres a disc swept, and on which none stood before.

    Args:
        before, pose: poses (n, 3); a pose before that is NaN was nowhere, and nothing is swept.
        discs: (n, k, 3): x, y, radius [m] on the body; radius 0 for none.
        frame: see `Grid.frame`.
        visits: int32 (rows, columns), of all robots.
        each: uint16 (n, rows, columns), of each robot; or without robots. It ends at 65535.
        first: int32 (rows, columns); set to ``step`` where it is negative.
    """
    discs_now, discs_then = np.empty((discs.shape[1], 3)), np.empty((discs.shape[1], 3))
    for i in range(pose.shape[0]):
        nowhere = np.isnan(before[i, 0])
        if before[i, 0] == pose[i, 0] and before[i, 1] == pose[i, 1] and before[i, 2] == pose[i, 2]:
            continue
        _in_grid(frame, pose[i], discs[i], discs_now)
        _in_grid(frame, pose[i] if nowhere else before[i], discs[i], discs_then)
        for k in range(discs.shape[1]):
            radius = discs_now[k, 2]
            if radius <= 0.0:
                continue
            low = max(int(np.ceil(min(discs_now[k, 1], discs_then[k, 1]) - radius)), 0)
            high = min(int(np.floor(max(discs_now[k, 1], discs_then[k, 1]) + radius)), visits.shape[0] - 1)
            left = max(int(np.ceil(min(discs_now[k, 0], discs_then[k, 0]) - radius)), 0)
            right = min(int(np.floor(max(discs_now[k, 0], discs_then[k, 0]) + radius)), visits.shape[1] - 1)
            for row in range(low, high + 1):
                for column in range(left, right + 1):
                    if not _swept(discs_then[k], discs_now[k], column, row):
                        continue
                    known = False
                    for j in range(discs.shape[1]):
                        stood = not nowhere and _swept(discs_then[j], discs_then[j], column, row)
                        known |= stood or (j < k and _swept(discs_then[j], discs_now[j], column, row))
                    if not known:
                        visits[row, column] += 1
                        if first[row, column] < 0:
                            first[row, column] = step
                        if each.shape[0] and each[i, row, column] < 65535:
                            each[i, row, column] += 1


@kernel(inline=True)
def _in_grid(frame, pose, discs, out):
    """Write column, row and radius [cells] of each disc of a body; whole numbers are centres of cells."""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    for k in range(discs.shape[0]):
        x = pose[0] - frame[0] + c * discs[k, 0] - s * discs[k, 1]
        y = pose[1] - frame[1] + s * discs[k, 0] + c * discs[k, 1]
        out[k, 0] = (frame[2] * x + frame[3] * y) / frame[4] - 0.5
        out[k, 1] = (frame[2] * y - frame[3] * x) / frame[4] - 0.5
        out[k, 2] = discs[k, 2] / frame[4]


@kernel(inline=True)
def _swept(a, b, x, y):
    """Return whether a point is within the radius of the way of a disc from a to b."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    squared = dx * dx + dy * dy
    t = 0.0 if squared == 0.0 else min(max(((x - a[0]) * dx + (y - a[1]) * dy) / squared, 0.0), 1.0)
    ex, ey = x - a[0] - t * dx, y - a[1] - t * dy
    return ex * ex + ey * ey <= b[2] * b[2]
