"""Doubtful stretches of a way are found where the map does not explain it, a step is bent, or a piece is apart."""

import numpy as np

from covey.experiments.logs.stretches import doubted, in_words, stretches_of
from covey.mapping.map_of_scans import Explained
from covey.mapping.slam.log import Laser, Log


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
    found = stretches_of(log, log.odometry, explained, plain)
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
    found = stretches_of(log, log.odometry, explained, {})
    assert len(found) == 3
    assert in_words(found) == []
    nothing = Explained(np.arange(25), np.zeros(25, int), np.zeros(25, int))
    assert [one["explained"] for one in stretches_of(log, log.odometry, nothing, {})] == [None] * 3
