"""Whether two robots were at one place: scans of the one, put together, against a local map of the other."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from covey.mapping.slam.graph_slam import GraphSettings, KeyFrame
from covey.mapping.slam.local_map import LocalMap, local_map, place_points
from covey.mapping.slam.log import relative
from covey.mapping.slam.matching import refine, search, start_for, turned

COARSE_M = 0.1  # cells of the maps in which all headings are searched
COARSE_RAD = 0.03
COARSE_POINTS = 150


class Found(NamedTuple):
    """Where a robot was in the frame of a key frame of the other: ``motion`` (3,), ``information`` (3, 3)."""

    motion: np.ndarray
    information: np.ndarray
    score: float


def together(frames: Sequence[KeyFrame], poses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the points and normals (k, 2) of key frames at poses (m, 3)."""
    ends = np.cumsum([0, *(len(frame.points) for frame in frames)])
    points, normals = np.empty((ends[-1], 2)), np.empty((ends[-1], 2))
    for frame, pose, a, b in zip(frames, poses, ends[:-1], ends[1:], strict=True):
        place_points(frame.points, frame.normals, pose, points[a:b], normals[a:b])
    return points, normals


def around(n: int, k: int, reach: int) -> slice:
    """Return the key frames from ``reach`` before k to ``reach`` behind it, of n."""
    return slice(max(0, k - reach), min(n, k + reach + 1))


def coarse_map(frames: Sequence[KeyFrame], poses: np.ndarray, k: int, settings: GraphSettings, window_m: float):
    """Return a coarse local map around key frame k, for `anywhere`."""
    part = around(len(poses), k, 8)
    points, normals = together(frames[part], poses[part])
    return local_map(
        points, normals, (poses[k, 0], poses[k, 1]), settings.range_m + window_m, COARSE_M, 2 * settings.smear_m
    )


def anywhere(
    place: LocalMap, centre: np.ndarray, frames: Sequence[KeyFrame], poses: np.ndarray, n: int, window_m: float,
    least: float,
) -> np.ndarray | None:  # fmt: skip
    """Return the pose of key frame n in the frame of a coarse map, found among all headings; None: it fits nowhere."""
    part = around(len(poses), n, 5)
    cloud, _ = together(frames[part], relative(poses[n], poses[part]))
    sparse = cloud[:: max(1, len(cloud) // COARSE_POINTS)]
    best, score = search(place, sparse, centre, window_m, math.pi, COARSE_RAD, least)
    return None if score < 0.0 else best


def near(
    frames: Sequence[KeyFrame], poses: np.ndarray, k: int, others: Sequence[KeyFrame], their_poses: np.ndarray, n: int,
    guess: np.ndarray, window_m: float, window_rad: float, least: float, settings: GraphSettings,
) -> Found | None:  # fmt: skip
    """Return where key frame n of the others is, near a guess (3,) in the frame of ``poses``; None: it does not fit."""
    part = around(len(poses), k, 8)
    points, normals = together(frames[part], poses[part])
    s = settings
    place = local_map(points, normals, (poses[k, 0], poses[k, 1]), s.range_m + 1.0, s.resolution_m, s.smear_m)
    part = around(len(their_poses), n, 2)
    cloud, facing = together(others[part], relative(their_poses[n], their_poses[part]))
    if len(cloud) < 50:
        return None
    sparse = cloud[:: max(1, len(cloud) // 250)]
    best, score = search(place, sparse, guess, window_m, window_rad, 0.02, least - 0.05, 0.05)
    if score < 0.0:
        return None
    best = start_for(place, sparse, guess, best, score)
    match = refine(place, cloud, facing, best, s.noise_m, np.zeros((3, 3)), best)
    if match.score < least:
        return None
    information = turned(match.information, match.pose[2]) + 0.1 * np.eye(3)
    return Found(relative(poses[k], match.pose), 0.5 * (information + information.T), match.score)
