"""Control barrier functions: the velocities nearest to the wanted ones that keep robots apart and off walls."""

from typing import Any

import numpy as np

from covey.errors import CoveyError
from covey.kernel import kernel
from covey.lazy import sparse

_EXACT = 1e-9
_SOLVED = 1e-7
_ROUNDS = 60


def barrier_velocity(
    position: np.ndarray,
    wanted: np.ndarray,
    *,
    apart_m: float,
    top_speed_m_s: float,
    gain: float,
    walls: np.ndarray | None = None,
    wall_m: float = 0.0,
) -> np.ndarray:
    """Return the velocities u nearest to the wanted ones under barrier constraints, float64 (n, 2) [m/s].

    With the unit vector e from j to i and the distance d: e (u_i - u_j) >= -k (d - D) for each pair; for each wall
    e u_i >= -k (d - D_w), e from its nearest point; |u_i| <= top speed for each robot that is changed. The programme
    is solved by Clarabel, with the constraints that are violated, then with those that its solution violates as well,
    until none is. Robots in none of them keep their velocities bit by bit; if nothing is violated, nothing is solved.

    Distances to convex sets are convex functions of time along straight lines. So for velocities held for a period T
    with k T <= 1, robots that start apart stay apart, d - D >= (1 - k T) (d - D) of the step before, at every moment,
    not only in the limit of small steps. Standing still is always allowed, so there is always a solution. Robots can
    block each other.

    Args:
        position: centres [m], (n, 2).
        wanted: velocities that a law wants [m/s], (n, 2).
        apart_m: D, the smallest distance of two centres [m].
        top_speed_m_s: largest speed of a robot in any direction [m/s].
        gain: k [1/s].
        walls: both ends of each wall, x1, y1, x2, y2 [m], (m, 4).
        wall_m: D_w, the smallest distance of a centre and a wall [m].

    Raises:
        CoveyError: Clarabel is needed and not installed.

    References:
        A. D. Ames, X. Xu, J. W. Grizzle, P. Tabuada: Control barrier function based quadratic programs for safety
        critical systems. IEEE Transactions on Automatic Control 62(8):3861-3876, 2017.
        L. Wang, A. D. Ames, M. Egerstedt: Safety barrier certificates for collisions-free multirobot systems. IEEE
        Transactions on Robotics 33(3):661-674, 2017.
    """
    segments = np.zeros((0, 4)) if walls is None else np.ascontiguousarray(walls, float)
    speed = max(top_speed_m_s, float(np.hypot(wanted[:, 0], wanted[:, 1]).max(initial=0.0)))
    i, j, e, bound = constraints(np.ascontiguousarray(position), segments, apart_m, wall_m, gain, speed)
    broken = _slack(wanted, i, j, e, bound) < -_EXACT
    if not broken.any():
        return wanted
    velocity, fast = wanted.copy(), np.zeros(len(wanted), bool)
    for _ in range(_ROUNDS):
        robots = np.unique(np.concatenate((i[broken], j[broken & (j >= 0)])))
        solution = _solve(wanted, robots, i[broken], j[broken], e[broken], bound[broken], fast[robots], top_speed_m_s)
        if solution is None:
            break
        velocity[robots] = solution
        fresh = (_slack(velocity, i, j, e, bound) < -_SOLVED) & ~broken
        faster = np.zeros(len(wanted), bool)
        faster[robots] = np.hypot(velocity[robots, 0], velocity[robots, 1]) > top_speed_m_s + _SOLVED
        faster &= ~fast
        if not fresh.any() and not faster.any():
            return velocity
        broken, fast = broken | fresh, fast | faster
    velocity[i], velocity[j[j >= 0]] = 0.0, 0.0
    return velocity


@kernel
def constraints(position, segments, apart_m, wall_m, gain, speed):
    """Return the constraints that robots up to a speed could break: e (u_i - u_j) + bound >= 0.

    Args:
        position: centres [m], (n, 2).
        segments: walls, x1, y1, x2, y2 [m], (m, 4).
        apart_m, wall_m: smallest distances of two centres, and of a centre and a wall [m].
        gain: k [1/s].
        speed: largest speed [m/s].

    Returns:
        i, j: robots, int64 (c,); j is -1 for a wall.
        e: unit vectors to robot i, (c, 2).
        bound: k times the distance beyond the smallest one, not below 0 [m/s], (c,).
    """
    n, m = len(position), len(segments)
    reach, wall_reach = apart_m + 2.0 * speed / gain, wall_m + speed / gain
    first = np.empty(0, np.int64)
    second, e, bound = first, np.empty((0, 2)), np.empty(0)
    for fill in range(2):
        c = 0
        for i in range(n):
            x, y = position[i, 0], position[i, 1]
            for j in range(i + 1, n):
                dx, dy = x - position[j, 0], y - position[j, 1]
                if abs(dx) < reach and abs(dy) < reach and dx * dx + dy * dy < reach * reach:
                    if fill == 1:
                        _write(first, second, e, bound, c, i, j, dx, dy, apart_m, gain)
                    c += 1
            for k in range(m):
                ax, ay = segments[k, 0], segments[k, 1]
                wx, wy = segments[k, 2] - ax, segments[k, 3] - ay
                length2 = wx * wx + wy * wy
                share = ((x - ax) * wx + (y - ay) * wy) / length2 if length2 > 0.0 else 0.0
                share = min(max(share, 0.0), 1.0)
                dx, dy = x - ax - share * wx, y - ay - share * wy
                if dx * dx + dy * dy < wall_reach * wall_reach:
                    if fill == 1:
                        _write(first, second, e, bound, c, i, -1, dx, dy, wall_m, gain)
                    c += 1
        if fill == 0:
            first, second = np.empty(c, np.int64), np.empty(c, np.int64)
            e, bound = np.empty((c, 2)), np.empty(c)
    return first, second, e, bound


@kernel(inline=True)
def _write(first, second, e, bound, c, i, j, dx, dy, smallest, gain):
    far = np.sqrt(dx * dx + dy * dy)
    first[c], second[c] = i, j
    e[c, 0], e[c, 1] = (dx / far, dy / far) if far > 0.0 else (1.0, 0.0)
    bound[c] = gain * max(far - smallest, 0.0)


def _slack(velocity: np.ndarray, i: np.ndarray, j: np.ndarray, e: np.ndarray, bound: np.ndarray) -> np.ndarray:
    other = np.where((j >= 0)[:, None], velocity[j], 0.0)
    return ((velocity[i] - other) * e).sum(axis=1) + bound


def _solve(
    wanted: np.ndarray,
    robots: np.ndarray,
    i: np.ndarray,
    j: np.ndarray,
    e: np.ndarray,
    bound: np.ndarray,
    fast: np.ndarray,
    top_speed_m_s: float,
) -> np.ndarray | None:
    """Return the velocities of some robots that solve the programme with some constraints, (k, 2); None: it failed."""
    clarabel = _clarabel()
    k, c, cones = len(robots), len(i), int(fast.sum())
    place = np.full(len(wanted) + 1, -1)
    place[robots] = np.arange(k)
    pair = np.flatnonzero(j >= 0)
    rows = [np.arange(c), np.arange(c), pair, pair]
    columns = [2 * place[i], 2 * place[i] + 1, 2 * place[j[pair]], 2 * place[j[pair]] + 1]
    values = [-e[:, 0], -e[:, 1], e[pair, 0], e[pair, 1]]
    limit, quick = np.zeros(3 * cones), np.flatnonzero(fast)
    limit[::3] = top_speed_m_s
    for axis in range(2):
        rows.append(c + 3 * np.arange(cones) + 1 + axis)
        columns.append(2 * quick + axis)
        values.append(-np.ones(cones))
    shape = (c + 3 * cones, 2 * k)
    at = np.concatenate(rows), np.concatenate(columns)
    matrix = sparse.csc_matrix((np.concatenate(values), at), shape=shape)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    solver = clarabel.DefaultSolver(
        sparse.identity(2 * k, format="csc"),
        -wanted[robots].ravel(),
        matrix,
        np.concatenate((bound, limit)),
        [clarabel.NonnegativeConeT(c), *[clarabel.SecondOrderConeT(3)] * cones],
        settings,
    )
    solution = solver.solve()
    if str(solution.status) not in ("Solved", "AlmostSolved"):
        return None
    return np.array(solution.x).reshape(-1, 2)


def _clarabel() -> Any:
    try:
        import clarabel
    except ImportError:
        raise CoveyError("barriers need clarabel; install it with: pip install 'covey[lab]'") from None
    return clarabel
