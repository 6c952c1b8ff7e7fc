"""`Searched`: what a robot believes that the cameras of the team have searched, and how robots tell each other.

A robot keeps the poses from which its camera looked, and casts them into its own map. Others get these poses, 12 bytes
each, not what was seen; every robot casts them into its map. A message says how many poses of each robot its sender
holds, so that others can send what it lacks, also poses of third robots: what a lossy radio loses comes later.

Where SLAM corrects the poses of the past, the kept poses move with the scans of their time, and all are cast again.
They are then a new edition, which others take in place of the old one.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from covey.comms.mailbox import Mailbox
from covey.geometry.faces import faces
from covey.geometry.se2 import Pose, compose
from covey.mapping.occupancy.belief import Belief
from covey.mapping.occupancy.searched import CameraView, SearchedMap
from covey.sensors.tag_camera import TagCamera

KIND = "searched"
"""Kind of the messages."""

_MOVED_M, _TURNED_RAD = 0.1, math.radians(5.0)  # a new pose is kept after this motion
_HEARD_S = 5.0  # a robot heard this long ago may still hear
_MOST = 1000  # poses of one robot in a message
_AGAIN_S = 1.0  # period at which poses that saw unknown cells look again


@dataclass
class _Origin:
    """The poses from which the camera of one robot looked, in its frame: float32 (k, 3), and the part that looks on."""

    view: CameraView
    poses: np.ndarray = field(default_factory=lambda: np.empty((0, 3), np.float32))
    times_s: list[float] = field(default_factory=list)  # of the robot's own poses
    edition: int = 0  # how often the poses were corrected
    frame: Pose | None = None  # where the robot's frame was when they were cast
    looked: int = 0  # how many have been cast
    open: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))  # those that saw unknown cells


class Searched:
    """The searched part of a robot's map: by its own camera, and by those of robots that told it."""

    def __init__(
        self, name: str, camera: TagCamera, belief: Belief, mailbox: Mailbox, frame_of: Callable[[str], Pose | None]
    ):
        self._name, self._belief, self._mailbox, self._frame_of = name, belief, mailbox, frame_of
        view = CameraView(
            math.radians(camera.fov_deg),
            camera.range_m,
            math.radians(camera.incidence_deg),
            (camera.mount_x_m, camera.mount_y_m, math.radians(camera.mount_heading_deg)),
        )
        self._blur_rad_s = math.radians(camera.blur_deg_s)
        self._origins = {name: _Origin(view)}
        self._heard: dict[str, tuple[float, dict[str, tuple[int, int]]]] = {}
        self._map = SearchedMap(belief.grid)
        self._left: tuple[Any, np.ndarray] | None = None
        self._again_s = self._time = 0.0
        self._moves = self._editions = 0

    def __repr__(self) -> str:
        return f"<Searched of {self._name}: {self.share:.0%} of the known faces, {self.views} views>"

    @property
    def views(self) -> int:
        """Number of poses from which cameras looked."""
        return sum(len(origin.poses) for origin in self._origins.values())

    @property
    def cells(self) -> np.ndarray:
        """The cells of the robot's map that a camera has seen, bool (rows, columns); a copy."""
        self._cast()
        return self._map.cells.copy()

    @property
    def faces(self) -> np.ndarray:
        """The faces of walls that a camera has read, uint8 (rows, columns) of the robot's map; a copy.

        Bit 0, 1, 2, 3 of a free cell: that of the wall east, north, west, south of it.
        """
        self._cast()
        return self._map.bits.copy()

    @property
    def left(self) -> np.ndarray:
        """The faces of walls of the robot's map that no camera has read, uint8 (rows, columns) like ``faces``; a copy.

        A face counts as read if one that looks to the same side was, at most a cell away, because measured walls shift.
        """
        self._cast()
        state = self._belief.version, self.views, self._editions
        if self._left is None or self._left[0] != state:
            self._left = state, self._map.left(self._belief.occupancy())
        return self._left[1].copy()

    @property
    def share(self) -> float:
        """Share of the faces of walls in the robot's map that a camera has read; NaN if there are none."""
        left, occupancy = self.left, self._belief.occupancy()
        total = int(np.bitwise_count(faces(occupancy == 0, occupancy == 100)).sum())
        return 1.0 - int(np.bitwise_count(left).sum()) / total if total else math.nan

    def would_see(self, pose: Any) -> int:
        """Return how many faces of its map that nobody has read the robot's camera would read from a pose.

        Args:
            pose: x, y [m], heading [rad], in the frame of ``robot.pose``.
        """
        left = self.left
        trial = SearchedMap(self._belief.grid)
        trial.search_from(np.array([pose], np.float64), self._origins[self._name].view, self._belief.occupancy())
        return int(np.bitwise_count(trial.bits & left).sum())

    # -- between the handle and the software below it ------------------------------------------------------------------

    def add_sample(self, pose: Pose, omega: float, time_s: float) -> None:
        """Take in a sample of the robot's own camera at its estimated pose, turning at a rate [rad/s]."""
        self._time = time_s
        own = self._origins[self._name]
        if abs(omega) > self._blur_rad_s:
            return
        if len(own.poses):
            x, y, heading = own.poses[-1].tolist()
            turned = abs((pose[2] - heading + math.pi) % math.tau - math.pi)
            if math.hypot(pose[0] - x, pose[1] - y) < _MOVED_M and turned < _TURNED_RAD:
                return
        own.poses = np.vstack((own.poses, np.array([pose], np.float32)))
        own.times_s.append(time_s)

    def follow(self, moved: Sequence[tuple[int, np.ndarray]]) -> None:
        """Move the poses of the past as SLAM has corrected them; ``moved``: see `covey.onboard.step.StepInput`."""
        own = self._origins[self._name]
        times = np.array(own.times_s)
        for number, motions in moved:
            if number <= self._moves:
                continue
            self._moves = number
            for from_s, until_s, *motion in motions.tolist():
                which = (times >= from_s - 1e-9) & (times < until_s - 1e-9)
                if which.any():
                    own.poses[which] = compose(np.array(motion), own.poses[which].astype(np.float64))
            own.edition += 1
            self._begin_again()

    def share_views(self, time_s: float) -> None:
        """Take in what others have told, and broadcast what this robot holds, and what those that it hears lack."""
        for message in self._mailbox.pop(KIND):
            self._take(message.sender, message.payload, time_s)
        have = {name: (origin.edition, len(origin.poses)) for name, origin in self._origins.items()}
        sent: list[Any] = []
        listeners = [held for heard_s, held in self._heard.values() if time_s - heard_s <= _HEARD_S]
        for name, origin in self._origins.items():
            held = [_held(theirs.get(name, (0, 0)), origin) for theirs in listeners]
            first = min(held, default=len(origin.poses))
            poses = origin.poses[first : first + _MOST]
            if len(poses):
                sent.append((name, origin.edition, first, tuple(origin.view), poses))
                for theirs, n in zip(listeners, held, strict=True):
                    if n >= first:
                        theirs[name] = origin.edition, max(n, first + len(poses))  # until it says otherwise
        self._mailbox.send((have, sent), None, KIND, _HEARD_S)

    def _take(self, sender: str, payload: Any, time_s: float) -> None:
        have, sent = payload
        self._heard[sender] = time_s, dict(have)
        for name, edition, first, view, poses in sent:
            if name == self._name:
                continue
            fov, reach, incidence, mount = view
            origin = self._origins.setdefault(name, _Origin(CameraView(fov, reach, incidence, tuple(mount))))
            if edition > origin.edition and first == 0:
                origin.edition, origin.poses = edition, origin.poses[:0]
                self._begin_again()
            held = len(origin.poses)
            if edition == origin.edition and first <= held < first + len(poses):
                origin.poses = np.vstack((origin.poses, poses[held - first :]))

    def _begin_again(self) -> None:
        """Cast all poses again, into an empty map."""
        self._map, self._editions = SearchedMap(self._belief.grid), self._editions + 1
        for origin in self._origins.values():
            origin.looked, origin.open = 0, origin.open[:0]

    def _cast(self) -> None:
        """Cast the poses that are new, and from time to time those that saw unknown cells."""
        occupancy, again = self._belief.occupancy(), self._time >= self._again_s
        if again:
            self._again_s = self._time + _AGAIN_S
        frames = {n: Pose(0.0, 0.0, 0.0) if n == self._name else self._frame_of(n) for n in self._origins}
        if any(origin.looked and origin.frame != frames[name] for name, origin in self._origins.items()):
            self._begin_again()
        for name, origin in self._origins.items():
            new = np.arange(origin.looked, len(origin.poses))
            which = np.concatenate((origin.open, new)) if again else new
            origin.frame = frame = frames[name]
            if not len(which) or frame is None:
                continue
            poses = origin.poses[which].astype(np.float64)
            if tuple(frame) != (0.0, 0.0, 0.0):
                poses = compose(np.array(frame), poses)
            seen_unknown = which[self._map.search_from(poses, origin.view, occupancy)]
            origin.open = seen_unknown if again else np.concatenate((origin.open, seen_unknown))
            origin.looked = len(origin.poses)


def _held(have: tuple[int, int], origin: _Origin) -> int:
    """Return how many poses of an origin a robot holds that says so; older editions do not count, newer ones do."""
    edition, n = have
    return n if edition == origin.edition else 0 if edition < origin.edition else len(origin.poses)
