"""Plain references of compiled code of `covey.planning`: loops and NumPy, to compare with."""

import math
from collections import deque

import numpy as np

from covey.lazy import ndimage, shapely
from covey.planning.costs import MAX_COST
from covey.planning.shared_tours import _ROUNDS, tour_cost


def visibility_reference(solid: np.ndarray, cells: np.ndarray, reach: float, grown: float) -> np.ndarray:
    """Plain reference of `visibility`: the line between two centres meets no square of a solid cell.

    For lines exactly through a corner, rounding decides; squares that are slightly ``grown``, or shrunk, give bounds.
    """
    rows, columns = np.nonzero(solid)
    walls = shapely.box(columns - grown, rows - grown, columns + 1 + grown, rows + 1 + grown)
    sees = np.eye(len(cells), dtype=np.uint8)
    for i, a in enumerate(cells + 0.5):
        for j, b in enumerate(cells + 0.5):
            line = shapely.linestrings([a[::-1], b[::-1]])
            if i != j and math.hypot(*(b - a)) <= reach and not shapely.intersects(walls, line).any():
                sees[i, j] = 1
    return sees


def clearance_reference(occupancy: np.ndarray, resolution: float, cap_m: float) -> np.ndarray:
    """Reference of `clearance`, by scipy's exact distance transform."""
    if not np.any(occupancy > 50):
        return np.full(occupancy.shape, cap_m, np.float32)
    distance = ndimage.distance_transform_edt(occupancy <= 50)
    return np.clip((np.asarray(distance) - 0.5) * resolution, 0.0, cap_m).astype(np.float32)


def traversal_cost_reference(occupancy, clearance_m, lethal_m, comfort_m, weight, unknown_cost) -> np.ndarray:
    """NumPy reference of `traversal_cost`."""
    clearance_m = clearance_m.astype(float)
    missing = np.clip((comfort_m - clearance_m) / max(comfort_m - lethal_m, 1e-9), 0.0, None)
    cost = np.where(occupancy < 0, unknown_cost, 1.0) + weight * missing**2
    cost = np.where(np.isinf(cost), np.inf, np.minimum(cost, MAX_COST))
    return np.where((clearance_m < lethal_m) | (occupancy > 50), np.inf, cost).astype(np.float32)


def flood_reference(passable: np.ndarray, row: int, column: int, target: np.ndarray) -> int:
    """Plain reference of `flood`."""
    rows, columns = passable.shape
    queue, seen = deque([(row, column)]), {(row, column)}
    while queue:
        r, c = queue.popleft()
        if target[r, c]:
            return r * columns + c
        if not passable[r, c] and (r, c) != (row, column):
            continue
        for a, b in ((r, c + 1), (r + 1, c), (r, c - 1), (r - 1, c)):
            inside = 0 <= a < rows and 0 <= b < columns
            if inside and (a, b) not in seen and (passable[a, b] or target[a, b]):
                seen.add((a, b))
                queue.append((a, b))
    return -1


def shared_tours_reference(start: np.ndarray, between: np.ndarray, dwell: float = 0.0) -> list[list[int]]:
    """Plain Python reference of `shared_tours`."""
    nearest = start.min(axis=0, initial=np.inf)
    order = [goal for goal in np.argsort(-nearest, kind="stable").tolist() if math.isfinite(nearest[goal])]
    tried = [_arranged(goals, start, between, dwell) for goals in (order, order[::-1])]
    return min(tried, key=lambda tours: _quality(tours, start, between, dwell))


def _arranged(order: list[int], start: np.ndarray, between: np.ndarray, dwell: float) -> list[list[int]]:
    """Return tours with places inserted in an order, then moved while that helps."""
    tours: list[list[int]] = [[] for _ in range(len(start))]
    for goal in order:
        _insert(goal, tours, start, between, dwell)
    for _ in range(_ROUNDS):
        before = _quality(tours, start, between, dwell)
        for goal in order:
            kept = [list(tour) for tour in tours]
            for tour in tours:
                if goal in tour:
                    tour.remove(goal)
            _insert(goal, tours, start, between, dwell)
            if _quality(tours, start, between, dwell) > _quality(kept, start, between, dwell):
                tours = kept
        for i, tour in enumerate(tours):
            tours[i] = _turned(tour, i, start, between)
        if _quality(tours, start, between, dwell) >= before:
            break
    return tours


def _quality(tours: list[list[int]], start: np.ndarray, between: np.ndarray, dwell: float) -> tuple[float, float]:
    costs = [tour_cost(tour, i, start, between, dwell) for i, tour in enumerate(tours)]
    return round(max(costs), 9), round(sum(costs), 9)


def _insert(goal: int, tours: list[list[int]], start: np.ndarray, between: np.ndarray, dwell: float) -> None:
    """Insert a place where the longest tour, and then their sum, grows least."""
    costs = np.array([tour_cost(tour, i, start, between, dwell) for i, tour in enumerate(tours)])
    best: tuple[float, float, int, int] | None = None
    for i, tour in enumerate(tours):
        if not math.isfinite(start[i, goal]):
            continue
        to = np.append(start[i, goal], between[tour, goal])  # from what is before it
        after = np.append(between[goal, tour], 0.0)
        saved = np.append(start[i, tour[:1]], between[tour[:-1], tour[1:]]) if tour else np.empty(0)
        added = to + after - np.append(saved, 0.0) + dwell
        p = int(added.argmin())
        longest = max(float(np.delete(costs, i).max(initial=0.0)), float(costs[i] + added[p]))
        found = round(longest, 9), round(float(added[p]), 9), i, p
        best = found if best is None else min(best, found)
    if best is not None:
        tours[best[2]].insert(best[3], goal)


def _turned(tour: list[int], robot: int, start: np.ndarray, between: np.ndarray) -> list[int]:
    """Return the tour after turning stretches around while that makes it shorter (2-opt of an open tour)."""
    better = True
    while better:
        better = False
        for a in range(len(tour) - 1):
            for b in range(a + 1, len(tour)):
                come = start[robot] if a == 0 else between[tour[a - 1]]
                gain = come[tour[a]] - come[tour[b]]
                if b + 1 < len(tour):
                    gain += between[tour[b], tour[b + 1]] - between[tour[a], tour[b + 1]]
                if gain > 1e-9:
                    tour = [*tour[:a], *reversed(tour[a : b + 1]), *tour[b + 1 :]]
                    better = True
    return tour
