"""SLAM over a whole log: poses, key frames, graph, and how long each scan took."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

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
    """

    poses: np.ndarray
    key_rows: np.ndarray
    slam: GraphSlam | None
    seconds: np.ndarray
    settling_s: float


def follow(log: Log, settings: GraphSettings | None = None, progress: Callable[[int], None] | None = None) -> Followed:
    """Follow a log from its first scan to its last.

    Args:
        log: the log.
        settings: of graph SLAM; without its ``loops`` scans are only matched.
        progress: called with the number of scans done, after each.
    """
    slam, motions = GraphSlam(log.laser, settings), _motions(log)
    seconds = _timed(len(log), lambda k: slam.add(motions[k], *_scan(log, k)), progress)
    began = time.thread_time()
    slam.settle()
    return Followed(slam.trajectory(), np.array(slam.key_rows), slam, seconds, time.thread_time() - began)


def follow_with_particles(
    log: Log, settings: ParticleSettings, seed: int = 0, progress: Callable[[int], None] | None = None
) -> Followed:
    """Follow a log as `follow` does, with particles; the poses are those of the one that is best at the end."""
    slam, motions = ParticleSlam(log.laser, settings, stream_key(seed, "particles")), _motions(log)
    elapsed_s = np.maximum(np.nan_to_num(np.diff(log.times, prepend=log.times[:1])), 0.0)

    def update(k: int) -> None:
        ranges, angles = _scan(log, k)
        slam.update(motions[k], ranges, float(elapsed_s[k]), angles)

    seconds = _timed(len(log), update, progress)
    return Followed(slam.trajectory(), slam.processed_rows, None, seconds, 0.0)


def _motions(log: Log) -> np.ndarray:
    return np.vstack((np.zeros(3), relative(log.odometry[:-1], log.odometry[1:])))


def _scan(log: Log, row: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the ranges of a scan, and the bearings of its beams; None: those of the lidar."""
    angles, ranges = log.scan(row)
    return ranges, None if log.fans is None else angles


def _timed(scans: int, add: Callable[[int], object], progress: Callable[[int], None] | None) -> np.ndarray:
    """Add the scans one after the other; return the processor time that each took [s]."""
    seconds = np.empty(scans)
    for k in range(scans):
        began = time.thread_time()
        add(k)
        seconds[k] = time.thread_time() - began
        if progress is not None:
            progress(k + 1)
    return seconds
