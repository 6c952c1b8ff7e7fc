"""Hungarian assignment: assign frontiers so that the sum of all path lengths is smallest."""

import numpy as np

from covey.controllers.exploration.by_rule import by_rule
from covey.planning import assignment


@by_rule
def hungarian_assignment(costs: np.ndarray, robot: int) -> int:
    """Assign frontiers so that the sum of all path lengths is smallest, and go to the one assigned to this robot.

    Each robot solves the assignment for all robots from its own map and the poses that the others have reported. Robots
    that have been silent for ``forget_s`` get no frontier. It ends when it can reach no frontier.

    Unlike the source:
        Compared with notes on the papers.

        - see ``greedy_assignment``

    References:
        J. Faigl, M. Kulich: On benchmarking of frontier-based multi-robot exploration strategies. ECMR 2015.
        H. W. Kuhn: The Hungarian method for the assignment problem. Naval Research Logistics Quarterly 2, 1955.
    """
    return assignment.hungarian_assignment(costs)[robot]
