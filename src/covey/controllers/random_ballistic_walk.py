"""Random ballistic walk: straight until something is hit, then turn by a random angle."""

import math

from covey.robots.controller import controller
from covey.robots.handle import Robot

_LEAVE_S = 0.25
"""Right after a turn the body still touches what it has hit: contacts count from this time on [s]."""


@controller("random_ballistic_walk", sees=("collided",))
async def random_ballistic_walk(
    robot: Robot, *, speed: float = 1.0, min_turn_deg: float = 50.0, max_turn_deg: float = 180.0
) -> None:
    """Drive straight until a collision, then turn on the spot by a random angle to a random side.

    It needs no map, no radio and no pose, and it never ends by itself.

    Args:
        robot: the robot.
        speed: share of its top speed, above 0 and at most 1.
        min_turn_deg: smallest turn [deg].
        max_turn_deg: largest turn [deg].

    References:
        M. Kegeleirs, D. Garzón Ramos, M. Birattari: Random walk exploration for swarm mapping. TAROS 2019, pp. 211-222.
    """
    v = speed * robot.model.max_speed_m_s
    while True:
        free = robot.time + _LEAVE_S
        await robot.drive(v, until=lambda r, free=free: r.collided and r.time > free)
        angle = math.radians(robot.random.uniform(min_turn_deg, max_turn_deg))
        side = 1.0 if robot.random.random() < 0.5 else -1.0
        if not await robot.turn(side * angle):  # a corner that holds the body: back off and turn then
            await robot.forward(-robot.model.outer_radius_m)
            await robot.turn(side * angle)
