"""Scans whose number of beams varies, as cheap lidars and drivers make them: each has its own fan of beams."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

SAME_RAD = 1e-4
"""Beams that differ by less are the same [rad]."""


class Fans(NamedTuple):
    """The beams of all scans of a log.

    Attributes:
        angles: bearings of the beams that most scans have [rad], (B,); with more beams if another scan has more.
        ranges: all scans [m], float32 (N, B); after the last beam of a scan nan.
        each: of each scan the bearing of its first beam, the step to the next one [rad], and the number of its beams,
            (N, 3); None: all have those of ``angles``.
        remark: how many scans have other beams than most; empty: none.
    """

    angles: np.ndarray
    ranges: np.ndarray
    each: np.ndarray | None
    remark: str


def joined(first: Sequence[float], step: Sequence[float], ranges: Sequence[np.ndarray]) -> Fans:
    """Return the scans of a lidar as arrays.

    Args:
        first: bearing of the first beam of each scan [rad], (N,).
        step: from one beam to the next [rad], (N,).
        ranges: each scan [m], N arrays of one number or more.
    """
    starts, steps = np.asarray(first, float), np.asarray(step, float)
    counts = np.array([len(one) for one in ranges])
    ends = starts + steps * (counts - 1)
    usual = Counter(counts.tolist()).most_common(1)[0][0]
    like = counts == usual
    like &= (np.abs(starts - np.median(starts[like])) < SAME_RAD) & (np.abs(ends - np.median(ends[like])) < SAME_RAD)
    if not like.any():  # as many turn one way as the other
        like[0] = True
    one = int(np.argmax(like))
    if like.all():
        return Fans(starts[0] + steps[0] * np.arange(usual), np.array(list(ranges), np.float32), None, "")
    wide = np.full((len(counts), counts.max()), np.nan, np.float32)
    for row, scan in zip(wide, ranges, strict=True):
        row[: len(scan)] = scan
    begin, end = np.degrees([starts[one], ends[one]])
    remark = (
        f"{int((~like).sum())} of {len(counts)} scans have other beams than most, which have {counts[one]} from "
        f"{begin:.1f} to {end:.1f} degrees: {counts.min()} to {counts.max()} beams. Each scan is taken with its own."
    )
    angles = starts[one] + steps[one] * np.arange(wide.shape[1])
    return Fans(angles, wide, np.column_stack((starts, steps, counts)), remark)
