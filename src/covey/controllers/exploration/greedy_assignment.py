"""Greedy assignment: robots choose in turn, each the nearest frontier that no earlier robot has taken."""

import numpy as np

from covey.controllers.exploration.by_rule import by_rule
from covey.planning import assignment


@by_rule
def greedy_assignment(costs: np.ndarray, robot: int) -> int:
    """Go to the nearest frontier that no robot with an earlier name takes.

    Each robot computes the choices of all robots from its own map and the poses that the others have reported. Robots
    that have been silent for ``forget_s`` have no turn. It ends when it can reach no frontier.

    Unlike the source:
        Compared with notes on the papers.

        - k-means cuts frontiers into goals -> pieces of about ``piece_m``, from one end on, without random numbers
        - path costs to all team mates' goals -> with more than ten mates only the nearest ten, over blocks of cells
        - more robots than goals: nothing said -> such a robot takes the cheapest goal that it can reach
        - a central program plans after each step -> each robot computes the whole assignment, every ``replan_s`` and
          when its goal is gone

    References:
        J. Faigl, M. Kulich: On benchmarking of frontier-based multi-robot exploration strategies. ECMR 2015.
    """
    return assignment.greedy_assignment(costs)[robot]
