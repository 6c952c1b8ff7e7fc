"""What a run says about giving up: one line for its summary, and the places for its pictures."""

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from covey.results.run import Run

KINDS = ("gave_up", "stands", "frontier_left")
"""Kinds of events at places that a robot has given up, or where it stood."""
_MOST_NAMES = 3


def sentence(run: "Run") -> str:
    """Return what robots gave up, and why, in one line; empty if there is nothing to tell."""
    if not any(run.count(kind) for kind in (*KINDS, "exhausted")):
        return ""
    rows = run.events.select("kind", "robot", "text").rows()
    parts = [text for kind, _, text in rows if kind == "exhausted"]
    goals = Counter(text for kind, _, text in rows if kind == "gave_up")
    if goals:
        why = "; ".join(f"{count} because {text}" for text, count in goals.most_common(_MOST_NAMES))
        more = "; …" if len(goals) > _MOST_NAMES else ""
        parts.append(f"{_counted(goals.total(), 'goal')} given up: {why}{more}")
    stood = {robot: text for kind, robot, text in rows if kind == "stands"}
    if stood:
        name, text = next(iter(stood.items()))
        parts.append(f"{_counted(len(stood), 'robot')} stood for long: {name}, {text}{', …' if len(stood) > 1 else ''}")
    return "; ".join(parts)


def places(run: "Run", *kinds: str) -> np.ndarray:
    """Return where robots gave up goals, stood, or left frontiers, x, y [m], float64 (k, 2); of some kinds only."""
    kinds = kinds or KINDS
    if not any(run.count(kind) for kind in kinds):
        return np.empty((0, 2))
    events = run.events
    found = events.filter(events["kind"].is_in(kinds)).select("x_m", "y_m").to_numpy().reshape(-1, 2)
    return np.unique(found[np.isfinite(found).all(axis=1)], axis=0)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
