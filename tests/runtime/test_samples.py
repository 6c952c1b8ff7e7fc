"""Sensors that are faster than the control step: every sample counts."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

import covey
from covey.errors import InvalidValueError, UnknownNameError
from covey.mapping.localization import DeadReckoning
from covey.mapping.records import Mapping
from covey.onboard.group import Group
from covey.robots.catalogue import disc
from covey.robots.computer import Computer, Cost, Costs
from covey.robots.model import RobotModel
from covey.runtime.simulation import Simulation
from covey.runtime.stop import Stop
from covey.sensors import Bumper, DepthCamera, Lidar, Lidar3D, Neighbours, Odometry, Proximity, Wedge
from covey.sensors.odometry import GmappingNoise
from covey.world.ground import Ground
from covey.world.world import World


@covey.controller(scope="group", sees=())
def all_ahead(group):
    """Drive ahead at 1 m/s."""
    return [[1.0, 0.0, 0.0]] * group.count


@pytest.mark.parametrize(("rate_hz", "variance"), [(10, 0.0100), (20, 0.0050), (50, 0.0020), (100, 0.0010)])
def test_the_heading_of_dead_reckoning_after_10_m_varies_as_errors_of_independent_samples_do(rate_hz, variance):
    """Each of the n = 10 s x rate samples errs by N(0, (0.1 rad/m x 10 m / n)^2): the sum has variance 1 / n."""
    n, noise = 400, GmappingNoise(m_per_m=0, rad_per_m=0.1, m_per_rad=0, rad_per_rad=0)
    wheels = Odometry(rate_hz=rate_hz, noise=noise)
    robot = RobotModel(kinematics="unicycle", radius_m=0.1, max_speed_m_s=1.0, max_turn_rad_s=1.0, sensors=[wheels])
    start = np.column_stack((np.full(n, -5.0), 0.3 * (np.arange(n) - 0.5 * n), np.zeros(n)))
    sim = Simulation(
        World.empty(14, 130, 0.5), [Group("r", robot, start, covey.Program(all_ahead), DeadReckoning())], seed=2
    )
    for _ in range(101):
        sim.step()
    error = sim.localization.pose[:, 2]
    low, high = chi2.ppf([1e-4, 1 - 1e-4], n)
    assert low * variance < (error**2).sum() < high * variance
    sim.close()


def watched(controller, *sensors, steps=10, start=(0.0, 0.0, 0.0), speed_m_s=1.0, **options) -> Simulation:
    """Return the simulation of one robot in a room of 10 m x 4 m, after some steps."""
    model = {"kinematics": "unicycle", "radius_m": 0.15, "max_speed_m_s": speed_m_s, "max_turn_rad_s": 20.0}
    robot = RobotModel(sensors=sensors, **model, **options.pop("robot", {}))
    group = Group("r", robot, [start], covey.Program(controller), **options.pop("group", {}))
    world = World.empty(10, 4, 0.1).replace(ground=options.pop("ground", None))
    sim = Simulation(world, [group], **options)
    for _ in range(steps):
        sim.step()
    sim.close()
    return sim


RAY = {"rays": 1, "range_m": 20.0}


def test_a_controller_can_ask_for_all_readings_of_its_last_step_and_sees_the_newest():
    seen = []

    def look(robot):
        robot.drive(1.0)
        samples = robot.samples("lidar")
        seen.append(samples)
        assert robot.lidar is samples[-1].reading

    watched(look, Lidar(rate_hz=25, **RAY), steps=11)
    assert [len(samples) for samples in seen] == [1, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3]
    times = [sample.time for samples in seen for sample in samples]
    assert times == pytest.approx([k / 25 for k in range(26)])
    ranges = [sample.reading.ranges[0] for samples in seen for sample in samples]
    assert ranges == pytest.approx([5.0 - time for time in times])  # the wall is 5 m ahead; it drives 1 m/s


def test_a_group_controller_can_ask_for_all_readings_too():
    seen = []

    @covey.controller(scope="group", sees=("lidar",))
    def look(group):
        samples = group.samples("lidar")
        seen.extend((round(sample.time, 3), sample.reading.ranges[:, 0].tolist()) for sample in samples)
        assert group.lidar is samples[-1].reading
        with pytest.raises(UnknownNameError, match="did you mean 'lidar'"):
            group.samples("lidr")
        return [[1.0, 0.0, 0.0]] * group.count

    watched(look, Lidar(rate_hz=20, **RAY), steps=3)
    expected = [(0.05 * k, [pytest.approx(5.0 - 0.05 * k)]) for k in range(5)]
    assert seen == [(pytest.approx(time), ranges) for time, ranges in expected]


def test_all_readings_since_the_last_step_of_a_controller_that_acts_in_every_third():
    seen = []

    def look(robot):
        seen.append([round(sample.time, 3) for sample in robot.samples("lidar")])

    watched(look, Lidar(rate_hz=5, **RAY), steps=8, group={"control_every": 3, "phase": 1})
    assert seen == [[0.0], [0.2, 0.4], [0.6]]


def test_a_reading_that_came_between_the_steps_of_a_controller_is_not_missed():
    seen = []

    def look(robot):
        seen.append("lidar" in robot.readings)

    watched(look, Lidar(rate_hz=5, **RAY), steps=8, group={"control_every": 2, "phase": 1})
    assert seen == [True] * 4


def test_a_controller_asks_only_for_sensors_that_it_has_and_declares():
    asked = []

    @covey.controller(sees=("odometry",))
    def declared(robot):
        asked.append(robot.samples("odometry"))
        with pytest.raises(AttributeError, match="declare it"):
            robot.samples("lidar")

    def misspelt(robot):
        with pytest.raises(UnknownNameError, match="did you mean 'lidar'"):
            robot.samples("lidr")
        asked.append([])

    for controller in (declared, misspelt):
        watched(controller, Lidar(**RAY), Odometry(rate_hz=50), steps=3)
    assert [len(samples) for samples in asked] == [1, 5, 5, 0, 0, 0]


def test_motions_of_all_samples_add_up_to_the_way():
    ways = []

    def sums(robot):
        robot.drive(0.8)
        ways.append(sum(sample.reading.dx for sample in robot.samples("odometry")))

    watched(sums, Odometry(rate_hz=30), steps=13)
    assert sum(ways) == pytest.approx(0.8 * 1.2)  # sample 36 falls on 1.2 s


def test_a_sensor_may_sample_at_every_substep_and_no_faster():
    times = []

    def look(robot):
        times.extend(sample.time for sample in robot.samples("lidar"))

    watched(look, Lidar(rate_hz=100, **RAY), steps=3)
    assert times == pytest.approx(np.arange(21) / 100)
    with pytest.raises(InvalidValueError, match="use at most 100 Hz or a shorter substep"):
        watched(look, Lidar(rate_hz=101, **RAY))


def test_a_bumper_tells_of_a_touch_that_was_over_before_it_was_asked():
    felt = []

    def bounce(robot):
        robot.drive(-1.0 if robot.collided or (robot.history and robot.history[-1][2][0] < 0) else 1.0)
        felt.extend((round(s.time, 2), bool(s.reading)) for s in robot.samples("bumper"))

    sim = watched(bounce, Bumper(rate_hz=2), steps=16, start=(4.3, 0.0, 0.0))  # it meets the wall at 0.55 s
    assert felt == [(0.0, False), (0.5, False), (1.0, True), (1.5, False)]
    assert sim.scoring.collisions_wall.tolist() == [1]


def test_the_past_of_a_robot_has_slices():
    seen = []

    def look(robot):
        robot.drive(robot.time)
        seen.append(([time for time, _, _ in robot.history[-2:]], [twist[0] for _, _, twist in robot.history[::2]]))

    watched(look, Bumper(), steps=4)
    assert seen[-1] == (pytest.approx([0.1, 0.2]), pytest.approx([0.0, 0.2]))


def test_a_touch_is_felt_by_the_sample_after_it_and_not_by_the_one_before():
    felt = []

    def run_into(robot):
        robot.drive(1.0)
        felt.extend((round(s.time, 2), bool(s.reading)) for s in robot.samples("bumper"))

    watched(run_into, Bumper(rate_hz=50), steps=8, start=(4.302, 0.0, 0.0))  # the wall is met at 0.548 s
    assert [pressed for time, pressed in felt if time <= 0.54] == [False] * 28
    assert all(pressed for time, pressed in felt if time > 0.55)


def spin(robot):
    """Turn on the spot."""
    robot.drive(0.0, 2.0)


@covey.controller(sees=())
def spin_blind(robot):
    """Turn on the spot without a look."""
    robot.drive(0.0, 2.0)


def directions_known(cells: np.ndarray) -> int:
    """Return in how many directions of a whole turn, by degrees, a ray of 1.5 m from the middle of a room is known."""
    rows, columns = cells.shape
    angles = np.radians(np.arange(360))
    row = np.round(rows / 2 - 0.5 + 15 * np.sin(angles)).astype(int)
    column = np.round(columns / 2 - 0.5 + 15 * np.cos(angles)).astype(int)
    return int(cells[row, column].sum())


def seen_spinning(controller, rate_hz, mapping=None) -> Simulation:
    """Return the simulation of a robot whose one ray sweeps over 172 degrees in 1.5 s."""
    lidar = Lidar(rate_hz=rate_hz, rays=1, range_m=1.8, sees_robots=False)
    return watched(controller, lidar, steps=16, robot={"mapping": mapping})


# Rays 11.5 degrees apart leave most cells at 1.5 m, 3.8 degrees wide, unseen; rays 1.1 degrees apart none.


@pytest.mark.parametrize("controller", [spin, spin_blind])
def test_what_a_fast_sensor_sees_between_control_steps_is_explored(controller):
    few, many = (
        directions_known(seen_spinning(controller, rate).scoring.exploration.cells.explored(0)) for rate in (10, 100)
    )
    assert few < 90
    assert 165 < many < 180


def test_what_a_fast_sensor_sees_between_control_steps_is_mapped():
    known = []
    for rate_hz in (10, 100):
        belief = seen_spinning(spin, rate_hz, Mapping(resolution_m=0.1)).localization.belief_of[0]
        rows, columns = belief.grid.to_cells(np.array([[-1.5, -1.5], [1.5, 1.5]])).T
        known.append(directions_known(belief.occupancy()[rows[0] : rows[1] + 1, columns[0] : columns[1] + 1] >= 0))
    assert known[0] < 90
    assert 165 < known[1] < 190


def test_each_sample_of_a_short_sighted_sensor_is_spoiled():
    ranges = []

    def look(robot):
        ranges.extend(sample.reading.ranges[0] for sample in robot.samples("lidar"))

    robot = RobotModel(
        kinematics="unicycle", radius_m=0.15, max_speed_m_s=1, max_turn_rad_s=1, sensors=[Lidar(rate_hz=50, **RAY)]
    )
    sim = Simulation(World.empty(10, 4, 0.1), [Group("r", robot, [[0, 0, 0]], covey.Program(look))])
    sim.fault("sensor", "r0", range_factor=0.01)
    for _ in range(6):
        sim.step()
    sim.close()
    assert len(ranges) == 26
    assert np.isinf(ranges[1:]).all()


def test_a_computer_that_takes_longer_than_the_period_of_scans_takes_every_second_one():
    free = {name: Cost(seconds=0.0) for name in ("scan_match", "frontiers", "search", "view", "control")}
    mapping = Mapping(resolution_m=0.1)
    robot = disc().model_copy(
        update={"sensors": (Lidar(rate_hz=20, rays=20),), "mapping": mapping, "computer": Computer(cpus=1, speed=1.0)}
    )
    sim = Simulation(
        World.empty(10, 4, 0.1),
        [Group("r", robot, [[0, 0, 0]], covey.Program(spin))],
        execution=covey.Execution(costs=Costs(**free, map_update=Cost(seconds=0.07))),
        stop=Stop(timeout_s=4.0),
    )
    run = sim.run()
    computers = run.computers
    assert computers["scans"].sum() + computers["scans_dropped"].sum() == 1 + 20 * 4 - 2
    assert computers["scans"].sum() == pytest.approx(40, abs=2)


def test_a_controller_whose_computer_was_busy_gets_all_readings_since_it_last_acted():
    counts = []

    def think(robot):
        counts.append(len(robot.samples("lidar")))
        robot.charge_work("view")

    free = {name: Cost(seconds=0.0) for name in ("scan_match", "map_update", "frontiers", "search", "control")}
    robot = disc().model_copy(
        update={"sensors": (Lidar(rate_hz=50, rays=20),), "mapping": None, "computer": Computer(cpus=1, speed=1.0)}
    )
    group = Group("r", robot, [[0, 0, 0]], covey.Program(think))
    execution = covey.Execution(costs=Costs(**free, view=Cost(seconds=0.25)))
    Simulation(World.empty(10, 4, 0.1), [group], execution=execution, stop=Stop(timeout_s=1.0)).run()
    assert counts == [1, 15, 15, 15]  # at 0, 0.3, 0.6, 0.9 s


@pytest.mark.parametrize(
    "sensor",
    [Lidar, Proximity, Bumper, Odometry, Neighbours, Wedge, Lidar3D, DepthCamera],
    ids=lambda s: s.__name__,
)
@pytest.mark.parametrize(("rate_hz", "latency_s"), [(10, 0.0), (10, 0.15), (20, 0.1), (5, 0.33)])
def test_a_reading_comes_at_the_first_step_after_its_latency(sensor, rate_hz, latency_s):
    come = []

    def look(robot):
        come.extend((round(robot.time, 3), round(s.time, 3)) for s in robot.samples(sensor(rate_hz=1).name))

    ground = Ground.of(np.zeros((41, 41)), 0.5) if sensor in (Wedge, Lidar3D, DepthCamera) else None
    watched(look, sensor(rate_hz=rate_hz, latency_s=latency_s), steps=11, ground=ground)
    taken = [k / rate_hz for k in range(100)]
    expected = [(math.ceil((t + latency_s) * 10 - 1e-9) / 10, t) for t in taken]
    assert come == [(pytest.approx(c), pytest.approx(t)) for c, t in expected if c <= 1.0]


def test_a_late_scan_tells_of_where_it_was_taken():
    ranges = []

    def look(robot):
        robot.drive(1.0)
        ranges.extend((robot.time, s.reading.ranges[0]) for s in robot.samples("lidar"))

    watched(look, Lidar(rate_hz=10, latency_s=0.3, **RAY), steps=11)
    assert ranges == [(pytest.approx(t), pytest.approx(5.0 - (t - 0.3))) for t in np.arange(3, 11) / 10]
