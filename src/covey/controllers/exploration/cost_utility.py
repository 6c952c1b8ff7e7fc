"""Cost and utility: a goal that one robot will see loses utility for the others."""

import numpy as np

from covey.controllers.exploration.team_assignment import Candidates, explore_together, sensor_range_m
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.planning import assignment
from covey.planning.shorten import line_cost
from covey.robots.parameters import Count, Definition, Metres, Seconds, Weight


@controller("cost_utility", sees=("pose", "map", "shared_map", "radio"), needs=("map",), missions=("exploration",))
async def cost_utility(
    robot: Robot,
    *,
    beta: Weight = 1.0,
    min_cells: Count = 8,
    definition: Definition = "explore",
    piece_m: Metres = 4.0,
    replan_s: Seconds = 5.0,
    forget_s: Seconds = 10.0,
) -> None:
    """Assign the pairs with the highest utility minus cost first, and go to the frontier assigned to this robot.

    Each goal begins with utility 1. When a goal is assigned, the utility of every goal in sight of it at a distance d
    falls by P(d) = 1 - d / r, the probability to see one from the other, where r is the range of the mapping sensor;
    through walls and beyond r the probability is 0. Costs are measured in units of r, too, so ``beta`` has no unit.
    Each robot computes the assignment for all robots from its own map and the poses that the others have reported.
    Robots that have been silent for ``forget_s`` lower no utility. It ends when it can reach no frontier.

    Args:
        robot: a robot with a map.
        beta: weight of cost against utility (published: 1, and nearly the same results from 0.01 to 50).
        min_cells: smallest frontier that counts, in cells; smaller ones count when no other is left.
        definition: which cells are frontier cells, see `covey.mapping.occupancy.frontiers.find_frontiers`.
        piece_m: distance between the goals on a frontier [m] (published: every frontier cell is a goal).
        replan_s: time between two choices while driving [s].
        forget_s: time for which a robot counts after it was last heard [s].

    Unlike the source:
        Compared with notes on Algorithm 1 and equation (4).

        - V: cost over occupancy probabilities -> Covey's costs in units of the lidar's range, so ``beta`` (1) has no
          unit
        - every frontier cell is a goal -> one every ``piece_m``, to save time
        - one centre for each cluster -> each robot by itself

    References:
        W. Burgard, M. Moors, C. Stachniss, F. Schneider: Coordinated multi-robot exploration. IEEE Transactions on
        Robotics 21(3), 2005, Algorithm 1 and equation (4).
    """
    reach = sensor_range_m(robot)

    def decide(robot: Robot, found: Candidates) -> int:
        assert robot.map is not None
        solid = np.where(robot.map.occupancy() > 50, np.float32(np.inf), np.float32(1.0))
        cells = reach / robot.map.grid.resolution

        def reduction(goal: int) -> np.ndarray:
            return chance_to_see(solid, found.cells, goal, cells)

        return int(assignment.cost_utility(found.costs / reach, reduction, beta)[found.robot])

    await explore_together(robot, decide, min_cells, definition, piece_m, replan_s, forget_s)


def chance_to_see(solid: np.ndarray, cells: np.ndarray, goal: int, reach: float) -> np.ndarray:
    """Return P(d) = 1 - d / reach for each cell seen from one of them; 0 from ``reach`` on, and behind walls.

    Args:
        solid: float32 (rows, columns), inf where the map is occupied, else 1.
        cells: int64 (k, 2), rows and columns.
        goal: index of the cell to look from.
        reach: range of the sensor [cells].

    Returns:
        float64 (k,), 1 for the cell itself.
    """
    chance = np.clip(1.0 - np.hypot(*(cells - cells[goal]).T) / reach, 0.0, 1.0)
    for j in np.flatnonzero(chance > 0.0):
        if line_cost(solid, *cells[goal].tolist(), *cells[j].tolist()) == np.inf:
            chance[j] = 0.0
    return chance
