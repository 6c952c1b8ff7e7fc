"""A recorded run as a bag of ROS 2: one MCAP file that Foxglove and ``ros2 bag play`` read.

Topics, with the names of `covey ros run` and all frames in /tf, as with ``--prefixed``::

    /clock               rosgraph_msgs/Clock             at each recorded pose
    /tf                  tf2_msgs/TFMessage              map -> NAME/odom -> NAME/base_footprint, where robots take
                                                         themselves to be; NAME/odom is the start pose
    /tf_static           tf2_msgs/TFMessage              NAME/base_footprint -> NAME/base_link -> the lidars
    /NAME/odom           nav_msgs/Odometry               the same motion in NAME/odom
    /NAME/ground_truth   nav_msgs/Odometry               true pose in map, and true twist
    /NAME/scan           sensor_msgs/LaserScan           if scans were recorded; further lidars have their own names
    /NAME/map            nav_msgs/OccupancyGrid          as it grew, if that was recorded, else at the end
    /merged_map          nav_msgs/OccupancyGrid          the same of the union of all maps
    /true_map            nav_msgs/OccupancyGrid          at the start, and after each change
    /NAME/plan           nav_msgs/Path                   to its goal, whenever it changes
    /bodies              visualization_msgs/MarkerArray  the robots' bodies and names
    /rosout              rcl_interfaces/Log              the events of the run

Stamps are simulated times. Poses are those of the run folder; nothing is rounded but the ranges of scans, which are
float32 there, too.

References:
    https://mcap.dev/spec/registry (profile ros2, encodings ros2msg and cdr); rosbag2_storage_mcap (the metadata of
    channels, in the form that Humble and all later distributions read).
"""

import heapq
import importlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from covey import __version__
from covey.errors import CoveyError
from covey.geometry.grid import Grid
from covey.geometry.se2 import compose, inverse
from covey.mapping.slam.log import relative
from covey.results.details import Scans
from covey.results.maps import OPEN, WALL
from covey.results.run import Run
from covey.results.snapshot import WARNINGS
from covey.ros import messages as m
from covey.ros.qos import CLOCK, LATCHED, ODOMETRY, SENSOR, STATE, TF, QosProfile
from covey.ros.types import Types, types_of

_GRID, _ARRAY = "nav_msgs/msg/OccupancyGrid", "visualization_msgs/msg/MarkerArray"
_INFO, _WARNING = 20, 30  # levels of rcl_interfaces/Log
_COLORS = ((0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167), (213, 94, 0), (86, 180, 233), (140, 122, 0))
_CYLINDER, _TEXT = 3, 9  # types of visualization_msgs/Marker
_Message = tuple[int, str, str, QosProfile, bytes]
"""Time [ns], topic, type, how it is delivered, CDR."""


def write(run: Run, path: Path, distro: str = "jazzy") -> None:
    """Write a run as a bag.

    Args:
        run: the run.
        path: the file; one that exists is replaced.
        distro: the distribution whose message definitions are in the file.

    Raises:
        CoveyError: the libraries of the extra ros2 are not installed.
    """
    try:
        writers = importlib.import_module("mcap.writer")
    except ImportError as error:
        raise CoveyError("a bag needs mcap; install it with: pip install 'covey[ros2]'") from error
    types = types_of(distro)
    with path.open("wb") as stream:
        writer = writers.Writer(stream)
        writer.start(profile="ros2", library=f"covey {__version__}")
        writer.add_metadata("rosbag2", {"ROS_DISTRO": distro})
        schemas, channels = dict[str, int](), dict[str, int]()
        for at, topic, kind, profile, data in heapq.merge(*_sources(run, types), key=lambda one: one[0]):
            if kind not in schemas:
                definition = types.store.generate_msgdef(kind, ros_version=2)[0]
                schemas[kind] = writer.register_schema(kind, "ros2msg", definition.encode())
            if topic not in channels:
                about = {"offered_qos_profiles": _offered(profile), "topic_type_hash": types.hash(kind)}
                channels[topic] = writer.register_channel(topic, "cdr", schemas[kind], about)
            writer.add_message(channels[topic], at, data, at)
        writer.finish()


def _offered(profile: QosProfile) -> str:
    """Return how a topic is delivered, in the form of rosbag2's metadata up to version 8; later ones read it, too."""
    never = {"sec": 9223372036, "nsec": 854775807}
    offered = {
        "history": 1,  # keep last
        "depth": profile.depth,
        "reliability": 1 if profile.reliable else 2,
        "durability": 1 if profile.latched else 2,
        "deadline": never,
        "lifespan": never,
        "liveliness": 1,  # automatic
        "liveliness_lease_duration": never,
        "avoid_ros_namespace_conventions": False,
    }
    return yaml.safe_dump([offered], sort_keys=False)


def _sources(run: Run, types: Types) -> Iterator[Iterator[_Message]]:
    """Yield iterators of messages in the order of their times; of equal times, earlier iterators come first."""
    yield _static(run, types)
    yield _bodies(run, types)
    yield _true_maps(run, types)
    yield _motion(run, types)
    for name, sensors in (run.scans or {}).items():
        for k, (sensor, scans) in enumerate(sensors.items()):
            yield _scans(name, sensor if k else "scan", _lidar(k, name, sensor), scans, types)
    yield _maps(run, types)
    yield _plans(run, types)
    yield _log(run, types)


def _motion(run: Run, types: Types) -> Iterator[_Message]:
    """Yield transforms, odometry, true poses and the clock."""
    names = run.names
    estimates, starts = _estimates(run), _starts(run)
    odometry = compose(inverse(starts), estimates)
    frames = [("map", f"{name}/odom") for name in names]
    frames += [(f"{name}/odom", f"{name}/base_footprint") for name in names]
    tf = m.Transforms(types, frames)
    odom = [m.OdometryMessage(types, f"{name}/odom", f"{name}/base_footprint") for name in names]
    truth = [m.OdometryMessage(types, "map", f"{name}/base_footprint") for name in names]
    has = np.isin(run.times, run.pose_times)
    true_twists = np.stack([run.series(one)[has] for one in ("vx_m_s", "vy_m_s", "omega_rad_s")], -1)
    start_rows, before = m.rows_of(starts), odometry[0]
    time_before = np.nan
    # of robots that do not know their poses; the record does not hold how sure their odometry was
    exact = (estimates == run.poses).all(axis=(0, 2))
    spreads = np.where(exact[:, None, None], 0.0, np.full((len(names), 3, 3), np.nan))
    for k, time_s in enumerate(run.pose_times.tolist()):
        now, at = m.stamp_of(round(1e9 * time_s), 1e-9), round(1e9 * time_s)
        rows, true_rows = m.rows_of(odometry[k]), m.rows_of(run.poses[k])
        span = time_s - time_before
        twists = m.speeds_of(relative(before, odometry[k])) / span if span > 0.0 else np.zeros_like(before)
        yield at, "/tf", tf.TYPE, TF, tf.encode(now, np.concatenate((start_rows, rows)))
        for i, name in enumerate(names):
            yield (
                at,
                f"/{name}/odom",
                odom[i].TYPE,
                ODOMETRY,
                odom[i].encode(now, rows[i], twists[i], spreads[i]),
            )
            true = truth[i].encode(now, true_rows[i], true_twists[k, i])
            yield at, f"/{name}/ground_truth", truth[i].TYPE, ODOMETRY, true
        yield at, "/clock", "rosgraph_msgs/msg/Clock", CLOCK, m.clock(now)
        before, time_before = odometry[k], time_s


def _estimates(run: Run) -> np.ndarray:
    """Return the robots' estimates (samples, robots, 3); the true poses of a run that recorded none."""
    if "estimate_x_m" not in run.measurements.columns:
        return run.poses
    return run.estimates


def _starts(run: Run) -> np.ndarray:
    """Return the start poses of the robots (robots, 3), in the world frame."""
    poses = [pose for body in run.manifest.get("bodies", []) for pose in body["start"]]
    return np.array(poses, float) if len(poses) == len(run.names) else _estimates(run)[0]


def _scans(name: str, topic: str, frame: str, scans: Scans, types: Types) -> Iterator[_Message]:
    period = float(np.median(np.diff(scans.times))) if len(scans.times) > 1 else 0.0
    scan = m.ScanMessage(types, frame, scans.angles, (0.0, scans.range_m), period)
    for time_s, ranges in zip(scans.times.tolist(), scans.ranges, strict=True):
        at = round(1e9 * time_s)
        yield at, f"/{name}/{topic}", scan.TYPE, SENSOR, scan.encode(m.stamp_of(at, 1e-9), ranges)


def _lidar(k: int, name: str, sensor: str) -> str:
    """Return the frame of the k-th lidar of a robot."""
    return f"{name}/{sensor if k else 'base_scan'}"


def _static(run: Run, types: Types) -> Iterator[_Message]:
    """Yield the places of the lidars on their robots, once."""
    frames = [m.transform(f"{name}/base_footprint", f"{name}/base_link", (0.0, 0.0, 0.0, 0.0)) for name in run.names]
    for name, sensors in (run.scans or {}).items():
        row = run.names.index(name)
        for k, (sensor, scans) in enumerate(sensors.items()):
            x, y, heading = mount_of(run, row, scans)
            frames.append(m.transform(f"{name}/base_link", _lidar(k, name, sensor), (x, y, 0.0, heading)))
    kind = "tf2_msgs/msg/TFMessage"
    yield 0, "/tf_static", kind, LATCHED, types.encode(kind, {"transforms": frames})


def mount_of(run: Run, row: int, scans: Scans) -> tuple[float, float, float]:
    """Return the pose of a lidar on its robot, x, y [m], heading [rad]; (0, 0, 0) if no pose is as old as a scan."""
    at = np.searchsorted(run.pose_times, scans.times - 1e-6)
    held = np.flatnonzero(at < len(run.pose_times))
    held = held[np.abs(run.pose_times[at[held]] - scans.times[held]) < 1e-6]
    if not len(held):
        return 0.0, 0.0, 0.0
    return tuple(np.median(relative(run.poses[at[held], row], scans.poses[held]), axis=0).round(9).tolist())


def _bodies(run: Run, types: Types) -> Iterator[_Message]:
    """Yield the bodies, once: cylinders that move with their robots, and their names."""
    discs = [body["discs_m"] for body in run.manifest.get("bodies", []) for _ in body["start"]]
    markers = []
    for i, name in enumerate(run.names):
        r, g, b = (value / 255 for value in _COLORS[i % len(_COLORS)])
        fixed = {"header": m.header((0, 0), f"{name}/base_footprint"), "frame_locked": True, "ns": name}
        for k, (x, y, radius) in enumerate(discs[i] if len(discs) == len(run.names) else [(0.0, 0.0, 0.2)]):
            size = {"x": 2.0 * radius, "y": 2.0 * radius, "z": 0.3}
            shape = {"type": _CYLINDER, "id": k, "pose": m.pose((x, y, 0.0), 0.15), "scale": size}
            markers.append({**fixed, **shape, "color": {"r": r, "g": g, "b": b, "a": 1.0}})
        label = {"type": _TEXT, "id": -1, "pose": m.pose((0.0, 0.0, 0.0), 0.8), "scale": {"z": 0.4}, "text": name}
        markers.append({**fixed, **label, "color": {"r": 0.5, "g": 0.5, "b": 0.5, "a": 1.0}})
    yield 0, "/bodies", _ARRAY, LATCHED, types.encode(_ARRAY, {"markers": markers})


def _true_maps(run: Run, types: Types) -> Iterator[_Message]:
    if (maps := run.maps) is None:
        return
    for step in sorted({0, *maps.changed[:, 0].tolist()}):
        truth = maps.truth_at(step)
        cells = np.select([truth.cells == WALL, (truth.cells == 0) | (truth.cells == OPEN)], [100, 0], -1)
        yield _grid(_time_s(run, step), "/true_map", truth.with_cells(cells.astype(np.int8)), types)


def _maps(run: Run, types: Types) -> Iterator[_Message]:
    """Yield the maps of the robots and their union at each recorded step, or else at the end."""
    if (changes := run.map_changes) is not None:
        for step in changes.steps.tolist():
            for name in changes.of:
                topic = "/merged_map" if name is None else f"/{name}/map"
                yield _grid(_time_s(run, step), topic, changes.at(step, name), types)
        return
    if (maps := run.maps) is not None:
        found = [(f"/{name}/map", grid) for name, grid in zip(run.names, maps.robots, strict=False)]
        for topic, grid in [*found, ("/merged_map", maps.union)]:
            if grid is not None:
                yield _grid(float(run.times[-1]), topic, grid, types)


def _grid(time_s: float, topic: str, grid: Grid, types: Types) -> _Message:
    at = round(1e9 * time_s)
    values = m.occupancy_grid(m.stamp_of(at, 1e-9), "map", grid, grid.cells)
    return at, topic, _GRID, LATCHED, types.encode(_GRID, values)


def _plans(run: Run, types: Types) -> Iterator[_Message]:
    if (plans := run.plans) is None:
        return
    kind = "nav_msgs/msg/Path"
    for step, robot, (begin, end) in zip(plans.steps.tolist(), plans.robots, pairwise(plans.begins), strict=True):
        at = round(1e9 * _time_s(run, step))
        head = m.header(m.stamp_of(at, 1e-9), "map")
        poses = [{"header": head, "pose": m.pose((x, y, 0.0))} for x, y in plans.points[begin:end].tolist()]
        yield at, f"/{run.names[robot]}/plan", kind, STATE, types.encode(kind, {"header": head, "poses": poses})


def _log(run: Run, types: Types) -> Iterator[_Message]:
    kind = "rcl_interfaces/msg/Log"
    for time_s, what, robot, other, text in run.events.select("time_s", "kind", "robot", "other", "text").iter_rows():
        at = round(1e9 * time_s)
        said = " ".join(part for part in (what.replace("_", " "), other, text) if part)
        level = _WARNING if what in WARNINGS else _INFO
        values: dict[str, Any] = {"stamp": m.time(m.stamp_of(at, 1e-9)), "level": level, "name": robot or "covey"}
        yield at, "/rosout", kind, STATE, types.encode(kind, {**values, "msg": said})


def _time_s(run: Run, step: int) -> float:
    """Return the time at the end of a recorded step [s]."""
    return float(run.times[min(np.searchsorted(run.steps, step), len(run.times) - 1)]) if step else 0.0
