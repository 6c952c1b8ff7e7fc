"""The transforms of a bag of ROS: where lidars are on a robot, and odometry that nothing but ``/tf`` holds."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from covey.geometry.mounting import Mount, planar_mount, transform_of
from covey.geometry.se2 import Pose

_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class PoseTrack:
    """Poses or twists over time.

    Attributes:
        times: stamps [s], float64 (n,), ascending.
        values: (n, 3): x, y [m], heading [rad]; or vx, vy [m/s], omega [rad/s].
    """

    times: np.ndarray
    values: np.ndarray


class TransformTree:
    """The transforms of one robot.

    Args:
        messages: of type tf2_msgs/TFMessage, by topic.
        space: namespace of the robot; its own topics count, or else those of all.
    """

    def __init__(self, messages: dict[str, list[Any]], space: str = ""):
        self._moves: dict[str, list[_Move]] = {}
        for topic in dict.fromkeys((f"{space}/tf_static", f"{space}/tf", "/tf_static", "/tf")):
            for message in messages.get(topic, []):
                for one in message.transforms:
                    move = _Move(stamp_of(one), one.header.frame_id.lstrip("/"), one.transform)
                    self._moves.setdefault(one.child_frame_id.lstrip("/"), []).append(move)
            if space and topic == f"{space}/tf" and self._moves:
                return

    def above(self, frame: str) -> PoseTrack | None:
        """Return the poses of a frame in the one above it; None if it has none."""
        moves = self._moves.get(frame.lstrip("/"))
        if not moves:
            return None
        order = sorted(moves, key=lambda one: one.at)
        return PoseTrack(np.array([one.at for one in order]), np.array([one.planar for one in order]))

    def mount(self, base: str, frame: str) -> tuple[Mount, str]:
        """Return how the lidar of a frame is mounted on the robot's base, and what is doubtful about it, if anything.

        If the base is not connected to the lidar, as where the odometry leaves its name out, the frame that moves in
        the odometry counts, or else the uppermost one; if nothing is known of the lidar, it is at the base.

        Raises:
            InvalidValueError: it is tilted.
        """
        base, frame = base.lstrip("/"), frame.lstrip("/")
        if (found := self._between(base, frame)) is not None:
            return planar_mount(found, frame), ""
        above = self._upwards(frame)
        if len(above) == 1:
            return Mount(Pose(0.0, 0.0, 0.0)), (
                f"No transform says where the frame {frame!r} of the lidar is; it is taken to be upright at the centre "
                "of the robot, looking ahead."
            )
        odometry = self.odometry_above(frame)
        instead = odometry[1] if odometry else next(reversed(above))
        said = f"No transform leads from the robot's frame {base!r} to its lidar; {instead!r} is taken for it."
        return planar_mount(above[instead], frame), said

    def holds(self, frame: str) -> bool:
        """Return whether a transform says where a frame is in another one."""
        return frame.lstrip("/") in self._moves

    def _between(self, base: str, frame: str) -> np.ndarray | None:
        ways = [self._upwards(start) for start in (base, frame)]
        shared = [one for one in ways[0] if one in ways[1]]
        return np.linalg.inv(ways[0][shared[0]]) @ ways[1][shared[0]] if shared else None

    def odometry_above(self, frame: str) -> tuple[str, str] | None:
        """Return the frame of odometry above the frame of a lidar, and that of the base in it; None: there is none.

        It is the one whose name ends with ``odom``; without such a name, the one in which what carries the lidar moves.
        """
        above = [*self._upwards(frame)]
        pairs = [*zip(above[1:], above[:-1], strict=True)]
        named = [pair for pair in pairs if pair[0].rpartition("/")[2].endswith("odom")]
        return next(iter(named or [pair for pair in pairs if self._is_moving(pair[1])]), None)

    def known(self) -> str:
        """Return the transforms in words: which frame leads to which."""
        pairs = sorted({(moves[0].parent, child) for child, moves in self._moves.items()})
        return ", ".join(f"{parent} → {child}" for parent, child in pairs[:8]) or "none"

    def _upwards(self, frame: str) -> dict[str, np.ndarray]:
        """Return the pose (4, 4) of a frame in each of those above it, itself first, by the first transform of each."""
        last = frame.lstrip("/")
        way = {last: np.eye(4)}
        while (moves := self._moves.get(last)) and moves[0].parent not in way:
            way[moves[0].parent] = moves[0].matrix @ way[last]
            last = moves[0].parent
        return way

    def _is_moving(self, frame: str) -> bool:
        moves = self._moves[frame]
        return any(np.abs(one.matrix - moves[0].matrix).max() > _SAME for one in moves)


def stamp_of(message: Any) -> float:
    """Return the stamp of a message with a header [s]."""
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def planar(position: Any, q: Any) -> tuple[float, float, float]:
    """Return x, y [m] and heading [rad] of a position and a quaternion in space."""
    heading = math.atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z))
    return position.x, position.y, heading


class _Move(NamedTuple):
    at: float
    parent: str
    transform: Any

    @property
    def planar(self) -> tuple[float, float, float]:
        return planar(self.transform.translation, self.transform.rotation)

    @property
    def matrix(self) -> np.ndarray:
        return transform_of(self.transform.translation, self.transform.rotation)
