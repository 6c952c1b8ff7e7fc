"""What is in a bag of ROS: robots with scans and odometry, where they were, and maps."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from covey.errors import CoveyError, InvalidValueError
from covey.experiments.logs.odometry_noise import resampled
from covey.geometry.grid import Grid
from covey.geometry.se2 import compose, inverse
from covey.mapping.slam.bags import log_of
from covey.mapping.slam.log import Log
from covey.ros.messages import yaw_of
from covey.world.world import FREE, UNKNOWN, WALL, World, closed

_SCAN, _ODOMETRY, _GRID = "sensor_msgs/msg/LaserScan", "nav_msgs/msg/Odometry", "nav_msgs/msg/OccupancyGrid"
_TF, _TWISTS = "tf2_msgs/msg/TFMessage", ("geometry_msgs/msg/Twist", "geometry_msgs/msg/TwistStamped")
_TRUTH = "ground_truth"
_FREE_BELOW, _WALL_ABOVE = 20, 65  # per cent, as map_server's thresholds 0.196 and 0.65


@dataclass(frozen=True, eq=False)
class Track:
    """Poses or twists over time.

    Attributes:
        times: stamps [s], float64 (n,), ascending.
        values: (n, 3): x, y [m], heading [rad]; or vx, vy [m/s], omega [rad/s].
    """

    times: np.ndarray
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class BagRobot:
    """A robot of a bag.

    Attributes:
        name: its namespace; ``robot`` for topics without one.
        odometry: poses in its frame odom.
        log: scans of its lidar with odometry; its reference are the better poses, if they are known. None: no scans.
        better: poses in the frame of a map that something knew better than the odometry; None: nothing did.
        better_by: what knew them: ``ground_truth`` (a topic), or ``tf`` (the transform from a map to odom).
        commands: velocity commands; None: the bag has none.
    """

    name: str
    odometry: Track
    log: Log | None
    better: Track | None
    better_by: str
    commands: Track | None


@dataclass(frozen=True, eq=False)
class Bag:
    """The robots and maps of a bag.

    Attributes:
        name: of the file or folder, without its ending.
        robots: the robots that have odometry, sorted by name.
        maps: the last OccupancyGrid of each topic, int8: -1 unknown, 0 free to 100 occupied.
    """

    name: str
    robots: tuple[BagRobot, ...]
    maps: dict[str, Grid]

    def world(self, topic: str | None = None) -> World:
        """Return a map of the bag as a world: above 65 % is wall, below 20 % free, the rest unknown.

        Args:
            topic: the topic of the map; None: that of the true map, else of a merged one, else the largest.

        Raises:
            InvalidValueError: the bag has no such map.
        """
        if not self.maps or (topic is not None and topic not in self.maps):
            has = f"it has {', '.join(self.maps)}" if self.maps else "it has no nav_msgs/msg/OccupancyGrid"
            raise InvalidValueError(f"the bag {self.name} has no map{f' on {topic}' if topic else ''}; {has}")
        return world_of(self.maps[topic or self._best_map()], self.name)

    def _best_map(self) -> str:
        for ending in ("true_map", "merged_map", "team_map"):
            if found := [topic for topic in self.maps if topic.rpartition("/")[2] == ending]:
                return found[0]
        return max(self.maps, key=lambda topic: self.maps[topic].cells.size)


def world_of(grid: Grid, name: str) -> World:
    """Return a map with cells of -1 (unknown) and 0 to 100 % as a world; gaps in its edge get walls."""
    cells = np.select([grid.cells > _WALL_ABOVE, (grid.cells >= 0) & (grid.cells < _FREE_BELOW)], [WALL, FREE], UNKNOWN)
    return World(closed(grid.with_cells(cells.astype(np.uint8))), name)


def read_bag_of_robots(path: str | Path) -> Bag:
    """Read a bag: a ``.bag`` file of ROS 1, a folder, ``.mcap`` or ``.db3`` file of ROS 2.

    A robot is a namespace with a topic of odometry. Of several such topics the one that is named ``odom`` counts, else
    the one with most messages; of several lidars, ``scan``. The place of the lidar comes from the static transforms.
    Better poses are those on ``ground_truth``, else those of the transform from a map to odom.

    Raises:
        CoveyError: the library ``rosbags`` is not installed.
        InvalidValueError: the bag is missing or damaged, or has neither a robot nor a map.
    """
    path = Path(path)
    if not path.exists():
        raise InvalidValueError(f"there is no bag {str(path)!r}")
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError as error:
        raise CoveyError("bags need rosbags; install it with: pip install 'covey[bags]'") from error
    try:
        with AnyReader([path], default_typestore=get_typestore(Stores.LATEST)) as reader:
            return _read(reader, path.stem if path.suffix else path.name)
    except CoveyError:
        raise
    except Exception as error:  # of whatever damage
        raise InvalidValueError(f"{path} cannot be read as a bag: {' '.join(str(error).split())[:200]}") from error


def _read(reader: Any, name: str) -> Bag:
    kinds = {one.topic: one.msgtype for one in reader.connections}
    counts = {one.topic: one.msgcount for one in reader.connections}
    found: dict[str, list[Any]] = {
        topic: [] for topic, kind in kinds.items() if kind in (_SCAN, _ODOMETRY, _TF, *_TWISTS)
    }
    grids: dict[str, Any] = {}
    wanted = [one for one in reader.connections if one.msgtype == _GRID or one.topic in found]
    for connection, at, data in reader.messages(connections=wanted) if wanted else ():  # none would mean all
        if connection.msgtype == _GRID:
            grids[connection.topic] = (data, connection.msgtype)
        else:
            found[connection.topic].append((1e-9 * at, reader.deserialize(data, connection.msgtype)))
    maps = {topic: _grid(reader.deserialize(*raw)) for topic, raw in sorted(grids.items())}
    of = {kind: {topic: found[topic] for topic in found if kinds[topic] == kind} for kind in (_SCAN, _ODOMETRY, _TF)}
    twists = {topic: found[topic] for topic in found if kinds[topic] in _TWISTS}
    spaces = {_space(topic) for topic in of[_SCAN]} | {_space(t) for t in of[_ODOMETRY] if _last(t) == "odom"}
    robots = []
    for space in sorted(spaces or {_space(topic) for topic in of[_ODOMETRY]}):
        odometry = _chosen(space, of[_ODOMETRY], counts, "odom", but=_TRUTH)
        if odometry:
            scans = _chosen(space, of[_SCAN], counts, "scan")
            truth = [m for topic, m in of[_ODOMETRY].items() if topic == f"{space}/{_TRUTH}"]
            commands = _chosen(space, twists, counts, "cmd_vel")
            robots.append(_robot(space, odometry, scans, truth[0] if truth else [], commands, of[_TF]))
    if not robots and not maps:
        known = ", ".join(sorted(set(kinds.values()))) or "nothing"
        raise InvalidValueError(f"the bag {name} has no odometry and no map; it has: {known}")
    return Bag(name, tuple(robots), maps)


def _space(topic: str) -> str:
    """Return the namespace of a topic: ``/scout0`` of ``/scout0/scan``; empty for ``/scan``."""
    return topic.rpartition("/")[0]


def _last(topic: str) -> str:
    return topic.rpartition("/")[2]


def _chosen(space: str, topics: dict[str, Any], counts: dict[str, int], name: str, but: str = "") -> list[Any]:
    """Return the messages of a robot on the topic with this name, or else on the one of its kind with most messages."""
    mine = [topic for topic in topics if topic.startswith(f"{space}/") and _last(topic) != but and topics[topic]]
    if not mine:
        return []
    return topics[max(mine, key=lambda topic: (topic == f"{space}/{name}", counts[topic]))]


def _robot(space: str, odometry: list, scans: list, truth: list, commands: list, tf: dict[str, list]) -> BagRobot:
    name = space.strip("/").replace("/", "_") or "robot"
    first = odometry[0][1]
    frames = _Frames(tf, space)
    track = _track(odometry, lambda one: _planar(one.pose.pose.position, one.pose.pose.orientation))
    better, by = None, ""
    if truth:
        better, by = _track(truth, lambda one: _planar(one.pose.pose.position, one.pose.pose.orientation)), _TRUTH
    elif (moving := frames.above(first.header.frame_id)) is not None:
        latest = np.clip(np.searchsorted(moving.times, track.times, side="right") - 1, 0, None)
        better, by = Track(track.times, compose(moving.values[latest], track.values)), "tf"
    log = None
    if scans:
        mount = frames.static(first.child_frame_id, scans[0][1].header.frame_id)
        log = log_of(name, [one for _, one in scans], [one for _, one in odometry], mount)
        if better is not None:
            log = _with_reference(log, better)
    orders = _track(commands, _twist) if commands else None
    return BagRobot(name, track, log, better, by, orders)


def _with_reference(log: Log, better: Track) -> Log:
    known = resampled(better.times, better.values, log.times)
    known[(log.times < better.times[0]) | (log.times > better.times[-1])] = np.nan
    return replace(log, reference=known)


class _Frames:
    """The transforms of a bag, as poses in the plane."""

    def __init__(self, tf: dict[str, list], space: str):
        self._moves: dict[str, list[tuple[float, str, tuple[float, float, float]]]] = {}
        for topic in (f"{space}/tf_static", f"{space}/tf", "/tf_static", "/tf"):
            for _, message in tf.get(topic, []):
                for one in message.transforms:
                    at = _stamp(one.header.stamp), one.header.frame_id.lstrip("/"), _planar_of(one.transform)
                    self._moves.setdefault(one.child_frame_id.lstrip("/"), []).append(at)
            if space and topic == f"{space}/tf" and self._moves:
                return

    def above(self, frame: str) -> Track | None:
        """Return the poses of a frame in the one above it; None if it has none."""
        moves = self._moves.get(frame.lstrip("/"))
        if not moves:
            return None
        order = sorted(moves, key=lambda one: one[0])
        return Track(np.array([one[0] for one in order]), np.array([one[2] for one in order]))

    def static(self, base: str, frame: str) -> tuple[float, float, float]:
        """Return the first pose of a frame in another one; (0, 0, 0) if they are not connected."""
        ways = []
        for start in (base, frame):
            way = {start.lstrip("/"): np.zeros(3)}
            while (moves := self._moves.get(last := next(reversed(way)))) and moves[0][1] not in way:
                way[moves[0][1]] = compose(np.array(moves[0][2]), way[last])
            ways.append(way)
        shared = [one for one in ways[0] if one in ways[1]]
        if not shared:
            return 0.0, 0.0, 0.0
        return tuple(compose(inverse(ways[0][shared[0]]), ways[1][shared[0]]).round(9).tolist())


def _track(messages: list, values_of) -> Track:
    """Return stamped values in the order of their stamps; a message without a header has the time of its arrival."""
    times = [_stamp(one.header.stamp) if hasattr(one, "header") else at for at, one in messages]
    order, values = np.argsort(times, kind="stable"), np.array([values_of(one) for _, one in messages], float)
    return Track(np.array(times, float)[order], values[order])


def _twist(message: Any) -> tuple[float, float, float]:
    twist = getattr(message, "twist", message)
    return twist.linear.x, twist.linear.y, twist.angular.z


def _stamp(stamp: Any) -> float:
    return stamp.sec + 1e-9 * stamp.nanosec


def _planar(position: Any, q: Any) -> tuple[float, float, float]:
    return position.x, position.y, yaw_of(q.x, q.y, q.z, q.w)


def _planar_of(transform: Any) -> tuple[float, float, float]:
    return _planar(transform.translation, transform.rotation)


def _grid(message: Any) -> Grid:
    info = message.info
    cells = np.reshape(np.asarray(message.data, np.int8), (info.height, info.width))
    if not cells.size or not info.resolution > 0.0:
        return Grid(np.full((1, 1), -1, np.int8), 1.0, (0.0, 0.0, 0.0))
    return Grid(np.array(cells), float(info.resolution), _planar(info.origin.position, info.origin.orientation))
