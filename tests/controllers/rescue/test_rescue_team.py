"""Rescue as a team: all targets are found and the meeting held, whatever the radio does; false alarms are not reported."""

import math

import numpy as np
import pytest

import covey
from covey.comms.radio import Radio
from covey.controllers.rescue.meeting import APART_M, NEAR_M, standing_place
from covey.controllers.rescue.missed import PATCH_M
from covey.controllers.rescue.rescue_team import (
    RescueSettings,
    Searcher,
    Task,
    arc,
    first_goal,
    look_again,
    look_around,
    search,
)
from covey.controllers.teammates import Mate
from covey.geometry import Pose
from covey.missions import Rescue
from covey.onboard.controller import Program
from covey.scenario.build import build
from covey.scenario.load import load_scenario

TARGETS = [
    {"kind": "victim", "identity": 0, "at": (-5.9, 1.0), "on": "wall"},
    {"kind": "small_fire", "identity": 1, "at": (0.0, -2.9), "on": "wall"},
    {"kind": "victim", "identity": 2, "at": (5.9, -1.0), "on": "wall"},
    {"kind": "big_fire", "identity": 4, "at": (3.0, 2.9), "on": "wall"},
]


def rescue(starts, *, program=None, camera=None, seed=1, timeout_s=150.0, **changes):
    robot = covey.robots.turtlebot3_waffle_pi()
    update = camera or {}
    sensors = tuple(s.model_copy(update=update) if s.kind == "tag_camera" else s for s in robot.sensors)
    controller = program or Program("rescue_team", {"targets": 4})
    group = covey.Group("robot", robot.model_copy(update={"sensors": sensors}), starts, controller)
    options = {"mission": Rescue(preset="dat160_2021"), "share_maps": 1.0, "targets": TARGETS} | changes
    stop = covey.Stop(timeout_s=timeout_s)
    return covey.Simulation(covey.World.empty(12, 6), [group], seed=seed, stop=stop, **options).run()


PAIR = [(0.0, -1.0, 0.0), (0.0, 1.0, math.pi)]


@pytest.mark.parametrize("radio", [50.0, Radio(range_m=50, loss=0.5), Radio(range_m=4)])
def test_two_robots_find_everything_and_meet(radio):
    run = rescue(PAIR, radio=radio)
    assert run.status == "reached"
    assert run.metrics["targets_found"] == 4
    assert run.metrics["meeting_s"] is not None
    assert run.metrics["false_reports"] == 0


def test_a_robot_alone_finds_everything_and_ends():
    program = Program("rescue_team", {"targets": 4, "meet": 0})
    run = rescue(PAIR[:1], program=program, mission=Rescue(end_when_done=False), timeout_s=300)
    assert run.metrics["targets_found"] == 4
    assert run.metrics["explored_share"] > 0.97
    assert run.status == "reached"  # its controller has finished, and so is the mission


def test_many_false_alarms_are_not_reported():
    run = rescue(PAIR, camera={"false_per_min": 20.0})
    assert run.metrics["targets_found"] == 4
    assert run.metrics["false_reports"] == 0


@pytest.mark.slow
def test_robots_that_hear_nobody_still_meet_at_the_end():
    run = rescue(PAIR, radio=0.0, timeout_s=300)
    assert run.metrics["targets_found"] == 4
    assert run.metrics["meeting_s"] is not None


@pytest.mark.parametrize(
    ("directions", "heading", "first", "way"),
    [
        ([0.2], 0.0, 0.2, 0.0),
        ([0.0, 0.5, 1.0], -0.4, 0.0, 1.0),
        ([0.0, 0.5, 1.0], 1.2, 1.0, -1.0),
        ([3.0, -3.0], 2.9, 3.0, 2 * math.pi - 6.0),
        ([0.0, math.pi / 2, math.pi, -math.pi / 2 + 0.1], 0.0, 1.5 * math.pi + 0.1, 1.5 * math.pi - 0.1),
    ],
)
def test_the_shortest_arc_over_all_directions_begins_at_the_nearer_end(directions, heading, first, way):
    assert arc(np.array(directions), heading) == pytest.approx((first, way))


def test_its_own_ways_are_estimated_as_those_of_mates():
    """Or each of two robots that stand together would think that the other is nearer to all that is far."""
    found = {}

    async def compare(robot):
        await robot.sleep(1.0)
        searcher = Searcher(robot, RescueSettings())
        cells = searcher._places(robot, robot.reachable())
        found["ways"] = searcher._ways(robot, [robot.pose[:2]], cells)

    robot = covey.robots.turtlebot3_waffle_pi()
    group = covey.Group("robot", robot, [(-5.0, 0.0, 0.0)], compare, known_map=True)
    covey.Simulation(covey.World.office(seed=3), [group], seed=1, stop=covey.Stop(timeout_s=2.0)).run()
    own, mate = found["ways"]
    assert own[np.isfinite(own)].max() > 10.0
    np.testing.assert_array_equal(own, mate)


def test_a_goal_is_left_only_if_that_gains_more_than_a_change_costs():
    """It has come half a metre nearer to another goal of nearly equal worth; then that one is much nearer."""
    between, weights = np.array([[0.0, 8.0], [8.0, 0.0]]), np.array([3.0, 3.2])
    near, far = np.array([[4.25, 3.75]]), np.array([[20.0, 1.0]])
    assert first_goal(near, between, weights, mine=-1) == 1
    assert first_goal(near, between, weights, mine=0) == 0
    assert first_goal(far, between, weights, mine=0) == 1
    assert first_goal(np.array([[np.inf, 1.0]]), between, weights, mine=0) == 1  # the way to it is closed


def in_a_hall(act, start=(0.0, 0.0, 0.0)):
    """Let one robot that knows a hall of 12 x 6 m act once."""

    async def program(robot):
        await robot.sleep(1.0)
        act(robot)

    group = covey.Group("robot", covey.robots.turtlebot3_waffle_pi(), [start], program, known_map=True)
    covey.Simulation(covey.World.empty(12, 6), [group], seed=1, stop=covey.Stop(timeout_s=2.0)).run()


def mate_at(x, y, goal, **facts):
    return {"mate": Mate(1.0, Pose(x, y, 0.0), goal, facts)}


def test_what_a_mate_goes_for_is_its_own_unless_this_robot_is_much_nearer():
    """Two robots that take each other's goal for a small gain drive to and fro."""
    goal, seen = (4.0, 0.0), []

    def choose(robot):
        for x in (-1.0, -5.0):  # 5 m and 9 m from the goal, this robot 4 m
            searcher = Searcher(robot, RescueSettings())
            searcher.search(robot, mate_at(x, 0.0, goal, looks=True))
            ways = robot.travel_from([robot.pose[:2], (x, 0.0)], np.array([robot.map.grid.cell_at(*goal)]))
            seen.append(searcher._is_taken(robot, "mate", mate_at(x, 0.0, goal)["mate"], ways[:, 0], 1))
            searcher._pursuit = "look", goal
            seen.append(searcher._is_taken(robot, "mate", mate_at(x, 0.0, goal)["mate"], ways[:, 0], 1))

    in_a_hall(choose)
    assert seen == [True, False, False, False]


def test_a_robot_goes_on_to_the_place_where_it_set_out_to_look_while_any_wall_is_left_there():
    """From there 4 of its patches are left, then none; elsewhere in the hall everything is."""
    goals = []

    def choose(robot):
        searcher = Searcher(robot, RescueSettings())
        goals.append(searcher.search(robot, {}).place)
        cell = np.array([robot.map.grid.cell_at(*goals[0])])
        patches = searcher.searched.sights(robot.map.occupancy(), cell).patches[0]
        for left in (4, 0):
            searcher.searched.missed.reshape(-1)[patches[patches >= 0][left:]] = 0.0
            goals.append(searcher.search(robot, {}).place)

    in_a_hall(choose)
    assert goals[1] == goals[0]
    assert goals[2] != goals[0]


def test_walls_that_a_mate_is_about_to_look_at_are_left_to_it():
    """The mate looks from the middle of the hall, from where this robot would have seen much."""
    worth_m = []

    def choose(robot):
        searcher = Searcher(robot, RescueSettings())
        places = searcher._places(robot, robot.reachable())
        ways, middle = searcher._ways(robot, [], places)[0], np.array([robot.map.grid.cell_at(0.0, 0.0)])
        worth_m.extend(searcher._views(robot, places, ways, taken)[1].sum() for taken in (middle[:0], middle))
        patches = searcher.searched.sights(robot.map.occupancy(), middle).patches
        worth_m.append(PATCH_M * np.count_nonzero(patches >= 0))

    in_a_hall(choose)
    alone_m, beside_m, seen_m = worth_m
    assert alone_m - beside_m == pytest.approx(seen_m, abs=0.1 * alone_m)


def test_a_candidate_that_was_seen_once_is_looked_at_again_from_where_it_can_be_seen():
    """It was seen from the west, 2 m away; the robot is there, then so far east that it has to drive, then it is sure."""
    tasks = []

    def choose(robot):
        for place in ((2.0, 0.0), (-4.0, 0.0)):
            searcher = Searcher(robot, RescueSettings())
            candidate = searcher.lookout.belief.detect(0, "victim", place, 0.1, 0.8, 1e-4)
            candidate.seen_from, candidate.reach_m = [math.pi], 2.2
            tasks.append(searcher.search(robot, {}))
        points = robot.map.grid.to_world(searcher._places(robot, robot.reachable()))
        cells = searcher._places(robot, robot.reachable())
        ((_, k),) = searcher._checks(robot, cells, searcher._ways(robot, [], cells)[0])
        tasks.append(tuple(points[k]))
        searcher.lookout.belief.detect(0, "victim", place, 0.1, 0.8, 1e-4)
        assert candidate.probability > 0.99
        tasks.append(searcher._checks(robot, cells, searcher._ways(robot, [], cells)[0]))

    in_a_hall(choose)
    here, far, place, sure = tasks
    assert (here.kind, math.dist(here.place, (0.0, 0.0))) == ("check", pytest.approx(0.0, abs=0.1))
    assert far.place is not None
    assert place[0] < -4.0
    assert abs(place[1]) <= math.tan(math.radians(30)) * (-4.0 - place[0]) + 0.1
    assert math.dist(place, (-4.0, 0.0)) <= 2.3
    assert sure == []


def test_a_robot_that_sees_nothing_where_it_looks_again_soon_gives_a_candidate_up():
    """A false alarm 2 m ahead, at its right edge of view; the robot turns there, and then goes on."""
    noted = []

    async def program(robot):
        searcher = Searcher(robot, RescueSettings())
        await robot.sleep(1.0, until=searcher.interrupted)
        candidate = searcher.lookout.belief.detect(0, "victim", (0.5, -2.0), 0.1, 0.8, 1e-4)
        candidate.seen_from, candidate.reach_m = [math.pi / 2], 2.5
        for _ in range(3):
            if searcher.search(robot, {}).kind == "check":
                await look_again(robot, searcher)
                noted.append(abs(robot.pose.heading - math.atan2(-2.0, 0.5)))
        noted.append(searcher.is_in_doubt(candidate))

    group = covey.Group("robot", covey.robots.turtlebot3_waffle_pi(), [(0.0, 0.0, 0.0)], program, known_map=True)
    covey.Simulation(covey.World.empty(12, 6), [group], seed=1, stop=covey.Stop(timeout_s=12.0), targets=[]).run()
    assert noted[0] < math.radians(20)
    assert noted[-1] is False


def test_a_look_around_leaves_hardly_anything_to_be_missed():
    """At full speed a seventh of the targets in sight would be missed: few samples show each, and they are blurred."""
    missed = []

    async def program(robot):
        searcher = Searcher(robot, RescueSettings())
        await look_around(robot, searcher)
        cell = np.array([robot.map.grid.cell_at(*robot.pose[:2])])
        patches = searcher.searched.sights(robot.map.occupancy(), cell).patches[0]
        missed.append(searcher.searched.missed.reshape(-1)[patches[patches >= 0]].mean())

    group = covey.Group("robot", covey.robots.turtlebot3_waffle_pi(), [(0.0, 0.0, 0.0)], program, known_map=True)
    covey.Simulation(covey.World.empty(6, 5), [group], seed=1, stop=covey.Stop(timeout_s=15.0)).run()
    assert missed[0] < 0.05


def test_walls_around_a_candidate_are_searched_again_once_after_each_detection():
    """Or robots would look there again and again from all sides, where nothing decides whether it is there."""
    forgotten = []

    def choose(robot):
        searcher = Searcher(robot, RescueSettings())
        for detects in (True, False, True):
            if detects:
                candidate = searcher.lookout.belief.detect(0, "victim", (6.0, 0.0), 0.1, 0.8, 1e-4)
                candidate.seen_from = [math.pi]
            searcher.searched.missed[:] = 0.0
            searcher._forget_where_candidates_are()
            forgotten.append(bool(searcher.searched.missed.any()))

    in_a_hall(choose)
    assert forgotten == [True, False, True]


def test_a_candidate_that_stays_in_doubt_makes_a_robot_choose_again_once():
    """It lies behind the robot, so no sample decides."""
    chose = []

    async def program(robot):
        searcher = Searcher(robot, RescueSettings())
        searcher._pursuit = "frontier", (5.0, 0.0)
        candidate = searcher.lookout.belief.detect(0, "victim", (-3.0, 0.0), 0.1, 0.8, 1e-4)
        candidate.seen_from, candidate.reach_m = [0.0], 3.0
        for _ in range(20):
            await robot.sleep(0.1)
            chose.append(searcher.interrupted(robot))

    group = covey.Group("robot", covey.robots.turtlebot3_waffle_pi(), [(0.0, 0.0, 0.0)], program, known_map=True)
    covey.Simulation(covey.World.empty(12, 6), [group], seed=1, stop=covey.Stop(timeout_s=3.0)).run()
    assert sum(chose) == 1
    assert chose.index(True) < 8


def test_who_is_near_to_a_meeting_searches_until_the_last_one_comes():
    """The mate has 9 m to go, the robot 2 m; then the mate is nearer; then it is far again, but the robot has set out."""
    tasks = []

    def choose(robot):
        searcher = Searcher(robot, RescueSettings())
        for x in (-5.5, 1.9, -5.5):
            searcher.meetings.at, searcher.meetings.agreed, searcher.meetings.place = 4, True, (2.0, 0.0)
            searcher.lookout.found[4] = ("big_fire", 2.5, 0.0)
            searcher.team.mates = mate_at(x, 0.0, (2.0, 0.0), meeting=(4, True, False, ()))
            tasks.append(searcher.choose(robot).kind)

    in_a_hall(choose)
    assert tasks == ["look", "meet", "meet"]


def test_each_drive_that_fails_at_one_place_refuses_goals_in_twice_the_distance():
    clear = []

    async def fail(robot):
        searcher = Searcher(robot, RescueSettings())
        for _ in range(3):
            searcher.went(robot, Task("look", (3.0, 0.0)), "stuck")
            points = np.column_stack((np.arange(3.0, 8.0, 0.1), np.zeros(50)))
            clear.append(points[searcher._refused.clear(points), 0].min() - 3.0)
        searcher.went(robot, Task("look", (3.0, 4.0)), "reached")
        clear.append(len(searcher._refused))
        await robot.sleep(1.0)

    group = covey.Group("robot", covey.robots.turtlebot3_waffle_pi(), PAIR[:1], fail)
    covey.Simulation(covey.World.empty(12, 6), [group], seed=1, stop=covey.Stop(timeout_s=0.3)).run()
    assert clear == [pytest.approx(0.55, abs=0.06), pytest.approx(1.05, abs=0.06), pytest.approx(2.05, abs=0.06), 1]


def test_a_robot_that_did_not_get_through_a_gap_takes_another_way():
    """The gap of 0.5 m is wide enough for its body, but not for the distance that it keeps from walls."""
    outcomes = []

    async def drive(robot):
        for _ in range(2):
            await robot.goto((1.5, -2.0), tolerance_m=0.2, until=lambda robot: robot.time > 20.0 and not outcomes)
            outcomes.append(math.dist(robot.pose[:2], (1.5, -2.0)) < 0.3)
            robot.jammed()

    walls = [
        [(-0.1, y) if side < 0 else (0.1, y) for y, side in ((a, -1), (a, 1), (b, 1), (b, -1))]
        for a, b in ((-3.0, -2.25), (-1.75, 1.0))
    ]
    world = covey.World.polygons([(-3, -3), (3, -3), (3, 3), (-3, 3)], obstacles_m=walls, resolution_m=0.05)
    robot = covey.robots.turtlebot3_waffle()
    group = covey.Group("robot", robot, [(-1.5, -2.0, 0.0)], drive, known_map=True)
    covey.Simulation(world, [group], seed=1, stop=covey.Stop(timeout_s=90.0)).run()
    assert outcomes == [False, True]


def test_a_robot_that_comes_no_nearer_to_a_goal_avoids_the_place_where_it_was_nearest():
    jams = []

    async def roam(robot):
        searcher = Searcher(robot, RescueSettings())

        def roams(robot):
            searcher._roams(robot, (5.0, 1.0), math.dist(robot.pose[:2], (5.0, 1.0)))

        for x in (-3.0, 0.0, -2.5, -0.5):  # it turns back at (0, 1) again and again
            await robot.goto((x, 1.0), until=roams)
            jams.append(len(robot._state.navigator.jams))
        jams.extend(robot._state.navigator.jams)

    group = covey.Group("robot", covey.robots.turtlebot3_waffle_pi(), [(0.0, 1.0, 0.0)], roam)
    covey.Simulation(covey.World.empty(12, 6), [group], seed=1, stop=covey.Stop(timeout_s=60.0)).run()
    assert jams[0] == 0
    assert jams[3] == 1
    assert jams[4] == pytest.approx((0.0, 1.0), abs=1.0)


def test_robots_meet_deep_in_front_of_a_target_and_apart_from_each_other():
    """The nearest place within reach of the target might be the only door to it."""
    places, target = [], (2.5, 0.0)

    async def ask(robot):
        first = standing_place(robot, target, ())
        places.extend((first, standing_place(robot, target, [first]), standing_place(robot, (50.0, 0.0), ())))
        await robot.sleep(1.0)

    group = covey.Group("robot", covey.robots.turtlebot3_waffle_pi(), [(-2.0, 0.0, 0.0)], ask, known_map=True)
    covey.Simulation(covey.World.empty(10, 6), [group], seed=1, stop=covey.Stop(timeout_s=0.3)).run()
    first, second, nowhere = places
    assert math.dist(first, target) == pytest.approx(0.5, abs=0.05)
    assert math.dist(second, first) >= APART_M
    assert math.dist(second, target) <= NEAR_M
    assert nowhere is None


@pytest.mark.slow
def test_the_same_seed_gives_the_same_run_in_processes_too():
    runs = [
        rescue(PAIR, radio=Radio(range_m=50, loss=0.3), timeout_s=12.0, execution={"controllers": controllers})
        for controllers in ("in_process", "in_process", "processes")
    ]
    assert len(runs[0].reports) > 0
    for other in runs[1:]:
        assert np.array_equal(runs[0].poses, other.poses)
        assert runs[0].reports.equals(other.reports)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_with_damage_a_plan_and_a_lossy_radio(tmp_path):
    changes = {"damage": {}, "robots.searcher.known_map": "plan", "radio.loss": 0.3, "stop.timeout_s": 40, "seed": 1}
    for name in ("a", "b"):
        build(load_scenario("rescue", changes), folder=tmp_path / name).run()
    files = sorted(path.name for path in (tmp_path / "a").iterdir() if path.is_file())
    same = [file for file in files if file.endswith((".parquet", ".npz")) and file != "host.parquet"]
    assert {"reports.parquet", "team.parquet", "maps.npz"} <= set(same)
    for file in same:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file


@pytest.mark.slow
@pytest.mark.parametrize(("within_m", "for_s", "meets"), [(1.0, 20.0, True), (1.0, 0.0, False), (4.0, 20.0, False)])
def test_a_meeting_lasts_and_is_as_close_as_the_robots_were_told(within_m, for_s, meets):
    """The rules want two robots within 1 m of the leak for 20 s; a third target keeps them from standing there anyway."""
    told = {"targets": 3, "meet": 2, "meet_at": "flood gas_leak", "meet_within_m": within_m, "meet_for_s": for_s}
    rule = {"robots": 2, "within_m": 1.0, "for_s": 20.0, "meeting_points": 500}
    targets = [TARGETS[1], {"kind": "gas_leak", "identity": 4, "at": (3.0, 2.9), "on": "wall"}]
    run = rescue(PAIR, program=Program("rescue_team", told), mission=Rescue(kinds={"gas_leak": rule}), targets=targets)
    assert run.metrics["targets_found"] == 2
    assert (run.metrics["meeting_s"] is not None) == meets


def test_a_camera_that_gives_no_samples_has_searched_nothing_and_its_mates_do_not_count_on_it():
    """Two robots, one camera blind from the start: the patches before it stay unsearched, and it looks at no place."""
    noted = {}

    class Watched(Searcher):
        def interrupted(self, robot):
            again = super().interrupted(robot)
            blind = [mate.facts.get("blind", False) for mate in self.team.others(robot).values()]
            noted[robot.name] = float(self.searched.missed.min()), self.lookout.is_blind(robot), blind, robot.text
            return again

    async def watched(robot):
        await search(robot, Watched(robot, RescueSettings(targets=4)))

    blind = [{"kind": "sensor", "sensor": "tag_camera", "robot": "robot0", "at_s": 0}]
    rescue(PAIR, program=Program(watched), faults=blind, radio=0.0, timeout_s=15.0)
    (least, is_blind, _, text), (least_seen, sees, _, _) = noted["robot0"], noted["robot1"]
    assert (least, is_blind) == (1.0, True)
    assert "look" not in text
    assert least_seen < 0.1
    assert not sees
    rescue(PAIR, program=Program(watched), faults=blind, radio=50.0, timeout_s=5.0)
    assert (noted["robot0"][2], noted["robot1"][2]) == ([False], [True])


def test_mates_of_a_blind_robot_find_everything():
    blind = [{"kind": "sensor", "sensor": "tag_camera", "robot": "robot0", "at_s": 0}]
    run = rescue(PAIR, faults=blind, radio=50.0, timeout_s=600.0)
    assert run.metrics["targets_found"] == 4
    assert set(run.reports["robot"].unique()) == {"robot1"}


def test_a_robot_whose_lidar_is_silent_stands_and_the_other_finds_everything():
    blind = [{"kind": "sensor", "sensor": "lidar", "robot": "robot0", "at_s": 3.0}]
    run = rescue(PAIR, faults=blind, radio=50.0, timeout_s=300.0, mission=Rescue(preset="dat160_2021", kinds={}))
    assert run.metrics["targets_found"] == 4
    assert set(run.reports.filter(run.reports["time_s"] > 4.0)["robot"].unique()) == {"robot1"}
    stood = run.poses[run.pose_times > 4.0, 0]
    assert np.ptp(stood[:, :2], axis=0).max() < 0.01
