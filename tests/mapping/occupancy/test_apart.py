"""A belief in another process, and the mirror of it, are what one belief would be that used the scans itself."""

import numpy as np
import pytest
from tests.references.mapping import RULES

from covey.mapping.occupancy.apart import MirroredBeliefs, OwnBelief
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.records import Mapping

NAMES, SIZE, ORIGIN = ["a", "b", "c"], (12.0, 9.0), (-6.0, -4.5)
MAPPING = Mapping(resolution_m=0.1, min_motion_m=0.05, min_turn_deg=1.0)
ANGLES = np.linspace(-np.pi, np.pi, 90, endpoint=False)
FAN = (ANGLES, np.array([0.1, 0.0, 0.2]), 4.0)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_scans_in_processes_and_sharing_in_the_mirror_give_the_same_maps_and_versions(rule):
    random = np.random.default_rng(5)
    whole, mirror = (kind(NAMES, SIZE, ORIGIN, MAPPING, rule) for kind in (Beliefs, MirroredBeliefs))
    mirror.attach(range(3))
    known = whole.occupancy[0].copy()
    known[:40, :40] = 0
    for beliefs in (whole, mirror):
        beliefs.know(np.array([2]), known)
    apart = [mirror.start(row).begin() for row in range(3)]
    for step in range(40):
        robots = np.flatnonzero(random.random(3) < 0.7)
        poses = random.uniform((-4.0, -3.0, -3.0), (4.0, 3.0, 3.0), (len(robots), 3))
        ranges = random.uniform(0.3, 6.0, (len(robots), 90))
        ranges[random.random(ranges.shape) < 0.2] = np.inf
        whole.update(robots, poses, ranges, *FAN, step)
        for robot, pose, scan in zip(robots.tolist(), poses, ranges, strict=True):
            assert apart[robot].see(pose, scan, *FAN, step)
            mirror.put(robot, pose, apart[robot].changes())
        if step % 4 == 3:
            hears = random.random((3, 3)) < 0.5
            for beliefs in (whole, mirror):
                beliefs.publish()
            givers = np.flatnonzero(hears.any(axis=0)).tolist()
            updates = [mirror.update_since(i, np.zeros(3, np.int64)) for i in givers]
            mirror.merge_updates(hears[:, givers], updates)
            for robot in range(3):
                for given in mirror.waiting(robot):
                    apart[robot].add_evidence(given)
            whole.merge_updates(hears[:, givers], [whole.update_since(i, np.zeros(3, np.int64)) for i in givers])
        np.testing.assert_array_equal(mirror.occupancy, whole.occupancy)
        np.testing.assert_array_equal(mirror.version, whole.version)
        np.testing.assert_array_equal(mirror.tile_changed, whole.tile_changed)
        for robot, own in enumerate(apart):
            np.testing.assert_array_equal(own.occupancy[robot], whole.occupancy[robot])
            assert own.version[robot] == whole.version[robot]
    assert (whole.occupancy == 100).any()
    for robot, own in enumerate(apart):
        np.testing.assert_array_equal(own[robot].last_seen, whole[robot].last_seen)
        np.testing.assert_array_equal(own[robot].log_odds, whole[robot].log_odds)
        np.testing.assert_array_equal(mirror[robot].own, whole[robot].own)


def test_a_scan_that_comes_too_soon_changes_nothing():
    own = OwnBelief(1, NAMES, SIZE, ORIGIN, MAPPING, RULES["probabilistic"])
    pose, scan = np.zeros(3), np.full(90, 2.0)
    assert own.see(pose, scan, *FAN, 0)
    assert own.changes() is not None
    assert not own.see(pose + 1e-4, scan, *FAN, 1)
    assert own.changes() is None
