"""The simulation as a user meets it: styles of controllers, failures, repeatability, stopping."""

import math

import numpy as np
import pytest

import covey
from covey.errors import InvalidValueError
from covey.results.snapshot import Snapshot
from covey.runtime.stop import Stop
from covey.testing import check_boundary


async def square(robot):
    for x, y in [(1, 0), (1, 1), (0, 1), (0, 0)]:
        assert await robot.goto(robot.home @ (x, y))


def test_sequential_controllers_end_and_so_does_the_run():
    sim = covey.Simulation(covey.World.empty(10, 10), robots=2, controller=square, seed=1)
    run = sim.run()
    assert sim.status == "reached"  # without a share to explore, the goal is that all controllers end
    # Four sides of 1 m and back home, each goal within the tolerance of 0.1 m.
    assert run.poses.shape[1:] == (2, 3)
    np.testing.assert_allclose(run.poses[-1, :, :2], run.poses[0, :, :2], atol=0.15)
    assert all(3.2 < d < 5.0 for d in run.measurements["distance_m"].tail(2))


def test_reactive_controllers_are_called_once_per_step():
    times = []

    class Count:
        def step(self, robot):
            times.append(robot.time)

    sim = covey.Simulation(covey.World.empty(4, 4), robots=1, controller=Count)
    for _ in range(5):
        sim.step()
    sim.close()
    assert times == [0.0, 0.1, 0.2, 0.3, 0.4]


def test_group_controllers_get_arrays_and_no_more_than_they_declare():
    seen = {}

    @covey.controller(scope="group", sees=("pose",))
    def spin(group):
        seen["pose"] = group.pose.shape
        with pytest.raises(AttributeError, match="does not see 'true_pose'"):
            _ = group.true_pose
        return np.tile([0.0, 0.0, 1.0], (group.count, 1))

    sim = covey.Simulation(covey.World.empty(8, 8), robots=3, controller=spin)
    for _ in range(20):
        sim.step()
    assert seen["pose"] == (3, 3)
    assert (np.abs(sim.state.twist[:, 2] - 1.0) < 1e-9).all()
    sim.close()


async def raises_at_once(robot):
    raise ValueError("no idea")


async def ends_soon(robot):
    await robot.sleep(0.3)


def raises_at_two(robot):
    if robot.name == "robot1" and robot.time >= 1.0:
        raise RuntimeError("out of cheese")
    robot.drive(0.1)


def commands_nan(robot):
    robot._state.command = (math.nan, 0.0, 0.0)
    robot._state.motion = None
    robot._state.move = lambda: None


def test_a_run_whose_controllers_all_raise_has_failed_and_one_of_some_has_not():
    assert covey.Simulation(covey.World.empty(10, 10), 1, raises_at_once).run().status == "failed"
    groups = [
        covey.Group("bad", covey.robots.disc(), [[0, 0, 0]], raises_at_once),
        covey.Group("good", covey.robots.disc(), [[3, 0, 0]], ends_soon),
    ]
    assert covey.Simulation(covey.World.empty(10, 10), groups).run().status == "reached"


def test_a_controller_that_raises_stops_its_robot_alone():
    sim = covey.Simulation(covey.World.empty(10, 10), robots=3, controller=raises_at_two)
    for _ in range(30):
        sim.step()
    moved = sim.state.distance_m.copy()
    sim.step()
    still = sim.state.distance_m - moved
    run = sim.close()
    assert still[1] < 1e-9
    assert (still[[0, 2]] > 0.005).all()
    failure = run.events.filter(run.events["kind"] == "controller_failed").row(0, named=True)
    assert failure["robot"] == "robot1"
    assert failure["step"] == 11  # the step that begins at 1.0 s
    assert "out of cheese" in failure["text"]
    assert "raises_at_two" in failure["text"]


def test_the_run_can_end_at_the_first_failure():
    sim = covey.Simulation(
        covey.World.empty(10, 10), robots=3, controller=raises_at_two, execution={"on_controller_error": "end_run"}
    )
    sim.run()
    assert sim.status == "failed"
    assert sim.time == pytest.approx(1.1)


def test_a_command_that_is_no_number_is_refused():
    sim = covey.Simulation(covey.World.empty(5, 5), robots=1, controller=commands_nan)
    sim.step()
    assert "finite" in sim.deciding.failures[0].text
    sim.close()


async def never_yields(robot):
    while True:
        pass


def test_a_controller_that_never_yields_is_interrupted_and_marks_the_run():
    sim = covey.Simulation(covey.World.empty(5, 5), robots=1, controller=never_yields, execution={"step_budget_s": 0.3})
    sim.step()
    assert sim.deciding.failures[0].by_wall_time
    run = sim.close()
    assert run.manifest["repeatable"] is False


def test_the_truth_is_not_reachable_from_a_handle():
    sim = covey.Simulation(covey.World.empty(6, 6), robots=3, controller=square)
    for _ in range(20):
        sim.step()
    check_boundary(sim)
    sim.close()


def test_a_leak_would_be_found():
    sim = covey.Simulation(covey.World.empty(6, 6), robots=1, controller=square)
    sim.step()
    sim.robot(sim.names[0]).leak = lambda: sim
    with pytest.raises(AssertionError, match="could cheat"):
        check_boundary(sim)
    sim.close()


def test_stop_at_a_time():
    sim = covey.Simulation(covey.World.empty(5, 5), robots=1, controller=never_stops, stop=Stop(timeout_s=2.0))
    sim.run()
    assert sim.status == "timeout"
    assert sim.time == pytest.approx(2.0)


async def never_stops(robot):
    while True:
        await robot.sleep(1.0)


def test_unknown_controller_parameters_are_refused():
    with pytest.raises(InvalidValueError, match="no parameter 'sped'"):
        covey.Program(square_with_speed, {"sped": 1})


async def square_with_speed(robot, *, speed=1.0):
    await robot.sleep(speed)


def test_groups_have_their_own_control_period_and_phase():
    times: dict[str, list[float]] = {"a": [], "b": []}

    def note_time(robot):
        times[robot.name[0]].append(round(robot.time, 9))

    model = covey.robots.disc()
    groups = [
        covey.Group("a", model, np.array([[-1.0, 0, 0]]), covey.Program(note_time), control_every=3),
        covey.Group("b", model, np.array([[1.0, 0, 0]]), covey.Program(note_time), control_every=2, phase=1),
    ]
    sim = covey.Simulation(covey.World.empty(6, 6), groups)
    for _ in range(7):
        sim.step()
    sim.close()
    assert times == {"a": [0.0, 0.3, 0.6], "b": [0.1, 0.3, 0.5]}


def test_the_union_and_any_robot_stop_the_run_at_their_own_times():
    found = {}
    for of in ("any_robot", "union", "all_robots", "one_map", "all_maps"):
        scenario = covey.load_scenario("loop").replace("robots.scout.count", 2).replace("stop.explored", 0.15)
        sim = scenario.replace("stop.of", of).build()
        sim.run()
        assert sim.status == "reached"
        found[of] = sim.time
    assert found["union"] <= found["any_robot"] <= found["all_robots"]
    assert found["union"] <= found["one_map"] <= found["all_maps"]


@pytest.mark.parametrize(("of", "share"), [("one_map", 0.4), ("all_maps", 0.3)])
def test_maps_count_as_far_as_the_team_has_seen_it_and_beams_where_there_is_no_map(of, share):
    known, each = np.array([0.4, 0.35, np.nan]), np.array([0.1, 0.1, 0.3])
    zeros, counts = np.zeros((3, 3)), np.zeros(3, np.int64)
    frame = Snapshot(1, 0.1, zeros, zeros, zeros, zeros, np.zeros(3), counts, counts, np.zeros(3))
    for union, expected in ((0.5, share), (0.2, 0.2)):
        frame.mission = {"explored_share_union": union, "explored_share": each, "known_share": known}
        assert Stop(explored=0.9, of=of).share(frame) == expected


def test_a_function_can_be_the_goal():
    sim = covey.Simulation(covey.World.empty(8, 8), 1, wait_for_ever, stop=lambda sim: sim.time >= 1.0)
    sim.run()
    assert (sim.status, sim.time) == ("reached", 1.0)


async def wait_for_ever(robot):
    while True:
        await robot.sleep(10)


def test_speed_0_asks_before_each_step():
    asked = []
    sim = covey.Simulation(covey.World.empty(8, 8), 1, wait_for_ever)
    sim.run(speed=0, wait=lambda: asked.append(sim.time), until_s=0.5)
    assert asked == [0.0, 0.1, 0.2, 0.3, 0.4]


def test_the_phases_sum_up_to_the_wall_time():
    sim = covey.Simulation(covey.World.empty(8, 8), 2, square)
    for _ in range(5):
        sim.step()
    assert sum(sim.stopwatch.seconds.values()) == pytest.approx(sim.stopwatch.elapsed_s, rel=1e-6)
    assert {"sense", "localize", "map", "decide", "act", "score", "observe"} <= set(sim.stopwatch.seconds)
    sim.close()


def test_phases_with_nothing_to_do_are_listed_and_take_no_time():
    blind = covey.RobotModel(name="blind", radius_m=0.1)
    group = covey.Group("robot", blind, [(0, 0, 0)], lambda robot: robot.drive(0.1, 0.0))
    sim = covey.Simulation(covey.World.empty(8, 8), [group])
    for _ in range(3):
        sim.step()
    assert (sim.stopwatch.seconds["sense"], sim.stopwatch.seconds["map"]) == (0.0, 0.0)
    assert sim.stopwatch.seconds["decide"] > 0.0
    sim.close()


def test_the_first_message_after_a_silence_is_delivered():
    heard = []

    def late(robot):
        if robot.name == "robot0" and robot.time > 0.35:
            robot.send("hello")
        heard.extend((robot.name, robot.time) for _ in robot.messages())

    blind = covey.RobotModel(name="blind", radius_m=0.1)
    covey.Simulation(covey.World.empty(8, 8), [covey.Group("robot", blind, [(0, 0, 0), (1, 1, 0)], late)]).run(
        until_s=0.6
    )
    assert heard == [("robot1", 0.5)]


def test_energy_is_idle_power_and_way():
    disc = covey.RobotModel(name="disc", radius_m=0.1, idle_power_w=2.0, drive_energy_j_m=5.0)
    group = covey.Group("robot", disc, [(0, 0, 0)], covey.controller(scope="group")(lambda team: (0.5, 0.0)))
    run = covey.Simulation(covey.World.empty(8, 8), [group]).run(until_s=2.0)
    row = run.measurements.row(-1, named=True)
    assert row["energy_j"] == pytest.approx(2.0 * 2.0 + 5.0 * row["distance_m"])


def test_groups_with_equal_sensors_see_their_own_readings_and_no_truth():
    seen = {}

    @covey.controller(scope="group", sees=("proximity", "lidar"))
    def look(group):
        seen[group.name] = group.proximity.ranges.copy(), group.lidar.truth, group.lidar.angles.shape
        return np.zeros((group.count, 3))

    model = covey.robots.disc()
    by_wall, in_the_middle = np.array([[2.7, 0, 0], [2.7, 1.0, 0]]), np.array([[0.0, 0, 0]])
    groups = [
        covey.Group("a", model, by_wall, covey.Program(look)),
        covey.Group("b", model, in_the_middle, covey.Program(look)),
    ]
    sim = covey.Simulation(covey.World.empty(6, 6), groups)
    sim.step()
    sim.close()
    assert [seen[name][0].shape[0] for name in "ab"] == [2, 1]
    assert np.isfinite(seen["a"][0]).any(axis=1).all()
    assert not np.isfinite(seen["b"][0]).any()
    assert seen["a"][1] is None
    assert seen["a"][2] == seen["b"][2]


def test_a_team_controller_gets_all_groups_and_answers_for_all():
    @covey.controller(scope="team", sees=("pose",))
    def lead(team):
        assert {name: view.count for name, view in team.items()} == {"a": 1, "b": 2}
        return {name: np.tile([0.0, 0.0, 1.0 if name == "a" else -1.0], (view.count, 1)) for name, view in team.items()}

    model = covey.robots.disc()
    groups = [covey.Group("a", model, [[-1, 0, 0]]), covey.Group("b", model, [[1, 0, 0], [1, 1, 0]])]
    sim = covey.Simulation(covey.World.empty(6, 6), groups, lead)
    for _ in range(10):
        sim.step()
    np.testing.assert_allclose(sim.state.twist[:, 2], [1.0, -1.0, -1.0])
    sim.close()


async def out_of_the_world(robot):
    await robot.drive(1.0, for_s=8.0)


def test_leaving_an_open_world_is_an_event():
    sim = covey.Simulation(
        covey.World.empty(6, 6, border="open"), [covey.Group("a", covey.robots.disc(), [[0, 0, 0]], out_of_the_world)]
    )
    run = sim.run()
    left = run.events.filter(run.events["kind"] == "left_world").row(0, named=True)
    assert left["robot"] == "a0"
    assert 3.0 <= left["x_m"] < 3.2
