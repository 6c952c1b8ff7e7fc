"""MinPos: go to the frontier to which the fewest other robots are nearer."""

import numpy as np

from covey.controllers.exploration.by_rule import by_rule
from covey.planning import assignment


@by_rule
def minpos(costs: np.ndarray, robot: int) -> int:
    """Go to the frontier at which this robot has the best rank: where the fewest other robots are nearer.

    Of frontiers with equal rank it takes the nearest. It ranks by its own map and the poses that the others report.
    Robots that have been silent for ``forget_s`` do not count. It ends when it can reach no frontier.

    Unlike the source:
        Compared with nav2d, nav2d_exploration/src/MinPosPlanner.cpp.

        - frontiers grouped over four neighbours; the goal is the nearest cell -> over eight, cut into pieces of
          ``piece_m``; the goal is the middle
        - distances by a wave over four neighbours -> by paths over eight, and blocks of cells
        - robots in one cell count once -> corrected: each counts

    References:
        A. Bautin, O. Simonin, F. Charpillet: MinPos: a novel frontier allocation algorithm for multi-robot
        exploration. ICIRA 2012, pp. 496-508.
    """
    return assignment.minpos(costs, robot)
