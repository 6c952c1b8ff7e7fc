"""Robots that do SLAM as a team: they find each other's frames over the radio, and what is wrong is taken back."""

import math

import numpy as np
import pytest

import covey
from covey.errors import InvalidValueError
from covey.geometry.se2 import compose
from covey.mapping.slam.log import relative
from covey.mapping.slam.team_news import Relation
from covey.mapping.slam.team_settings import TeamSettings
from covey.mapping.slam_localizer import Slam
from covey.sensors import Lidar
from covey.sensors.odometry import Odometry

SMALL = {"robots.scout.count": 2, "world.size_m": [12, 10], "stop": {"timeout_s": 120}}
BLIND = {"robots.scout.robot.sensors.neighbours.identity": False}  # robots cannot tell whom they see


def until(sim, is_enough, seconds):
    """Step until a condition holds; return whether it did."""
    while not is_enough() and sim.time < seconds - 1e-9:
        sim.step()
    return is_enough()


def members(sim):
    return sim.map_exchange.slam.news.members


def frames(sim):
    return sim.map_exchange.aligning[0].T_own_other


def know_each_other(sim):
    return all(len(known) == len(sim.names) for known in frames(sim))


def assert_frames_are_true(sim, metres, degrees):
    """Compare the frames that robots know with their true start poses, which they were never told."""
    starts = sim.localization.frames
    for i, known in enumerate(frames(sim)):
        for j, name in enumerate(sim.names):
            off = relative(relative(starts[i], starts[j]), np.array(known[name]))
            assert math.hypot(off[0], off[1]) < metres
            assert abs(math.degrees(off[2])) < degrees


def known_of_others(sim, robot):
    """Return how many cells a robot's map knows that it has not seen itself."""
    belief = sim.localization.belief_of[robot]
    return int(np.count_nonzero((belief.occupancy() >= 0) & (belief.own == 0)))


@pytest.mark.slow
def test_robots_that_see_each_other_join_at_once():
    sim = covey.load("slam_team", SMALL)
    heading = abs(sim.state.pose[0, 2] - sim.state.pose[1, 2])
    assert heading > math.radians(60)  # so their frames differ much
    assert until(sim, lambda: bool(members(sim)[0].accepted), 60)
    assert members(sim)[0].accepted[0].is_seen
    assert until(sim, lambda: know_each_other(sim), sim.time + 3.0)
    assert_frames_are_true(sim, 0.2, 3.0)
    assert all(known_of_others(sim, robot) > 500 for robot in range(2))
    run = sim.close()
    assert run.metrics["all_aligned_s"] == pytest.approx(sim.time, abs=0.11)
    assert run.metrics["missed_merges"] == run.metrics["wrong_merges"] == run.metrics["wrong_merges_at_end"] == 0
    kinds = run.metrics["bytes_sent_by_kind"]
    assert kinds["slam sighting"] > 0
    assert run.metrics["slam_bytes_sent"] == sum(many for kind, many in kinds.items() if kind.startswith("slam "))
    assert kinds["slam news"] >= sum(member.bytes_sent for member in members(sim)) * 0.9


@pytest.mark.slow
def test_robots_join_by_the_places_that_both_saw():
    sim = covey.load("slam_team", SMALL | BLIND)
    assert until(sim, lambda: know_each_other(sim), 100)
    assert not any(x.is_seen for x in members(sim)[0].accepted)
    assert_frames_are_true(sim, 0.15, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(("count", "starts"), [(3, "unknown"), (3, "known")])
def test_larger_teams_know_each_other_and_where_they_are(count, starts):
    team = {"robots.scout.localization": {"slam": {"team": {}}}, "share_maps.start_poses": starts}
    crowd = {"robots.scout.count": count, "world.size_m": [16, 12], "robots.scout.start": {"apart": {"gap_m": 1.5}}}
    sim = covey.load("slam_team", SMALL | crowd | team)
    assert until(sim, lambda: all(m.frame_of(k) is not None for m in members(sim) for k in range(count)), 80)
    until(sim, lambda: False, sim.time + 4)
    if starts == "unknown":
        assert_frames_are_true(sim, 0.5, 5.0)  # sightings err by 2 degrees
    off = sim.localization.pose - sim.pose_before
    assert np.hypot(off[:, 0], off[:, 1]).max() < 0.15


def test_without_a_radio_nobody_joins_and_everybody_works_on():
    sim = covey.load("slam_team", SMALL | {"radio.range_m": 0.1})
    until(sim, lambda: False, 16)
    run = sim.close()
    assert run.metrics["missed_merges"] == 2
    assert run.metrics["all_aligned_s"] is None
    assert all(len(member.slam.frames) > 10 for member in members(sim))
    assert known_of_others(sim, 0) == 0


@pytest.mark.slow
def test_robots_join_although_half_of_the_messages_are_lost():
    sim = covey.load("slam_team", SMALL | {"radio.loss": 0.5})
    assert until(sim, lambda: know_each_other(sim), 100)
    assert_frames_are_true(sim, 0.25, 3.0)


@pytest.mark.slow
def test_a_wrong_join_is_taken_back_and_its_tiles_go():
    """Relations from three places agree that the other's frame is far away; then the robots find where it is."""
    sim = covey.load("slam_team", SMALL | BLIND)
    until(sim, lambda: False, 26)
    first, second = members(sim)
    there = np.array([-9.0, 3.0, 1.0])
    for k in (2, 11, 21):
        motion = relative(first.slam.poses[k], compose(there, second.slam.poses[k]))
        first.note(Relation(0, k, 1, k, motion, 1e4 * np.eye(3), 0.9))
    settings = first.joint.settings
    first.joint.settings = settings.model_copy(update={"places": 3})
    assert until(sim, lambda: "scout1" in frames(sim)[0], 28)
    wrong = known_of_others(sim, 0)
    first.joint.settings = settings
    assert wrong > 0
    assert until(sim, lambda: know_each_other(sim), 100)
    assert_frames_are_true(sim, 0.2, 1.5)
    run = sim.close()
    assert run.metrics["wrong_merges"] > run.metrics["wrong_merges_at_end"] == 0


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes():
    def end():
        sim = covey.load("slam_team", SMALL)
        until(sim, lambda: False, 12)
        run = sim.close()
        names = ("measurements.parquet", "team.parquet", "events.parquet", "maps.npz")
        return [(run.folder / name).read_bytes() for name in names] + [sim.localization.pose.tobytes()]

    assert end() == end()


@pytest.mark.slow
def test_known_starts_join_with_the_first_news_and_correct_the_own_past():
    known = {"share_maps.start_poses": "known", "robots.scout.localization": {"slam": {"team": {}}}}
    sim = covey.load("slam_team", SMALL | known)
    until(sim, lambda: False, 5)
    for member in members(sim):
        np.testing.assert_allclose(member.frame_of(1 - member.number), 0.0, atol=0.1)
    until(sim, lambda: False, 20)
    for robot, member in enumerate(members(sim)):
        kept = sim.localization.pasts[robot].scans
        by_team = member.slam.trajectory(kept.rows, member.poses)
        off = relative(kept.poses, by_team)
        assert np.hypot(off[:, 0], off[:, 1]).max() < 0.1  # scans are redrawn where they move by a fifth of a cell
    assert np.hypot(*(sim.localization.pose - sim.pose_before)[:, :2].T).max() < 0.1


LINE = [(5.0 * k, 0.0, k) for k in range(4)]


def line(settings=None, **arguments):
    """Four robots that stand in a row; each hears only the next ones."""
    sensors = (Lidar(range_m=8.0, rays=90), Odometry())
    robot = covey.robots.pioneer3dx().model_copy(update={"sensors": sensors})
    world = covey.World.empty(20, 6, resolution_m=0.2)
    groups = [
        covey.Group(f"r{k}", robot, [(x - 7.5, y, h)], localization=Slam(team=one))
        for k, ((x, y, h), one) in enumerate(zip(LINE, settings or 4 * [TeamSettings()], strict=True))
    ]
    return covey.Simulation(
        world, groups, "still", radio=6.0, share_maps=1.0, stop=covey.Stop(timeout_s=60), **arguments
    )


def test_news_travels_over_three_hops():
    sim = line()
    until(sim, lambda: False, 8)
    assert members(sim)[0].clock == {0: 1, 1: 1, 2: 1, 3: 1}
    np.testing.assert_allclose(members(sim)[0].trajectory(3)[0], sim.state.pose[3], atol=1e-6)


@pytest.mark.slow
def test_a_robot_that_fails_or_is_carried_breaks_nothing():
    events = [{"at_s": 12, "place": "scout1", "pose": [0, 0, 45]}]
    faults = [{"at_s": 15, "robot": "scout0", "kind": "dies"}]
    sim = covey.load("slam_team", SMALL | {"events": events, "faults": faults})
    until(sim, lambda: False, 30)
    assert sim.status is None
    assert len(members(sim)[1].slam.frames) > len(members(sim)[0].slam.frames)


def test_robots_without_team_slam_find_each_other_by_their_maps():
    sim = covey.load("slam_team", SMALL | {"robots.scout.localization": {"slam": {"team": None}}})
    until(sim, lambda: False, 2)
    run = sim.close()
    assert not len(sim.map_exchange.slam.robots)
    assert run.metrics["slam_bytes_sent"] is None


def test_robots_that_know_the_others_start_poses_map_alone_unless_asked():
    sim = covey.load("slam_team", SMALL | {"share_maps.start_poses": "known"})
    assert not len(sim.map_exchange.slam.robots)


def test_a_team_has_one_kind_of_settings():
    with pytest.raises(InvalidValueError, match="need the same settings in localization"):
        line([TeamSettings(), TeamSettings(), TeamSettings(places=5), TeamSettings()])
