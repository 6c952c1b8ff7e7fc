"""Potential fields: numbers for `laws.py`. Control period 0.05 s."""

import math
from collections.abc import Iterator

import numpy as np
from laws_parts import Row, run
from scipy.optimize import brentq

import covey
from covey.controllers.laws.potential_field import Gains, force, nearest_points

STEP_S = 0.05
OUTLINE = [(-2.0, -2.0), (8.0, -2.0), (8.0, 6.0), (-2.0, 6.0)]
ROOM = [((0.0, 0.0), (4.0, 0.0)), ((4.0, 0.0), (4.0, 4.0)), ((4.0, 4.0), (0.0, 4.0)), ((0.0, 4.0), (0.0, 1.5))]
"""A room of 4 m x 4 m with a door in its left wall, from y = 0 to 1.5 m."""
WALLS = tuple(ROOM + list(zip(OUTLINE, OUTLINE[1:] + OUTLINE[:1], strict=True)))
BEHIND = ((6.0, 2.0),)
OUT = ((-1.0, 0.75), (-1.0, -1.0), (6.0, -1.0), (6.0, 2.0))
ETA, Q = 0.1, 1.0


def driven(start, waypoints, seconds, kinematics="unicycle", **parameters):
    """Return the last pose of a robot among the walls, and the notes that it wrote."""
    world = covey.World.polygons(OUTLINE, walls_m=[list(wall) for wall in ROOM], resolution_m=0.05)
    told = {"waypoints_m": waypoints, "walls_m": [(*a, *b) for a, b in WALLS], "eta": ETA, "q_star_m": Q} | parameters
    poses, recorded = run("potential_field", [start], seconds, STEP_S, world, kinematics, **told)
    return poses[-1, 0], [text for kind, text in recorded.events.select("kind", "text").iter_rows() if kind == "note"]


def rows(short: bool = False) -> Iterator[Row]:
    """Yield the numbers."""
    law = "potential field"
    for kinematics in ("unicycle",) if short else ("unicycle", "holonomic"):
        # Before the wall x = 4, straight before the goal: zeta d* = eta (1/D - 1/Q) / D^2, with zeta = d* = 1.
        gap = brentq(lambda d: ETA * (1.0 / d - 1.0 / Q) / d**2 - 1.0, 0.01, Q)
        end, notes = driven((2.5, 2.5, 0.0), BEHIND, 40.0, kinematics)
        yield Row(law, f"{kinematics}, goal behind the wall: x where it is stuck [m]", 4.0 - gap, end[0], 1e-3)
        yield Row(
            law, f"{kinematics}, goal behind the wall: times that it says so", 1, sum("stuck" in n for n in notes), 0
        )
        end, notes = driven((2.5, 2.5, 0.0), OUT, 60.0, kinematics)
        yield Row(
            law, f"{kinematics}, by way-points: distance to the goal [m]", 0.1, math.dist(end[:2], OUT[-1]), 0.0, "<="
        )
        yield Row(law, f"{kinematics}, by way-points: times that it says that it is stuck", 0, len(notes), 0)
        # A goal 0.3 m before the wall x = 8: Khatib's robot stops where 7.7 - x = eta (1/D - 1/Q) / D^2.
        short_of = brentq(lambda x: 7.7 - x - ETA * (1.0 / (8.0 - x) - 1.0 / Q) / (8.0 - x) ** 2, 7.0, 7.7)
        near = ((7.7, 2.0),)
        end, _ = driven((5.0, 2.0, 0.0), near, 40.0, kinematics)
        yield Row(law, f"{kinematics}, goal near a wall: x where it is stuck [m]", short_of, end[0], 1e-3)
        end, _ = driven((5.0, 2.0, 0.0), near, 40.0, kinematics, gnron=2.0, arrived_m=0.01)
        yield Row(
            law,
            f"{kinematics}, goal near a wall, GNRON: distance to the goal [m]",
            0.01,
            math.dist(end[:2], near[0]),
            0.0,
            "<=",
        )
    position = np.array([(6.0, 2.0)])
    pull = force(position, np.array([(6.3, 2.4)]), nearest_points(position, np.array(WALLS)), Gains())
    yield Row(law, "force 0.5 m from the goal, no wall near: zeta d [1/s m]", 0.5, float(np.hypot(*pull[0])), 1e-12)
