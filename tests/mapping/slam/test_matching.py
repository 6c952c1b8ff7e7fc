"""Scan matching against plain references and places worked by hand."""

import numpy as np
import pytest
from tests.references.mapping import search_reference, stamp_reference

from covey.geometry.se2 import compose
from covey.mapping.slam.local_map import local_map, stamp, with_points
from covey.mapping.slam.log import relative
from covey.mapping.slam.matching import refine, search
from covey.mapping.slam.surfaces import Cloud, KeyFrame, complete, normals_of, together

RNG = np.random.default_rng(7)


def room(pose, corridor=False):
    """Return a scan (k, 2) of a room of 8 x 6 m with a pillar, or of an endless corridor, and its normals."""
    angles = np.linspace(-np.pi, np.pi, 361)[:-1] + 1e-4
    d = np.stack((np.cos(angles + pose[2]), np.sin(angles + pose[2])), axis=1)
    with np.errstate(divide="ignore"):
        far = 1e9 if corridor else 8.0
        x = np.where(d[:, 0] > 0, (far - pose[0]) / d[:, 0], (-far if corridor else -pose[0]) / d[:, 0])
        y = np.where(d[:, 1] > 0, (6.0 - pose[1]) / d[:, 1], -pose[1] / d[:, 1])
    r = np.minimum(x, y)
    if not corridor:  # the pillar: a disc of 0.5 m at (5, 2)
        to = np.array([5.0, 2.0]) - pose[:2]
        along = d @ to
        rest = 0.25 - (to @ to - along**2)
        r = np.where((rest > 0) & (along > 0), np.minimum(r, along - np.sqrt(np.maximum(rest, 0))), r)
    keep = r < 20.0
    points = r[keep, None] * np.stack((np.cos(angles), np.sin(angles)), axis=1)[keep]
    normals = np.empty_like(points)
    normals_of(points, np.zeros(2), 0.5, normals)
    return points, normals


def cloud(points, normals, eye=(0.0, 0.0)):
    return Cloud(points, normals, np.tile(np.array(eye), (len(points), 1)))


def map_of(pose, **how):
    points, normals = room(pose, **how)
    cloud = together([KeyFrame(points, normals, np.zeros(2))], np.array([pose]))
    return local_map(cloud, pose[:2], 10.0, 0.05, 0.08)


def test_cells_hold_the_nearness_of_the_nearest_point():
    points = RNG.uniform(1.0, 4.0, (40, 2))
    cells, nearest = np.zeros((100, 100), np.uint8), np.full((100, 100), -1, np.int32)
    stamp(points, 0, np.zeros(2), 0.05, 0.08, cells, nearest)
    expected = stamp_reference(points, np.zeros(2), 0.05, 0.08, cells.shape)
    np.testing.assert_allclose(cells / 255.0, expected, atol=0.02)  # 256 steps of the squared distance
    row, column = np.argwhere(nearest >= 0)[17]
    centre = 0.05 * np.array([column + 0.5, row + 0.5])
    away = np.hypot(*(points - centre).T)
    assert away[nearest[row, column]] < away.min() + 0.01


def test_normals_face_the_sensor():
    points, normals = room(np.array([2.0, 3.0, 0.0]))
    known = np.abs(normals).sum(axis=1) > 0
    assert known.mean() > 0.9
    assert ((points * normals).sum(axis=1)[known] < 0).all()
    inner = np.abs(points[:, 1] - points[:, 1].mean()) < 2.0  # at its ends it meets other walls
    wall = known & inner & (np.abs(points[:, 0] + 2.0) < 1e-9)  # the wall x = 0, seen from (2, 3)
    np.testing.assert_allclose(normals[wall], np.tile([1.0, 0.0], (wall.sum(), 1)), atol=1e-9)


def test_points_beside_a_corner_have_the_normals_of_their_own_walls():
    along = np.arange(0.0, 0.31, 0.03)
    points = np.vstack((np.column_stack((along, np.full(11, 1.0))), np.column_stack((np.full(11, 0.3), 1.03 + along))))
    normals = np.empty_like(points)
    normals_of(points, np.zeros(2), 0.5, normals)
    assert (normals[:10, 1] < -0.95).all()  # the front of a pillar
    assert (normals[12:, 0] < -0.95).all()  # and its side


def test_no_slanting_line_leads_from_a_wall_into_a_niche_that_is_seen_from_far():
    """Beams 0.3 m apart see a step of 0.4 m: three points around it are in line, at 34 degrees to both walls."""
    along = np.arange(-1.5, 1.6, 0.3)
    points = np.column_stack((along, np.where(along < -0.01, 1.0, 1.4)))
    points[5, 1] = 1.2  # on the side of the niche
    normals = np.empty_like(points)
    normals_of(points, np.zeros(2), 0.5, normals)
    np.testing.assert_allclose(normals[:, 0], 0.0, atol=1e-9)
    assert (normals[[0, 1, -2, -1], 1] == -1.0).all()


@pytest.mark.parametrize("case", range(12))
def test_the_search_finds_the_best_of_all_poses(case):
    at = np.array([2.0, 3.0, 0.3])
    place = map_of(at)
    points = room(at + RNG.uniform(-0.5, 0.5, 3) * [1, 1, 0.4])[0][::6]
    guess = at + RNG.uniform(-0.3, 0.3, 3) * [1, 1, 0.3]
    bias = 0.1 * (case % 3)
    pose, score = search(place, points, guess, 0.37, 0.12, 0.03, 0.0, bias, blocks=(4, 16)[case % 2])
    assert score == pytest.approx(search_reference(place, points, guess, 0.37, 0.12, 0.03, bias), abs=1e-12)
    assert np.abs(pose - guess).max() < 0.41


@pytest.mark.parametrize("blocks", [1, 4, 16])
def test_what_is_outside_of_the_map_counts_nothing(blocks):
    at = np.array([2.0, 3.0, 0.3])
    points, normals = room([2.0, 3.0, 0.0])
    for way in ([1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]):
        centre = at[:2] + 2.5 * np.array(way)  # most of the room is outside
        place = local_map(cloud(points + at[:2], normals), centre, 1.4, 0.05, 0.08)
        _, score = search(place, points[::5], at, 0.6, 0.1, 0.05, blocks=blocks)
        expected = search_reference(place, points[::5], at, 0.6, 0.1, 0.05)
        assert score == pytest.approx(expected, abs=1e-12)
        assert 0.0 < score < 0.7


def test_a_tight_map_finds_the_same():
    """The room is 8 m x 6 m, the map 20 m wide: what a tight one leaves out is empty."""
    at = np.array([2.0, 3.0, 0.3])
    points, normals = room(np.array([2.0, 3.0, 0.0]))
    wide, tight = (
        local_map(cloud(points + at[:2], normals), at[:2], 10.0, 0.05, 0.08, tight) for tight in (False, True)
    )
    assert 0.2 < tight.cells.size / wide.cells.size < 0.3
    assert int(tight.cells.sum()) == int(wide.cells.sum())
    scan = room(at)[0][::5]
    for least in (0.0, 0.5):
        ours, theirs = (search(place, scan, at + 0.1, 0.5, 0.3, 0.05, least) for place in (wide, tight))
        assert ours[1] == theirs[1]
        np.testing.assert_allclose(ours[0], theirs[0], atol=1e-9)


def test_a_score_below_the_least_is_not_found():
    at = np.array([2.0, 3.0, 0.0])
    points = room(at)[0]
    assert search(map_of(at), points + 0.5, at, 0.1, 0.02, 0.02, least=0.9)[1] == -1.0


def test_refinement_finds_the_pose_to_a_millimetre():
    at, moved = np.array([2.0, 3.0, 0.3]), np.array([2.3, 2.9, 0.42])
    points, normals = room(moved)
    found = refine(map_of(at), points, normals, moved + np.array([0.06, -0.05, 0.02]), 0.03, np.zeros((3, 3)), moved)
    np.testing.assert_allclose(found.pose, moved, atol=1e-3)
    assert found.score > 0.9


def test_the_information_is_that_of_the_error():
    """Over many scans with white noise the squared error, weighed with the information, is 3 on average."""
    at = np.array([2.0, 3.0, 0.3])
    place, weighed = map_of(at), []
    for _ in range(200):
        points, normals = room(at)
        points = points + 0.01 * RNG.standard_normal((len(points), 1)) * normals
        found = refine(place, points, normals, at, 0.01, np.zeros((3, 3)), at)
        error = found.pose - at
        weighed.append(error @ found.information @ error)
    assert 2.4 < np.mean(weighed) < 3.6  # chi squared of 3 degrees of freedom: 3 with a deviation of 0.17


def test_a_corridor_fixes_nothing_along_it():
    at = np.array([0.0, 3.0, 0.0])
    points, normals = room(at, corridor=True)
    prior = np.diag([100.0, 100.0, 100.0])
    expected = at + np.array([0.2, 0.0, 0.0])
    found = refine(map_of(at, corridor=True), points, normals, expected, 0.03, prior, expected)
    assert found.pose[0] == pytest.approx(0.2, abs=1e-3)  # the odometry decides
    assert found.pose[1] == pytest.approx(3.0, abs=1e-3)
    assert found.information[0, 0] < 1e-3 * found.information[1, 1]


def test_the_two_sides_of_a_wall_are_told_apart():
    ys = np.linspace(-2.0, 2.0, 81)
    wall, back = np.column_stack((np.full(81, 3.0), ys)), np.column_stack((np.full(81, 3.1), ys))
    front = np.tile([-1.0, 0.0], (81, 1))
    place = local_map(cloud(wall, front), (0.0, 0.0), 5.0, 0.05, 0.08)
    start = np.zeros(3)
    same = refine(place, back, front, start, 0.03, 1e-3 * np.eye(3), start)
    other = refine(place, back, -front, start, 0.03, 1e-3 * np.eye(3), start)
    assert same.pose[0] == pytest.approx(-0.1, abs=1e-3)
    assert other.pose[0] == pytest.approx(0.0, abs=1e-9)


def test_relative_undoes_compose():
    a, b = RNG.uniform(-3, 3, (50, 3)), RNG.uniform(-3, 3, (50, 3))
    np.testing.assert_allclose(relative(a, compose(a, b)), b, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_points_that_are_added_change_a_map_as_if_it_were_made_anew(seed):
    rng = np.random.default_rng(seed)
    points, more = rng.uniform(-6, 6, (80, 2)), rng.uniform(*sorted(rng.uniform(-6, 6, 2)), (20, 2))
    both, none = np.vstack((points, more)), np.zeros((100, 2))
    expected = local_map(cloud(both, none), (0.0, 0.0), 5.0, 0.05, 0.08)
    found = with_points(local_map(cloud(points, none[:80]), (0.0, 0.0), 5.0, 0.05, 0.08), cloud(more, none[:20]), 0.08)
    np.testing.assert_array_equal(found.cells, expected.cells)
    np.testing.assert_array_equal(found.nearest, expected.nearest)
    np.testing.assert_array_equal(found.levels, expected.levels)


def lines(points, eyes):
    """Plain reference of `complete`: the normals (k, 2) of lines through neighbours within 0.15 m, by singular values."""
    normals = np.zeros_like(points)
    for i, (point, eye) in enumerate(zip(points, eyes, strict=True)):
        same = ((eyes - points) @ (eye - point)) > 0.0
        near = points[same & (np.hypot(*(points - point).T) < 0.15)]
        if len(near) < 4:
            continue
        _, (along, across), (_, normal) = np.linalg.svd(near - near.mean(axis=0), full_matrices=False)
        if across**2 <= 0.05 * along**2 and across**2 / len(near) <= 0.03**2:
            normals[i] = normal * np.sign(normal @ (eye - point))
    return normals


def test_scans_together_show_surfaces_that_each_is_too_sparse_for():
    """Both sides of a wall 0.1 m thick, seen by beams half a metre apart, and a rough heap at its end."""
    x = np.arange(0.0, 4.0, 0.05)
    front, back = np.column_stack((x, np.zeros(80))), np.column_stack((x, np.full(80, 0.1)))
    points = np.vstack((front, back, RNG.uniform(4.2, 4.8, (60, 2)))) + RNG.normal(0.0, 0.003, (220, 2))
    eyes = np.where(np.arange(220)[:, None] < 80, [2.0, -3.0], [2.0, 3.0])
    normals = np.zeros_like(points)
    complete(points, eyes, normals)
    np.testing.assert_allclose(normals, lines(points, eyes), atol=1e-9)
    assert (normals[1:79, 1] < -0.97).all()
    assert (normals[81:159, 1] > 0.97).all()
    assert (normals[160:] == 0.0).any()


@pytest.mark.parametrize("far", [1e6, 1e300])
def test_a_point_far_away_costs_no_memory_and_changes_nothing_here(far):
    """An update of another robot may place a key frame anywhere; a grid of all cells to there would not fit."""
    wall = np.column_stack((np.arange(0.0, 2.0, 0.05), np.ones(40)))
    alone, both = np.zeros((40, 2)), np.zeros((41, 2))
    complete(wall, np.zeros((40, 2)), alone)
    complete(np.vstack((wall, [[far, far]])), np.zeros((41, 2)), both)
    np.testing.assert_array_equal(both[:40], alone)
    np.testing.assert_allclose(alone[1:-1], np.tile([0.0, -1.0], (38, 1)), atol=1e-9)
    assert (both[40] == 0.0).all()


def test_a_point_farther_away_than_whole_numbers_reach_leaves_a_tight_map_as_large_as_it_may_be():
    wall = np.column_stack((np.arange(0.0, 2.0, 0.05) + 0.0137, np.full(40, 1.0119)))
    far, at = cloud(np.vstack((wall, [[1e300, 1e300]])), np.zeros((41, 2))), (0.0, 0.0)
    tight, wide = (local_map(far, at, 4.0, 0.05, 0.08, tight=is_tight) for is_tight in (True, False))
    corner = np.rint((tight.origin - wide.origin) / 0.05).astype(int)
    part = wide.cells[corner[1] :, corner[0] :]
    np.testing.assert_array_equal(tight.cells[: len(part), : len(part)], part[: len(tight.cells), : len(tight.cells)])
    assert tight.cells.any()


def test_points_that_are_one_show_no_surface():
    """Points of an update are multiples of 1 cm, so those near to a lidar are often the same."""
    points, eyes, normals = np.full((6, 2), 1.0), np.zeros((6, 2)), np.zeros((6, 2))
    complete(points, eyes, normals)
    assert (normals == 0.0).all()
    normals_of(points, np.zeros(2), 0.5, normals)
    assert (normals == 0.0).all()


def test_a_point_at_the_robot_itself_belongs_to_no_surface():
    """A surface through the robot, and a scan with a point there, whose beam has no direction that is known."""
    x = np.arange(-1.0, 1.01, 0.05)
    wall, here = np.column_stack((x, np.zeros(41))), np.zeros((1, 2))
    place = local_map(cloud(wall, np.tile([0.0, -1.0], (41, 1))), (0.0, 0.0), 4.0, 0.05, 0.08)
    assert not refine(place, here, here, np.zeros(3), 0.03, np.zeros((3, 3)), np.zeros(3)).information.any()


def test_normals_that_are_known_stay():
    points, normals = room(np.array([2.0, 3.0, 0.3]))
    before = normals.copy()
    complete(points, np.zeros_like(points), normals)
    known = before.any(axis=1)
    np.testing.assert_array_equal(normals[known], before[known])


def test_a_point_without_a_normal_belongs_to_a_surface_that_faces_the_robot():
    at, moved = np.array([2.0, 3.0, 0.3]), np.array([2.3, 2.9, 0.42])
    points, normals = room(moved)
    start, none = moved + np.array([0.06, -0.05, 0.02]), np.zeros((3, 3))
    found = refine(map_of(at), points, np.zeros_like(normals), start, 0.03, none, moved)
    np.testing.assert_allclose(found.pose, moved, atol=1e-3)
    behind = map_of(at)
    behind = behind._replace(normals=-behind.normals)  # walls that are seen from their other side
    assert not refine(behind, points, np.zeros_like(normals), start, 0.03, none, moved).information.any()
