"""Consensus of positions, leaders and followers, and rendezvous with limited sight."""

from typing import Any

import numpy as np

from covey.controllers.laws.look_ahead import commands_of, points_of, top_speed
from covey.kernel import kernel
from covey.onboard.controller import controller
from covey.planning.graphs import complete, laplacian, proximity
from covey.robots.parameters import Gain, GraphField, Indices, LookAhead, Metres, Velocity


def consensus_velocity(position: np.ndarray, neighbours: np.ndarray, gain: float = 1.0) -> np.ndarray:
    """Return the velocities of the consensus law, u_i = -k sum_j (x_i - x_j) over the neighbours, float64 (n, 2) [m/s].

    On a connected undirected graph all points meet at the mean of the starts. The distance to it falls as
    exp(-k lambda_2 t) or faster, with lambda_2 the second eigenvalue of the Laplacian L. Held for a period T, each step
    multiplies the positions by I - k T L; that is stable for k T < 2 / lambda_max. A directed graph needs a robot that
    all others see, directly or through others; they then meet, in general not at the mean.

    Args:
        position: points [m], (n, 2).
        neighbours: who sees whom, bool (n, n).
        gain: k [1/s].

    References:
        R. Olfati-Saber, R. M. Murray: Consensus problems in networks of agents with switching topology and time-delays.
        IEEE Transactions on Automatic Control 49(9):1520-1533, 2004.
    """
    return -gain * (laplacian(neighbours) @ position)


@controller("consensus", scope="group", sees=("pose", "links"), missions=())
def consensus(team: Any, *, graph: GraphField = complete(), gain: Gain = 1.0, look_ahead_m: LookAhead = 0.1) -> Any:
    """Meet at the mean of the starts, see `consensus_velocity`; robots with wheels bring points ahead of them there.

    Args:
        team: a group.
        graph: who sees whom.
        gain: k [1/s].
        look_ahead_m: distance of the points ahead of robots with wheels [m].

    References:
        R. Olfati-Saber, R. M. Murray: Consensus problems in networks of agents with switching topology and time-delays.
        IEEE Transactions on Automatic Control 49(9):1520-1533, 2004.
    """
    near = team.neighbours(graph)
    return commands_of(team, consensus_velocity(points_of(team, look_ahead_m), near, gain), look_ahead_m)


def followers_velocity(
    position: np.ndarray,
    neighbours: np.ndarray,
    leaders: np.ndarray,
    leader_velocity: tuple[float, float] = (0.0, 0.0),
    gain: float = 1.0,
) -> np.ndarray:
    """Return the velocities of a team whose leaders move on their own, float64 (n, 2) [m/s].

    Followers do as in `consensus_velocity`. Let L_f be the rows and columns of the followers in the Laplacian, and L_l
    the rows of the followers and columns of the leaders. If every follower is connected to a leader, the followers
    tend to -L_f^-1 L_l x_l, inside the convex hull of standing leaders, at rates k times the eigenvalues of L_f. If
    all leaders move with the velocity v, they follow behind that place by L_f^-1 1 v / k.

    Args:
        position: points [m], (n, 2).
        neighbours: who sees whom, bool (n, n).
        leaders: who leads, bool (n,).
        leader_velocity: velocity of the leaders [m/s].
        gain: k [1/s].

    References:
        M. Ji, G. Ferrari-Trecate, M. Egerstedt, A. Buffa: Containment control in mobile networks. IEEE Transactions on
        Automatic Control 53(8):1972-1975, 2008.
    """
    velocity = consensus_velocity(position, neighbours, gain)
    velocity[leaders] = leader_velocity
    return velocity


@controller("follow_leaders", scope="group", sees=("pose", "links"), missions=())
def follow_leaders(
    team: Any,
    *,
    leaders: Indices = (0,),
    leader_velocity: Velocity = (0.0, 0.0),
    graph: GraphField = complete(),
    gain: Gain = 1.0,
    look_ahead_m: LookAhead = 0.1,
) -> Any:
    """Follow leaders that stand, or move at a constant velocity, see `followers_velocity`.

    Args:
        team: a group.
        leaders: indices of the leaders.
        leader_velocity: velocity of the leaders in the world frame [m/s].
        graph: who sees whom.
        gain: k [1/s].
        look_ahead_m: distance of the points ahead of robots with wheels [m].

    References:
        M. Ji, G. Ferrari-Trecate, M. Egerstedt, A. Buffa: Containment control in mobile networks. IEEE Transactions on
        Automatic Control 53(8):1972-1975, 2008.
    """
    leads, near = np.isin(np.arange(team.count), leaders), team.neighbours(graph)
    velocity = followers_velocity(points_of(team, look_ahead_m), near, leads, leader_velocity, gain)
    return commands_of(team, velocity, look_ahead_m)


@kernel
def rendezvous_step(position, neighbours, range_m, farthest_m):
    """Return where each robot goes in one step, float64 (n, 2) [m], by the circumcentre law.

    A robot aims at the centre of the smallest circle around itself and those that it sees. It stays in the disc of
    radius range/2 around the middle between itself and each of them; so do they, and nobody gets out of sight. If the
    graph of robots in range is connected at the start it stays so, and all robots meet.

    Args:
        position: positions [m], (n, 2).
        neighbours: who sees whom, bool (n, n); `covey.graphs.proximity` with this range.
        range_m: how far robots see [m].
        farthest_m: longest step [m].

    References:
        H. Ando, Y. Oasa, I. Suzuki, M. Yamashita: Distributed memoryless point convergence algorithm for mobile robots
        with limited visibility. IEEE Transactions on Robotics and Automation 15(5):818-828, 1999.
    """
    n = len(position)
    goal, seen = position.copy(), np.empty((n, 2))
    for i in range(n):
        seen[0], count = position[i], 1
        for j in range(n):
            if neighbours[i, j]:
                seen[count] = position[j]
                count += 1
        cx, cy = smallest_circle(seen, count)
        dx, dy = cx - position[i, 0], cy - position[i, 1]
        far = np.hypot(dx, dy)
        if far == 0.0:
            continue
        ux, uy, step = dx / far, dy / far, min(far, farthest_m)
        for k in range(1, count):
            mx, my = 0.5 * (seen[k, 0] - position[i, 0]), 0.5 * (seen[k, 1] - position[i, 1])
            along = mx * ux + my * uy
            root = along * along + 0.25 * range_m * range_m - mx * mx - my * my
            step = min(step, max(along + np.sqrt(max(root, 0.0)), 0.0))
        goal[i, 0], goal[i, 1] = position[i, 0] + step * ux, position[i, 1] + step * uy
    return goal


@kernel
def smallest_circle(points, count):
    """Return the centre x, y of the smallest circle around the first ``count`` rows of points (m, 2).

    Points outside the circle so far lie on the border of the next one, one after another, at most three.

    References:
        E. Welzl: Smallest enclosing disks (balls and ellipsoids). LNCS 555, 1991.
    """
    x, y, r2 = points[0, 0], points[0, 1], 0.0
    for i in range(1, count):
        if _outside(points, i, x, y, r2):
            x, y, r2 = points[i, 0], points[i, 1], 0.0
            for j in range(i):
                if _outside(points, j, x, y, r2):
                    x, y = 0.5 * (points[i, 0] + points[j, 0]), 0.5 * (points[i, 1] + points[j, 1])
                    r2 = (points[i, 0] - x) ** 2 + (points[i, 1] - y) ** 2
                    for k in range(j):
                        if _outside(points, k, x, y, r2):
                            x, y = _circumcentre(points, i, j, k)
                            r2 = (points[i, 0] - x) ** 2 + (points[i, 1] - y) ** 2
    return x, y


@kernel(inline=True)
def _outside(points, i, x, y, r2):
    return (points[i, 0] - x) ** 2 + (points[i, 1] - y) ** 2 > r2 * (1.0 + 1e-12) + 1e-24


@kernel(inline=True)
def _circumcentre(points, i, j, k):
    """Return the centre of the circle through three points; of points on a line the middle of the farthest two."""
    ax, ay = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1]
    bx, by = points[k, 0] - points[i, 0], points[k, 1] - points[i, 1]
    det = 2.0 * (ax * by - ay * bx)
    a2, b2 = ax * ax + ay * ay, bx * bx + by * by
    if abs(det) <= 1e-12 * max(a2, b2):
        cx, cy = bx - ax, by - ay
        c2 = cx * cx + cy * cy
        if c2 > max(a2, b2):
            return 0.5 * (points[j, 0] + points[k, 0]), 0.5 * (points[j, 1] + points[k, 1])
        if a2 > b2:
            return points[i, 0] + 0.5 * ax, points[i, 1] + 0.5 * ay
        return points[i, 0] + 0.5 * bx, points[i, 1] + 0.5 * by
    return points[i, 0] + (by * a2 - ay * b2) / det, points[i, 1] + (ax * b2 - bx * a2) / det


@controller("rendezvous", scope="group", sees=("pose",), missions=())
def rendezvous(team: Any, *, range_m: Metres = 5.0, look_ahead_m: LookAhead = 0.1) -> Any:
    """Meet at one place without losing sight of each other, see `rendezvous_step`.

    The guarantee holds for the centres of holonomic robots, and for points ahead of robots with wheels; it takes robots
    without a delay, and all of them act at the same time.

    Args:
        team: a group.
        range_m: how far robots see [m].
        look_ahead_m: distance of the points ahead of robots with wheels [m].

    References:
        H. Ando, Y. Oasa, I. Suzuki, M. Yamashita: Distributed memoryless point convergence algorithm for mobile robots
        with limited visibility. IEEE Transactions on Robotics and Automation 15(5):818-828, 1999.
    """
    points = points_of(team, look_ahead_m)
    farthest = team.dt * top_speed(team.robot, look_ahead_m, team.dt)
    goal = rendezvous_step(points, proximity(range_m)(points), range_m, farthest)
    return commands_of(team, (goal - points) / team.dt, look_ahead_m)
