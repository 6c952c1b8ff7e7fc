"""What follows of each fault, for the robot and for the others, and that strategies live with it."""

import math

import numpy as np
import pytest

from covey.controllers.exploration.nearest_frontier import nearest_frontier
from covey.events.fault_records import stuck_twist
from covey.mapping import localization
from covey.onboard.controller import Program
from covey.onboard.group import Group
from covey.robots.catalogue import pioneer3dx
from covey.runtime.simulation import Simulation
from covey.runtime.stop import Stop
from covey.world.world import World


async def ahead(robot, *, v=0.3):
    await robot.drive(v, for_s=1000.0)


def simulation(starts=((0.0, 0.0, 0.0), (0.0, 1.5, 0.0)), controller=ahead, **options):
    group = Group("scout", pioneer3dx(), starts, controller)
    return Simulation(World.empty(12, 6, resolution_m=0.1), [group], stop=Stop(timeout_s=1000), **options)


def fault(kind, robot="scout0", at_s=1.0, **more):
    return {"kind": kind, "robot": robot, "at_s": at_s, **more}


def x_of(run, robot, time_s):
    return float(np.interp(time_s, run.pose_times, run.poses[:, robot, 0]))


def happened(run):
    return run.events.select("step", "kind", "robot", "other").rows()


def bank(sim, kind):
    return next(b for b in sim.sensing.banks if b.record.kind == kind)


def test_a_dead_robot_stands_still_in_the_way_and_explores_nothing():
    starts = ((1.0, 0.0, 0.0), (-1.0, 0.0, 0.0))
    run = simulation(starts, faults=[fault("dies")]).run(until_s=8)
    assert x_of(run, 0, 8) == x_of(run, 0, 1.0) < 1.5
    reach = 2 * pioneer3dx().outer_radius_m
    assert x_of(run, 1, 8) == pytest.approx(x_of(run, 0, 8) - reach, abs=0.05)
    share = run.series("explored_share")[:, 0]
    assert share[10] == share[-1]
    assert (11, "fault", "scout0", "dies") in happened(run)


def test_a_robot_that_vanishes_is_in_nobodys_way_or_sight():
    starts = ((1.0, 0.0, 0.0), (-1.0, 0.0, 0.0))
    sim = simulation(starts, faults=[fault("dies", vanishes=True)])
    for _ in range(80):
        sim.step()
    assert bank(sim, "neighbours").readings.count.tolist() == [0, 0]
    assert (sim.model.disc_count == len(pioneer3dx().body_discs)).all()
    run = sim.close()
    assert x_of(run, 1, 8) > 1.3
    assert run.metrics["collisions"] == 0


def test_a_robot_that_recovers_goes_on():
    run = simulation(faults=[fault("dies", for_s=2.0)]).run(until_s=5)
    assert happened(run) == [(11, "fault", "scout0", "dies"), (31, "recovered", "scout0", "dies")]
    assert x_of(run, 1, 5) - x_of(run, 0, 5) == pytest.approx(2.0 * 0.3, abs=0.02)


def test_a_run_ends_when_all_that_are_left_are_done():
    async def short(robot):
        await robot.sleep(2.0)

    assert simulation(controller=short, faults=[fault("dies")]).run().times[-1] == pytest.approx(2.2, abs=0.2)
    temporary = simulation(controller=short, faults=[fault("dies", for_s=5.0)]).run()
    assert temporary.times[-1] == pytest.approx(6.1, abs=0.2), "it still has to do what it set out to"


def test_a_dead_radio_passes_no_maps_on():
    sim = simulation(share_maps=0.5, faults=[fault("radio_dies", for_s=2.0)])
    news = []
    while sim.time < 5:
        sim.step()
        news.append(sim.localization.teams[0].beliefs.clock[[0, 1], [1, 0]].tolist())  # what each holds of the other
    alive = sim.state.radio_alive.all()
    sim.close()
    assert min(news[8]) > 0, "they talked before"
    assert news[12] == news[28], "silence"
    assert all(after > before for after, before in zip(news[-1], news[28], strict=True))
    assert alive


def test_a_blind_robot_has_no_readings_until_it_recovers():
    sim = simulation(faults=[fault("sensor", for_s=1.0)])
    blind = []
    while sim.time < 3:
        sim.step()
        blind.append(np.isnan(bank(sim, "lidar").readings.ranges).all(axis=1).tolist())
    sim.close()
    assert blind[9] == blind[21] == [False, False]
    assert blind[11:19] == [[True, False]] * 8


def test_a_short_sighted_robot_sees_no_farther_than_that():
    sim = simulation(faults=[fault("sensor", at_s=0, range_factor=0.25)])
    sim.step()
    record = bank(sim, "lidar").record
    seen = bank(sim, "lidar").readings.ranges
    sim.close()
    assert np.nanmax(seen[0][np.isfinite(seen[0])]) <= 0.25 * record.range_m < np.nanmax(seen[1][np.isfinite(seen[1])])


@pytest.mark.parametrize(
    ("wheel", "twist", "expected"),
    [
        ("left", (1.0, 0.0, 0.0), (0.5, 0.0, 2.5)),
        ("right", (1.0, 0.0, 0.0), (0.5, 0.0, -2.5)),
        ("left", (0.0, 0.0, 2.0), (0.2, 0.0, 1.0)),
        ("right", (0.0, 0.0, 2.0), (-0.2, 0.0, 1.0)),
        ("left", (9.0, 0.4, 0.0), (0.5, 0.2, 2.5)),
    ],
)
def test_the_wheel_that_sticks_does_not_move(wheel, twist, expected):
    v, vy, turn = stuck_twist(twist, wheel, top=1.0, spin=3.0, semi_axis_m=0.2)
    assert (v, vy, turn) == pytest.approx(expected)
    assert v - (0.2 if wheel == "left" else -0.2) * turn == pytest.approx(0.0)


def test_a_robot_with_a_stuck_wheel_circles_around_it():
    b = pioneer3dx().wheel_semi_axis_m
    sim = simulation(faults=[fault("wheel_sticks", at_s=0)])
    run = sim.run(until_s=5)
    wheel = run.poses[20:, 0, :2] + b * np.stack((-np.sin(run.poses[20:, 0, 2]), np.cos(run.poses[20:, 0, 2])), -1)
    assert np.ptp(wheel, axis=0).max() < 0.005
    assert x_of(run, 1, 5) > 1.2
    assert run.series("distance_m")[-1, 0] > 0.5


@pytest.mark.parametrize("kind", ["truth", "noise", "odometry"])
def test_an_estimate_that_jumps_stays_off_by_as_much(kind):
    from covey.mapping.localization import DeadReckoning, Noise, TruePose

    localization = {"truth": TruePose(), "noise": Noise(sigma_m=0, sigma_rad=0), "odometry": DeadReckoning()}[kind]
    group = Group("scout", pioneer3dx(), ((0.0, 0.0, 0.0), (0.0, 1.5, 0.0)), ahead, localization)
    faults = [fault("localization_jumps", offset=(0.5, -0.2, 90), for_s=2.0)]
    run = Simulation(World.empty(12, 6, resolution_m=0.1), [group], faults=faults).run(until_s=5)
    error = run.estimates - run.poses
    at = np.searchsorted(run.pose_times, 2.5)
    start, moved = x_of(run, 0, 1.0), x_of(run, 0, 2.5) - x_of(run, 0, 1.0)
    if kind != "odometry":
        assert error[at, 0] == pytest.approx([0.5 - moved, -0.2 + moved, math.pi / 2], abs=0.02), start
        assert np.abs(error[-1, 0]).max() < 0.02, "it recovers"
    assert abs(error[at, 0, 2] - math.pi / 2) < 0.2
    assert np.abs(error[at, 1, :2]).max() < 0.2


@pytest.mark.slow
def test_random_faults_strike_random_robots_up_to_a_number():
    starts = [(x, y, 0.0) for x in (-4.0, -2.0, 0.0, 2.0) for y in (-1.5, 0.0, 1.5)]
    struck = []
    for seed in (1, 1, 2):
        faults = [{"kind": "dies", "robot": "any", "every_s": 0.1, "probability": 0.3, "max_count": 5}]
        run = simulation(starts, faults=faults, seed=seed).run(until_s=10)
        struck.append([(step, robot) for step, kind, robot, _ in happened(run) if kind == "fault"])
    assert len({robot for _, robot in struck[0]}) == 5
    assert struck[0] == struck[1] != struck[2]


def test_all_robots_and_robots_of_a_group():
    model = pioneer3dx()
    groups = [Group(name, model, [(x, y, 0.0) for y in (-1.0, 1.0)], ahead) for name, x in (("a", 0.0), ("b", 2.0))]
    faults = [{"kind": "radio_dies", "robot": "all"}, {"kind": "dies", "robot": "b"}, {"kind": "dies", "robot": "b"}]
    faults += [{"kind": "dies", "robot": "b"}]
    run = Simulation(World.empty(8, 6), groups, faults=faults).run(until_s=1)
    assert sorted(r for _, kind, r, other in happened(run) if other == "radio_dies") == ["a0", "a1", "b0", "b1"]
    assert sorted(r for _, kind, r, other in happened(run) if other == "dies") == ["b0", "b1"]


def test_wheels_that_slip_move_the_robot_less_than_its_odometry_believes():
    """Half of 0.3 m/s is lost from 1 to 5 s: it drives 0.15 m/s, and believes 0.3."""
    group = Group("scout", pioneer3dx(), ((-3.0, 0.0, 0.0),), ahead, localization=localization.DeadReckoning())
    slips = fault("wheels_slip", share=0.5, for_s=4.0)
    run = Simulation(World.empty(12, 6, resolution_m=0.1), [group], stop=Stop(timeout_s=9), faults=[slips]).run()
    times, true, believed = run.pose_times, run.poses[:, 0, 0], run.estimates[:, 0, 0]
    for begin_s, end_s, share in ((2.0, 4.5, 0.5), (6.0, 8.5, 1.0)):
        moved, thought = (np.diff(np.interp((begin_s, end_s), times, one))[0] for one in (true, believed))
        assert moved == pytest.approx(0.3 * share * (end_s - begin_s), abs=0.01)
        assert thought == pytest.approx(0.3 * (end_s - begin_s), abs=0.02)


@pytest.mark.parametrize(
    "struck",
    [
        {"kind": "dies"},
        {"kind": "dies", "vanishes": True},
        {"kind": "dies", "for_s": 3.0},
        {"kind": "radio_dies"},
        {"kind": "sensor", "sensor": "lidar"},
        {"kind": "sensor", "sensor": "lidar", "range_factor": 0.3, "noise_m": 0.2, "dropout": 0.5},
        {"kind": "sensor", "sensor": "neighbours", "for_s": 3.0},
        {"kind": "wheel_sticks", "for_s": 4.0},
        {"kind": "wheels_slip", "share": 0.6, "for_s": 4.0},
        {"kind": "localization_jumps"},
        {"kind": "localization_jumps", "sigma_m": 50.0, "for_s": 2.0},
    ],
)
def test_nearest_frontier_lives_with_every_fault(struck):
    world = World.office(size_m=(14.0, 10.0), seed=2, resolution_m=0.1)
    from covey.world.placement.placing import place
    from covey.world.records.starts import Together, TogetherStart

    model = pioneer3dx()
    start = place(TogetherStart(together=Together()), world, np.full(3, model.outer_radius_m), np.random.default_rng(1))
    group = Group("scout", model, start, nearest_frontier)
    faults = [{"at_s": 1.0, "robot": "scout1", **struck}, {"every_s": 3.0, "robot": "any", **struck}]
    run = Simulation(world, [group], share_maps=1.0, faults=faults).run(until_s=12)
    kinds = [kind for _, kind, _, _ in happened(run)]
    assert "controller_failed" not in kinds
    assert kinds.count("fault") >= 2


def test_a_dead_robot_that_is_repaired_drives_on():
    repair = {"repair": "scout0", "at_s": 3.0}
    run = simulation(faults=[fault("dies", at_s=1.0)], events=[repair]).run(until_s=5.0)
    assert [row[1:] for row in happened(run)] == [("fault", "scout0", "dies"), ("recovered", "scout0", "dies")]
    assert x_of(run, 0, 3.0) - x_of(run, 0, 1.5) == pytest.approx(0.0, abs=1e-6)
    assert x_of(run, 0, 5.0) - x_of(run, 0, 3.5) == pytest.approx(0.3 * 1.5, abs=0.02)


def test_a_repair_ends_the_newest_fault_of_a_kind_or_all():
    sim = simulation()
    sensors = [{"kind": "sensor", "robot": "scout0", "sensor": name} for name in ("lidar", "odometry")]
    jumps = [{"kind": "localization_jumps", "robot": "scout0", "offset": [x, 0.0, 0.0]} for x in (1.0, 2.0)]
    for one in (*sensors, *jumps, {"kind": "radio_dies", "robot": "scout0"}):
        sim.do(one)
    sim.step()

    def left(**event):
        sim.do({"repair": "scout0", **event})
        sim.step()
        return [(s.fault.kind, getattr(s.fault, "offset", None) or s.fault.part) for s in sim.inputs.faults.active]

    first, second = ("localization_jumps", (1.0, 0.0, 0.0)), ("localization_jumps", (2.0, 0.0, 0.0))
    assert not sim.state.radio_alive[0]
    assert left(fault="radio_dies") == [("sensor", "lidar"), ("sensor", "odometry"), first, second]
    assert sim.state.radio_alive[0]
    assert left(fault="sensor", sensor="lidar") == [("sensor", "odometry"), first, second]
    assert left(fault="localization_jumps") == [("sensor", "odometry"), first]
    assert left(fault="wheel_sticks") == [("sensor", "odometry"), first]
    assert left() == []
    assert sim.localization.pose[0, 0] == pytest.approx(sim.state.pose[0, 0], abs=0.1)
    refused = sim.close().events.filter(sim.close().events["kind"] == "refused")
    assert refused["text"].to_list() == ["it has no such fault"]


def test_who_has_vanished_stays_away():
    repair = {"repair": "scout0", "at_s": 2.0}
    run = simulation(faults=[fault("dies", at_s=1.0, vanishes=True)], events=[repair]).run(until_s=3.0)
    assert run.events.filter(run.events["kind"] == "refused")["text"].to_list() == ["it has vanished"]
    assert "recovered" not in run.events["kind"]


def test_who_has_vanished_comes_back_where_it_is_placed():
    """It has no fault any more, blocks and is seen as before, and its controller goes on."""
    died = [fault("radio_dies", at_s=0.5), fault("dies", at_s=1.0, vanishes=True)]
    away = {"place": "scout0", "pose": [-2.0, 1.5, 0.0], "at_s": 1.5}  # where scout1 stands soon
    back = {"place": "scout0", "pose": [2.0, 1.5, 180.0], "at_s": 2.0}  # in its way
    run = simulation(faults=died, events=[away, back], seed=5).run(until_s=12.0)
    kinds = [(kind, other) for _, kind, robot, other in happened(run) if robot == "scout0" and kind != "contact"]
    assert kinds[:2] == [("fault", "radio_dies"), ("fault", "dies")]
    assert ("recovered", "dies") in kinds
    assert ("recovered", "radio_dies") in kinds
    pose = run.poses[:, 0]
    at = np.searchsorted(run.pose_times, 2.15)
    assert pose[at, 1] == pytest.approx(1.5)
    assert x_of(run, 0, 3.5) < x_of(run, 0, 2.2) - 0.2  # drives again, towards the other
    assert x_of(run, 0, 12.0) > x_of(run, 1, 12.0) + 0.3  # neither passes through the other


def test_a_robot_waits_outside_until_it_is_placed():
    """So a scenario holds robots in reserve; the run is repeatable, byte by byte."""

    def poses():
        absent = fault("dies", robot="scout1", at_s=0.0, vanishes=True)
        place = {"place": "scout1", "pose": [-3.0, -2.0, 0.0], "at_s": 2.0}
        return simulation(faults=[absent], events=[place]).run(until_s=4.0)

    run = poses()
    assert x_of(run, 1, 1.9) == 0.0
    assert x_of(run, 1, 4.0) == pytest.approx(-3.0 + 2.0 * 0.3, abs=0.05)
    assert run.poses.tobytes() == poses().poses.tobytes()


def test_a_sensor_that_drops_out_gives_no_samples_and_is_silent_until_it_is_heard_again():
    """A pioneer's lidar (10 Hz) is lost from 1 s to 2 s; its controller is told, and so are the events."""
    seen = {}

    def watch(robot):
        if robot.name == "scout0":
            seen[round(robot.time, 1)] = len(robot.samples("lidar")), robot.silent

    run = simulation(controller=Program(watch), faults=[fault("sensor", for_s=1.0)]).run(until_s=3)
    assert {time_s for time_s, (count, _) in seen.items() if count == 0} == {time_s / 10 for time_s in range(10, 20)}
    assert {silent for count, silent in seen.values() if count == 0} == {("lidar",)}
    assert {silent for count, silent in seen.values() if count} == {()}
    assert [row for row in happened(run) if row[1].startswith("sensor")] == [
        (11, "sensor_silent", "scout0", "lidar"),
        (21, "sensor_heard", "scout0", "lidar"),
    ]


def silences(steps, *faults):
    """Which sensors are silent after each step of three robots with lidars of 1 Hz."""
    robot = pioneer3dx()
    slow = tuple(s.model_copy(update={"rate_hz": 1.0}) if s.kind == "lidar" else s for s in robot.sensors)
    group = Group("scout", robot.model_copy(update={"sensors": slow}), [(0, 0, 0), (0, 1.5, 0), (0, -1.5, 0)], ahead)
    sim = Simulation(World.empty(12, 6, resolution_m=0.1), [group], stop=Stop(timeout_s=1000), faults=list(faults))
    found = []
    for _ in range(steps):
        sim.step()
        found.append(sim.sensing.silent)
    sim.close()
    return found


def test_a_slow_sensor_is_silent_once_a_sample_is_due():
    """A lidar of 1 Hz that is lost from 0.5 s on is missed at 1 s; a weak one, and that of a dead robot, are not silent."""
    faults = fault("sensor", at_s=0.5), fault("sensor", "scout1", 0.5, dropout=0.9), fault("dies", "scout2", 0.5)
    assert silences(14, *faults) == 10 * [{}] + 4 * [{0: ("lidar",)}]


def test_a_slow_sensor_is_silent_until_a_sample_comes():
    """A lidar of 1 Hz that is lost from 0.5 to 1.2 s is missed at 1 s, and heard at 2 s: nothing was due before."""
    assert silences(24, fault("sensor", at_s=0.5, for_s=0.7)) == 10 * [{}] + 10 * [{0: ("lidar",)}] + 4 * [{}]


@pytest.mark.parametrize("controllers", ["in_process", "processes"])
def test_a_silent_sensor_reads_nothing_in_each_host(controllers):
    run = simulation(
        controller=Program(notes_its_lidar), faults=[fault("sensor", at_s=0.3)], execution={"controllers": controllers}
    ).run(until_s=0.6)
    notes = run.events.filter((run.events["kind"] == "note") & (run.events["robot"] == "scout0"))["text"].to_list()
    assert notes == ["True some ()", "False none ('lidar',)"]  # what is noted again is no event


def notes_its_lidar(robot):
    nothing = np.isnan(robot.lidar.ranges).all()
    robot.note(f"{bool(robot.samples('lidar'))} {'none' if nothing else 'some'} {robot.silent}")
