"""SLAM over a whole log: poses, key frames, graph, and how long each scan took."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covey.mapping.slam.graph_slam import GraphSettings, GraphSlam
from covey.mapping.slam.log import Log, relative


@dataclass(frozen=True, eq=False)
class Followed:
    """What SLAM found along a log.

    Attributes:
        poses: estimate at each scan with all that is known at the end, (N, 3), in the frame of the first pose.
        key_rows: the scans that are key frames, as rows of the log, (n,).
        slam: the SLAM, with key frames, edges and loops.
        seconds: processor time that each scan took [s], (N,).
        settling_s: and what remained after the last scan [s].
    """

    poses: np.ndarray
    key_rows: np.ndarray
    slam: GraphSlam
    seconds: np.ndarray
    settling_s: float


def follow(log: Log, settings: GraphSettings | None = None, progress: Callable[[int], None] | None = None) -> Followed:
    """Follow a log from its first scan to its last.

    Args:
        log: the log.
        settings: of graph SLAM; without its ``loops`` scans are only matched.
        progress: called with the number of scans done, after each.
    """
    slam = GraphSlam(log.laser, settings)
    motion = np.vstack((np.zeros(3), relative(log.odometry[:-1], log.odometry[1:])))
    seconds = np.empty(len(log))
    for k in range(len(log)):
        began = time.thread_time()
        slam.add(motion[k], log.ranges[k])
        seconds[k] = time.thread_time() - began
        if progress is not None:
            progress(k + 1)
    began = time.thread_time()
    slam.settle()
    return Followed(slam.trajectory(), np.array(slam.key_rows), slam, seconds, time.thread_time() - began)
