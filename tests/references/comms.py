"""Plain references of compiled code of `covey.comms`: loops and NumPy, to compare with."""

import itertools
import math
from typing import Any

import numpy as np

from covey.comms.links.chain import _FAR
from covey.comms.links.shadowing import SINUSOIDS, _waves
from covey.geometry.raycast import to_grid
from covey.random import uniform2_numpy


def bad_states_reference(key, link: int, slots: int, to_bad: float, to_good: float, start: int = 0) -> list[bool]:
    """Plain reference of `bad_states`: step the chain of one link forward from an early slot."""
    state, states = False, []
    for k in range(start - 2000, start + slots):
        u = float(uniform2_numpy(key, k + _FAR, link)[0])
        state = (u < 1.0 - to_good) if state else (u < to_bad)
        if k >= start:
            states.append(state)
    return states


def through_reference(solid, material, frame, start, end, per_metre, per_wall) -> float:
    """Plain reference of `through` for one pair: cut the segment at all grid lines and check each piece."""
    (u, v), (w, z) = to_grid.py_func(frame, *start), to_grid.py_func(frame, *end)
    cuts = {0.0, 1.0}
    for p, q in ((u, w), (v, z)):
        if p != q:
            lines = np.arange(math.ceil(min(p, q)), math.floor(max(p, q)) + 1)
            cuts |= set(((lines - p) / (q - p)).tolist())
    at = sorted(t for t in cuts if 0.0 <= t <= 1.0)
    length, cost, inside = math.hypot(end[0] - start[0], end[1] - start[1]), 0.0, -1
    for t0, t1 in itertools.pairwise(at):
        if t1 - t0 < 1e-12:
            continue
        middle = 0.5 * (t0 + t1)
        column, row = math.floor(u + middle * (w - u)), math.floor(v + middle * (z - v))
        if not (0 <= row < solid.shape[0] and 0 <= column < solid.shape[1]) or not solid[row, column]:
            inside = -1
            continue
        made_of = int(material[row, column]) if material is not None else 0
        if made_of != inside:
            cost, inside = cost + per_wall[made_of], made_of
        cost += (t1 - t0) * length * per_metre[made_of]
    return cost


def shadows_reference(key: Any, correlation_m: float, xa: Any, ya: Any, xb: Any, yb: Any) -> np.ndarray:
    """NumPy reference of `shadows`."""
    a, b, waves = np.stack((xa, ya), -1), np.stack((xb, yb), -1), _waves(int(key), float(correlation_m))
    ways = [p @ waves[:, :2].T + q @ waves[:, 2:4].T + waves[:, 4] for p, q in ((a, b), (b, a))]
    both = np.cos(ways).sum(axis=(0, -1))
    apart = np.hypot(*(a - b).T)
    return both / np.sqrt(SINUSOIDS * (1.0 + np.exp(-2.0 * apart / correlation_m)))
