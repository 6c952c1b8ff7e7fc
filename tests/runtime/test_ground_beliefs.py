"""Robots that map a ground: what they share, what is scored, and what is refused."""

import math

import numpy as np
import pytest

import covey
from covey.errors import InvalidValueError
from covey.mapping.elevation.compare import true_altitude
from covey.mapping.exchange.share_maps import ShareMaps
from covey.mapping.localizer import Estimate, LocalizerRecord
from covey.mapping.records import ElevationMapping, Mapping
from covey.onboard.group import Group
from covey.sensors import DepthCamera, Lidar, Lidar3D, Wedge
from covey.world.generators.grounds import hills
from covey.world.ground import Ground

HILLS = hills(size_m=(60.0, 60.0), height_m=3.0, wavelength_m=40.0, seed=4)


def surveyor(sensors=(Wedge(),), **mapping):
    return covey.robots.disc().model_copy(update={"sensors": tuple(sensors), "mapping": ElevationMapping(**mapping)})


async def spin(robot):
    robot.drive(0.0, 1.0)
    await robot.sleep(1e9)


async def still(robot):
    await robot.sleep(1e9)


def simulate(seconds, ground=HILLS, model=None, starts=((0.0, 0.0, 0.0), (9.0, 0.0, 2.0)), controller=spin, **options):
    sim = covey.Simulation(ground.world(), [Group("s", model or surveyor(), list(starts))], controller, **options)
    while sim.time < seconds - 1e-9:
        sim.step()
    return sim


def believed(sim):
    return sim.localization.teams[0].beliefs


def test_beliefs_merge_by_radio_like_other_maps():
    alone, together = simulate(8.0), simulate(8.0, share_maps=1.0)
    apart = simulate(8.0, share_maps=1.0, radio=5.0)
    measured = [
        np.array([b.marks() == 1 for b in (believed(sim)[0], believed(sim)[1])]) for sim in (alone, together, apart)
    ]
    assert not measured[0].all(axis=0).sum() > 60
    np.testing.assert_array_equal(measured[0], measured[2])  # 9 m apart nobody hears anybody
    assert (measured[1][0] == measured[0].any(axis=0)).mean() > 0.999
    np.testing.assert_array_equal(measured[1][0], measured[1][1])
    truth = true_altitude(HILLS, believed(together).grid)
    off = np.abs(believed(together)[0].altitude() - truth)[measured[1][0]]
    assert off.max() < 0.06
    assert together.communication.network.traffic.counts.sum() > 0
    for sim in (alone, together, apart):
        sim.close()


def test_the_same_seed_gives_the_same_beliefs_and_another_seed_others():
    altitudes = []
    for seed in (1, 1, 2):
        sim = simulate(3.0, share_maps=1.0, seed=seed)
        altitudes.append(believed(sim)[0].altitude().tobytes())
        sim.close()
    assert altitudes[0] == altitudes[1] != altitudes[2]


def test_robots_that_localize_badly_measure_the_right_altitudes_in_the_wrong_places():
    class Drifting:
        kind, needs = "drifting", ()
        white, matches, memory = LocalizerRecord.white, LocalizerRecord.matches, LocalizerRecord.memory

        def build(self, names, seed, equipment):
            return self

        def update(self, sensed):
            m = len(sensed.true_pose)
            return Estimate(sensed.true_pose + np.array([2.0, 0.0, 0.0]), np.zeros((m, 3, 3)), np.zeros(m, np.int64))

    group = Group("s", surveyor(), [(0.0, 0.0, 0.0)], localization=Drifting())
    sim = covey.Simulation(HILLS.world(), [group], still)
    sim.step()
    sim.step()
    belief, truth = believed(sim)[0].altitude(), true_altitude(HILLS, believed(sim).grid)
    known = np.argwhere(believed(sim)[0].marks() == 1)
    assert len(known) > 10
    np.testing.assert_allclose(belief[tuple(known.T)], truth[known[:, 0], known[:, 1] - 2], atol=0.1)
    sim.close()


def test_explored_is_what_was_seen_at_the_true_pose_and_known_what_is_in_the_belief():
    sim = simulate(8.0, share_maps=1.0)
    run = sim.run(until_s=8.5)
    assert run.metrics["map_completeness"] > 0
    assert run.metrics["map_quality"] is run.metrics["map_error_cells"] is None  # they are about walls
    assert set(run.metrics["map_quality_by_robot"].values()) == {None}
    each, goal = sim.scoring.exploration.share, sim.scoring.exploration.mask
    marks = np.array([believed(sim)[k].marks()[:61, :61] > 0 for k in range(2)])
    both = (marks.any(axis=0) & goal).sum() / goal.sum()
    assert 0 < each.max() <= sim.scoring.exploration.share_union <= each.sum()
    assert sim.scoring.exploration.share_union == pytest.approx(both, rel=0.05)
    assert sim.scoring.exploration.known_share_union == pytest.approx(both, rel=0.05)
    assert goal.shape == (61, 61)
    assert (sim.scoring.exploration.cells.first_step >= 0).sum() == round(
        sim.scoring.exploration.share_union * goal.sum()
    )


@pytest.mark.parametrize("sensor", [Lidar3D(range_m=6.0), DepthCamera()])
def test_lidars_and_cameras_map_the_ground_as_finely_as_it_is_asked_for(sensor):
    sim = simulate(6.0, model=surveyor([sensor], spacing_m=0.5), starts=[(0.0, 0.0, 0.0)])
    beliefs = believed(sim)
    assert beliefs.grid.resolution == 0.5
    error = np.abs(beliefs[0].altitude() - true_altitude(HILLS, beliefs.grid))
    assert np.isfinite(error).sum() > 100
    assert np.nanmean(error) < 0.03
    assert sim.scoring.exploration.share_union > 0
    sim.close()


@pytest.mark.parametrize("sensor", [Wedge(), DepthCamera()])
def test_what_a_robot_believes_stays_when_it_dies_or_its_sensor_does(sensor):
    faults = [{"at_s": 2, "kind": "dies", "robot": "s0"}, {"at_s": 2, "kind": "sensor", "sensor": sensor.kind}]
    for fault in faults:
        alone = fault["kind"] == "sensor"  # a run whose only robot dies ends
        starts = [(0.0, 0.0, 0.0), (3.0, 3.0, 0.0)][: 1 if alone else 2]
        sim = simulate(1.9, model=surveyor([sensor]), starts=starts, faults=[fault | {"robot": "s0"}])
        before, share = None, None
        while sim.time < 4.0:
            sim.step()
            if sim.time > 2.2 and before is None:
                before, share = believed(sim)[0].altitude(), sim.scoring.exploration.share_union
        np.testing.assert_array_equal(believed(sim)[0].altitude(), before)
        assert (0 < share == sim.scoring.exploration.share_union) == alone
        sim.close()


def test_bodies_in_the_plane_stand_on_the_slope_below_them():
    i, j = np.mgrid[:21, :21]
    slope = Ground.of(0.2 * j + 0.1 * i, 1.0)
    sim = simulate(0.2, ground=slope, starts=[(0.0, 0.0, 0.0), (1.0, 2.0, math.pi)], controller=still)
    altitude, roll, pitch = sim.state.altitude_roll_pitch.T
    np.testing.assert_allclose(altitude, slope.altitude_at(sim.state.pose[:, :2]))
    np.testing.assert_allclose(pitch, [-math.atan(0.2), math.atan(0.2)], atol=1e-9)  # up ahead, then down
    assert roll[0] == pytest.approx(math.asin(0.1 / math.sqrt(1 + 0.2**2 + 0.1**2)))  # its left side is higher
    assert roll[1] == pytest.approx(-roll[0])
    sim.close()


def test_a_robot_may_know_the_ground_from_the_start():
    group = Group("s", surveyor(), [(0.0, 0.0, 0.0)], known_map=True)
    sim = covey.Simulation(HILLS.world(), [group], still)
    truth = true_altitude(HILLS, believed(sim).grid)
    np.testing.assert_allclose(believed(sim)[0].altitude(), truth)
    sim.close()


def test_what_cannot_be_is_refused():
    flat = covey.World.empty(10, 10)
    with pytest.raises(InvalidValueError, match="s0 maps the ground, but the world has none"):
        covey.Simulation(flat, [Group("s", surveyor(), [(0.0, 0.0, 0.0)])], still)
    starts, unknown = [(0.0, 0.0, 0.0), (2.0, 0.0, 0.0)], ShareMaps(start_poses="unknown")
    with pytest.raises(InvalidValueError, match="without knowing where the others started"):
        covey.Simulation(HILLS.world(), [Group("s", surveyor(), starts)], still, share_maps=unknown)


def test_the_kind_of_a_mapping_in_a_file():
    robot = covey.robots.disc().model_dump() | {"sensors": []}
    kinds = {"elevation": ElevationMapping, "occupancy": Mapping}
    for given, kind in kinds.items():
        assert type(covey.robots.disc().model_validate(robot | {"mapping": given}).mapping) is kind
        assert type(covey.robots.disc().model_validate(robot | {"mapping": {"kind": given}}).mapping) is kind
    old = covey.robots.disc().model_validate(robot | {"mapping": {"resolution_m": 0.3}}).mapping
    assert old == Mapping(resolution_m=0.3)
    mixed = robot | {"mapping": {"kind": "elevation", "change_test": "paper"}, "sensors": [Lidar(), Wedge()]}
    assert covey.robots.disc().model_validate(mixed).mapping == ElevationMapping(change_test="paper")
    with pytest.raises(ValueError, match="resolution_m"):
        covey.robots.disc().model_validate(robot | {"mapping": {"kind": "elevation", "resolution_m": 0.3}})
