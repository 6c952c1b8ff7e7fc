"""The stretches of a way: how well the map explains each, and which are doubtful."""

from typing import Any

import numpy as np

from covey.mapping.map_of_scans import Explained
from covey.mapping.slam.log import Log
from covey.mapping.slam.seen_through import Passes

LENGTH_M = 10.0
"""Way of a stretch [m]."""
_LESS = 0.85  # a stretch is doubtful if the map explains less than this share of what it explains of the usual one
_THROUGH = 0.3  # or if it and other passes look through more than this share of each other's walls: of right maps 0.18


def stretches_of(
    log: Log, poses: np.ndarray, explained: Explained, passes: Passes, plain: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return the stretches of a way: the scans of each, the share that the map explains, and why it is doubtful.

    They end where a piece of the map does. A stretch is doubtful if the map explains clearly less of it than of
    the usual stretch: there walls are double, or things have moved. So is one whose scans and those of other passes
    look through each other's walls: one of them is turned. And so is one with a bent step, and one of a piece that is
    not joined.

    Args:
        log: n scans.
        poses: estimates at these, (n, 3).
        explained: what the map explains.
        passes: what scans of different passes saw of each other's walls.
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
        through = passes.share(first, last)
        if through > _THROUGH:
            why.append(f"it and other passes look through {100.0 * through:.0f} % of each other's walls")
        if bent := [scan for scan in plain.get("bent_steps", ()) if first <= scan <= last]:
            why.append(f"bent at scan {bent[0]}")
        if any(piece["first_scan"] <= last and first <= piece["last_scan"] for piece in apart):
            why.append("of a piece whose place is not known")
        told = {"explained": share, "looked_through": through}
        told = {name: None if np.isnan(value) else value for name, value in told.items()}
        found.append({"first_scan": first, "last_scan": last, **told, "doubts": why})
    return found


def placed(rows: np.ndarray, plain: dict[str, Any]) -> np.ndarray:
    """Return those of some scans (m,) whose place is known: they are of no piece that is not joined."""
    for piece in plain.get("pieces", ()):
        if not piece["joined"]:
            rows = rows[(rows < piece["first_scan"]) | (rows > piece["last_scan"])]
    return rows


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
