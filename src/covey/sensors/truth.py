"""`Truth`: the true state that sensors read, as arrays."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from covey.kernel import kernel
from covey.world.targets import NO_TARGETS, Targets


class Bodies(NamedTuple):
    """The bodies of all robots in the world frame, sorted into square buckets, for kernels that search nearby ones.

    ``discs`` (n, k, 3): x, y, radius [m]; ``disc_count`` (n,); ``place`` (4,): x, y of the corner of bucket [0, 0],
    side of a bucket, and the largest extent of any body from its robot's position [m]; ``shape`` (2,): buckets along y
    and x of a world; ``start`` and ``robots``: bucket b holds robots[start[b]:start[b + 1]], world by world;
    ``world_id`` (n,): the worlds of the robots.
    """

    discs: np.ndarray
    disc_count: np.ndarray
    place: np.ndarray
    shape: np.ndarray
    start: np.ndarray
    robots: np.ndarray
    world_id: np.ndarray


NO_BODIES = Bodies(
    np.zeros((0, 1, 3)),
    np.zeros(0, np.int64),
    np.array([0.0, 0.0, 1.0, 0.0]),
    np.zeros(2, np.int64),
    np.zeros(2, np.int64),
    np.zeros(2, np.int64),
    np.zeros(0, np.int64),
)


@dataclass(eq=False)  # a frozen one takes three times as long to make
class Truth:
    """The true positions of the walls and of n robots at one instant, in the world frame.

    Attributes:
        skip: uint8 (4, rows, columns), see `covey.geometry.raycast.skip_field`.
        frame: place of that grid, see `covey.geometry.Grid.frame`.
        pose: float64 (n, 3), x, y [m], heading [rad].
        pose_before: float64 (n, 3), the true poses at the previous sample of the reading sensor.
        pose_earlier: those at the sample before that one; None: there was none.
        twist: float64 (n, 3), vx, vy [m/s], omega [rad/s] in the body frame, at the end of the control step.
        discs: float64 (n, k, 3), x, y, radius [m] of the discs of each body in the body frame.
        disc_count: int64 (n,), number of used rows of the k.
        felt: float64 (k, 3), recent contacts: substep, robot, bearing [rad] in its body frame at that time.
        felt_since: the substeps after which and until which the reading sensor feels contacts, see `touches`.
        identity: int64 (n,), the identity by which other robots recognise a robot.
        dt_s: time since the previous sample of the reading sensor [s].
        dt_before_s: time between that sample and the one before it [s]; 0: there was none.
        ground: the `covey.world.ground.Ground` below everything; None: a level plane.
        altitude_roll_pitch: float64 (n, 3), [m, rad, rad] of the point of the body where the wheels stand; a positive
            pitch looks down (ROS REP 103).
        wall_height_m: height of all walls above the ground [m].
        targets: the targets in the world.
        world_id: int64 (n,), robots in different worlds do not see each other; ``worlds``: the number of worlds, which
            have equally many robots.
    """

    skip: np.ndarray
    frame: np.ndarray
    pose: np.ndarray
    pose_before: np.ndarray
    twist: np.ndarray
    discs: np.ndarray
    disc_count: np.ndarray
    felt: np.ndarray
    felt_since: tuple[int, int]
    identity: np.ndarray
    dt_s: float
    ground: Any = None
    altitude_roll_pitch: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    wall_height_m: float = 2.0
    pose_earlier: np.ndarray | None = None
    dt_before_s: float = 0.0
    targets: Targets = NO_TARGETS
    world_id: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    worlds: int = 1

    def __post_init__(self) -> None:
        if len(self.altitude_roll_pitch) != len(self.pose):
            self.altitude_roll_pitch = np.zeros((len(self.pose), 3))
        if len(self.world_id) != len(self.pose):
            self.world_id = np.zeros(len(self.pose), np.int64)

    @property
    def team_size(self) -> int:
        """Number of robots in a world."""
        return len(self.pose) // self.worlds

    @cached_property
    def bodies(self) -> Bodies:
        """The bodies in the world frame, sorted by place; computed once, at first use."""
        n = len(self.pose)
        world, place, shape = np.zeros(self.discs.shape), np.zeros(4), np.zeros(2, np.int64)
        start = np.zeros(3 * n + 1 + self.worlds, np.int64)
        bucket, robots = np.empty(n, np.int64), np.empty(n, np.int64)
        teams = self.world_id, self.worlds
        _sort_bodies(self.pose, self.discs, self.disc_count, *teams, world, place, shape, start, bucket, robots)
        return Bodies(world, self.disc_count, place, shape, start, robots, self.world_id)

    def touches(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the contacts since the previous sample: the robots, int64 (k,), and bearings [rad], oldest first."""
        after, until = self.felt_since
        rows = self.felt[(self.felt[:, 0] > after) & (self.felt[:, 0] <= until)]
        return rows[:, 1].astype(np.int64), rows[:, 2]


@kernel
def _sort_bodies(pose, discs, disc_count, world_id, worlds, world, place, shape, start, bucket, robots):
    """Fill the arrays of `Bodies`; ``bucket`` (n,) is scratch."""
    n = pose.shape[0]
    team = n // worlds
    left, bottom, right, top, reach = math.inf, math.inf, -math.inf, -math.inf, 0.0
    for i in range(n):
        x, y, c, s = pose[i, 0], pose[i, 1], math.cos(pose[i, 2]), math.sin(pose[i, 2])
        left, right, bottom, top = min(left, x), max(right, x), min(bottom, y), max(top, y)
        for k in range(disc_count[i]):
            dx, dy, radius = discs[i, k, 0], discs[i, k, 1], discs[i, k, 2]
            world[i, k, 0] = x + c * dx - s * dy
            world[i, k, 1] = y + s * dx + c * dy
            world[i, k, 2] = radius
            reach = max(reach, math.sqrt(dx * dx + dy * dy) + radius)
    width, height = right - left, top - bottom
    # In each world about one robot per bucket and never more than 3 n + 1 buckets, even if all stand on a line.
    side = max(math.sqrt(width * height / team), width / team, height / team, 1e-3)
    rows, columns = int(height / side) + 1, int(width / side) + 1
    for i in range(n):
        row = world_id[i] * rows + int((pose[i, 1] - bottom) / side)
        bucket[i] = row * columns + int((pose[i, 0] - left) / side)
        start[bucket[i]] += 1
    for b in range(1, worlds * rows * columns + 1):
        start[b] += start[b - 1]
    for i in range(n - 1, -1, -1):
        start[bucket[i]] -= 1
        robots[start[bucket[i]]] = i
    place[0], place[1], place[2], place[3] = left, bottom, side, reach
    shape[0], shape[1] = rows, columns


@kernel
def bucket_window(bodies, robot, x, y, radius):
    """Return the first and last row and column of the buckets that a square of half side ``radius`` [m] meets.

    They are buckets of the world of a robot; none if there are no bodies.
    """
    left, bottom, side = bodies.place[0], bodies.place[1], bodies.place[2]
    rows, columns = float(bodies.shape[0] - 1), float(bodies.shape[1] - 1)
    row0 = int(min(max((y - radius - bottom) / side, 0.0), rows + 1.0))
    row1 = int(min(max((y + radius - bottom) / side, -1.0), rows))
    column0 = int(min(max((x - radius - left) / side, 0.0), columns + 1.0))
    column1 = int(min(max((x + radius - left) / side, -1.0), columns))
    above = bodies.world_id[robot] * bodies.shape[0] if len(bodies.world_id) > 0 else 0
    return above + row0, above + row1, column0, column1
