"""The faces that cameras could have read, against rays and segments in shapely."""

import math

import numpy as np
import pytest
from shapely import LineString, STRtree
from tests.references.geometry import cast_ray_reference

from covey.geometry.faces import face_list
from covey.world.visibility.searched import SearchedFaces, readable
from covey.world.world import FREE, WALL, World


def _segments(world, faces):
    """Return the segment of each face [m], and its normal."""
    grid, lines, normals = world.grid, [], []
    for row, column, side in faces.tolist():
        x, y = grid.to_world((row, column))
        h = grid.resolution / 2
        dx, dy = ((1, 0), (0, 1), (-1, 0), (0, -1))[side]
        lines.append(
            LineString([(x + h * dx - h * dy, y + h * dy + h * dx), (x + h * dx + h * dy, y + h * dy - h * dx)])
        )
        normals.append((-dx, -dy))
    return lines, np.array(normals)


def test_the_same_faces_as_rays_against_segments_in_shapely():
    random = np.random.default_rng(4)
    cells = np.where(random.random((60, 60)) < 0.03, WALL, FREE).astype(np.uint8)
    cells[[0, -1]] = cells[:, [0, -1]] = WALL
    world = World.empty(6, 6, 0.1).with_cells(np.pad(cells, 1, constant_values=WALL))
    faces = face_list(world.free, world.solid)
    searched = SearchedFaces(world, faces, 12)
    lines, normals = _segments(world, searched.faces)
    tree, angles = STRtree(lines), np.linspace(-0.5, 0.5, 23)
    poses = np.column_stack((random.uniform(-2.5, 2.5, (12, 2)), random.uniform(-4, 4, 12)))
    poses = poses[world.free[tuple(world.grid.to_cells(poses[:, :2]).T)]]
    ranges = np.array(
        [
            [cast_ray_reference(world.solid, world.grid.frame, x, y, heading + a, 3.0) for a in angles]
            for x, y, heading in poses
        ]
    )
    searched.mark(np.arange(len(poses)), poses, ranges, angles, (0, 0, 0), math.radians(50), 3.0, 7)
    for k, (x, y, heading) in enumerate(poses):
        expected = set()
        for angle in angles + heading:
            d = np.array([math.cos(angle), math.sin(angle)])
            ray = LineString([(x, y), (x + 3.0 * d[0], y + 3.0 * d[1])])
            hits = [(ray.project(ray.intersection(lines[i]).centroid), i) for i in tree.query(ray, "intersects")]
            hits = [(away, i) for away, i in hits if -d @ normals[i] > 0]
            if hits and -d @ normals[min(hits)[1]] >= math.cos(math.radians(50)):
                expected.add(int(min(hits)[1]))
        assert set(np.flatnonzero(searched.searched(k)).tolist()) == expected
    every = np.array([searched.searched(k) for k in range(12)])
    np.testing.assert_array_equal(searched.searched(), every.any(axis=0))
    np.testing.assert_allclose(searched.share_each, every.mean(axis=1))
    assert searched.share_union == pytest.approx(every.any(axis=0).mean())
    assert 0.05 < searched.share_union < 0.9
    assert ((searched.first_step == 7) == searched.searched()).all()


def test_the_faces_before_a_camera_by_hand():
    """2 m before a wall of cells of 0.1 m, half a view of 31.1° covers 2 tan 31.1° = 1.206 m to each side."""
    world = World.empty(4, 8, 0.1)
    searched = SearchedFaces(world, face_list(world.free, world.solid), 1)
    angles = np.linspace(-math.radians(31.1), math.radians(31.1), 400)
    searched.mark(np.array([0]), np.zeros((1, 3)), 2 / np.cos(angles)[None], angles, (0, 0, 0), math.radians(60), 4, 1)
    seen = searched.faces[searched.searched()]
    assert (seen[:, 2] == 0).all()
    middles = np.sort(world.grid.to_world(seen[:, :2])[:, 1])
    np.testing.assert_allclose(middles, np.arange(-1.25, 1.26, 0.1), atol=1e-9)
    flat = SearchedFaces(world, searched.faces, 1)
    flat.mark(np.array([0]), np.zeros((1, 3)), 2 / np.cos(angles)[None], angles, (0, 0, 0), math.radians(20), 4, 1)
    middles = np.sort(world.grid.to_world(flat.faces[flat.searched()][:, :2])[:, 1])
    np.testing.assert_allclose(middles, np.arange(-0.75, 0.76, 0.1), atol=1e-9)  # 2 tan 20° = 0.728 m


def test_readable_faces():
    """Behind a closed wall nothing can be read, nor from farther than the range."""
    cells = np.full((32, 64), WALL, np.uint8)
    cells[1:31, 1:31] = cells[1:31, 33:63] = FREE
    world = World.empty(6.2, 3.0, 0.1).with_cells(cells)
    faces = readable(world, np.array([[-2.0, 0.0, 0.0]]), np.array([0.2]), 4.0, math.radians(60))
    assert len(faces) == 4 * 30  # all of one room
    assert (faces[:, 1] < 31).all()
    stuck = readable(world, np.array([[-2.0, 0.0, 0.0]]), np.array([1.4]), 1.42, math.radians(60))
    assert 0 < len(stuck) < 60  # a robot that hardly fits reads only what is near
