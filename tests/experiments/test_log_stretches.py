"""Doubtful stretches of a way are found where the map does not explain it, a step is bent, or a piece is apart."""

import numpy as np

from covey.experiments.logs.stretches import doubted, in_words, placed, stretches_of
from covey.geometry.se2 import compose
from covey.mapping.map_of_scans import Explained
from covey.mapping.slam.log import Laser, Log
from covey.mapping.slam.seen_through import Passes, passes_of

NO_PASSES = Passes(np.empty(0, int), np.empty((0, 2, 2), int))


def straight(scans):
    """Return the log of a robot that drives 1 m from scan to scan."""
    poses = np.column_stack((np.arange(float(scans)), np.zeros((scans, 2))))
    laser = Laser(np.linspace(-1.0, 1.0, 5), 10.0)
    return Log("straight", laser, np.ones((scans, 5)), poses, np.arange(float(scans)), poses, np.arange(scans))


def test_stretches_are_10_m_long_and_each_doubt_is_said():
    log = straight(50)
    at_walls = np.full(50, 9)
    at_walls[10:20] = 5
    explained = Explained(np.arange(50), np.full(50, 10), at_walls)
    plain = {"bent_steps": [35], "pieces": [{"first_scan": 0, "last_scan": 44, "joined": True}]}
    plain["pieces"].append({"first_scan": 45, "last_scan": 49, "joined": False})
    found = stretches_of(log, log.odometry, explained, NO_PASSES, plain)
    ends = [(0, 9), (10, 19), (20, 29), (30, 39), (40, 44), (45, 49)]
    assert [(one["first_scan"], one["last_scan"]) for one in found] == ends, "and a piece ends a stretch"
    np.testing.assert_allclose([one["explained"] for one in found], [0.9, 0.5, 0.9, 0.9, 0.9, 0.9])
    assert [one["first_scan"] for one in doubted(found)] == [10, 30, 45]
    (said,) = in_words(found)
    assert said.startswith("3 of 6 stretches are doubtful")
    for part in ("explains 50 % of its returns", "bent at scan 35", "a piece whose place is not known"):
        assert part in said


def test_without_doubts_nothing_is_said_and_methods_without_a_graph_have_stretches_too():
    log = straight(25)
    explained = Explained(np.arange(25), np.full(25, 10), np.full(25, 8))
    found = stretches_of(log, log.odometry, explained, NO_PASSES, {})
    assert len(found) == 3
    assert in_words(found) == []
    nothing = Explained(np.arange(25), np.zeros(25, int), np.zeros(25, int))
    assert [one["explained"] for one in stretches_of(log, log.odometry, nothing, NO_PASSES, {})] == [None] * 3


def two_rounds(off, moved_from=None):
    """Return a log of two rounds of 20 m through a hall of 8 x 6 m, and poses of which the second round is off (3,).

    A crate stands in the hall until scan ``moved_from``.
    """
    angles = np.radians(np.arange(-180.0, 180.0, 1.0))
    laser, count = Laser(angles, 15.0), 40
    along = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    true = np.column_stack((3.2 * np.cos(along), 3.2 * np.sin(along), along + 0.5 * np.pi))
    true = np.tile(true * (1.0, 0.5, 1.0), (2, 1))
    walls = [
        ((-4.0, -3.0), (4.0, -3.0)),
        ((4.0, -3.0), (4.0, 3.0)),
        ((4.0, 3.0), (-4.0, 3.0)),
        ((-4.0, 3.0), (-4.0, -3.0)),
    ]
    crate = [
        ((-1.0, -0.5), (1.0, -0.5)),
        ((1.0, -0.5), (1.0, 0.5)),
        ((1.0, 0.5), (-1.0, 0.5)),
        ((-1.0, 0.5), (-1.0, -0.5)),
    ]
    ranges = np.full((2 * count, len(angles)), np.inf)
    for k, (x, y, heading) in enumerate(true):
        dx, dy = np.cos(heading + angles), np.sin(heading + angles)
        for (ax, ay), (bx, by) in walls + (crate if moved_from is not None and k < moved_from else []):
            ux, uy = bx - ax, by - ay
            across = dx * uy - dy * ux
            with np.errstate(divide="ignore", invalid="ignore"):
                r = ((ax - x) * uy - (ay - y) * ux) / across
                s = ((ax - x) * dy - (ay - y) * dx) / across
            hit = (r > 0.0) & (s >= 0.0) & (s <= 1.0)
            ranges[k] = np.where(hit, np.minimum(ranges[k], r), ranges[k])
    poses = true.copy()
    poses[count:] = compose(np.array(off), true[count:])
    log = Log("rounds", laser, ranges, true, np.arange(2.0 * count), true, np.arange(2 * count))
    return log, poses


def of_rounds(off, moved_from=None, plain=None):
    """Return the doubtful stretches of two rounds, when the map explains all of them alike."""
    log, poses = two_rounds(off, moved_from)
    n, plain = len(log), plain or {}
    explained = Explained(np.arange(n), np.full(n, 10), np.full(n, 10))
    passes = passes_of(log, poses, placed(np.arange(n), plain), 15.0)
    return doubted(stretches_of(log, poses, explained, passes, plain))


def test_a_round_that_is_turned_against_an_earlier_one_is_doubtful():
    """What the map explains does not tell: each scan ends at a wall of the map, its own."""
    turned = of_rounds((0.8, 0.3, np.radians(8.0)))
    assert len(turned) > 2
    assert all("it and other passes look through" in "; ".join(one["doubts"]) for one in turned)
    assert of_rounds((0.05, -0.05, np.radians(1.0))) == []


def test_what_was_carried_away_and_pieces_without_a_place_are_no_contradiction():
    assert of_rounds((0.0, 0.0, 0.0), moved_from=40) == []
    pieces = [{"first_scan": 0, "last_scan": 39, "joined": True}, {"first_scan": 40, "last_scan": 79, "joined": False}]
    apart = of_rounds((0.8, 0.3, np.radians(8.0)), plain={"pieces": pieces})
    assert [one["doubts"] for one in apart] == [["of a piece whose place is not known"]] * len(apart)
