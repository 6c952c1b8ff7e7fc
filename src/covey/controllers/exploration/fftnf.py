"""ffTNF: the next frontier whose robots also keep away from where the others are going."""

from covey.controllers.exploration.tnf import NextFrontier, next_frontier
from covey.controllers.teammates import Teammates
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.robots.parameters import Seconds, Shape, TileSide


@controller("fftnf", sees=("pose", "map", "shared_map", "radio", "neighbours"), needs=("map",))
async def fftnf(
    robot: Robot, *, alpha: Shape = 8.0, beta: Shape = 8.0, tile_m: TileSide = 1.0, forget_s: Seconds = 60.0
) -> None:
    """Go to the frontier with the highest utility, like `tnf`; the utility is lower near the goals of other robots.

    Robots tell their goals by radio. Who has not been heard for ``forget_s`` is left out; without any radio this is
    `tnf`.

    Args:
        robot: a robot with a map.
        alpha, beta, tile_m: see `tnf`.
        forget_s: how long a goal that another told counts [s].

    References:
        ffTNF of the MAES experiments of E. E. Schmidt et al., ICAART 2025, see `greed`; the rest as `tnf`.
    """
    await next_frontier(robot, NextFrontier(alpha, beta, tile_m, Teammates(every_s=2.0, forget_s=forget_s)))
