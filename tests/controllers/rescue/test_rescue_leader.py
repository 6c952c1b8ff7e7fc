"""Rescue with a leader: what it reports, how two robots meet at a big fire, and that a lossy radio does not stop them."""

import math

import numpy as np
import pytest
from tests.controllers.conftest import put

import covey
from covey.comms.radio import Radio
from covey.controllers.exploration.frontier_loop import Errand, explore
from covey.controllers.exploration.nearest_frontier import choose_nearest
from covey.controllers.rescue.lookout import Find, Lookout
from covey.controllers.rescue.meeting import Meetings
from covey.controllers.teammates import Mate
from covey.geometry import Pose
from covey.missions import Rescue
from covey.onboard.controller import Program

FIRE = [
    {"kind": "big_fire", "identity": 4, "at": (4.0, 1.0), "on": "floor"},
    {"kind": "victim", "identity": 2, "at": (-4.0, -1.0), "on": "floor"},
]


def waffle(**camera):
    robot = covey.robots.turtlebot3_waffle_pi()
    sensors = [s.model_copy(update=camera) if s.kind == "tag_camera" else s for s in robot.sensors]
    return robot.model_copy(update={"sensors": tuple(sensors)})


def rescue(controller, starts, targets=FIRE, camera=None, seed=1, timeout_s=90, **changes):
    group = covey.Group("robot", waffle(**(camera or {})), starts, controller)
    mission = changes.pop("mission", Rescue(preset="dat160_2021", end_when_done=False))
    world = changes.pop("world", covey.World.empty(12, 6))
    stop = covey.Stop(timeout_s=timeout_s)
    options = {"share_maps": 1.0, "targets": targets, "mission": mission, "stop": stop} | changes
    return covey.Simulation(world, [group], seed=seed, **options)


@pytest.mark.slow
@pytest.mark.parametrize("radio", [None, Radio(range_m=50, loss=0.5)])
def test_a_mate_comes_to_the_big_fire_and_goes_back(radio):
    """The first robot sees the fire from its start; the other one comes from the far end of the hall."""
    starts = [(2.0, 1.0, 0.0), (-5.0, -2.0, math.pi)]
    sim = rescue(Program("rescue_leader", {"kick_off_m": 0}), starts, **({} if radio is None else {"radio": radio}))
    run = sim.run()
    assert run.metrics["meeting_s"] is not None
    assert run.metrics["false_reports"] == 0
    times = run.pose_times
    fire = np.array([4.0, 1.0])
    away = np.hypot(*(run.poses[:, 1, :2] - fire).T)
    met = int(np.searchsorted(times, run.metrics["meeting_s"]))
    saved = run.poses[int(np.argmax(run.series("targets_found") > 0)), 1, :2]
    assert away[met] < 2.0
    back = np.hypot(*(run.poses[met:, 1, :2] - saved).T).min()
    assert back < 1.0


def test_one_robot_alone_does_not_wait_for_a_meeting_for_ever():
    mission = Rescue(end_when_done=False)  # without meetings
    sim = rescue(Program("rescue_leader", {"kick_off_m": 0}), [(2.0, 1.0, 0.0)], mission=mission, timeout_s=120)
    run = sim.run()
    assert 4 in run.reports["identity"].to_list()
    assert run.metrics["explored_share"] > 0.95


def test_an_errand_that_cannot_be_reached_does_not_stop_a_robot_for_ever():
    """Its place is outside the hall; after 5 s there is none any more, and the robot explores."""

    async def explores(robot):
        def first(robot):
            return Errand((50.0, 50.0)) if robot.time < 5.0 else None

        await explore(robot, choose_nearest, definition="explore", min_cells=4, replan_s=math.inf, first=first)

    world = covey.World.office(size_m=(12, 10), seed=1)
    run = rescue(explores, [(0.0, 0.0, 0.0)], targets=[], mission=None, world=world, timeout_s=60).run()
    assert np.hypot(*(run.poses[-1, 0, :2] - run.poses[0, 0, :2])) > 1.0


def lookout_of(camera, seconds, seed):
    """Let a robot turn on the spot in the hall, and return its run."""

    async def looks(robot):
        lookout = Lookout(robot, 5, 0.99)
        await robot.turn(math.inf, until=lambda robot: lookout.step(robot, {}))

    sim = rescue(looks, [(1.0, 1.0, 0.0)], camera=camera, seed=seed, timeout_s=seconds, mission=Rescue())
    return sim.run()


def test_a_lookout_reports_what_it_sees_and_not_its_false_alarms():
    for seed in range(3):
        run = lookout_of({"false_per_min": 30.0}, 20, seed)
        assert run.reports["identity"].to_list() == [4]  # the victim is 5 m away
        assert run.reports["error_m"][0] < 0.3


def test_a_camera_that_holds_its_last_marker_fools_nobody():
    run = lookout_of({"holds_last": True}, 10, 1)
    assert run.metrics["false_reports"] == 0
    assert run.metrics["targets_found"] == 1


def test_a_meeting_needs_enough_mates():
    sim = rescue("still", [(0.0, 0.0, 0.0)], mission=Rescue())
    robot, meetings = sim.robot("robot0"), Meetings({"big_fire": 2, "victim": 1}, 60.0)
    found = {4: Find("big_fire", 4.0, 1.0), 2: Find("victim", -4.0, -1.0)}
    assert meetings.open(found) == [4]
    assert not meetings.call(robot, 4, found, {})
    mate = Mate(0.0, Pose(3.0, 0.0, 0.0), None, {"meeting": None})
    assert meetings.call(robot, 4, found, {"robot1": mate})
    assert meetings.facts["meeting"] == (4, False, False, ("robot1",))
    put(robot, time_s=61.0)
    assert meetings.step(robot, found, {"robot1": mate})
    assert meetings.at is None  # given up
    assert not meetings.call(robot, 4, found, {"robot1": mate})
    assert meetings.call(robot, 4, found, {"robot1": mate}, anyway=True)  # nothing else is left to do
    sim.close()
