import numpy as np
import pytest

from covey.geometry.raycast import line_of_sight
from covey.kernel import cache_root
from covey.world.visibility.explorable import explorable, reachable
from covey.world.world import World

ROOM = [(0, 0), (10, 0), (10, 4), (0, 4)]


def test_an_empty_hall_is_explorable_as_a_whole():
    world = World.empty(6, 4, 0.1)
    np.testing.assert_array_equal(explorable(world, [(0, 0)], 0.3, 8.0, cached=False), world.free)


def test_a_closed_room_is_not():
    world = World.polygons(ROOM, walls_m=[[(5, 0), (5, 4)]], wall_m=0.1, resolution_m=0.1)
    seen = explorable(world, [(1, 1)], 0.2, 20.0, cached=False)
    x = world.grid.to_world(np.argwhere(world.free))[:, 0]
    np.testing.assert_array_equal(seen[world.free], x < 5)


def test_behind_a_slit_only_what_lies_in_sight():
    """A slit of 0.2 m lets no body through; what is seen is compared with all lines of sight, one by one."""
    walls = [[(5, 0), (5, 1.85)], [(5, 2.15), (5, 4)]]
    world = World.polygons(ROOM, walls_m=walls, wall_m=0.1, resolution_m=0.1)
    seen = explorable(world, [(1, 1)], 0.2, 6.0, cached=False)
    poses = world.grid.to_world(np.argwhere(reachable(world, np.array([(1.0, 1.0)]), 0.2)))
    assert poses[:, 0].max() < 5.0
    cells = np.argwhere(world.free)
    cells = cells[world.grid.to_world(cells)[:, 0] > 5.1][::3]
    sighted = []
    for x, y in world.grid.to_world(cells):
        near = poses[np.hypot(poses[:, 0] - x, poses[:, 1] - y) <= 6.0]
        sighted.append(any(line_of_sight(world.skip, world.grid.frame, x, y, *pose) for pose in near))
    got = seen[cells[:, 0], cells[:, 1]]
    assert any(sighted)
    assert not all(sighted)
    # They differ only where all lines of sight graze the corners of the slit, between two directions of the fan.
    assert (got != sighted).mean() < 0.01


def test_range_limits_what_is_seen_beyond_the_reach_of_the_body():
    # A passage of 0.3 m between x = 4 and x = 10: the body of 0.4 m stays out.
    blocks = [[(4, 0), (10, 0), (10, 1.85), (4, 1.85)], [(4, 2.15), (10, 2.15), (10, 4), (4, 4)]]
    world = World.polygons(ROOM, obstacles_m=blocks, resolution_m=0.05)
    seen = explorable(world, [(1, 2)], 0.2, 2.0, cached=False)
    far = world.grid.to_world(np.argwhere(seen))[:, 0].max()
    # On the axis the body gets to where its disc touches both corners of the passage.
    reach = 4 - np.sqrt(0.2**2 - 0.15**2)
    assert far == pytest.approx(reach + 2.0, abs=0.1)


def test_a_wider_body_explores_less_and_a_mixed_team_what_either_does():
    walls = [[(5, 0), (5, 1.6)], [(5, 2.4), (5, 4)]]
    world = World.polygons(ROOM, walls_m=walls, resolution_m=0.1)
    starts = [(1, 1), (1, 3)]
    wide = explorable(world, starts, 0.6, 3.0, cached=False)
    slim = explorable(world, starts, 0.2, 3.0, cached=False)
    both = explorable(world, starts, [0.6, 0.2], 3.0, cached=False)
    assert wide.sum() < slim.sum() == world.free.sum()
    np.testing.assert_array_equal(both, slim | wide)


def test_a_start_close_to_a_wall_counts_as_in_its_neighbour_cell():
    world = World.empty(2, 2, 0.1)
    assert reachable(world, np.array([(0.74, 0.0)]), 0.25).sum() > 100


def test_nothing_is_explorable_from_outside():
    world = World.empty(2, 2, 0.1)
    assert not explorable(world, [(50, 50)], 0.1, 5.0, cached=False).any()


def test_the_result_is_kept_and_a_damaged_file_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setenv("COVEY_CACHE_DIR", str(tmp_path))
    cache_root.cache_clear()
    try:
        world = World.empty(3, 3, 0.1)
        expected = explorable(world, [(0, 0)], 0.2, 5.0)
        (file,) = (tmp_path / "explorable").iterdir()
        for damage in (b"", b"PK\x03\x04 not a zip", file.read_bytes()[:100]):
            file.write_bytes(damage)
            np.testing.assert_array_equal(explorable(world, [(0, 0)], 0.2, 5.0), expected)
        before = file.stat().st_mtime_ns
        np.testing.assert_array_equal(explorable(world, [(0, 0)], 0.2, 5.0), expected)
        assert file.stat().st_mtime_ns == before
        explorable(world, [(0, 0)], 0.2, 4.0)
        assert len(list((tmp_path / "explorable").iterdir())) == 2
    finally:
        cache_root.cache_clear()
