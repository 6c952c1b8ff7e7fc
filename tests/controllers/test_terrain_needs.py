"""Every controller of the shelf on a robot with nothing but a wedge: it drives, or is refused with the reason."""

import numpy as np
import pytest

import covey
from covey.controllers import controllers
from covey.missions import Formation
from covey.onboard.controller import Program
from covey.scenario.load import parse_scenario
from covey.world.ground import Ground

NAMES = [name for name in controllers.names() if "onnx" not in name]  # it needs a file: test_onnx
LOOK = {"lvd", "brick_and_mortar", "wall_follower"}
"""These look at a sensor that is no wedge."""
STAY = {
    "still",
    *("lloyd", "lloyd_by_radio", "rendezvous", "formation_bearing", "go_to", "safe", "orca", "evader"),
    "commanded",
    *(name for name in NAMES if "waypoints" in (controllers.get(name).covey_sees or ())),
}
"""These stand by their nature or until somebody commands them, have their place nearby, or have nothing to patrol without that
mission, which they say."""


def team_of(name):
    ground = Ground.of(np.zeros((17, 17)), origin=(-8.0, -8.0))
    program = Program(controllers.get(name), {"tile_m": 1.0} if name == "ssb" else {})
    robots = covey.Group("r", covey.robots.skid_steer(), [(-3.0, 0.0, 0.0), (3.0, 0.0, 0.0)], program)
    mission = Formation(objective_m=(5, 0)) if "blackboard" in (program.sees or ()) else None
    return covey.Simulation(
        ground.world(), [robots], seed=0, share_maps=1.0, mission=mission, stop=covey.Stop(timeout_s=25)
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(NAMES) - STAY))
def test_each_controller_drives_a_robot_with_a_wedge_or_is_refused_by_name(name):
    if name in LOOK:
        with pytest.raises(covey.CoveyError, match=f"'{name}' needs (map|lidar).*'skid_steer' has only wedge"):
            team_of(name)
        return
    sim = team_of(name)
    while not sim.done and not (sim.state.distance_m > 0.5).any():
        sim.step()
        assert not sim.deciding.failures
    assert (sim.state.distance_m > 0.5).any()
    sim.close()


def test_a_scenario_says_that_a_strategy_misses_its_sensor():
    text = "{world: {generate: hills, size_m: [20, 20]}, robots: [{robot: skid_steer, controller: lvd}]}"
    with pytest.raises(covey.CoveyError, match="'lvd' needs lidar, but 'skid_steer' has only wedge"):
        parse_scenario(text)
