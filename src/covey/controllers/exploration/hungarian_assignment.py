"""Hungarian assignment: assign frontiers so that the sum of all path lengths is smallest."""

from covey.controllers.exploration.team_assignment import Candidates, explore_together
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.planning import assignment
from covey.robots.parameters import Count, Definition, Metres, Seconds


@controller(
    "hungarian_assignment", sees=("pose", "map", "shared_map", "radio"), needs=("map",), missions=("exploration",)
)
async def hungarian_assignment(
    robot: Robot,
    *,
    min_cells: Count = 8,
    definition: Definition = "explore",
    piece_m: Metres = 10.0,
    replan_s: Seconds = 5.0,
    forget_s: Seconds = 10.0,
) -> None:
    """Assign frontiers so that the sum of all path lengths is smallest, and go to the one assigned to this robot.

    Each robot solves the assignment for all robots from its own map and the poses that the others have reported. Robots
    that have been silent for ``forget_s`` get no frontier. It ends when it can reach no frontier.

    Args:
        robot: a robot with a map.
        min_cells: smallest frontier that counts, in cells; smaller ones count when no other is left.
        definition: which cells are frontier cells, see `covey.mapping.occupancy.frontiers.find_frontiers`.
        piece_m: a longer frontier is cut into goals, one per this length [m].
        replan_s: time between two choices while driving [s].
        forget_s: time for which a robot counts after it was last heard [s].

    Unlike the source:
        Compared with notes on the papers.

        - see ``greedy_assignment``

    References:
        J. Faigl, M. Kulich: On benchmarking of frontier-based multi-robot exploration strategies. ECMR 2015.
        H. W. Kuhn: The Hungarian method for the assignment problem. Naval Research Logistics Quarterly 2, 1955.
    """
    await explore_together(robot, decide, min_cells, definition, piece_m, replan_s, forget_s)


def decide(robot: Robot, found: Candidates) -> int:
    """Return the robot's goal in the cheapest assignment."""
    return int(assignment.hungarian_assignment(found.costs)[found.robot])
