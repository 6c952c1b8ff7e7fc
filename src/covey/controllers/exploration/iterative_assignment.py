"""Iterative assignment: assign the cheapest pair of robot and frontier first, then the cheapest of the rest."""

import numpy as np

from covey.controllers.exploration.by_rule import by_rule
from covey.planning import assignment


@by_rule
def iterative_assignment(costs: np.ndarray, robot: int) -> int:
    """Assign the cheapest pairs of robot and frontier first, and go to the frontier assigned to this robot.

    Each robot computes the assignment for all robots from its own map and the poses that the others have reported.
    Robots that have been silent for ``forget_s`` get no frontier. It ends when it can reach no frontier.

    Unlike the source:
        Compared with notes on the papers.

        - see ``greedy_assignment``

    References:
        J. Faigl, M. Kulich: On benchmarking of frontier-based multi-robot exploration strategies. ECMR 2015.
        B. B. Werger, M. J. Mataric: Broadcast of local eligibility for multi-target observation. DARS 2000.
    """
    return assignment.iterative_assignment(costs)[robot]
