"""Random ballistic walk: drive straight until something is hit, then turn by a random angle."""

import math

from covey.errors import InvalidValueError
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.robots.parameters import Degrees, Speed

_LEAVE_S = 0.25
"""Time after a turn from which contacts count [s]; before, the body still touches what it hit."""

_STEP_S = 0.1


@controller("random_ballistic_walk", sees=("collided",), missions=("coverage", "exploration"))
async def random_ballistic_walk(
    robot: Robot, *, speed: Speed = 1.0, min_turn_deg: Degrees = 50.0, max_turn_deg: Degrees = 180.0
) -> None:
    """Drive straight until a collision, then turn on the spot by a random angle to a random side.

    The robot needs no map, no radio and no pose. It never ends by itself.

    Args:
        robot: the robot.
        speed: share of the top speed, above 0 and at most 1.
        min_turn_deg: smallest turn [deg].
        max_turn_deg: largest turn [deg].

    Unlike the source:
        Compared with MAES, RandomExplorationAlgorithm.cs.

        - turns by 50 to 179°, always clockwise -> by 50 to 180°, to a random side
        - the speed is free -> ``speed``

    References:
        M. Kegeleirs, D. Garzón Ramos, M. Birattari: Random walk exploration for swarm mapping. TAROS 2019, pp. 211-222.
    """
    if min(robot.model.max_speed_m_s, robot.model.max_turn_rad_s) <= 0:
        raise InvalidValueError(f"{robot.model.name} cannot drive and turn; a ballistic walk needs both")
    v, omega = speed * robot.model.max_speed_m_s, robot.model.max_turn_rad_s
    back_s = robot.model.outer_radius_m / v
    while True:
        begin = robot.time
        await robot.drive(v, until=lambda r, free=begin + _LEAVE_S: r.collided and r.time > free)
        if robot.time - begin < 2 * _LEAVE_S:  # stuck in a corner: back off, then turn
            await robot.drive(-v, for_s=back_s)
        angle = math.radians(robot.random.uniform(min_turn_deg, max_turn_deg))
        side = 1.0 if robot.random.random() < 0.5 else -1.0
        turn_s = _STEP_S * math.ceil(angle / (omega * _STEP_S))  # whole steps, so that the angle is exact
        await robot.drive(0.0, side * angle / turn_s, for_s=turn_s)
