"""Several drives through one place, as one log: where each but the first begins is not known."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from covey.geometry.se2 import compose
from covey.mapping.slam.log import Log, relative


def together(logs: Sequence[Log]) -> Log:
    """Return the scans of several logs as one log with a session for each; lidars, mounts and beams may differ.

    The odometry of each log goes on where that of the log before ends, which says nothing about where the robot was.
    Only the reference of the first log is kept: nothing says that others have the same frame.

    Args:
        logs: one or more.
    """
    first = logs[0]
    if len(logs) == 1:
        return first
    counts = [len(one) for one in logs]
    starts = np.cumsum([0, *counts])
    odometry, streams, rows, last, driven = [], [], [], np.zeros(3), 0
    for k, one in enumerate(logs):
        base = one.odometry[0]
        moved = [compose(last, relative(base, poses)) if k else poses for poses in (one.odometry, one.stream)]
        odometry.append(moved[0])
        streams.append(moved[1])
        rows.append(one.rows + driven)
        last, driven = moved[0][-1], driven + len(one.stream)
    reach = max(one.laser.range_max for one in logs)
    widest = max(one.ranges.shape[1] for one in logs)
    ranges = np.full((starts[-1], widest), np.nan, np.result_type(*(one.ranges.dtype for one in logs), np.float32))
    for one, a, b in zip(logs, starts[:-1], starts[1:], strict=True):
        ranges[a:b, : one.ranges.shape[1]] = np.where(one.laser.range_max < reach, _returns(one), one.ranges)
    same_mount = all(one.mounts is None and one.laser.mount == first.laser.mount for one in logs)
    same_beams = all(one.fans is None and np.array_equal(one.laser.angles, first.laser.angles) for one in logs)
    known = None
    if first.reference is not None:
        known = np.vstack((first.reference, np.full((starts[-1] - counts[0], 3), np.nan)))
    wide = max(logs, key=lambda one: len(one.laser.angles)).laser.angles
    return Log(
        "+".join(one.name for one in logs),
        replace(first.laser, range_max=reach, angles=first.laser.angles if same_beams else wide),
        ranges,
        np.vstack(odometry),
        np.concatenate([one.times for one in logs]),
        np.vstack(streams),
        np.concatenate(rows),
        known,
        np.concatenate([one.stamps for one in logs]),
        None if same_beams else np.vstack([_fans(one) for one in logs]),
        tuple(f"{one.name}: {remark}" for one in logs for remark in one.remarks),
        None if same_mount else np.vstack([_mounts(one) for one in logs]),
        tuple(int(start) + begin for start, one in zip(starts, logs, strict=False) for begin in one.begins),
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
