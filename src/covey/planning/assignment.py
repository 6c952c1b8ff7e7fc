"""Assignment of goals to the robots of a team, given the cost of each goal for each robot.

All functions take ``costs``, float64 (n, k): the cost for robot i to reach goal j [m], inf if it cannot. Each goal is
assigned once. If no goal is left for a robot (more robots than goals), it takes the cheapest that it can reach; a robot
that can reach none gets -1. Ties go to the first robot, and to the first goal.

References:
    J. Faigl, M. Kulich: On benchmarking of frontier-based multi-robot exploration strategies. ECMR 2015 (greedy,
    iterative, Hungarian, MinPos).
"""

from collections.abc import Callable

import numpy as np

from covey.lazy import optimize


def nearest(costs: np.ndarray) -> int:
    """Return the cheapest goal of one robot, given its costs, float64 (k,); -1 if it can reach none.

    References:
        B. Yamauchi: Frontier-based exploration using multiple robots. Agents 1998.

    Examples:
        >>> nearest(np.array([3.0, 2.0, np.inf]))
        1
    """
    best = int(costs.argmin()) if len(costs) else -1
    return best if best >= 0 and np.isfinite(costs[best]) else -1


def greedy_assignment(costs: np.ndarray) -> np.ndarray:
    """Let the robots choose in turn: each takes its cheapest goal that no earlier robot has taken.

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
    """Assign the cheapest pair of a robot and a goal, then the cheapest of the rest, and so on.

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
    """Assign the goals so that as many robots as possible get one they can reach, at the smallest sum of costs.

    Returns:
        int64 (n,), the goal of each robot.

    References:
        H. W. Kuhn: The Hungarian method for the assignment problem. Naval Research Logistics Quarterly 2, 1955.

    Examples:
        >>> hungarian_assignment(np.array([[1.0, 2.0], [2.0, 9.0]])).tolist()
        [1, 0]
    """
    goals = np.full(len(costs), -1, np.int64)
    finite = np.isfinite(costs)
    if finite.any():
        never = 1.0 + len(costs) * costs[finite].max()
        robots, chosen = optimize.linear_sum_assignment(np.where(finite, costs, never))
        real = finite[robots, chosen]
        goals[robots[real]] = chosen[real]
    return _with_rest(goals, costs)


def minpos(costs: np.ndarray, robot: int) -> int:
    """Return the goal at which the robot has the best rank: to which the fewest other robots are nearer.

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
    """Assign the pair of robot and goal with the largest utility minus cost, lower the utility around the goal; repeat.

    Every goal begins with utility 1. Unlike in the assignments above, a goal may be assigned again.

    Args:
        costs: float64 (n, k), in any unit.
        reduction: given an assigned goal, returns the decrease of each goal's utility, float64 (k,): the probability
            that the goal is seen from there.
        beta: weight of a unit of cost against utility.

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
    """Give each robot without a goal the cheapest one that it can reach."""
    for i in np.flatnonzero(goals < 0):
        goals[i] = nearest(costs[i])
    return goals
