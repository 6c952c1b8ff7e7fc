"""ffTNF: the next frontier, with robots that also keep away from the others' goals."""

from covey.controllers.exploration.tnf import NextFrontier, next_frontier
from covey.controllers.teammates import Teammates
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.robots.parameters import Seconds, Shape, TileSide


@controller(
    "fftnf", sees=("pose", "map", "shared_map", "radio", "neighbours"), needs=("map",), missions=("exploration",)
)
async def fftnf(
    robot: Robot, *, alpha: Shape = 8.0, beta: Shape = 8.0, tile_m: TileSide = 1.0, forget_s: Seconds = 60.0
) -> None:
    """Go to the frontier with the highest utility, like `tnf`; the utility is lower near the goals of other robots.

    Robots send their goals by radio. Robots that have been silent for ``forget_s`` do not count; without a radio this
    is `tnf`.

    Args:
        robot: a robot with a map.
        alpha, beta, tile_m: see `tnf`.
        forget_s: time for which a reported goal counts [s].

    Unlike the source:
        Compared with the source of `tnf`.

        - see ``tnf``
        - ffTNF: minus w from each goal received, for the first frontier -> 1 - w, times the largest information, for
          every frontier

    References:
        ffTNF in the MAES experiments of E. E. Schmidt et al., ICAART 2025, see `greed`; otherwise as `tnf`.
    """
    await next_frontier(robot, NextFrontier(alpha, beta, tile_m, Teammates(every_s=2.0, forget_s=forget_s)))
