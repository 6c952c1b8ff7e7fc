"""Every shipped controller on a robot in a corner, 0 to 3 cm from both walls: it drives, ends, or an event says why.

The case's number is that of a controller, a clearance, a heading and a robot. It fails if the robot has not moved by
10 cm in 90 s, is not at its end, and no event of it tells of that.
"""

import math
import sys
from itertools import product
from typing import Any

import numpy as np
from attacks.bounded import main

import covey
from covey.controllers import controllers
from covey.missions import Patrolling
from covey.onboard.controller import Program

CLEARANCES_M = (0.0, 0.002, 0.005, 0.01, 0.02, 0.03)
HEADINGS_DEG = (0.0, 45.0, 100.0, 180.0, 225.0, 280.0)
ROBOTS = ("disc", "turtlebot3_burger", "pioneer3dx", "maes")
STAY = frozenset({"still", "commanded"})
"""These stand until somebody commands them."""
MOVED_M, WITHIN_S, HALF_M = 0.1, 90.0, 4.0
EVENTS = ("gave_up", "stands", "frontier_left", "exhausted", "warning", "note")
_ACROSS: dict[str, Any] = {"goals_m": [[2.0, 2.0], [-2.0, 2.0], [2.0, -2.0]]}
PARAMETERS: dict[str, dict[str, Any]] = {
    "go_to": _ACROSS,
    "safe": {"law": {"name": "go_to", **_ACROSS}},
    "orca": {"law": {"name": "go_to", **_ACROSS}},
    "follow_leaders": {"leaders": [1]},
    "rendezvous": {"range_m": 2.0 * HALF_M},
}
"""Without them these stay where they are: they have no goal, lead, or see nobody."""
CASES = tuple(product(CLEARANCES_M, HEADINGS_DEG, ROBOTS, [n for n in controllers.names() if n not in STAY]))
_MISSION = Patrolling(waypoints_m=((-2.0, -2.0), (2.0, -2.0), (2.0, 2.0), (-2.0, 2.0)))


def case(number: int) -> str:
    """Return what became of the robot: drives, ends, or told."""
    random = np.random.default_rng(number)
    clearance_m, heading_deg, model, name = CASES[int(random.integers(len(CASES)))]
    return attack(name, model, clearance_m, heading_deg)


def attack(name: str, model: str, clearance_m: float, heading_deg: float) -> str:
    """Return what became of a robot that starts in a corner; see `case`."""
    robot, program = getattr(covey.robots, model)(), Program(controllers.get(name), PARAMETERS.get(name, {}))
    at = HALF_M - robot.outer_radius_m - clearance_m
    start = [(-at, -at, math.radians(heading_deg)), (0.0, 0.0, 0.0), (2.0, 1.0, 1.0)]
    group = covey.Group("r", robot, start, program, known_map=robot.maps and "waypoints" in (program.sees or ()))
    world = covey.World.empty(2 * HALF_M, 2 * HALF_M, resolution_m=0.05)
    stop = covey.Stop(timeout_s=WITHIN_S, done=True)
    sim = covey.Simulation(world, [group], seed=1, mission=_MISSION, share_maps=1.0, stop=stop)
    place = sim.state.pose[0, :2].copy()
    told: list[str] = []
    sim.observers.append(lambda frame: told.extend(e.kind for e in frame.events if e.robot == "r0"))
    while not sim.done:
        sim.step()
        assert not sim.deciding.failures, sim.deciding.failures[0].text
        if math.dist(place, sim.state.pose[0, :2]) > MOVED_M:
            return "drives"
    status = sim.deciding.answered[0].status if 0 in sim.deciding.answered else "none"
    sim.close()
    if any(kind in EVENTS for kind in told):
        return "told"
    if status == "done":
        return "ends"
    raise AssertionError(f"{name} on {model}, {clearance_m} m, {heading_deg} deg stands for ever: {status}, {told}")


if __name__ == "__main__":
    sys.exit(main("attacks.corners", 400))
