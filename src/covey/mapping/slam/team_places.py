"""Whether two robots were at one place: scans of the one, put together, against a local map of the other.

And whether they were not: walls of the one through which the other looked.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from covey.kernel import kernel
from covey.mapping.slam.graph_slam import GraphSettings
from covey.mapping.slam.local_map import LocalMap, local_map
from covey.mapping.slam.log import relative
from covey.mapping.slam.matching import fit_near, search
from covey.mapping.slam.one_pose import between, composed, turned
from covey.mapping.slam.seen_through import contradict
from covey.mapping.slam.surfaces import KeyFrame, together
from covey.mapping.slam.team_news import Relation, Trail

COARSE_M = 0.1  # cells of the maps in which all headings are searched
COARSE_RAD = 0.03
COARSE_POINTS = 150
PARTS = 4
"""Parts of a circle of headings: how the work of a search at all headings is divided."""
_REACH = 60  # key frames from a relation up to which poses are sure enough
_AWAY_M = 4.0  # between two key frames that are compared
_PAIRS = 60


class Found(NamedTuple):
    """Where a robot was in the frame of a key frame of the other: ``motion`` (3,), ``information`` (3, 3)."""

    motion: np.ndarray
    information: np.ndarray
    score: float


def around(n: int, k: int, reach: int) -> slice:
    """Return the key frames from ``reach`` before k to ``reach`` behind it, of n."""
    return slice(max(0, k - reach), min(n, k + reach + 1))


def coarse_map(frames: Sequence[KeyFrame], poses: np.ndarray, k: int, settings: GraphSettings, window_m: float):
    """Return a coarse local map around key frame k, for `among_headings`."""
    part = around(len(poses), k, 8)
    cloud, reach = together(frames[part], poses[part]), settings.range_m + window_m
    return local_map(cloud, (poses[k, 0], poses[k, 1]), reach, COARSE_M, 2 * settings.smear_m, True)


def among_headings(
    place: LocalMap, centre: np.ndarray, frames: Sequence[KeyFrame], poses: np.ndarray, n: int, window_m: float,
    part: int, least: float,
) -> tuple[np.ndarray, float]:  # fmt: skip
    """Return the best pose of key frame n in the frame of a coarse map, and its score; -1: none exceeds ``least``.

    It is searched among the headings of one ``part`` of the circle, 0 to `PARTS` - 1.
    """
    near = around(len(poses), n, 5)
    points = together(frames[near], relative(poses[n], poses[near])).points
    sparse = points[:: max(1, len(points) // COARSE_POINTS)]
    half = math.pi / PARTS
    middle = np.array([centre[0], centre[1], centre[2] + (2 * part + 1) * half])
    return search(place, sparse, middle, window_m, half, COARSE_RAD, least, blocks=16)


def near(
    frames: Sequence[KeyFrame], poses: np.ndarray, k: int, others: Sequence[KeyFrame], their_poses: np.ndarray, n: int,
    guess: np.ndarray, window_m: float, window_rad: float, least: float, settings: GraphSettings,
) -> Found | None:  # fmt: skip
    """Return where key frame n of the others is, near a guess (3,) in the frame of ``poses``; None: it does not fit."""
    part = around(len(poses), k, 8)
    cloud, s = together(frames[part], poses[part]), settings
    place = local_map(cloud, (poses[k, 0], poses[k, 1]), s.range_m + 1.0, s.resolution_m, s.smear_m, True)
    part = around(len(their_poses), n, 2)
    points, facing, _ = together(others[part], relative(their_poses[n], their_poses[part]))
    if len(points) < 50:
        return None
    match = fit_near(place, points, facing, guess, window_m, window_rad, least - 0.05, least, s.noise_m)
    if match is None:
        return None
    information = turned(match.information, match.pose[2]) + 0.1 * np.eye(3)
    return Found(relative(poses[k], match.pose), 0.5 * (information + information.T), match.score)


def is_seen_through(
    a: Trail, poses_a: np.ndarray, b: Trail, poses_b: np.ndarray, relations: Sequence[Relation]
) -> bool:
    """Return whether relations between two robots cannot be right: one looked through walls of the other.

    Rooms that look the same fit well where they are matched; what is beyond their doors differs. Pairs of key frames
    near each other, as the nearest relation says, are compared in both directions.

    Args:
        a, b: what is held of the robots.
        poses_a, poses_b: poses (n, 3) of their key frames, each in its own frame.
        relations: relations between them that agree.
    """
    ends = np.array([(x.first, x.second) for x in relations], np.int64)
    rows, motions = _side_by_side(poses_a, poses_b, ends, np.array([x.motion for x in relations]))
    pairs = zip(rows.tolist(), motions, strict=True)
    return contradict((a.frames[i], b.frames[k], motion) for (i, k), motion in pairs)


@kernel
def _side_by_side(poses_a, poses_b, ends, motion):
    """Return pairs of key frames near each other, (k, 2), and the poses (k, 3) of the first in the second.

    Each of some poses (n, 3) is paired with the nearest of poses (m, 3), as the nearest of some relations between rows
    ``ends`` (r, 2) says, whose motions are (r, 3).
    """
    step = max(1, poses_a.shape[0] // _PAIRS)
    rows, motions = np.empty((poses_a.shape[0], 2), np.int64), np.empty((poses_a.shape[0], 3))
    count = 0
    for i in range(0, poses_a.shape[0], step):
        x = 0
        for r in range(ends.shape[0]):
            if abs(ends[r, 0] - i) < abs(ends[x, 0] - i):
                x = r
        first, second = ends[x, 0], ends[x, 1]
        if abs(first - i) > _REACH:
            continue
        over = between(motion[x], between(poses_a[first], poses_a[i]))
        here = composed(poses_b[second], over)
        nearest, least = -1, _AWAY_M
        for k in range(max(0, second - _REACH), min(poses_b.shape[0], second + _REACH + 1)):
            away = math.hypot(poses_b[k, 0] - here[0], poses_b[k, 1] - here[1])
            if away < least:
                nearest, least = k, away
        if nearest >= 0:
            rows[count, 0], rows[count, 1] = i, nearest
            motions[count] = between(poses_b[nearest], here)
            count += 1
    return rows[:count], motions[:count]
