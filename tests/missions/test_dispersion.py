"""The mission dispersion: who takes a place, and what policies see of the places."""

import numpy as np
import pytest

import covey
from covey.errors import InvalidValueError, ScenarioError
from covey.missions.dispersion import DispersionTracker
from covey.scenario.build import build
from covey.scenario.load import parse_scenario

SCENARIO = """
world: {empty_m: [8, 6]}
robots:
  - {name: a, robot: {base: disc, kinematics: holonomic}, start: [[-2, 1, 90]], controller: still}
  - {name: b, robot: {base: disc, kinematics: holonomic}, start: [[2, -1, 0]], controller: still}
mission: {dispersion: {places_m: [[-2, 2], [2, -2], [0, 0]]}}
stop: {timeout_s: 30}
"""


def test_places_are_taken_once_and_shared_by_those_that_come_at_once():
    tracker = DispersionTracker(np.array([[0.0, 0.0], [5.0, 0.0]]), 3, 0.3)
    pose = np.array([(0.2, 0, 0), (-0.2, 0, 0), (0.1, 0, 0)])
    able = np.array([True, True, False])  # the last one can act no more
    assert tracker.measure(0.1, pose, able) == [(0, "has taken a place"), (1, "has taken a place")]
    np.testing.assert_array_equal(tracker.values["taken"], [0.5, 0.5, 0])
    assert (tracker.values["places_taken"], tracker.reached) == (1, False)
    pose[0, 0] = 5.3
    assert tracker.measure(0.2, pose, able) == [(0, "has taken a place")]
    np.testing.assert_array_equal(tracker.values["taken"], [1.5, 0.5, 0])
    assert tracker.reached


def test_a_policy_sees_what_is_left_and_is_rewarded_for_what_it_takes():
    world = covey.env(parse_scenario(SCENARIO), observe={"places": {"within_m": 4}})
    shown, _ = world.reset(seed=1)
    np.testing.assert_allclose(shown["a0"], [[1, 0.25, 0], [1, -0.75, -1], [1, -0.25, -0.5]], atol=1e-6)
    total = {"a0": 0.0, "b0": 0.0}
    for _ in range(12):
        shown, rewards, terminated, *_ = world.step({"a0": [1.0, 0, 0], "b0": [0, -1.0, 0]})
        total = {name: total[name] + rewards[name] for name in total}
    assert total == {"a0": 1, "b0": 1}
    assert not any(terminated.values())
    assert (shown["a0"][:2] == 0).all()
    assert shown["a0"][2, 0] == 1
    world.close()


def test_drawn_places_are_one_for_each_robot_and_wrong_ones_are_refused():
    given = "{dispersion: {places_m: [[-2, 2], [2, -2], [0, 0]]}}"
    assert build(parse_scenario(SCENARIO.replace(given, "dispersion"))).tracker.places.shape == (2, 3)
    with pytest.raises(ScenarioError, match=r"the place .* lies outside the world"):
        build(parse_scenario(SCENARIO.replace("[0, 0]", "[9, 0]")))
    with pytest.raises(InvalidValueError, match="give the scenario the mission dispersion"):
        covey.env(parse_scenario(SCENARIO.replace(given, "exploration")), observe="places")
