"""SLAM over a whole log: poses, key frames, graph, and how long each scan took."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covey.errors import InvalidValueError
from covey.mapping.slam.graph_slam import GraphSettings, GraphSlam
from covey.mapping.slam.log import Log, relative
from covey.mapping.slam.particle_settings import ParticleSettings
from covey.mapping.slam.particles import ParticleSlam
from covey.random import stream_key


@dataclass(frozen=True, eq=False)
class Followed:
    """What SLAM found along a log.

    Attributes:
        poses: estimate at each scan with all that is known at the end, (N, 3), in the frame of the first pose.
        key_rows: the scans that are key frames, or in the maps of particles, as rows of the log, (n,).
        slam: graph SLAM, with key frames, edges and loops; None: the poses are those of particles.
        seconds: processor time that each scan took [s], (N,).
        settling_s: and what remained after the last scan [s].
        known: so many scans, the first, were known before: those of a graph that is continued.
    """

    poses: np.ndarray
    key_rows: np.ndarray
    slam: GraphSlam | None
    seconds: np.ndarray
    settling_s: float
    known: int = 0


def follow(
    log: Log,
    settings: GraphSettings | None = None,
    progress: Callable[[int], None] | None = None,
    continued: GraphSlam | None = None,
) -> Followed:
    """Follow a log from its first scan to its last.

    Args:
        log: the log.
        settings: of graph SLAM; without its ``loops`` scans are only matched.
        progress: called with the number of scans done, after each.
        continued: a graph whose key frames are the first scans of the log, see `covey.mapping.slam.saved_graph`.
    """
    slam, motions = continued or GraphSlam(log.laser, settings), _motions(log)
    known = slam.scans

    def add(k: int) -> None:
        if k and k in log.begins:
            slam.begin_session()
        slam.add(motions[k], *_scan(log, k), None if log.mounts is None else log.mount(k))

    seconds = _timed(known, len(log), add, progress)
    began = time.thread_time()
    slam.settle()
    return Followed(slam.trajectory(), np.array(slam.key_rows), slam, seconds, time.thread_time() - began, known)


def follow_with_particles(
    log: Log, settings: ParticleSettings, seed: int = 0, progress: Callable[[int], None] | None = None
) -> Followed:
    """Follow a log as `follow` does, with particles; the poses are those of the one that is best at the end.

    Raises:
        InvalidValueError: the log has several sessions, or scans of several lidars.
    """
    if len(log.begins) > 1 or log.mounts is not None:
        raise InvalidValueError(
            f"the log {log.name} has several {'lidars' if log.mounts is not None else 'sessions'}; particles take one "
            "of them: --method graph takes all"
        )
    slam, motions = ParticleSlam(log.laser, settings, stream_key(seed, "particles")), _motions(log)
    elapsed_s = np.maximum(np.nan_to_num(np.diff(log.times, prepend=log.times[:1])), 0.0)

    def update(k: int) -> None:
        ranges, angles = _scan(log, k)
        slam.update(motions[k], ranges, float(elapsed_s[k]), angles)

    seconds = _timed(0, len(log), update, progress)
    return Followed(slam.trajectory(), slam.processed_rows, None, seconds, 0.0)


def _motions(log: Log) -> np.ndarray:
    return np.vstack((np.zeros(3), relative(log.odometry[:-1], log.odometry[1:])))


def _scan(log: Log, row: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the ranges of a scan, and the bearings of its beams; None: those of the lidar."""
    angles, ranges = log.scan(row)
    return ranges, None if log.fans is None else angles


def _timed(first: int, scans: int, add: Callable[[int], object], progress: Callable[[int], None] | None) -> np.ndarray:
    """Add the scans from ``first`` on, one after the other; return the processor time that each took [s]."""
    seconds = np.zeros(scans)
    for k in range(first, scans):
        began = time.thread_time()
        add(k)
        seconds[k] = time.thread_time() - began
        if progress is not None:
            progress(k + 1)
    return seconds
