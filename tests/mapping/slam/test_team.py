"""SLAM of a team on the ring road of a simulated world: frames that nobody knows, lost news, wrong relations."""

import math

import numpy as np
import pytest
from tests.mapping.slam.test_graph_slam import drive

from covey.errors import InvalidValueError
from covey.geometry.se2 import compose, inverse, wrap_angle
from covey.mapping.slam.graph_slam import Edge, GraphSlam
from covey.mapping.slam.log import relative
from covey.mapping.slam.surfaces import KeyFrame
from covey.mapping.slam.team import TeamMember
from covey.mapping.slam.team_graph import agreeing, between, is_seen_surely, track_of
from covey.mapping.slam.team_news import Relation, Trail, frame_item, loop_item, relation_item, withdrawn_item

PARTS = [(0, 240), (100, 340)]  # scans of each robot: 140 are common to both
LONG = [(0, 420), (180, 600)]  # each closes the ring itself
STARTS = [np.zeros(3), np.array([7.0, -3.0, 2.0])]


@pytest.fixture(scope="module")
def road():
    return drive(seed=1)


def robots(road, parts=PARTS, starts=STARTS, common_frame=False):
    """Return a member for each part of the drive, after all of its scans, and the true poses of the first scans."""
    laser, truth, motion, scans = road
    members, firsts = [], []
    for number, ((a, b), start) in enumerate(zip(parts, starts, strict=True)):
        slam = GraphSlam(laser, start=start)
        for k in range(a, b):
            slam.add(motion[k] if k > a else np.zeros(3), scans[k])
        slam.settle()
        members.append(TeamMember(number, slam, common_frame=common_frame))
        firsts.append(truth[a])
    return members, firsts


def exchange(a, b):
    b.add_update(a.update_for(b.clock))
    a.add_update(b.update_for(a.clock))


def share(a, b):
    """Exchange all, with all the work that follows."""
    for _ in range(2):
        exchange(a, b)
        a.settle()
        b.settle()


def true_frame(firsts, starts, a, b):
    """Return the pose of the map frame of robot b in that of robot a."""
    frame_a, frame_b = (compose(firsts[r], inverse(np.asarray(starts[r], float))) for r in (a, b))
    return relative(frame_a, frame_b)


def assert_near(found, expected, metres=0.15, rad=0.02):
    assert found is not None
    off = found - expected
    assert np.hypot(off[0], off[1]) < metres
    assert abs(wrap_angle(off[2])) < rad


@pytest.mark.slow
def test_two_robots_with_unknown_starts_are_joined(road):
    (a, b), firsts = robots(road, LONG)
    share(a, b)
    assert_near(a.frame_of(1), true_frame(firsts, STARTS, 0, 1))
    assert_near(b.frame_of(0), true_frame(firsts, STARTS, 1, 0))
    _, truth, _, _ = road
    into_a = compose(STARTS[0], inverse(firsts[0]))  # the world in the map frame of robot a
    path = b.slam.trajectory(poses=a.trajectory(1))
    off = path - compose(into_a, truth[slice(*LONG[1])])
    assert np.hypot(off[:, 0], off[:, 1]).mean() < 0.15
    np.testing.assert_allclose(a.pose_of(0)[:2], a.slam.trajectory(poses=a.trajectory(0))[-1][:2], atol=1e-9)


def test_nothing_is_sent_twice_and_all_bytes_are_counted(road):
    (a, b), _ = robots(road, PARTS)
    update = a.update_for(b.clock)
    frames = len(a.slam.frames)
    assert b.add_update(update) == len(a.slam.edges) + 1  # the first key frame has no relation
    assert b.add_update(update) == 0
    again = a.update_for(b.clock)
    assert len(again) < 100  # the clock alone
    assert a.bytes_sent == len(update) + len(again)
    assert len(update) < 600 * frames  # 180 beams as four bytes are 720
    assert b.clock[0] == a.clock[0]


@pytest.mark.slow
def test_news_travels_over_a_third_robot(road):
    """Robots 0 and 1 never hear each other."""
    members, firsts = robots(road, [*PARTS, (0, 60)], [*STARTS, np.array([50.0, 0.0, 0.0])])
    a, b, between = members
    for _ in range(2):
        exchange(a, between)
        exchange(b, between)
        exchange(a, between)
        for member in (a, b):
            member.settle()
    assert_near(a.frame_of(1), true_frame(firsts, STARTS, 0, 1))
    assert_near(b.frame_of(0), true_frame(firsts, STARTS, 1, 0))


def test_lost_updates_are_made_up_for(road):
    laser, _, motion, scans = road
    members = [TeamMember(r, GraphSlam(laser)) for r in range(2)]
    for step in range(90):
        for member, (begin, _) in zip(members, PARTS, strict=True):
            member.slam.add(motion[begin + step] if step else np.zeros(3), scans[begin + step])
        if step % 10 == 9:
            update = members[0].update_for(members[1].clock)
            if step % 20 == 19:
                members[1].add_update(update)
    members[1].add_update(members[0].update_for(members[1].clock))
    assert members[1].clock[0] == members[0].clock[0]


def test_parts_that_begin_too_late_are_left_out(road):
    (a, b), _ = robots(road, PARTS)
    late = a.update_for({0: 5})
    assert b.add_update(late) == 0
    assert b.clock.get(0, 0) == 0


def forged(member, relations):
    """Let a third robot say that it found relations, to a member."""
    laser = member.slam.laser
    liar = TeamMember(7, GraphSlam(laser))
    liar.slam.add(np.zeros(3), np.full(len(laser.angles), 2.0))
    liar.update_for({})
    for relation in relations:
        liar._trails[7].add(relation_item(relation), 7)
    member.add_update(liar.update_for(member.clock))


@pytest.mark.slow
def test_a_wrong_relation_is_refused(road):
    (a, b), firsts = robots(road)
    wrong = Relation(0, 30, 1, 40, np.array([1.0, 2.0, 3.0]), 1e4 * np.eye(3))
    forged(a, [wrong])
    share(a, b)
    assert_near(a.frame_of(1), true_frame(firsts, STARTS, 0, 1))
    assert not any(np.allclose(x.motion, wrong.motion) for x in a.accepted)


@pytest.mark.slow
def test_a_wrong_join_is_taken_back(road):
    """Relations that agree with each other say that the maps are 30 m apart; then the robots compare places."""
    (a, b), firsts = robots(road)
    exchange(a, b)
    there = np.array([30.0, 0.0, 1.0])
    lies = [
        Relation(0, i, 1, i, relative(a.slam.poses[i], compose(there, b.slam.poses[i])), 1e4 * np.eye(3), score)
        for i, score in ((5, 1.0), (20, 0.99), (35, 0.99), (50, 0.99), (65, 0.99))
    ]
    forged(a, lies)
    while a.frame_of(1) is None and a.work():
        pass
    assert_near(a.frame_of(1), there, 1.0, 0.1)
    a.settle()
    assert_near(a.frame_of(1), true_frame(firsts, STARTS, 0, 1))


def test_robots_that_saw_each_other_twice_are_not_misled_by_rooms_that_look_alike(road):
    """More relations agree on another place than the two that were seen; a single sighting does not decide."""
    (a, b), firsts = robots(road)
    exchange(a, b)
    tracks = [track_of(m._trails[r], m.slam.poses) for r, m in enumerate((a, b))]
    right, shift = true_frame(firsts, STARTS, 0, 1), np.array([4.0, 1.0, 0.5])

    def relation(k, frame, score):
        motion = relative(a.slam.poses[k], compose(frame, b.slam.poses[k]))
        return Relation(0, k, 1, k, motion, 400.0 * np.eye(3), score)

    wrong = [relation(k, compose(right, shift), 0.99) for k in range(2, 90, 5)]
    met = [relation(k, right, 1.0) for k in (10, 16)]
    assert agreeing(*tracks, [*wrong, *met]) == met
    more = relation(50, right, 0.8)
    assert agreeing(*tracks, [*wrong, *met, more]) == [*met, more]
    assert agreeing(*tracks, [*wrong, met[0]]) == wrong


def test_two_relations_from_one_place_join_nobody(road):
    (a, b), _ = robots(road, [(0, 150), (380, 500)])
    forged(a, [Relation(0, i, 1, i, np.zeros(3), 1e4 * np.eye(3), 0.9) for i in (10, 11, 12, 13, 14)])
    exchange(a, b)
    for _ in range(5):
        a.work()
    assert a.frame_of(1) is None
    with pytest.raises(InvalidValueError, match="robot 1 is not joined with robot 0"):
        a.trajectory(1)


def test_starts_in_one_frame_join_at_once(road):
    """The starts are given as they are in the world."""
    _, truth, _, _ = road
    starts = [truth[a] for a, _ in PARTS]
    (a, b), _ = robots(road, PARTS, starts, common_frame=True)
    exchange(a, b)
    a.settle()
    assert_near(a.frame_of(1), np.zeros(3))
    path = b.slam.trajectory(poses=a.trajectory(1))
    assert np.hypot(*(path - truth[slice(*PARTS[1])])[:, :2].T).mean() < 0.15


def test_an_encounter_is_a_relation_between_where_the_two_are(road):
    _, truth, _, _ = road
    (a, b), _ = robots(road, [(0, 100), (60, 110)])
    exchange(a, b)
    seen = relative(truth[99], truth[109])
    a.encounter(1, seen, np.diag([1e4, 1e4, 1e4]), b.here)
    exchange(a, b)
    relation = b.joint.relations[0, 1][0]
    mine, theirs = (len(m.slam.frames) - 1 for m in (a, b))
    assert (relation.first, relation.second) == (mine, theirs)
    back = compose(compose(inverse(a.here.since), relation.motion), b.here.since)
    np.testing.assert_allclose(back, seen, atol=1e-3)
    # Turning and shifting keeps the volume of the uncertainty: the determinant. Half floats have three digits.
    assert np.linalg.det(relation.information) == pytest.approx(1e12, rel=0.01)


def test_a_first_sight_is_made_exact_by_the_places_around_it(road):
    """It comes before the key frames of the other do, and says the heading to 3 degrees."""
    _, truth, _, _ = road
    (a, b), firsts = robots(road, [(0, 100), (94, 106)])
    seen = relative(truth[99], truth[105]) + np.array([0.05, -0.05, np.radians(3)])
    a.encounter(1, seen, np.diag([400.0, 400.0, 400.0]), b.here)
    exchange(a, b)
    for _ in range(20):
        a.work()
    assert sum(not x.is_seen for x in a.joint.agreed[0, 1]) >= 1
    a.settle()
    assert_near(a.frame_of(1), true_frame(firsts, STARTS, 0, 1), 0.1, 0.015)


def test_having_seen_each_other_often_makes_the_heading_sure():
    """The mean of n sights has a standard deviation of 1 / sqrt(n) of one; the frame begins 10 m away."""
    draw, n, sigma = np.random.default_rng(7), 40, np.array([0.1, 0.1, 0.05])
    there, poses = np.array([3.0, -2.0, 2.0]), np.array([[10.0, 0.0, 0.5]])
    motion = compose(there, poses[0]) + sigma * draw.standard_normal((n, 3))
    seen = [Relation(0, 0, 1, 0, one, np.diag(sigma**-2.0)) for one in motion]
    found = between(seen, np.zeros((1, 3)), poses)
    mean = sigma / math.sqrt(n)
    assert abs(found[2] - 2.0) < 3.0 * mean[2]
    assert math.hypot(*(found - there)[:2]) < 3.0 * (math.hypot(*mean[:2]) + 10.0 * mean[2])
    # Half of the sights tell of the same bearings: sure to a degree with 2 (0.05 / 0.01745)^2 = 16.4 of them.
    assert [is_seen_surely(seen[:k]) for k in (1, 16, 17)] == [False, False, True]
    exact = Relation(0, 0, 1, 0, motion[0], 1e4 * np.eye(3), 0.9)
    assert is_seen_surely([seen[0], exact])
    assert not is_seen_surely([exact])


@pytest.mark.slow
def test_two_runs_agree_to_the_byte(road):
    found = []
    for _ in range(2):
        members, _ = robots(road)
        share(*members)
        found.append(members[0].trajectory(1).tobytes())
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda u: u[: len(u) // 2], "cut or damaged"),
        (lambda u: u[:40] + bytes([u[40] ^ 255]) + u[41:], "cut or damaged"),
        (lambda u: b"GET / HTTP/1.1", "no update of a team"),
        (lambda u: b"", "no update of a team"),
    ],
)
def test_a_damaged_update_is_refused_and_changes_nothing(road, damage, message):
    (a, b), _ = robots(road, [(0, 60), (30, 80)])
    with pytest.raises(InvalidValueError, match=message):
        b.add_update(damage(a.update_for(b.clock)))
    assert 0 not in b.clock


def test_two_robots_with_one_number_are_refused(road):
    (a, b), _ = robots(road, [(0, 60), (30, 50)])
    twin = TeamMember(0, b.slam)
    with pytest.raises(InvalidValueError, match="two robots have one number"):
        twin.add_update(a.update_for({}))


def test_the_loops_of_a_trail_are_stacked_without_those_that_were_withdrawn():
    trail, frame = Trail(), KeyFrame(np.zeros((0, 2)), np.zeros((0, 2)), np.zeros(2))
    loops = {ends: Edge(*ends, np.array([*ends, 0.5]), np.eye(3), True) for ends in ((0, 2), (1, 3), (0, 3))}
    for _ in range(4):
        trail.add(frame_item(frame, np.ones(3), np.eye(3)), 0)
    for item, ends in (
        (loop_item(loops[0, 2]), [[0, 2]]),
        (loop_item(loops[1, 3]), [[0, 2], [1, 3]]),
        (withdrawn_item(loops[0, 2]), [[1, 3]]),
        (loop_item(loops[0, 3]), [[1, 3], [0, 3]]),
    ):
        trail.add(item, 0)
        found, motion, information = trail.loop_arrays()
        assert found.tolist() == ends
        np.testing.assert_array_equal(motion[:, :2], ends)
        assert information.shape == (len(ends), 3, 3)
