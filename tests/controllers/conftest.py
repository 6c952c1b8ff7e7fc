from typing import Any

import numpy as np
import pytest

import covey
from covey.controllers import controllers
from covey.geometry import Pose
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.records import Mapping
from covey.onboard.driving import DriveLimits
from covey.onboard.handle import Robot
from covey.onboard.navigator import Navigator
from covey.onboard.state import OnboardState
from covey.robots.catalogue import disc

STATES = {"?": -1, ".": 0, "#": 100, "R": 0}


def put(robot: Robot, **changes: Any) -> None:
    """Change the last input of a robot: its ``pose``, or ``time_s``."""
    robot._state.shown = robot._state.shown._replace(**changes)


@pytest.fixture
def robot_on():
    """Return a robot of radius 0.15 m at the centre of the cell R of a drawn map: 1 m a cell, the north on top."""

    def make(drawing: str) -> Robot:
        rows = drawing.split()[::-1]
        belief = Beliefs(["r0"], (32, 32), (0.0, 0.0), Mapping(resolution_m=1.0))[0]
        for i, row in enumerate(rows):
            for j, letter in enumerate(row):
                belief._beliefs.occupancy[0, i, j] = STATES[letter]
                if letter == "R":
                    home = Pose(j + 0.5, i + 0.5, 0.0)
        model = disc()
        navigator = Navigator(DriveLimits.of(model, 0.1), model.body_discs)
        state = OnboardState("r0", model, home, navigator, np.random.default_rng(0))
        state.map = belief
        return Robot(state)

    return make


@pytest.fixture
def run_on():
    """Return a function that runs a strategy in a room of a size [m] until it ends: the simulation and its run."""

    def make(name, size_m, obstacles=(), *, robots, timeout_s, **options):
        x, y = size_m[0] / 2, size_m[1] / 2
        outline = [(-x, -y), (x, -y), (x, y), (-x, y)]
        world = covey.World.polygons(outline, obstacles_m=list(obstacles), resolution_m=0.1)
        start = [(-x + 0.5 + 0.5 * i, -y + 0.5, 0.0) for i in range(robots)]
        group = covey.Group("scout", covey.robots.disc(), start, controllers.get(name))
        options = {"share_maps": 1.0, "stop": covey.Stop(timeout_s=timeout_s)} | options
        sim = covey.Simulation(world, [group], seed=1, **options)
        return sim, sim.run()

    return make
