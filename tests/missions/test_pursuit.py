"""The mission pursuit: who catches the evader, and laws that flee and pursue in groups of their own."""

import math

import numpy as np
import pytest

from covey.errors import ScenarioError
from covey.missions.pursuit import PursuitTracker
from covey.scenario.build import build
from covey.scenario.load import parse_scenario

SCENARIO = """
world: {empty_m: [8, 8]}
robots:
  - name: p
    robot: {base: disc, kinematics: holonomic}
    count: 2
    start: [[-3, -1, 0], [-1, -3, 0]]
    controller: {name: pursuit, rule: RULE, evader: others, speed_m_s: 0.9}
  - {name: evader, robot: {base: disc, kinematics: holonomic}, start: [[2, 2, 0]], controller: EVADER}
mission: pursuit
stop: {timeout_s: 60}
"""


def test_the_nearest_able_robot_catches_the_evader():
    tracker = PursuitTracker(["a", "b", "e"], 2, np.array([0.31, 0.4, 0.6]))
    pose = np.array([(1.0, 0, 0), (0.5, 0, 0), (0, 0, 0)])
    assert tracker.measure(0.1, pose, np.ones(3, bool)) == []
    assert tracker.values == {"evader_m": 0.5, "free_s": 0.1}
    pose[1, 0] = 0.4
    assert tracker.measure(0.2, pose, np.array([True, False, True])) == []  # it can act no more
    assert tracker.values["evader_m"] == 1.0
    assert not tracker.reached
    assert tracker.measure(0.3, pose, np.ones(3, bool)) == [(1, "has caught e")]
    assert tracker.reached
    assert tracker.measure(0.4, pose, np.ones(3, bool)) == []
    assert tracker.values["free_s"] == 0.3
    alone = PursuitTracker(["a", "e"], 1, np.ones(2))
    alone.measure(0.1, pose[:2], np.zeros(2, bool))
    assert math.isnan(alone.values["evader_m"])


@pytest.mark.parametrize("rule", ["pure", "area_growing"])
def test_a_standing_evader_is_caught_on_the_way_of_the_rule(rule):
    run = build(parse_scenario(SCENARIO.replace("RULE", rule).replace("EVADER", "still"))).run()
    assert run.status == "reached"
    nearest = np.hypot(*(run.poses[-1, :2, :2] - run.poses[-1, 2, :2]).T).min()
    assert nearest <= 0.31
    if rule == "pure":  # both drive straight at it, 5.83 m away, up to a distance of 0.31 m, at 0.9 m/s
        assert run.metrics["capture_time_s"] == pytest.approx((math.hypot(5, 3) - 0.31) / 0.9, abs=0.11)


@pytest.mark.parametrize("evasion", ["clockwise", "opposite", "diagonal"])
def test_the_evader_flees_to_a_corner(evasion):
    text = SCENARIO.replace("RULE", "pure").replace("EVADER", f"{{name: evader, evasion: {evasion}}}")
    run = build(parse_scenario(text.replace("timeout_s: 60", "timeout_s: 0.5"))).run()
    begin, end = np.hypot(*(run.poses[[0, -1], 2, :2] - (3.2, 3.2)).T)  # a tenth of the room from its walls
    assert end == pytest.approx(begin - 0.4)


def test_rows_are_the_nearest_evaders_and_nobody_to_pursue_is_no_error():
    text = SCENARIO.replace("RULE", "pure").replace("EVADER", "still")
    two = text.replace("[[2, 2, 0]]", "[[-3, 3, 0], [3, -3, 0]], count: 2").replace("timeout_s: 60", "timeout_s: 1")
    run = build(parse_scenario(two)).run()
    moved = run.poses[-1, :2, :2] - run.poses[0, :2, :2]
    assert moved[0, 1] > 0.5  # to the one above it
    assert abs(moved[0, 0]) < 1e-9
    assert moved[1, 0] > 0.4  # to the one on its right
    lonely = text.split("  - {name: evader")[0] + "mission: {pursuit: {evader: p0}}\nstop: {timeout_s: 1}\n"
    assert np.ptp(build(parse_scenario(lonely)).run().poses[:, :, :2], axis=0).max() == 0


def test_what_cannot_be_pursued_is_refused():
    text = SCENARIO.replace("RULE", "pure").replace("EVADER", "still")
    with pytest.raises(ScenarioError, match=r"no robot 'evade'.*did you mean 'evader0'"):
        build(parse_scenario(text.replace("mission: pursuit", "mission: {pursuit: {evader: evade}}")))
    alone = text.split("  - {name: evader")[0].replace("count: 2", "count: 1").replace(", [-1, -3, 0]", "")
    with pytest.raises(ScenarioError, match="two robots at least"):
        build(parse_scenario(f"{alone}mission: pursuit\n"))
