"""Scans of several lidars as rows of one log: of several drives, or of one robot with lidars that take turns."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from covey.mapping.slam.log import Laser, Log


class Stacked(NamedTuple):
    """The scans of several logs below each other; see `covey.mapping.slam.log.Log`.

    Attributes:
        laser: that of the first log, with the widest fan and the longest range of all.
        ranges: float (N, B) [m].
        fans: float64 (N, 3); None: all scans have the beams of ``laser``.
        mounts: float64 (N, 3); None: all lidars have the mount of ``laser``.
    """

    laser: Laser
    ranges: np.ndarray
    fans: np.ndarray | None
    mounts: np.ndarray | None


def stacked(logs: Sequence[Log]) -> Stacked:
    """Return the scans of one or more logs below each other; their lidars, mounts and beams may differ."""
    first = logs[0]
    starts = np.cumsum([0, *(len(one) for one in logs)])
    reach = max(one.laser.range_max for one in logs)
    widest = max(one.ranges.shape[1] for one in logs)
    ranges = np.full((starts[-1], widest), np.nan, np.result_type(*(one.ranges.dtype for one in logs), np.float32))
    for one, a, b in zip(logs, starts[:-1], starts[1:], strict=True):
        ranges[a:b, : one.ranges.shape[1]] = np.where(one.laser.range_max < reach, _returns(one), one.ranges)
    same_mount = all(one.mounts is None and one.laser.mount == first.laser.mount for one in logs)
    same_beams = all(one.fans is None and np.array_equal(one.laser.angles, first.laser.angles) for one in logs)
    wide = max(logs, key=lambda one: len(one.laser.angles)).laser.angles
    return Stacked(
        replace(first.laser, range_max=reach, angles=first.laser.angles if same_beams else wide),
        ranges,
        None if same_beams else np.vstack([_fans(one) for one in logs]),
        None if same_mount else np.vstack([_mounts(one) for one in logs]),
    )


def taking_turns(name: str, logs: Sequence[Log], places: Sequence[np.ndarray]) -> Log:
    """Return the scans of several lidars of one robot as one log, in the order in which they were taken.

    Where only some logs have a reference, the scans of the others have none.

    Args:
        name: of the log.
        logs: one for each lidar, all with the same frame of odometry, without scans between their rows.
        places: for each log a number for each scan (k,), which says where it comes among all.
    """
    if len(logs) == 1:
        return logs[0]
    scans, order = stacked(logs), np.argsort(np.concatenate(places), kind="stable")
    odometry = np.vstack([one.odometry for one in logs])[order]
    known = None
    if any(one.reference is not None for one in logs):
        nothing = [np.full((len(one), 3), np.nan) if one.reference is None else one.reference for one in logs]
        known = np.vstack(nothing)[order]
    return Log(
        name,
        scans.laser,
        scans.ranges[order],
        odometry,
        np.concatenate([one.times for one in logs])[order],
        odometry,
        np.arange(len(odometry)),
        known,
        fans=None if scans.fans is None else scans.fans[order],
        remarks=tuple(dict.fromkeys(remark for one in logs for remark in one.remarks)),
        mounts=None if scans.mounts is None else scans.mounts[order],
    )


def _returns(log: Log) -> np.ndarray:
    """Return the ranges of a log, inf where there is no return."""
    return np.where(log.laser.returns(log.ranges) | np.isnan(log.ranges), log.ranges, np.inf)


def _fans(log: Log) -> np.ndarray:
    if log.fans is not None:
        return log.fans
    angles = log.laser.angles
    step = (angles[-1] - angles[0]) / (len(angles) - 1) if len(angles) > 1 else 1.0
    return np.tile([angles[0], step, len(angles)], (len(log), 1))


def _mounts(log: Log) -> np.ndarray:
    return np.tile(log.laser.mount, (len(log), 1)) if log.mounts is None else log.mounts
