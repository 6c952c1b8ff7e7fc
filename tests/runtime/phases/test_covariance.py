"""How uncertain estimates are: by formulas worked by hand, and against the errors of many robots."""

import numpy as np
import pytest

import covey
from covey.mapping.dead_reckoning import grow, noise_of
from covey.mapping.localization import DeadReckoning, Noise, TruePose
from covey.mapping.localizer import Estimate, LocalizerRecord
from covey.sensors import Imu, Lidar, Neighbours
from covey.sensors.odometry import GmappingNoise, NoNoise, Odometry, VelocityNoise


def drive(noise, side, twist, steps, localization=None, more=()):
    """Let a square of robots drive in a large room, one as the other; return the simulation and the covariances."""
    model = covey.robots.disc().model_copy(update={"sensors": (Odometry(noise=noise), *more)})
    x, y = np.meshgrid(3.0 * np.arange(side), 3.0 * np.arange(side))
    starts = np.column_stack((x.ravel(), y.ravel(), np.zeros(side * side))) - (1.5 * side, 1.5 * side, 0.0)

    async def go(robot):
        await robot.drive(*twist)

    world = covey.World.empty(3.0 * side + 8.0, 3.0 * side + 8.0, resolution_m=0.5)
    group = covey.Group("s", model, starts, localization=localization or DeadReckoning())
    sim = covey.Simulation(world, [group], go, seed=5)
    for _ in range(steps):
        sim.step()
    return sim, sim.localization.covariance


def test_a_straight_way_by_hand():
    """Along: K (srr d)^2. Across: the errors of the heading act on all that follows."""
    srr, srt, d = 0.1, 0.05, 0.05
    noise = GmappingNoise(m_per_m=srr, rad_per_m=srt, m_per_rad=0.0, rad_per_rad=0.0)
    sim, covariance = drive(noise, 1, (0.5, 0.0), 101)
    assert sim.state.pose[0, 0] == pytest.approx(-1.5 + 101 * d, abs=1e-6)
    k = 100  # motions that have been measured
    along, across = covariance[0, 0, 0], covariance[0, 1, 1]
    # what is measured has errors of 10 %, too: their squares are 1 % larger on average
    assert along == pytest.approx(k * (srr * d) ** 2, rel=0.06)
    heading = (srt * d) ** 2
    assert covariance[0, 2, 2] == pytest.approx(k * heading, rel=0.06)
    expected = k * (0.3 * srr * d) ** 2 + heading * d**2 * (k - 1) * k * (2 * k - 1) / 6
    assert across == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("noise", [GmappingNoise(), VelocityNoise(alpha=(0.02, 0.01, 0.01, 0.02, 0.01, 0.01))])
@pytest.mark.parametrize("twist", [(0.5, 0.0), (0.5, 0.4)])
def test_errors_of_many_robots_are_as_large_as_said(noise, twist):
    sim, covariance = drive(noise, 14, twist, 40)
    errors = sim.localization.carried - sim.state.pose
    found, said = np.cov(errors.T), covariance.mean(axis=0)
    for place in ((0, 0), (1, 1), (2, 2)):
        assert said[place] == pytest.approx(found[place], rel=0.35), place
    apart = np.sqrt(np.linalg.det(said[:2, :2]) / np.linalg.det(found[:2, :2]))
    assert 0.65 < apart < 1.5


@pytest.mark.slow
@pytest.mark.parametrize("twist", [(0.5, 0.0), (0.5, 0.4)])
def test_with_a_gyro_wheels_that_slip_turn_the_estimate_less(twist):
    """Noise and walk of the gyro are larger than usual, so that their share in the covariance is seen."""
    imu = Imu(gyro_noise=1e-3, gyro_walk=5e-4, gyro_scale=0.01)
    errors, said = {}, {}
    for name, more in (("wheels", ()), ("gyro", (imu,))):
        sim, covariance = drive(GmappingNoise(), 14, twist, 100, more=more)
        errors[name], said[name] = sim.localization.carried - sim.state.pose, covariance.mean(axis=0)
    by_wheels, by_gyro = (errors[name][:, 2].std() for name in ("wheels", "gyro"))
    assert by_wheels > 0.1
    assert by_gyro < 0.3 * by_wheels
    assert errors["gyro"][:, :2].std() < errors["wheels"][:, :2].std()
    assert 1.0 < np.sqrt(said["gyro"][2, 2]) / by_gyro < 2.5  # said cautiously, see GyroOdometry


def test_localizations_without_drift():
    for kind, expected in ((TruePose(), [0.0, 0.0, 0.0]), (Noise(sigma_m=0.3, sigma_rad=0.1), [0.09, 0.09, 0.01])):
        _, covariance = drive(NoNoise(), 1, (0.5, 0.0), 3, kind)
        np.testing.assert_allclose(covariance, [np.diag(expected)], rtol=1e-12)
    _, covariance = drive(NoNoise(), 1, (0.5, 0.0), 3)
    assert not covariance.any()


@pytest.mark.parametrize("model", [1, 2])
def test_the_prediction_is_that_of_matrices(model):
    rng = np.random.default_rng(3)
    a = np.array([0.1, 0.2, 0.1, 0.2, 0.05, 0.1])
    root = rng.normal(size=(5, 3, 3))
    before = root @ root.transpose(0, 2, 1)
    heading, motion = rng.uniform(-3, 3, 5), rng.normal(scale=0.3, size=(5, 3))
    after = before.copy()
    grow(after, heading.copy(), motion, model, a, np.empty(0))
    for i in range(5):
        xx, xy, xh, yy, yh, hh = noise_of(*motion[i], model, a)
        noise = np.array([[xx, xy, xh], [xy, yy, yh], [xh, yh, hh]])
        c, s = np.cos(heading[i]), np.sin(heading[i])
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        slope = np.eye(3)
        slope[:2, 2] = np.array([[-s, -c], [c, -s]]) @ motion[i, :2]
        np.testing.assert_allclose(after[i], slope @ before[i] @ slope.T + turn @ noise @ turn.T, rtol=1e-12)


STARTS = [(0.0, 0.0, 0.0), (3.0, 0.0, np.pi / 2)]
UNEVEN = np.array([[0.04, 0.01, 0.0], [0.01, 0.09, 0.002], [0.0, 0.002, 0.01]])


class Told:
    """Localization that tells of one covariance, and keeps what it is given."""

    kind, needs = "told", ("motion", "scan")
    white, matches, memory = LocalizerRecord.white, LocalizerRecord.matches, LocalizerRecord.memory
    finds_mates = LocalizerRecord.finds_mates

    def build(self, names, seed, equipment):
        self.equipment, self.sensed = equipment, []
        return self

    def update(self, sensed):
        self.sensed.append(sensed)
        n = len(sensed.true_pose)
        return Estimate(sensed.true_pose, np.tile(UNEVEN, (n, 1, 1)), np.zeros(n, np.int64))


def told(starts=STARTS, **options):
    seen = []

    def look(robot):
        seen.append(robot.pose_covariance)
        robot.drive(0.5)

    localization = Told()
    sensors = (Odometry(), Lidar(range_m=5.0, rays=8, sees_robots=True, rate_hz=5.0), Neighbours(range_m=5.0))
    model = covey.robots.disc().model_copy(update={"sensors": sensors})
    group = covey.Group("s", model, starts, look, localization)
    sim = covey.Simulation(covey.World.empty(12, 12), [group], seed=1, **options)
    sim.step()
    sim.step()
    return sim, seen, localization


def test_a_controller_sees_the_covariance_of_its_estimate():
    _, seen, _ = told()
    np.testing.assert_array_equal(seen[0], UNEVEN)
    np.testing.assert_array_equal(seen[1], UNEVEN)


def test_a_controller_of_a_group_sees_the_covariances_that_it_declares():
    seen = []

    @covey.controller(scope="group", sees=("pose_covariance",))
    def look(group):
        seen.append(group.pose_covariance)
        return np.zeros((group.count, 3))

    group = covey.Group("s", covey.robots.disc(), STARTS, look, Noise(sigma_m=0.1, sigma_rad=0.2))
    covey.Simulation(covey.World.empty(12, 12), [group], seed=1).step()
    np.testing.assert_allclose(seen[0], [np.diag([0.01, 0.01, 0.04])] * 2)
    assert not seen[0].flags.writeable


def test_in_a_frame_of_its_own_the_covariance_is_turned():
    """A robot that started with its head to the north has its x along the world's y, and its y along minus x."""
    _, seen, _ = told(share_maps=covey.ShareMaps(start_poses="unknown"))
    np.testing.assert_allclose(seen[0], UNEVEN, atol=1e-15)
    np.testing.assert_allclose(seen[1], [[0.09, -0.01, 0.002], [-0.01, 0.04, 0.0], [0.002, 0.0, 0.01]], atol=1e-15)


def test_a_localizer_gets_the_scans_that_are_due_without_team_mates():
    sim, _, localization = told([(0.0, 0.0, 0.0), (2.0, 0.0, 0.0)])
    first, second = localization.sensed
    assert first.scan is not None
    assert second.scan is None, "the lidar has 5 Hz, the step 10 Hz"
    laser = localization.equipment.laser
    np.testing.assert_allclose(laser.angles, -np.pi + np.pi / 4 * np.arange(8))
    assert (laser.range_max, laser.mount) == (5.0, (0.0, 0.0, 0.0))
    assert np.isnan(first.scan.ranges[0, 4]), "ahead stands a team mate"
    assert first.scan.ranges[1, 4] == pytest.approx(4.0), "the wall at x = 6"
    assert not first.scan.since.any()
    np.testing.assert_allclose(second.motion, [[0.05, 0.0, 0.0]] * 2, atol=0.02)
    plan = localization.equipment.plan(None)
    assert set(np.unique(plan.cells)) <= {-1, 0, 100}
    assert plan.cells[tuple(plan.to_cells(np.array([[0.0, 0.0]]))[0])] == 0
    assert sim.localization.covariance.shape == (2, 3, 3)


@pytest.mark.parametrize("start_poses", ["known", "unknown"])
def test_mates_need_no_sensor_to_be_left_out_of_scans_and_maps(start_poses):
    """Two discs that start 2 m apart: where starts are known at once, else when the mate ahead has moved."""
    localization = Told()
    sensors = (Odometry(), Lidar(range_m=5.0, rays=360, rate_hz=10.0))
    model = covey.robots.disc().model_copy(update={"sensors": sensors})

    def go(robot):
        robot.drive(0.3 if robot.name == "s1" and robot.time > 1.0 else 0.0)

    starts = [(0.0, 0.0, 0.0), (2.0, -1.0, np.pi / 2)]
    group = covey.Group("s", model, starts, go, localization)
    sim = covey.Simulation(
        covey.World.empty(12, 12), [group], seed=1, share_maps=covey.ShareMaps(start_poses=start_poses)
    )
    free_since = 0 if start_poses == "known" else 20
    for step in range(60):
        sim.step()
        if step >= free_since:
            ranges = localization.sensed[-1].scan.ranges[0]
            mate = sim.state.pose[1, :2] - sim.state.pose[0, :2]
            bearings = localization.equipment.laser.angles - np.arctan2(mate[1], mate[0])
            on_it = np.abs(bearings) < np.arcsin(0.9 * sim.sensing.model.radius[1] / np.hypot(*mate))
            assert on_it.sum() > 5
            assert not np.isfinite(ranges[on_it]).any(), f"step {step}"
            assert on_it.sum() - 2 <= np.isnan(ranges).sum() <= on_it.sum() + 5
    if start_poses == "known":
        cells, grid = sim.localization.belief_of[0].occupancy(), sim.localization.belief_of[0].grid
        rows, columns = np.nonzero(cells > 60)
        walls = grid.to_world(np.column_stack((rows, columns)))
        assert not (np.abs(walls) < 4.0).all(axis=1).any(), "no wall stands inside the room"


def test_a_robot_without_the_sensors_of_its_localization_is_refused():
    model = covey.robots.disc().model_copy(update={"sensors": (Odometry(),)})
    with pytest.raises(
        covey.errors.InvalidValueError, match=r"localizes by told, but its robot .* has no lidar sensor"
    ):
        covey.Group("s", model, STARTS, localization=Told())
