"""Several drives through one place, as one log: where each but the first begins is not known."""

from collections.abc import Sequence

import numpy as np

from covey.geometry.se2 import compose
from covey.mapping.slam.lidars import stacked
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
    scans = stacked(logs)
    known = None
    if first.reference is not None:
        known = np.vstack((first.reference, np.full((starts[-1] - counts[0], 3), np.nan)))
    return Log(
        "+".join(one.name for one in logs),
        scans.laser,
        scans.ranges,
        np.vstack(odometry),
        np.concatenate([one.times for one in logs]),
        np.vstack(streams),
        np.concatenate(rows),
        known,
        np.concatenate([one.stamps for one in logs]),
        scans.fans,
        tuple(f"{one.name}: {remark}" for one in logs for remark in one.remarks),
        scans.mounts,
        tuple(int(start) + begin for start, one in zip(starts, logs, strict=False) for begin in one.begins),
    )
