"""The mission navigation: goals that are given or drawn, who is there, and laws that drive to them."""

import numpy as np
import pytest

import covey
from covey.errors import ScenarioError
from covey.missions.navigation import NavigationTracker
from covey.scenario.build import build
from covey.scenario.load import parse_scenario

ABLE = np.ones(2, bool)
SCENARIO = """
world: {empty_m: [8, 6]}
robots:
  - {name: a, robot: disc, start: [[-2, 1, 0]], controller: CONTROLLER}
  - {name: b, robot: disc, start: [[2, -1, 180]], controller: CONTROLLER}
mission: {navigation: {goals_m: [[2, 1], [-2, -1]]}}
stop: {timeout_s: 30}
"""


def test_the_goal_is_reached_when_all_are_there_at_once():
    tracker = NavigationTracker(np.array([[1.0, 0.0], [0.0, 2.0]]), 0.3)
    pose = np.zeros((2, 3))
    assert tracker.measure(0.1, pose, ABLE) == []
    np.testing.assert_allclose(tracker.values["goal_m"], [1.0, 2.0])
    pose[0, 0] = 0.75
    assert tracker.measure(0.2, pose, ABLE) == [(0, "has reached its goal")]
    assert (tracker.values["robots_at_goals"], tracker.reached) == (1, False)
    pose[0, 0], pose[1, 1] = 0.6, 1.8  # the first one has left again
    assert tracker.measure(0.3, pose, ABLE) == [(1, "has reached its goal")]
    assert not tracker.reached
    pose[0, 0] = 0.8
    assert tracker.measure(0.4, pose, ABLE) == []
    assert tracker.reached


@pytest.mark.parametrize("law", ["go_to", "safe", "orca", "potential_field"])
def test_laws_drive_to_the_goals_of_the_mission(law):
    run = build(parse_scenario(SCENARIO.replace("CONTROLLER", law))).run()
    assert run.status == "reached"
    assert run.metrics["robots_at_goals"] == 2
    assert run.metrics["all_at_goals_s"] == run.times[-1]
    assert np.hypot(*(run.poses[-1, :, :2] - [[2, 1], [-2, -1]]).T).max() <= 0.3


def test_a_robot_finds_its_goal_on_the_blackboard():
    seen = []

    async def look(robot):
        seen.append(robot.blackboard["order"]["goals_m"][robot.team.index(robot.name)])

    scenario = parse_scenario(SCENARIO.replace("CONTROLLER", "still"))
    groups = [one.model_copy(update={"controller": one.controller.model_validate(look)}) for one in scenario.robots]
    build(scenario.model_copy(update={"robots": tuple(groups)})).run()
    assert seen == [[2, 1], [-2, -1]]


def test_drawn_goals_follow_the_seed_and_are_those_of_an_environment():
    text = SCENARIO.replace("{navigation: {goals_m: [[2, 1], [-2, -1]]}}", "navigation").replace("CONTROLLER", "still")
    drawn = [build(parse_scenario(f"{text}\nseed: {seed}")).tracker.goals for seed in (3, 3, 4)]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0] != drawn[2]).any()
    for mission, goals in (("mission: navigation", False), ("", True)):
        world = covey.env(parse_scenario(text.replace("mission: navigation", mission)), goals=goals, observe="goal")
        shown, _ = world.reset(seed=3)
        far = min(np.hypot(*(drawn[0][0] - (-2, 1))) / 10, 1)
        assert shown["a0"][0] == pytest.approx(far)
        assert world.step({name: [1.0, 0.0] for name in world.agents})[1]["a0"] != 0
        world.close()


@pytest.mark.parametrize(
    ("goals", "said"),
    [
        ("[[2, 1]]", "there are 1 goals for 2 robots; list one for each"),
        ("[[2, 1], [9, 1]]", "outside the world"),
        ("[[2, 1], [4.05, 1]]", r"the goal \[4.05, 1.0\] lies in a wall"),
    ],
)
def test_goals_that_do_not_fit_are_refused(goals, said):
    text = SCENARIO.replace("[[2, 1], [-2, -1]]", goals).replace("CONTROLLER", "still")
    with pytest.raises(ScenarioError, match=said):
        build(parse_scenario(text))
