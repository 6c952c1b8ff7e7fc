"""Greedy assignment: robots choose in turn, each the nearest frontier that no earlier robot has taken."""

from covey.controllers.exploration.team_assignment import Candidates, explore_together
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.planning import assignment
from covey.robots.parameters import Count, Definition, Metres, Seconds


@controller("greedy_assignment", sees=("pose", "map", "shared_map", "radio"), needs=("map",), missions=("exploration",))
async def greedy_assignment(
    robot: Robot,
    *,
    min_cells: Count = 8,
    definition: Definition = "explore",
    piece_m: Metres = 10.0,
    replan_s: Seconds = 5.0,
    forget_s: Seconds = 10.0,
) -> None:
    """Go to the nearest frontier that no robot with an earlier name takes.

    Each robot computes the choices of all robots from its own map and the poses that the others have reported. Robots
    that have been silent for ``forget_s`` have no turn. It ends when it can reach no frontier.

    Args:
        robot: a robot with a map.
        min_cells: smallest frontier that counts, in cells; smaller ones count when no other is left.
        definition: which cells are frontier cells, see `covey.mapping.occupancy.frontiers.find_frontiers`.
        piece_m: a longer frontier is cut into goals, one per this length [m].
        replan_s: time between two choices while driving [s].
        forget_s: time for which a robot counts after it was last heard [s].

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
    await explore_together(robot, decide, min_cells, definition, piece_m, replan_s, forget_s)


def decide(robot: Robot, found: Candidates) -> int:
    """Return the robot's goal if all robots choose in turn."""
    return int(assignment.greedy_assignment(found.costs)[found.robot])
