"""Cyclic patrol: all robots follow one closed tour through all waypoints, one behind the other."""

from typing import Literal

import numpy as np

from covey.controllers.patrolling.patrol_loop import graph_of, patrol
from covey.errors import InvalidValueError
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.planning.tours import christofides_tour, nearest_neighbour_tour, spaced_entry


@controller("cyclic_patrol", sees=("pose", "map", "waypoints"), needs=("waypoints",), missions=("patrolling",))
async def cyclic_patrol(robot: Robot, *, tour: Literal["christofides", "nearest"] = "christofides") -> None:
    """Follow one closed tour through all waypoints forever, starting as far behind the next robot as possible.

    The robot knows the map, the waypoints (not their edges: every two waypoints have a path) and the size of the team;
    it needs no radio. A robot that vanishes leaves a gap in the procession, which nobody closes. It never ends.

    Args:
        robot: the robot.
        tour: ``christofides``: at most 1.5 times as long as the shortest tour; or ``nearest``: always to the nearest
            waypoint that is left.

    Unlike the source:
        Compared with MAEPS, `SingleCycleChristofides.cs`.

        - odd nodes matched greedily -> at least cost, as Christofides has it
        - a Hamilton circuit, else the longest path with detours (``patrolling_sim``) -> left out: needs a search of all
          paths
        - each robot begins at its own waypoint -> they spread evenly along the tour first (Chevaleyre)
        - a tour of each robot's part -> one tour for all
        - patrols go to the nearest waypoint first; one that cannot be reached counts as visited, so that others get
          their turn

    References:
        Y. Chevaleyre: Theoretical analysis of the multi-agent patrolling problem. IAT 2004.
        N. Christofides: Worst-case analysis of a new heuristic for the travelling salesman problem. CMU, 1976.
    """
    graph = graph_of(robot)
    tours = {"christofides": christofides_tour, "nearest": nearest_neighbour_tour}
    if tour not in tours:
        raise InvalidValueError(f"tour is {tour!r}; use christofides or nearest")
    order = tours[tour](graph.distance)
    entry = spaced_entry(graph.distance, order, robot.team.index(robot.name), len(robot.team))
    position = entry - 1

    def along(at: int, last: np.ndarray) -> int:
        nonlocal position
        position = (position + 1) % len(order)
        return order[position]

    await patrol(robot, along)
