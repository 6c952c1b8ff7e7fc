"""Maps that follow corrections."""

import numpy as np
import pytest

from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.occupancy.rebuilding import KeptScans
from covey.mapping.records import Mapping
from covey.mapping.slam.log import Laser

LASER = Laser(np.linspace(-np.pi, np.pi, 121)[:-1], 6.0, (0.1, 0.0, 0.2))


def beliefs():
    return Beliefs(["a", "b"], (40.0, 40.0), (-20.0, -20.0), Mapping(resolution_m=0.1))


def scans(seed, count=12):
    rng = np.random.default_rng(seed)
    poses = np.column_stack((rng.uniform(-12, 12, (count, 2)), rng.uniform(-3, 3, count)))
    ranges = rng.uniform(1.0, 7.0, (count, 120))
    return poses, np.where(ranges > 6.0, np.inf, ranges).astype(np.float32)


def add(team, poses, ranges):
    kept = KeptScans(team, 0, LASER)
    for k, (pose, scan) in enumerate(zip(poses, ranges, strict=True)):
        team.update(np.array([0]), pose[None], scan[None], LASER.angles, LASER.mount, LASER.range_max, k)
        kept.add(k, pose, scan)
    return kept


@pytest.mark.parametrize("seed", range(6))
def test_a_moved_map_is_the_map_of_the_moved_scans(seed):
    poses, ranges = scans(seed)
    better = poses.copy()
    better[4:7] += [0.7, -0.4, 0.1]
    team = beliefs()
    kept = add(team, poses, ranges)
    team.publish()  # evidence that others hold must not change
    before = team[0].own
    assert kept.move(better)
    fresh = beliefs()
    add(fresh, better, ranges)
    np.testing.assert_array_equal(team[0].own, fresh[0].own)
    np.testing.assert_array_equal(team.occupancy[0], fresh.occupancy[0])
    assert (before != team[0].own).any()


def test_moves_below_a_fifth_of_a_cell_change_nothing():
    poses, ranges = scans(1)
    team = beliefs()
    kept = add(team, poses, ranges)
    version = int(team.version[0])
    assert not kept.move(poses + np.array([0.015, 0.0, 0.0]))
    assert team.version[0] == version


def test_only_tiles_that_a_moved_scan_touches_change():
    poses, ranges = scans(2)
    poses[:, 0] = np.where(np.arange(12) < 6, -13.0, 13.0)
    better = poses.copy()
    better[0, 1] += 0.5
    team = beliefs()
    kept = add(team, poses, ranges)
    changed = team.tile_changed[0].copy()
    kept.move(better)
    rows, columns = (side // 32 for side in team.grid.shape)
    tiles = (team.tile_changed[0] != changed).reshape(rows, columns)
    assert tiles.any()
    assert not tiles[:, columns // 2 + 1 :].any()


def test_the_others_get_the_moved_map():
    poses, ranges = scans(3)
    team = beliefs()
    kept = add(team, poses, ranges)
    for better in (poses, poses + np.array([1.0, 0.5, 0.0])):
        kept.move(better)
        team.publish()
        update = team.update_since(0, team.clock[1])
        team.merge_updates(np.array([[False], [True]]), [update])
        np.testing.assert_array_equal(team.occupancy[0], team.occupancy[1])
