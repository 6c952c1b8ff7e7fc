"""What is in a bag of ROS: robots with scans and odometry, where they were, and maps."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.experiments.logs.odometry_noise import resampled
from covey.geometry.grid import Grid
from covey.geometry.se2 import compose
from covey.mapping.slam.bag_frames import PoseTrack, planar
from covey.mapping.slam.bags import ODOMETRY, SCAN, TF, TRUTH, BagDrive, Topics, opened, topics_of, track_of
from covey.mapping.slam.log import Log
from covey.world.world import FREE, UNKNOWN, WALL, World, closed

_GRID = "nav_msgs/msg/OccupancyGrid"
_TWISTS = ("geometry_msgs/msg/Twist", "geometry_msgs/msg/TwistStamped")
_FREE_BELOW, _WALL_ABOVE = 20, 65  # per cent, as map_server's thresholds 0.196 and 0.65


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
    odometry: PoseTrack
    log: Log | None
    better: PoseTrack | None
    better_by: str
    commands: PoseTrack | None


@dataclass(frozen=True, eq=False)
class Bag:
    """The robots and maps of a bag.

    Attributes:
        name: of the file or folder, without its ending.
        robots: the robots that have odometry, sorted by name.
        maps: the last OccupancyGrid of each topic, int8: -1 unknown, 0 free to 100 occupied.
        why: why something with scans is no robot; empty: there is nothing.
    """

    name: str
    robots: tuple[BagRobot, ...]
    maps: dict[str, Grid]
    why: str = ""

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

    A robot is a namespace with a topic of odometry, or with scans whose frame moves in a frame odom. Of several topics
    of odometry the one that is named ``odom`` counts, else the one with most messages; of several lidars ``scan``, if
    it is not tilted. The place of the lidar comes from the static transforms. Better poses are those on
    ``ground_truth``, else those of the transform from a map to odom.

    Raises:
        CoveyError: the library ``rosbags`` is not installed.
        InvalidValueError: the bag is missing or damaged, or has neither a robot nor a map.
    """
    path = Path(path)
    with opened(path) as reader:
        return _read(reader, path.stem if path.suffix else path.name)


def _read(reader: Any, name: str) -> Bag:
    grids = _grids(reader)
    topics = topics_of(reader, (SCAN, ODOMETRY, TF, *_TWISTS))
    driven, why = topics.robots(name)
    if not driven and not grids:
        known = ", ".join(sorted({one.msgtype for one in reader.connections})) or "nothing"
        raise InvalidValueError(f"the bag {name} has {why or 'no odometry'} and no map; it has: {known}")
    return Bag(name, tuple(_robot(one, topics) for one in driven), grids, why)


def _grids(reader: Any) -> dict[str, Grid]:
    """Return the last map of each topic."""
    grids: dict[str, Any] = {}
    wanted = [one for one in reader.connections if one.msgtype == _GRID]
    for connection, _, data in reader.messages(connections=wanted) if wanted else ():  # none would mean all
        grids[connection.topic] = (data, connection.msgtype)
    return {topic: _grid(reader.deserialize(*raw)) for topic, raw in sorted(grids.items())}


def _robot(driven: BagDrive, topics: Topics) -> BagRobot:
    name = driven.space.strip("/").replace("/", "_") or "robot"
    track, log = driven.odometry, driven.log
    truth = topics.of(ODOMETRY).get(f"{driven.space}/{TRUTH}", [])
    commands = topics.chosen(driven.space, _TWISTS, "cmd_vel")
    better, by = None, ""
    if truth:
        better, by = track_of(truth, lambda one: planar(one.pose.pose.position, one.pose.pose.orientation)), TRUTH
    elif (moving := driven.frames.above(driven.odometry_frame)) is not None:
        latest = np.clip(np.searchsorted(moving.times, track.times, side="right") - 1, 0, None)
        better, by = PoseTrack(track.times, compose(moving.values[latest], track.values)), "tf"
    if log is not None:
        log = replace(log, name=name)
        log = log if better is None else _with_reference(log, better)
    orders = track_of(commands[0], _twist) if commands else None
    return BagRobot(name, track, log, better, by, orders)


def _with_reference(log: Log, better: PoseTrack) -> Log:
    known = resampled(better.times, better.values, log.times)
    known[(log.times < better.times[0]) | (log.times > better.times[-1])] = np.nan
    return replace(log, reference=known)


def _twist(message: Any) -> tuple[float, float, float]:
    twist = getattr(message, "twist", message)
    return twist.linear.x, twist.linear.y, twist.angular.z


def _grid(message: Any) -> Grid:
    info = message.info
    cells = np.reshape(np.asarray(message.data, np.int8), (info.height, info.width))
    if not cells.size or not info.resolution > 0.0:
        return Grid(np.full((1, 1), -1, np.int8), 1.0, (0.0, 0.0, 0.0))
    return Grid(np.array(cells), float(info.resolution), planar(info.origin.position, info.origin.orientation))
