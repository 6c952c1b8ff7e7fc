"""MinPos: go to the frontier to which the fewest other robots are nearer."""

from covey.controllers.exploration.team_assignment import Candidates, explore_together
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.planning import assignment
from covey.robots.parameters import Count, Definition, Metres, Seconds


@controller("minpos", sees=("pose", "map", "shared_map", "radio"), needs=("map",), missions=("exploration",))
async def minpos(
    robot: Robot,
    *,
    min_cells: Count = 8,
    definition: Definition = "explore",
    piece_m: Metres = 10.0,
    replan_s: Seconds = 5.0,
    forget_s: Seconds = 10.0,
) -> None:
    """Go to the frontier at which this robot has the best rank: where the fewest other robots are nearer.

    Of frontiers with equal rank it takes the nearest. It ranks by its own map and the poses that the others report.
    Robots that have been silent for ``forget_s`` do not count. It ends when it can reach no frontier.

    Args:
        robot: a robot with a map.
        min_cells: smallest frontier that counts, in cells; smaller ones count when no other is left.
        definition: which cells are frontier cells, see `covey.mapping.occupancy.frontiers.find_frontiers`.
        piece_m: a longer frontier is cut into goals, one per this length [m].
        replan_s: time between two choices while driving [s].
        forget_s: time for which a robot counts after it was last heard [s].

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
    await explore_together(robot, decide, min_cells, definition, piece_m, replan_s, forget_s)


def decide(robot: Robot, found: Candidates) -> int:
    """Return the frontier at which the robot has the best rank."""
    return assignment.minpos(found.costs, found.robot)
