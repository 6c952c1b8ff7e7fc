"""A bag of ROS as a run folder, which `covey view`, `covey plot` and the metrics open as any other."""

import math
from pathlib import Path
from typing import Any, Literal

import numpy as np

from covey.errors import InvalidValueError
from covey.experiments.logs.odometry_noise import resampled
from covey.geometry.grid import Grid
from covey.geometry.mounting import on_beams
from covey.geometry.se2 import compose, inverse
from covey.mapping.map_of_scans import map_of
from covey.mapping.slam.bag_frames import PoseTrack
from covey.mapping.slam.following import follow
from covey.mapping.slam.log import Log, relative
from covey.results.manifest import build_manifest
from covey.results.maps import Maps
from covey.results.recorder import Recorder
from covey.results.recording import Details, Recording
from covey.results.run import Run
from covey.results.snapshot import Snapshot
from covey.ros.bag_reading import Bag, BagRobot, world_of
from covey.world.visibility.covered import CoveredCells
from covey.world.visibility.explored import ExploredTruth
from covey.world.world import World

Poses = Literal["better", "slam", "odometry"]
RESOLUTION_M = 0.05
"""Side of a cell of a map that is made of scans [m]."""
_RADIUS_M = 0.2
_LONGEST_S = 200_000.0


def run_of(
    bag: Bag,
    folder: Path | None = None,
    *,
    poses: Poses | None = None,
    map_topic: str | None = None,
    overwrite: bool = False,
) -> Run:
    """Write a bag as a run folder, with steps of 0.1 s from its first odometry on.

    The *pose* of a robot is the best that is known of it, its *estimate* the odometry from the same start. The world is
    a map of the bag, or else what the scans show from the poses; explored is what the scans crossed.

    Args:
        bag: the bag.
        folder: the run folder; None: a temporary one.
        poses: ``better`` (of the bag, see `BagRobot`), ``slam`` (graph SLAM over the scans) or ``odometry``. None: the
            first of these that the bag allows for a robot.
        map_topic: the topic of the map; None: the best, see `Bag.world`.
        overwrite: replace a finished run.

    Raises:
        InvalidValueError: the bag has no robot, or not what ``poses`` or ``map_topic`` ask for; or no scans and no map.
        RunFolderError: the folder cannot be written.
    """
    if not bag.robots:
        raise InvalidValueError(f"the bag {bag.name} has maps, but no robot: {bag.why or 'no nav_msgs/msg/Odometry'}")
    begin = min(robot.odometry.times[0] for robot in bag.robots)
    end = max(robot.odometry.times[-1] for robot in bag.robots)
    if not 0.1 <= end - begin <= _LONGEST_S:
        raise InvalidValueError(f"the odometry of the bag {bag.name} lasts {end - begin:g} s; are its clocks the same?")
    tracks = [track_of(robot, poses) for robot in bag.robots]
    world = bag.world(map_topic) if bag.maps or map_topic else _drawn(bag, tracks)
    at = 0.1 * np.arange(1, math.floor(10.0 * (end - begin)) + 1)
    true = np.stack([resampled(track.times - begin, track.values, at) for track in tracks], axis=1)
    estimates = np.stack(
        [
            resampled(robot.odometry.times - begin, _from(track, robot), at)
            for robot, track in zip(bag.robots, tracks, strict=True)
        ],
        axis=1,
    )
    return _write(
        bag, world, tracks, at, begin, true, estimates, Recording(folder=folder, overwrite=overwrite, name=bag.name)
    )


def track_of(robot: BagRobot, poses: Poses | None) -> PoseTrack:
    """Return where a robot was, as asked for; see `run_of`.

    Raises:
        InvalidValueError: the bag does not tell that of the robot.
    """
    if poses == "odometry":
        return robot.odometry
    if poses == "better" and robot.better is None:
        raise InvalidValueError(
            f"the bag knows {robot.name} by its odometry alone: it has no topic ground_truth, and no transform to odom"
        )
    if poses != "slam" and robot.better is not None:
        return robot.better
    if robot.log is None:
        if poses == "slam":
            raise InvalidValueError(f"the bag has no scans of {robot.name}; SLAM needs them")
        return robot.odometry
    log = robot.log
    start = log.odometry[0]
    return PoseTrack(log.times, compose(start, follow(log).poses))


def _from(track: PoseTrack, robot: BagRobot) -> np.ndarray:
    """Return the odometry (n, 3) from where the robot was at its first message, or at the first pose that is known."""
    odometry = robot.odometry
    begin = max(odometry.times[0], track.times[0])
    known, measured = (resampled(one.times, one.values, np.array([begin]))[0] for one in (track, odometry))
    return compose(compose(known, inverse(measured)), odometry.values)


def _drawn(bag: Bag, tracks: list[PoseTrack]) -> World:
    """Return the world that the scans of all robots show: what any of them has hit is a wall.

    Raises:
        InvalidValueError: there are no scans.
    """
    grids = []
    for robot, track in zip(bag.robots, tracks, strict=True):
        if (log := robot.log) is not None:
            where = resampled(track.times, track.values, log.times)
            grids.append(map_of(log, where, RESOLUTION_M, log.laser.range_max))
    if not grids:
        raise InvalidValueError(f"the bag {bag.name} has neither a map nor scans; a run needs a world")
    low = np.min([grid.origin[:2] for grid in grids], axis=0)
    corners = [np.round((np.array(grid.origin[:2]) - low) / RESOLUTION_M).astype(int) for grid in grids]
    shape = np.max(
        [[y + grid.shape[0], x + grid.shape[1]] for (x, y), grid in zip(corners, grids, strict=True)], axis=0
    )
    cells = np.full(tuple(shape), -1, np.int8)
    for (x, y), grid in zip(corners, grids, strict=True):
        part = cells[y : y + grid.shape[0], x : x + grid.shape[1]]
        np.maximum(part, grid.cells, out=part)
    return world_of(Grid(cells, RESOLUTION_M, (float(low[0]), float(low[1]), 0.0)), bag.name)


def _write(
    bag: Bag,
    world: World,
    tracks: list[PoseTrack],
    at: np.ndarray,
    begin: float,
    true: np.ndarray,
    estimates: np.ndarray,
    recording: Recording,
) -> Run:
    names, n = [robot.name for robot in bag.robots], len(bag.robots)
    explored = ExploredTruth(world.grid.with_cells(world.free), n)
    covered = CoveredCells(world.grid.with_cells(world.free), n)
    recorder = Recorder(recording, names)
    bodies = [
        {"group": name, "kind": "recorded", "start": [pose.tolist()], "discs_m": [[0.0, 0.0, _RADIUS_M]]}
        for name, pose in zip(names, true[0], strict=True)
    ]
    place = {"name": world.name, "wall_height_m": world.wall_height_m, "doors": []}
    facts: dict[str, Any] = build_manifest(names, 0, recorder.recording, {"timeout_s": float(at[-1])})
    record = Details(plans=False, scans_every_s=0.1).model_dump()
    recorder.open(facts | {"step_s": 0.1, "bodies": bodies, "world": place, "record": record})
    try:
        _observe(recorder, bag, tracks, at, begin, true, estimates, (explored, covered))
    except BaseException:
        recorder.abandon("the bag was not read to its end")
        raise
    maps = Maps(
        truth=world.grid,
        explorable=world.free,
        first_explored=explored.first_step,
        last_explored=explored.last_step,
        last_covered=covered.last_step,
        explored_by=explored.seen_by,
        covered_by=covered.passed_by,
    )
    return recorder.close("stopped", maps)


def _observe(
    recorder: Recorder,
    bag: Bag,
    tracks: list[PoseTrack],
    at: np.ndarray,
    begin: float,
    true: np.ndarray,
    estimates: np.ndarray,
    cells: tuple[ExploredTruth, CoveredCells],
) -> None:
    explored, covered = cells
    n = len(bag.robots)
    seen = [_seen(robot, track, at, begin) for robot, track in zip(bag.robots, tracks, strict=True)]
    for k, (robot, one) in enumerate(zip(bag.robots, seen, strict=True)):
        if robot.log is not None and len(one[0]):
            _add_scans(recorder, k, robot.log, *one, begin)
    orders = np.stack([_commands(robot, at, begin) for robot in bag.robots], axis=1)
    before, distance, next_scan = true[0], np.zeros(n), [0] * n
    nothing = np.zeros(n, np.int64)
    for k, time_s in enumerate(at.tolist()):
        for i, (robot, (steps, rows, poses)) in enumerate(zip(bag.robots, seen, strict=True)):
            if robot.log is None:
                continue
            while next_scan[i] < len(steps) and steps[next_scan[i]] <= k + 1:
                j = next_scan[i]
                laser = robot.log.laser
                angles, scan = robot.log.scan(rows[j])
                ranges = np.minimum(np.where(np.isinf(scan), laser.range_max, scan), laser.range_max)
                explored.mark([i], poses[j][None], ranges[None], angles, robot.log.mount(rows[j]), k + 1)
                next_scan[i] += 1
        covered.mark(true[k], np.tile([0.0, 0.0, _RADIUS_M], (n, 1, 1)), k + 1, before)
        moved = relative(before, true[k])
        distance = distance + np.hypot(moved[:, 0], moved[:, 1])
        shares = {"explored_share": explored.share_each, "explored_share_union": explored.share_union}
        recorder.observe(
            Snapshot(
                step=k + 1,
                time_s=time_s,
                pose=true[k],
                estimate=estimates[k],
                twist=moved / 0.1,
                command=orders[k],
                distance_m=distance,
                collisions_robot=nothing,
                collisions_wall=nothing,
                energy_j=np.full(n, np.nan),
                min_separation_m=_separation(true[k]),
                mission={**shares, "covered_share": covered.share},
            )
        )
        before = true[k]


def _seen(robot: BagRobot, track: PoseTrack, at: np.ndarray, begin: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return at which steps scans were the newest, their rows in the log, and the robot's poses at them."""
    if robot.log is None:
        return np.zeros(0, int), np.zeros(0, int), np.zeros((0, 3))
    steps = np.ceil((robot.log.times - begin) / 0.1 - 1e-6).astype(int)
    rows = np.flatnonzero((steps >= 1) & (steps <= len(at)))
    return steps[rows], rows, resampled(track.times, track.values, robot.log.times[rows])


def _add_scans(
    recorder: Recorder, k: int, log: Log, steps: np.ndarray, rows: np.ndarray, poses: np.ndarray, begin: float
) -> None:
    """Record the newest scan of each step; those with beams of their own as the nearest beams of most scans."""
    last = np.append(np.flatnonzero(np.diff(steps)), len(steps) - 1)
    ranges = log.ranges[rows[last]]
    if log.fans is not None:
        ranges = np.stack([on_beams(log.laser.angles, *log.scan(row)) for row in rows[last]])
    ranges = np.where(np.isfinite(ranges) & (ranges >= log.laser.range_max), np.inf, ranges)
    arrays = {
        "robot": np.array([k], np.int32),
        "sensor": np.array(["lidar"]),
        "angle": log.laser.angles,
        "range_m": np.array([log.laser.range_max]),
        "step": steps[last].astype(np.int32),
        "time_s": log.times[rows[last]] - begin,
        "pose": compose(poses[last], np.array([log.mount(row) for row in rows[last]]))[:, None],
        "ranges": ranges[:, None].astype(np.float32),
    }
    recorder.add_arrays("scans", {f"{k}/{name}": array for name, array in arrays.items()})


def _commands(robot: BagRobot, at: np.ndarray, begin: float) -> np.ndarray:
    """Return the newest command at each time (k, 3); nan before the first one, and without any."""
    orders = robot.commands
    if orders is None:
        return np.full((len(at), 3), np.nan)
    newest = np.searchsorted(orders.times - begin, at, side="right") - 1
    return np.where(newest[:, None] >= 0, orders.values[newest], np.nan)


def _separation(poses: np.ndarray) -> float:
    if len(poses) < 2:
        return math.nan
    apart = np.hypot(*(poses[:, None, :2] - poses[None, :, :2]).transpose(2, 0, 1))
    return float(apart[~np.eye(len(poses), dtype=bool)].min())
