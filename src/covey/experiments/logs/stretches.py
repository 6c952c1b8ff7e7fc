"""The stretches of a way: how well the map explains each, and which are doubtful."""

from typing import Any

import numpy as np

from covey.mapping.map_of_scans import Explained
from covey.mapping.slam.log import Log

LENGTH_M = 10.0
"""Way of a stretch [m]."""
_LESS = 0.85  # a stretch is doubtful if the map explains less than this share of what it explains of the usual one


def stretches_of(log: Log, poses: np.ndarray, explained: Explained, plain: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the stretches of a way: the scans of each, the share that the map explains, and why it is doubtful.

    They end where a piece of the map does. A stretch is doubtful if the map explains clearly less of it than of
    the usual stretch: there walls are double, or things have moved. So is one with a bent step, and one of a piece that
    is not joined.

    Args:
        log: n scans.
        poses: estimates at these, (n, 3).
        explained: what the map explains.
        plain: the scores, see `covey.experiments.logs.scores.scores_of`; those of a graph name bent steps and pieces.
    """
    steps = np.hypot(*np.diff(poses[:, :2], axis=0).T)
    steps[np.array(log.begins[1:], int) - 1] = 0.0
    number = (np.append(0.0, np.cumsum(steps)) // LENGTH_M).astype(int)
    pieces = [piece["first_scan"] for piece in plain.get("pieces", ())]
    firsts = np.union1d(np.flatnonzero(np.diff(number, prepend=-1)), pieces).astype(int)
    lasts = np.append(firsts[1:], len(log)) - 1
    shares = np.array([explained.share(a, b) for a, b in zip(firsts.tolist(), lasts.tolist(), strict=True)])
    least = _LESS * float(np.nanmedian(shares)) if np.isfinite(shares).any() else 0.0
    apart = [piece for piece in plain.get("pieces", ()) if not piece["joined"]]
    found = []
    for first, last, share in zip(firsts.tolist(), lasts.tolist(), shares.tolist(), strict=True):
        why = [f"the map explains {100.0 * share:.0f} % of its returns"] if share < least else []
        if bent := [scan for scan in plain.get("bent_steps", ()) if first <= scan <= last]:
            why.append(f"bent at scan {bent[0]}")
        if any(piece["first_scan"] <= last and first <= piece["last_scan"] for piece in apart):
            why.append("of a piece whose place is not known")
        explains = None if np.isnan(share) else share
        found.append({"first_scan": first, "last_scan": last, "explained": explains, "doubts": why})
    return found


def doubted(stretches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the doubtful ones."""
    return [one for one in stretches if one["doubts"]]


def in_words(stretches: list[dict[str, Any]]) -> list[str]:
    """Return what to say of the doubtful ones: a sentence; none: nothing."""
    some = doubted(stretches)
    if not some:
        return []
    each = (f"scans {one['first_scan']} to {one['last_scan']} ({', '.join(one['doubts'])})" for one in some[:3])
    are = "stretch is" if len(some) == 1 else "stretches are"
    return [f"{len(some)} of {len(stretches)} {are} doubtful and marked in the map, such as {'; '.join(each)}."]
