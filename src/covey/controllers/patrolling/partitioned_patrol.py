"""Partitioned patrol: cut the graph into one part per robot; each robot patrols its own part."""

from covey.controllers.patrolling.heuristic_conscientious_reactive import choose
from covey.controllers.patrolling.patrol_loop import graph_of, patrol
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.planning.partition import spectral_parts


@controller("partitioned_patrol", sees=("pose", "map", "waypoints"), needs=("waypoints",), missions=("patrolling",))
async def partitioned_patrol(robot: Robot) -> None:
    """Patrol one part of the waypoints like `heuristic_conscientious_reactive`.

    The parts come from spectral bisection; part i belongs to robot i. The robot knows the map, the waypoints and the
    team's names, and needs no radio. Nobody takes over the part of a robot that vanishes. It never ends.

    Unlike the source:
        Compared with MAEPS, `SpectralBisectionPartitioningGenerator.cs`.

        - within the part as HCR in MAEPS -> HCR of Portugal and Rocha
        - robot 0 computes the parts -> each robot computes them
        - patrols go to the nearest waypoint first; one that cannot be reached counts as visited, so that others get
          their turn

    References:
        C. van Peet, M. Mogensen, S. Santhirasegaram: Distributed multi-robot partition-based patrolling with fault
        tolerance. Master thesis, Aalborg University, 2025 (MAEPS, partitioned HCR). P. Kabelíková: Graph partitioning
        using spectral methods. Master thesis, VSB Ostrava, 2006.
    """
    graph = graph_of(robot)
    parts = spectral_parts(graph.distance, len(robot.team))
    mine = parts[robot.team.index(robot.name) % len(parts)]
    await patrol(
        robot, lambda at, last: choose(at, mine[mine != at], robot.time - last, graph.distance[at], robot.random)
    )
