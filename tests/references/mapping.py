"""Plain references of compiled code of `covey.mapping`: loops and NumPy, to compare with."""

import math

import numpy as np

from covey.mapping.exchange.merge_rules import GreedyFill, Maximum, MergeRule, Probabilistic


def providers_reference(heard, clocks, reach, clock) -> tuple[np.ndarray, np.ndarray]:
    """Plain reference of `providers`."""
    n = len(clock)
    since, told = clock.copy(), [set() for _ in range(n)]
    for i in range(n):
        for j in [j for j in range(n) if heard[i, j] >= 0 and j != i]:
            asked, near = clocks[heard[i, j]], reach[heard[i, j]]
            for o in [o for o in range(n) if o != j and clock[i, o] > asked[o]]:
                others = [k for k in range(n) if heard[i, k] >= 0 and near[k] and k not in (i, j)]
                known = {k: clocks[heard[i, k]][o] for k in others} | {i: clock[i, o]}
                first = o if near[o] or o == i else min(known, key=lambda k: (-known[k], k))
                if first == i:
                    since[i, o] = min(since[i, o], asked[o])
                    told[i].add(j)
    return since, np.array([-2 if not t else min(t) if len(t) == 1 else -1 for t in told])


def hide_team_mates_reference(ranges, angles, mount, count, away, bearings, radius) -> np.ndarray:
    """NumPy reference of `hide_team_mates`; returns the changed copy."""
    out = ranges.copy()
    directions = angles + mount[2]
    for i in range(len(ranges)):
        points = mount[:2] + ranges[i][:, None] * np.stack((np.cos(directions), np.sin(directions)), axis=-1)
        for k in range(count[i]):
            centre = away[i, k] * np.array([np.cos(bearings[i, k]), np.sin(bearings[i, k])])
            with np.errstate(invalid="ignore"):
                out[i, np.hypot(*(points - centre).T) <= radius[i]] = np.nan
    return out


def stamp_reference(points, origin, resolution, sigma, shape):
    """Plain reference of `stamp`: return exp(-d^2 / 2 sigma^2) of the nearest point within three sigma, or 0."""
    rows, columns = np.indices(shape)
    x = origin[0] + (columns + 0.5) * resolution
    y = origin[1] + (rows + 0.5) * resolution
    nearest = np.min(np.hypot(x[..., None] - points[:, 0], y[..., None] - points[:, 1]), axis=-1)
    return np.where(nearest < 3.0 * sigma, np.exp(-0.5 * (nearest / sigma) ** 2), 0.0)


def search_reference(place, points, guess, window_m, window_rad, step_rad, bias=0.0):
    """Plain reference of `search`: the best score of all poses."""
    turns, cells = math.ceil(window_rad / step_rad), math.ceil(window_m / place.resolution)
    side, best = place.cells.shape[0], -np.inf
    for a in range(-turns, turns + 1):
        c, s = math.cos(guess[2] + a * step_rad), math.sin(guess[2] + a * step_rad)
        x = np.floor((guess[0] + c * points[:, 0] - s * points[:, 1] - place.origin[0]) / place.resolution).astype(int)
        y = np.floor((guess[1] + s * points[:, 0] + c * points[:, 1] - place.origin[1]) / place.resolution).astype(int)
        for dx in range(-cells, cells + 1):
            for dy in range(-cells, cells + 1):
                u, v = x + dx, y + dy
                inside = (u >= 0) & (u < side) & (v >= 0) & (v < side)
                score = place.cells[v[inside], u[inside]].astype(int).sum() / (255.0 * len(points))
                far = (dx * dx + dy * dy) / max(cells * cells, 1) + a * a / max(turns * turns, 1)
                best = max(best, score - bias * far)
    return best


class Votes(MergeRule):
    """Each robot has one vote per cell."""

    def parts(self, evidence):
        return np.sign(evidence)


RULES = {"probabilistic": Probabilistic(), "greedy_fill": GreedyFill(), "maximum": Maximum(), "votes": Votes()}


def merged(rule, own, others):
    """Plain reference of merge rules: the map from a robot's own log-odds and those of others, in their order."""
    evidence = [np.asarray(one, int) for one in (own, *others)]
    states = [np.select([one > 0, one < 0], [100, 0], -1) for one in evidence]
    if rule == "greedy_fill":
        out = states[0]
        for state in states[1:]:
            out = np.where(out == -1, state, out)
        return out
    if rule == "maximum":
        return np.max(states, axis=0)
    total = np.sum([np.sign(one) for one in evidence] if rule == "votes" else evidence, axis=0)
    return np.select([total > 0, total < 0], [100, 0], -1)
