"""Who goes where: goals for a team from what each robot pays for each goal.

All take ``costs``, float64 (n, k): what robot i pays to reach goal j [m], inf where it cannot get there. Goals are
dealt out once each; a robot for which none is left (more robots than goals) takes the cheapest that it can reach, and
a robot that can reach nothing gets -1. Equal values fall to the first robot, and to the first goal.

References:
    J. Faigl, M. Kulich: On benchmarking of frontier-based multi-robot exploration strategies. ECMR 2015 (greedy,
    iterative, Hungarian, MinPos).
"""

from collections.abc import Callable

import numpy as np


def nearest(costs: np.ndarray) -> int:
    """Return the cheapest goal of one robot, given what each costs it, float64 (k,); -1 when it can reach none.

    References:
        B. Yamauchi: Frontier-based exploration using multiple robots. Agents 1998.

    Examples:
        >>> nearest(np.array([3.0, 2.0, np.inf]))
        1
    """
    best = int(costs.argmin()) if len(costs) else -1
    return best if best >= 0 and np.isfinite(costs[best]) else -1


def greedy_assignment(costs: np.ndarray) -> np.ndarray:
    """Let the robots choose in turn, each its cheapest goal that nobody before it has taken.

    Returns:
        int64 (n,), the goal of each robot.

    References:
        B. Yamauchi: Frontier-based exploration using multiple robots. Agents 1998, as Faigl and Kulich extend it.

    Examples:
        >>> greedy_assignment(np.array([[2.0, 3.0], [1.0, 9.0]])).tolist()
        [0, 1]
    """
    goals = np.full(len(costs), -1, np.int64)
    free = np.ones(costs.shape[1], bool)
    for i, row in enumerate(costs):
        goals[i] = nearest(np.where(free, row, np.inf))
        free[goals[i : i + 1]] &= goals[i] < 0
    return _with_rest(goals, costs)


def iterative_assignment(costs: np.ndarray) -> np.ndarray:
    """Deal out the cheapest pair of a robot and a goal, then the cheapest of what remains, and so on.

    Returns:
        int64 (n,), the goal of each robot.

    References:
        B. B. Werger, M. J. Mataric: Broadcast of local eligibility for multi-target observation. DARS 2000.

    Examples:
        >>> iterative_assignment(np.array([[2.0, 3.0], [1.0, 9.0]])).tolist()
        [1, 0]
    """
    goals = np.full(len(costs), -1, np.int64)
    left = costs.copy()
    for _ in range(min(costs.shape)):
        i, j = divmod(int(left.argmin()), costs.shape[1])
        if left[i, j] == np.inf:
            break
        goals[i] = j
        left[i], left[:, j] = np.inf, np.inf
    return _with_rest(goals, costs)


def hungarian_assignment(costs: np.ndarray) -> np.ndarray:
    """Deal out the goals such that most robots get one they can reach, and the sum of the costs is least.

    Returns:
        int64 (n,), the goal of each robot.

    References:
        H. W. Kuhn: The Hungarian method for the assignment problem. Naval Research Logistics Quarterly 2, 1955.

    Examples:
        >>> hungarian_assignment(np.array([[1.0, 2.0], [2.0, 9.0]])).tolist()
        [1, 0]
    """
    from scipy.optimize import linear_sum_assignment  # takes a quarter of a second

    goals = np.full(len(costs), -1, np.int64)
    finite = np.isfinite(costs)
    if finite.any():
        never = 1.0 + len(costs) * costs[finite].max()
        robots, chosen = linear_sum_assignment(np.where(finite, costs, never))
        real = finite[robots, chosen]
        goals[robots[real]] = chosen[real]
    return _with_rest(goals, costs)


def minpos(costs: np.ndarray, robot: int) -> int:
    """Return the goal at which the robot has the best rank: the fewest others are nearer to it than it is itself.

    Of goals with equal rank it is the cheapest. Each robot decides for itself.

    References:
        A. Bautin, O. Simonin, F. Charpillet: MinPos: a novel frontier allocation algorithm for multi-robot
        exploration. ICIRA 2012, pp. 496-508.

    Examples:
        >>> minpos(np.array([[2.0, 3.0], [1.0, 9.0]]), 0)
        1
    """
    own = costs[robot]
    if not np.isfinite(own).any():
        return -1
    rank = np.where(np.isfinite(own), (costs < own).sum(axis=0), len(costs))
    return int(np.lexsort((own, rank))[0])


def cost_utility(costs: np.ndarray, reduction: Callable[[int], np.ndarray], beta: float = 1.0) -> np.ndarray:
    """Deal out the pair of a robot and a goal whose utility less cost is largest, and lower the utility around it.

    Every goal begins with utility 1. Other than by the assignments above, a goal may be taken again.

    Args:
        costs: float64 (n, k), in any unit.
        reduction: from a goal that has been taken: by how much the utility of each goal falls, float64 (k,): the
            probability that it is seen from there.
        beta: what a unit of cost weighs against utility.

    Returns:
        int64 (n,), the goal of each robot.

    References:
        W. Burgard, M. Moors, C. Stachniss, F. Schneider: Coordinated multi-robot exploration. IEEE Transactions on
        Robotics 21(3), 2005, Algorithm 1.

    Examples:
        >>> alone = np.eye(2)  # neither goal can be seen from the other
        >>> cost_utility(np.array([[0.2, 0.3], [0.1, 0.9]]), alone.__getitem__).tolist()
        [1, 0]
    """
    goals = np.full(len(costs), -1, np.int64)
    utility = np.ones(costs.shape[1])
    waiting = np.asarray(np.isfinite(costs).any(axis=1))
    while waiting.any():
        value = np.where(waiting[:, None], utility - beta * costs, -np.inf)
        i, j = divmod(int(value.argmax()), costs.shape[1])
        goals[i], waiting[i] = j, False
        utility = utility - reduction(j)
    return goals


def _with_rest(goals: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Give the robots without a goal the cheapest that they can reach."""
    for i in np.flatnonzero(goals < 0):
        goals[i] = nearest(costs[i])
    return goals
