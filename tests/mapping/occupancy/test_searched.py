"""Views cast into a map."""

import math

import numpy as np

from covey.geometry.faces import face_list
from covey.geometry.grid import Grid
from covey.mapping.occupancy.searched import CameraView, SearchedMap
from covey.world.visibility.searched import SearchedFaces
from covey.world.world import World

NARROW = CameraView(math.radians(62.2), 4.0, math.radians(60), (0.0, 0.0, 0.0))


def test_the_same_faces_as_the_truth_counts_with_a_true_map():
    """Rays of lengths from the skip field, marked by face of the world, against a walk through the map."""
    world = World.office(seed=4, resolution_m=0.1)
    random = np.random.default_rng(2)
    cells = random.permutation(np.argwhere(world.free & (world.clearance > 0.2)))[:40]
    poses = np.column_stack((world.grid.to_world(cells), random.uniform(-4, 4, 40)))
    occupancy = np.where(world.free, 0, 100).astype(np.int8)
    searched = SearchedMap(world.grid)
    assert not searched.search_from(poses, NARROW, occupancy).any()
    from covey.geometry.raycast import cast_ray

    rays = max(2, math.ceil(NARROW.fov_rad * NARROW.range_m / 0.1) + 1)
    angles = np.linspace(-NARROW.fov_rad / 2, NARROW.fov_rad / 2, rays)
    ranges = np.array([[cast_ray(world.skip, world.grid.frame, x, y, h + a, 4.0) for a in angles] for x, y, h in poses])
    truth = SearchedFaces(world, face_list(world.free, world.solid), 1)
    for pose, lengths in zip(poses, ranges, strict=True):
        truth.mark(np.array([0]), pose[None], lengths[None], angles, (0, 0, 0), NARROW.incidence_rad, 4.0, 1)
    bits = np.zeros(world.grid.shape, np.uint8)
    for row, column, side in truth.faces[truth.searched()]:
        bits[row, column] |= 1 << side
    np.testing.assert_array_equal(searched.bits, bits)
    assert np.bitwise_count(bits).sum() > 300


def test_rays_end_where_nothing_is_known_and_at_walls():
    occupancy = np.full((20, 60), -1, np.int8)
    occupancy[:, :40] = 0
    occupancy[:, 30] = 100
    grid = Grid(occupancy, 0.1)
    searched = SearchedMap(grid)
    poses = np.array([[2.0, 1.0, 0.0], [3.55, 1.0, 0.0], [2.0, 1.0, math.pi]])
    assert searched.search_from(poses, NARROW, occupancy).tolist() == [False, True, False]
    assert searched.cells[10, 20:30].all()
    assert searched.cells[10, 35:40].all()
    assert not searched.cells[:, 40:].any()
    assert searched.bits[10, 29] == 1
    assert not searched.bits[:, 31:].any()
    left = searched.left(occupancy)
    assert left[10, 29] == 0
    assert left[10, 31] == 4  # the other side of the wall
    occupancy[:, 40:] = 0
    assert searched.search_from(poses[1:2], NARROW, occupancy).tolist() == [False]
    assert searched.cells[10, 35:60].all()


def test_a_face_a_cell_away_counts_as_searched():
    occupancy = np.zeros((20, 40), np.int8)
    occupancy[:, 30] = 100
    searched = SearchedMap(Grid(occupancy, 0.1))
    searched.search_from(np.array([[2.0, 1.0, 0.0]]), NARROW, occupancy)
    shifted = np.zeros_like(occupancy)
    shifted[:, 31] = 100
    assert searched.left(shifted)[10, 30] == 0
    far = np.zeros_like(occupancy)
    far[:, 32] = 100
    assert searched.left(far)[10, 31] == 1
