"""With a lookout: a strategy drives as it would alone, and what its camera sees is reported."""

import math

import numpy as np
import pytest

import covey
from covey.errors import ScenarioError
from covey.missions import Rescue
from covey.onboard.controller import Program
from covey.scenario.load import parse_scenario

FIRE = [{"kind": "big_fire", "identity": 4, "at": (2.0, 0.0), "on": "floor"}]


async def nod(robot, *, angle_deg=30.0):
    """Turn to and fro."""
    while True:
        for sign in (1.0, -1.0):
            await robot.turn(sign * math.radians(angle_deg))
            await robot.sleep(0.5)


@covey.controller(sees=("collided",))
class Blind:
    """Turn slowly, and see nothing."""

    def step(self, robot):
        robot.drive(0.05, 0.1)
        assert not hasattr(robot, "pose")


def run_of(controller, timeout_s=20, **changes):
    robot = covey.robots.turtlebot3_waffle_pi()
    group = covey.Group("robot", robot, [(0.0, 0.0, 0.0)], controller)
    options = {"targets": FIRE, "mission": Rescue(), "stop": covey.Stop(timeout_s=timeout_s)} | changes
    return covey.Simulation(covey.World.empty(8, 6), [group], seed=1, **options).run()


@pytest.mark.parametrize("strategy", [nod, Blind, "random_ballistic_walk", {"name": "wander", "speed": 0.3}])
def test_a_strategy_with_a_lookout_reports_and_drives_as_without(strategy):
    alone, watched = run_of(Program.of(strategy)), run_of(Program("with_lookout", {"strategy": strategy}))
    assert alone.reports is None
    assert watched.reports["identity"].to_list() == [4]
    assert watched.reports["answer"].to_list() == ["accepted"]
    assert np.array_equal(alone.poses[: len(watched.poses)], watched.poses[: len(alone.poses)])


async def until_it_is_at_one(robot):
    """Drive, and stand when the robot has come to x = 1 m."""
    await robot.drive(0.2, for_s=60.0, until=lambda robot: robot.pose.x > 1.0)
    await robot.sleep(5.0)


def test_what_its_strategy_waits_for_ends_its_motion():
    run = run_of(Program("with_lookout", {"strategy": until_it_is_at_one}), mission=None)
    assert 1.0 < run.poses[-1, 0, 0] < 1.0 + 3 * 0.2 * 0.1  # it stands within three steps


def test_it_may_read_what_its_strategy_may_and_needs_what_that_one_needs():
    program = Program("with_lookout", {"strategy": "rescue_leader"})
    assert {"tag_camera", "report", "shared_map", "radio"} <= set(program.sees)
    assert program.needs == ("map",)
    assert Program("with_lookout", {"strategy": nod}).sees is None
    assert set(Program("with_lookout").sees) == {"pose", "report", "tag_camera", "collided"}


def test_a_controller_of_a_group_is_refused():
    @covey.controller(scope="group")
    def flock(view):
        return np.zeros((len(view.pose), 3))

    with pytest.raises(covey.CoveyError, match="'with_lookout' runs a controller of one robot; 'flock' is of a group"):
        Program("with_lookout", {"strategy": flock})


@pytest.mark.parametrize(
    ("strategy", "said"),
    [
        ("random_balistic_walk", "unknown controller.*random_ballistic_walk"),
        ("17", "'17' is int; a controller is a function"),
        ("{name: wander, sped: 1}", "no parameter 'sped'.*speed"),
        ("with_lookout", "with_lookout itself is none, so name another"),
        ("{name: with_lookout, strategy: wander}", "with_lookout itself is none, so name another"),
    ],
)
def test_a_strategy_that_cannot_be_is_refused_with_its_line(strategy, said):
    text = "world: {empty_m: [6, 6]}\nrobots:\n- robot: disc\n  controller:\n    name: with_lookout\n    strategy: "
    with pytest.raises(ScenarioError, match=rf"mine\.yaml:6.*strategy.*{said}"):
        parse_scenario(text + strategy + "\n", file="mine.yaml")
