"""Wall follower: keep the wall on the left, and move cell by cell."""

import math
from typing import Literal

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry import wrap_angle
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.robots.parameters import Reach, TileSide

Move = Literal["forward", "left", "right"]

_LOST = 5
"""After this many left turns without a wall beside it, the robot is driving in a circle in the open."""
_ALL_ROUND = 4
"""After this many turns in a row, the robot has looked in all directions and found a wall ahead in each."""
_SPARE_M = 0.05
"""Free floor that it wants on both sides of its body [m]."""


@controller("wall_follower", sees=("pose", "lidar", "proximity"), needs=("lidar", "proximity"))
async def wall_follower(robot: Robot, *, cell_m: TileSide = 0.5, wall_cells: Reach = 1.8) -> None:
    """Follow the wall on the left, moving by one cell and turning by right angles.

    The robot first drives west until a wall is ahead. It turns left where the wall on its left ends, and right in a
    corner. It needs no map, no radio and no position, only a compass and its lidar (or proximity ring). It never ends
    by itself. It follows only walls that are connected with the first one and does not leave them for islands, so a
    place may stay unexplored. Other robots count as walls.

    Args:
        robot: the robot.
        cell_m: length of one move [m]; with cells of 1 m doors should be 2 m wide, as in MAES.
        wall_cells: the robot notices walls within this distance [cells].

    Unlike the source:
        Compared with MAEPS, WallFollower.cs.

        - tiles -> cells of ``cell_m``
        - on a collision a tile back, once -> at the end of a wall it turns until the wall is beside it; a robot that
          has lost the wall looks for another

    References:
        C. van Peet, M. Mogensen, S. Santhirasegaram: MAEPS, WallFollower (the left-hand rule), 2025,
        github.com/cs-24-sw-9-xx/MAEPS.
    """
    if cell_m <= 0 or wall_cells <= 0:
        raise InvalidValueError(f"cell_m is {cell_m!r} and wall_cells {wall_cells!r}; both must be above 0")
    near, lefts, turned_left, turns = wall_cells * cell_m, _LOST, False, 0

    def beside(r: Robot) -> bool:
        return _gap(r, math.pi / 2) < near or _gap(r, 0.0) < near

    while True:
        if lefts >= _LOST:  # circling without a wall: find one
            await _face(robot, math.pi)
            while _gap(robot, 0.0) >= near and await robot.forward(cell_m):
                pass
            await _face(robot, math.pi / 2)
            turned_left, lefts = False, 0
        wall_left = _gap(robot, math.pi / 2) < near
        closer = turns >= _ALL_ROUND  # so close to the walls beside it that they seem to be ahead
        spare_m = -0.1 * robot.model.outer_radius_m if closer else _SPARE_M
        move = left_hand(_gap(robot, 0.0, spare_m) >= near, wall_left, turned_left)
        lefts = 0 if wall_left else lefts + (move == "left")
        turns = 0 if move == "forward" else turns + 1
        if move != "forward":
            await _turn(robot, move)
        else:  # around the end of a wall, continue until the wall is beside the robot again
            around = turned_left and not closer
            outcome = await (robot.forward(near + cell_m, until=beside) if around else robot.forward(cell_m))
            if outcome.state == "stuck":  # a robot, or a corner that no ray has hit
                await robot.forward(-0.25 * cell_m)
                await _turn(robot, "right")
        turned_left = move == "left"


def left_hand(front_free: bool, wall_left: bool, turned_left: bool) -> Move:
    """Return the next move of the left-hand rule.

    Args:
        front_free: whether no wall is ahead.
        wall_left: whether a wall is on the left.
        turned_left: whether the last move was a left turn.

    Examples:
        >>> left_hand(True, True, False), left_hand(True, False, False), left_hand(True, False, True)
        ('forward', 'left', 'forward')
        >>> left_hand(False, True, False)
        'right'
    """
    if turned_left and front_free:
        return "forward"
    if not wall_left:
        return "left"
    return "forward" if front_free else "right"


def gap_along(ranges: np.ndarray, angles: np.ndarray, bearing: float, half_width_m: float) -> float:
    """Return the distance [m] to the nearest point in a lane of some width along a direction.

    Args:
        ranges: shape (k,) [m]; inf or NaN where nothing was measured.
        angles: shape (k,) [rad], in the body frame.
        bearing: the direction [rad], in the body frame.
        half_width_m: half the width of the lane [m].

    Examples:
        >>> ranges, angles = np.array([2.0, 1.0, math.inf]), np.array([0.0, 0.5, 1.0])
        >>> gap_along(ranges, angles, 0.0, 0.2)
        2.0
    """
    seen = np.isfinite(ranges)
    distance, angle = ranges[seen], angles[seen] - bearing
    ahead, beside = distance * np.cos(angle), distance * np.sin(angle)
    met = (ahead > 1e-6) & (np.abs(beside) <= half_width_m)
    return float(ahead[met].min(initial=math.inf))


def _gap(robot: Robot, bearing: float, spare_m: float = _SPARE_M) -> float:
    half_width = robot.model.outer_radius_m + spare_m
    lidar = getattr(robot, "lidar", None)
    if lidar is not None:
        return gap_along(lidar.ranges, lidar.angles + lidar.mount[2], bearing, half_width)
    ring = getattr(robot, "proximity", None)
    return math.inf if ring is None else gap_along(ring.ranges, ring.angles, bearing, half_width)


async def _face(robot: Robot, heading: float) -> None:
    await robot.turn(wrap_angle(heading - robot.pose[2]))


async def _turn(robot: Robot, side: Move) -> None:
    """Turn by a right angle, to the next of the four directions."""
    quarter = math.pi / 2
    now = round(robot.pose[2] / quarter)
    await _face(robot, (now + (1 if side == "left" else -1)) * quarter)
