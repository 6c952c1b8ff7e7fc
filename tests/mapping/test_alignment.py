"""Maps whose relative pose is unknown: found, refused, joined."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import ndimage

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.geometry.se2 import Pose
from covey.mapping.alignment.aligning import Alignment, Fit, align, fit, judge, refine
from covey.mapping.alignment.search import main_direction, rotations
from covey.mapping.alignment.surfaces import Surfaces, find_surfaces, times, without_gaps
from covey.mapping.alignment.unknown_starts import MateEvidence, UnknownStarts, merge_aligned, seen_at
from covey.mapping.occupancy.belief import Beliefs
from covey.testing.map_pairs import MapPair, make_pairs, map_along, tour
from covey.world.world import World


@pytest.fixture(scope="module")
def office() -> World:
    return World.office(seed=3, size_m=(30, 30))


@pytest.fixture(scope="module")
def pairs(office: World) -> list[MapPair]:
    found = make_pairs(office, [0.9, 0.6], seed=5)
    found += make_pairs(World.building(seed=5, resolution_m=0.1), [0.9, 0.6], seed=5, reach_m=(14, 22))
    found += make_pairs(World.maze(seed=6, road_m=3.0), [0.9, 0.0], seed=5, reach_m=(10, 20))
    return found


@pytest.fixture(scope="module")
def aligned(pairs: list[MapPair]) -> Callable[[int], Any]:
    """Return a function that aligns a pair, once for all tests."""
    return cache(lambda k: align(pairs[k].a, pairs[k].b))


def drawn(*boxes, shape=(120, 160)) -> Grid:
    """A map of free space with wall boxes (first and last row, first and last column)."""
    cells = np.zeros(shape, np.int8)
    for r0, r1, c0, c1 in boxes:
        cells[r0 : r1 + 1, c0 : c1 + 1] = 100
    return Grid(cells, 0.1, (-3.0, 2.0, 0.0))


def moved(grid: Grid, pose: Pose) -> Grid:
    """The same map, in a frame that lies at ``pose`` in its old one: the grid keeps its cells and gets a yaw."""
    origin = pose.inverse() @ Pose(*grid.origin)
    return Grid(grid.cells, grid.resolution, tuple(origin))


@pytest.mark.slow
def test_real_maps_are_merged_where_they_belong(pairs, aligned):
    merged = 0
    for k, pair in enumerate(pairs):
        alignment = aligned(k)
        if alignment.accepted:
            distance, angle = pair.error_of(alignment.T_a_b)
            assert distance < 0.5
            assert angle < 2.0
            merged += 1
    assert merged >= 4  # of the 5 that overlap by more than a half; one pair has nothing in common


def test_what_is_shared_is_measured(pairs, aligned):
    alignment = aligned(0)
    known_a, known_b = (np.count_nonzero(g.cells >= 0) * 0.01 for g in (pairs[0].a, pairs[0].b))
    assert alignment.accepted
    assert alignment.overlap_m2 == pytest.approx(pairs[0].overlap * min(known_a, known_b), rel=0.15)
    assert alignment.agreement > 0.9
    assert 0.5 <= alignment.confidence <= 1.0


@pytest.mark.slow
def test_alignment_goes_both_ways(pairs, aligned):
    there, back = aligned(0), align(pairs[0].b, pairs[0].a)
    loop = there.T_a_b @ back.T_a_b
    assert math.hypot(loop.x, loop.y) < 0.2
    assert abs(math.degrees(loop.heading)) < 0.5


@pytest.mark.slow
def test_frames_do_not_matter(pairs, aligned):
    shift = Pose(31.0, -12.0, 2.5)
    plain, turned = aligned(0), align(pairs[0].a, moved(pairs[0].b, shift))
    expected = plain.T_a_b @ shift
    assert turned.accepted
    assert turned.T_a_b == pytest.approx(expected, abs=0.05)


def test_bare_corridor_is_refused():
    corridor = drawn((40, 42, 0, 159), (70, 72, 0, 159))
    alignment = align(corridor, moved(corridor, Pose(1.0, 2.0, 0.7)))
    assert not alignment.accepted
    assert "too little evidence" in alignment.refused


def test_symmetric_room_is_refused():
    ring = [(10, 12, 10, 109), (107, 109, 10, 109), (10, 109, 10, 12), (10, 109, 107, 109)]
    alignment = align(drawn(*ring, shape=(120, 120)), drawn(*ring, shape=(120, 120)))
    assert not alignment.accepted
    assert "ambiguous" in alignment.refused


@pytest.mark.slow
def test_room_with_a_mark_is_merged():
    ring = [(10, 12, 10, 149), (107, 109, 10, 149), (10, 109, 10, 12), (10, 109, 147, 149)]
    marked = drawn(*ring, (12, 60, 50, 53), (40, 43, 90, 147))
    alignment = align(marked, moved(marked, Pose(4.0, -3.0, 2.0)))
    assert alignment.accepted
    assert alignment.T_a_b == pytest.approx(Pose(4.0, -3.0, 2.0), abs=0.03)


def seen(grid: Grid, left: int, right: int) -> Grid:
    """The same map, known only between two columns."""
    cells = np.full_like(grid.cells, -1)
    cells[:, left:right] = grid.cells[:, left:right]
    return Grid(cells, grid.resolution, grid.origin)


HALLS = [(10, 12, 10, 289), (107, 109, 10, 289), (10, 109, 10, 12), (10, 109, 287, 289)]
HALLS += [
    (12, 45, 60, 62),
    (80, 107, 90, 92),
    (12, 38, 130, 132),
    (70, 107, 150, 152),
    (60, 62, 200, 250),
    (12, 70, 230, 232),
]


@pytest.mark.slow
def test_maps_that_share_a_quarter_are_merged_if_nothing_else_fits():
    """Two halls of which each robot has seen 15 m: what both know holds 2 m of wall across the hall."""
    halls = drawn(*HALLS, shape=(120, 300))
    a, b, T = seen(halls, 0, 158), seen(halls, 126, 300), Pose(4.0, -3.0, 2.0)
    shared = fit(find_surfaces(a), find_surfaces(b), Pose(0.0, 0.0, 0.0))
    assert 1.5 < shared.weakest_m < 16.0
    assert shared.denied_m == 0.0
    alignment = align(a, moved(b, T))
    assert alignment.accepted, alignment.refused
    assert alignment.T_a_b == pytest.approx(T, abs=0.05)


@pytest.mark.slow
def test_two_worlds_do_not_fit_each_other(pairs):
    """Maps of different worlds have nothing in common: whatever fits best there is refused."""
    for one, other in ((0, 2), (4, 1)):
        assert not align(pairs[one].a, pairs[other].b).accepted


def a_fit(met=18.0, weakest=4.0, bent=11.7, off=0.0, denied=0.0, shared=60.0) -> Fit:
    return Fit(Pose(0.0, 0.0, 0.0), met, off, denied, weakest, bent, shared)


def test_evidence_needs_corners_surface_in_all_directions_and_maps_that_can_contradict_each_other():
    """sqrt(sqrt(2 weakest met) (bent + 0.3)), less by exp(-(6 off + 50 denied) / met), and less below 50 m2 shared."""
    assert a_fit().strength_m == pytest.approx(12.0)
    assert a_fit(off=3.0).strength_m == pytest.approx(12.0 * math.exp(-1.0))
    assert a_fit(denied=0.36).strength_m == pytest.approx(12.0 * math.exp(-1.0))
    assert a_fit(shared=10.0).strength_m == pytest.approx(12.0 * 0.2)
    assert a_fit(bent=2.7).strength_m == pytest.approx(6.0)
    assert a_fit(weakest=0.0).strength_m == 0.0  # a bare corridor


SQUARE, ROUND = 0.7, 0.15


@pytest.mark.parametrize(
    ("best", "second", "squareness", "confidence", "why"),
    [
        (a_fit(), 2.0, SQUARE, 12.0 / 17.3, ""),
        (a_fit(bent=2.7), 0.8, SQUARE, 0.0, "ambiguous"),  # 18 m of straight walls and two corners
        (a_fit(7.0, 3.0, 3.0), 0.2, SQUARE, 0.466, "too little evidence: 4.6 m, from 7.0 m of wall that agree"),
        (a_fit(7.0, 3.0, 3.0), 0.2, ROUND, 0.698, ""),  # chance does less in a cave
        (a_fit(7.0, 3.0, 3.0), 3.0, ROUND, 0.351, "ambiguous: the maps fit nearly as well elsewhere"),
        (a_fit(1.2, 0.3, 0.9), 0.0, ROUND, 0.335, "too little evidence: 1.0 m"),
        (a_fit(70.0, 26.4, 10.5), 6.3, SQUARE, 0.0, "ambiguous"),  # of crosses: one is turned by 90 degrees
        (a_fit(70.0, 26.4, 21.0), 6.3, SQUARE, 0.757, ""),  # as long, but with twice the corners
    ],
)
def test_what_is_needed_depends_on_the_walls(best, second, squareness, confidence, why):
    found, said = judge(best, second, squareness)
    assert said.startswith(why)
    assert bool(said) == bool(why)
    assert found == pytest.approx(confidence, abs=1e-3)


def test_walls_at_right_angles_are_square_in_any_frame():
    rng = np.random.default_rng(4)
    angles = {"square": rng.integers(0, 4, 400) * math.pi / 2 + 0.7, "round": rng.uniform(-math.pi, math.pi, 400)}
    grid = drawn((50, 52, 20, 139))
    found = {
        name: Surfaces(grid, grid.cells == 0, np.zeros((400, 2)), np.column_stack((np.cos(a), np.sin(a)))).squareness
        for name, a in angles.items()
    }
    assert found["square"] == pytest.approx(1.0)
    assert found["round"] < 0.15  # of 400 directions at random, 0.05 on average


def test_who_asks_for_more_confidence_gets_more():
    assert judge(a_fit(), 0.0, SQUARE, 0.65)[1] == ""
    assert judge(a_fit(), 0.0, SQUARE, 0.75)[1].startswith("too little evidence")
    assert judge(a_fit(), 2.0, ROUND, 0.8)[1] == ""
    assert judge(a_fit(), 4.0, ROUND, 0.8)[1].startswith("ambiguous")


def room(door: int) -> Grid:
    """A room of 8 m x 10 m with two walls in it, and a door of 0.7 m that begins at a column of its lower wall."""
    cells = np.full((100, 120), -1, np.int8)
    for state, part in ((100, np.s_[9:91, 9:111]), (0, np.s_[10:90, 10:110])):
        cells[part] = state
    cells[30, 40:70] = cells[60:90, 80] = 100
    cells[:10, door : door + 7] = 0
    return Grid(cells, 0.1)


def test_rooms_that_are_equal_but_for_their_doors_are_not_one_room():
    T = Pose(1.0, 2.0, 0.7)
    assert align(room(20), moved(room(20), T)).T_a_b == pytest.approx(T, abs=1e-6)
    assert align(room(20), moved(room(20), T)).accepted
    other = align(room(20), moved(room(85), T))
    assert other.T_a_b == pytest.approx(T, abs=0.01)
    assert other.refused.startswith(
        "too little evidence: 2.9 m, from 46.4 m of wall that agree and 2.1 m that contradict"
    )


def test_two_arms_of_a_cross_are_not_one_arm():
    """Each robot has seen the crossing of two roads, and 12 m of another road."""
    roads = np.zeros((300, 300), np.bool_)
    roads[10:290, 125:175] = roads[125:175, 10:290] = True
    cells = np.where(roads, 0, np.where(ndimage.binary_dilation(roads, np.ones((5, 5))), 100, -1)).astype(np.int8)

    def part(*boxes):
        known = np.full_like(cells, -1)
        for box in ((slice(123, 177), slice(123, 177)), *boxes):
            known[box] = cells[box]
        return Grid(known, 0.1)

    north, east = part((slice(175, 293), slice(123, 177))), part((slice(123, 177), slice(175, 293)))
    assert align(north, moved(east, Pose(1.0, 2.0, 0.7))).refused.startswith("ambiguous")


def test_a_wall_in_open_space_counts_the_more_the_deeper_it_stands():
    """Beside a wall that is seen as well, 0.1 m is noise."""
    ring = [(10, 12, 10, 149), (107, 109, 10, 149), (10, 109, 10, 12), (10, 109, 147, 149)]
    a = find_surfaces(drawn(*ring, (60, 60, 60, 100)))
    alone, beside, deep = (
        find_surfaces(drawn(*ring, *more)) for more in ((), ((61, 61, 60, 100),), ((64, 64, 60, 100),))
    )
    denied = [fit(a, b, Pose(0.0, 0.0, 0.0)).denied_m for b in (beside, alone, deep)]
    assert denied[0] == 0.0
    assert denied[0] < denied[1] < denied[2]


def test_free_space_that_both_know_is_measured():
    a, b = find_surfaces(seen(drawn(*MARKED), 0, 100)), find_surfaces(seen(drawn(*MARKED), 60, 160))
    both = seen(drawn(*MARKED), 60, 100).cells == 0
    assert fit(a, b, Pose(0.0, 0.0, 0.0)).shared_m2 == pytest.approx(0.01 * both.sum(), rel=0.02)


def test_maps_without_walls_are_refused():
    empty = Grid(np.full((40, 40), -1, np.int8), 0.1)
    free = Grid(np.zeros((40, 40), np.int8), 0.1)
    for a, b in ((empty, free), (free, free), (drawn((40, 42, 0, 159)), empty)):
        assert align(a, b).refused.startswith("nothing to compare")
        assert align(a, b).T_a_b is None


@pytest.mark.parametrize(
    ("b", "message"),
    [
        (Grid(np.zeros((5, 5), np.float64), 0.1), "int8"),
        (Grid(drawn((40, 42, 0, 159)).cells, 0.2), "one resolution"),
    ],
)
def test_bad_maps_are_refused_with_reason(b, message):
    with pytest.raises(InvalidValueError, match=message):
        align(drawn((40, 42, 0, 159)), b)


def test_surfaces_lie_beside_walls_and_look_away_from_them():
    surfaces = find_surfaces(drawn((50, 52, 20, 139)))
    middle = np.abs(surfaces.points[:, 0] - 5.0) < 3.0  # away from the ends of the wall
    points, normals = surfaces.points[middle], surfaces.normals[middle]
    above = points[:, 1] > 2.0 + 5.15
    assert set(np.round(points[:, 1], 6)) == {6.95, 7.35}  # rows 49 and 53
    assert np.all(np.abs(normals[above] - (0.0, 1.0)) < 1e-6)
    assert np.all(np.abs(normals[~above] - (0.0, -1.0)) < 1e-6)


def test_what_one_map_denies_counts_against_a_fit():
    ring = [(10, 12, 10, 149), (107, 109, 10, 149), (10, 109, 10, 12), (10, 109, 147, 149)]
    a, b = find_surfaces(drawn(*ring)), find_surfaces(drawn(*ring, (30, 80, 70, 72)))
    same, other = fit(a, a, Pose(0.0, 0.0, 0.0)), fit(a, b, Pose(0.0, 0.0, 0.0))
    assert same.agreement == 1.0
    assert same.denied_m == 0.0
    # both sides of a wall of 5.1 m, of which lengths are means over both maps; open space begins at 0.13 m
    noise = ((a.thickness + b.thickness) / 2 / 1.4) ** 3
    assert other.denied_m == pytest.approx(5.1 * (0.3 / 0.13) ** 2 / noise, rel=0.1)
    assert other.strength_m < same.strength_m


def test_corners_and_ends_are_bent_and_walls_are_not():
    surfaces = find_surfaces(drawn((50, 55, 20, 139)))
    from_end = 6.8 - np.abs(surfaces.points[:, 0] - 5.0)  # the wall is 12 m long
    assert np.all(surfaces.bent[from_end > 1.5] < 1e-4)
    assert surfaces.bent[np.argmin(from_end)] > 0.9


def test_walls_in_open_space_say_less_where_noise_draws_walls_thick():
    ring = [(10, 10, 10, 149), (109, 109, 10, 149), (10, 109, 10, 10), (10, 109, 149, 149)]
    thick = [(10, 13, 10, 149), (106, 109, 10, 149), (10, 109, 10, 13), (10, 109, 146, 149)]
    clean, noisy = (
        fit(find_surfaces(drawn(*walls)), find_surfaces(drawn(*walls, (60, 60, 60, 70))), Pose(0.0, 0.0, 0.0))
        for walls in (ring, thick)
    )
    assert clean.denied_m > 2.0 * noisy.denied_m > 0.0


def test_stripes_that_rays_leave_between_each_other_are_filled():
    """Rays that lie 3 cells apart: of the floor one column in three is known, of the wall at its end one cell in three."""
    seen = np.full((30, 40), -1, np.int8)
    seen[3:20, 3:38:3] = 0
    seen[20, 3:38:3] = 100
    full = without_gaps(seen)
    assert np.all(full[3:20, 3:37] == 0)
    assert np.all(full[20, 3:37] == 100)
    assert np.all(full[21:] == -1)
    assert np.all(full[seen >= 0] == seen[seen >= 0])
    assert len(find_surfaces(Grid(seen, 0.1)).points) >= 30


def test_what_was_not_seen_free_denies_nothing():
    """A shadow of 3 cells lies across the hall where the other robot has seen a wall of 2 cells."""
    ring = [(10, 12, 10, 149), (107, 109, 10, 149), (10, 109, 10, 12), (10, 109, 147, 149)]
    shadow = drawn(*ring).cells.copy()
    shadow[13:107, 70:73] = -1
    a, b = find_surfaces(Grid(shadow, 0.1, (-3.0, 2.0, 0.0))), find_surfaces(drawn(*ring, (30, 80, 70, 71)))
    assert np.all(a.grid.cells >= 0)
    assert fit(a, b, Pose(0.0, 0.0, 0.0)).denied_m == 0.0


def test_refinement_finds_back():
    ring = [(10, 12, 10, 149), (107, 109, 10, 149), (10, 109, 10, 12), (10, 109, 147, 149), (12, 60, 50, 53)]
    a = find_surfaces(drawn(*ring))
    pose = refine(a, a, Pose(0.3, -0.25, math.radians(2.0)), [1.0, 1.0, 0.5, 0.5, 0.25, 0.25])
    assert pose == pytest.approx(Pose(0.0, 0.0, 0.0), abs=0.01)


def test_rotations_follow_the_walls():
    angles = np.repeat(np.radians([10.0, 100.0, 190.0, 280.0]), 50)
    normals = np.column_stack((np.cos(angles), np.sin(angles)))
    tried = np.degrees(rotations(normals, times(normals, -math.radians(33.0))))
    assert np.min(np.abs(tried - 33.0)) <= 1.0
    assert np.min(np.abs(tried - 123.0)) <= 1.0
    assert np.max(np.minimum(np.abs(tried - 33.0), np.abs(tried - 123.0))) < 10.0
    assert math.degrees(main_direction(normals)) == pytest.approx(10.0)


# -- joining --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_joined_map_knows_what_either_knows(pairs):
    pair = pairs[0]
    joined, alignment = merge_aligned(pair.belief_a, pair.belief_b)
    assert alignment.accepted
    known = pair.b.cells >= 0
    points = times(pair.b.to_world(np.argwhere(known)), pair.T_a_b.heading) + pair.T_a_b[:2]
    cells = joined.to_cells(points)
    assert np.all(joined.inside(cells))
    states = joined.cells[cells[:, 0], cells[:, 1]]
    assert np.mean(states >= 0) > 0.97
    same = states == pair.b.cells[known]
    assert np.mean(same) > 0.93


def _evidence(rng: np.random.Generator) -> Grid:
    cells = rng.choice(np.array([-40, -9, 0, 12, 70], np.int8), (12, 17))
    return Grid(cells, 0.1, (0.3, -0.2, 0.4))


def test_evidence_at_a_point_is_that_of_the_probability_between_the_cells():
    rng = np.random.default_rng(8)
    evidence, T = _evidence(rng), Pose(0.5, 0.2, 2.1)
    points = rng.uniform(-2.0, 2.5, (400, 2))
    there = np.array([T.inverse() @ Pose(x, y, 0.0) for x, y in points])[:, :2] - (0.3, -0.2)
    c, s = math.cos(0.4), math.sin(0.4)
    rows, columns = (c * there[:, 1] - s * there[:, 0]) / 0.1, (c * there[:, 0] + s * there[:, 1]) / 0.1
    probability = 1 / (1 + np.exp(-0.05 * evidence.cells.astype(float)))
    p = ndimage.map_coordinates(probability, (rows - 0.5, columns - 0.5), order=1, mode="grid-constant", cval=0.5)
    own = ndimage.map_coordinates(evidence.cells, (rows - 0.5, columns - 0.5), order=0, mode="grid-constant", cval=0)
    found = seen_at(points, evidence, T)
    known = own != 0
    assert np.array_equal(found != 0, known)  # neither more nor less than the cell there
    assert 30 < known.sum() < 370
    expected = np.log(p / (1 - p)) / 0.05
    assert np.abs(found - expected)[known].max() < 1.0
    assert (np.sign(found) == np.sign(expected))[known & (np.abs(expected) > 0.6)].all()


def test_evidence_at_the_centres_of_cells_is_theirs():
    evidence = _evidence(np.random.default_rng(9))
    index = np.argwhere(np.ones(evidence.shape, bool))
    found = seen_at(evidence.to_world(index), evidence, Pose(0.0, 0.0, 0.0))
    assert np.array_equal(found.reshape(evidence.shape), evidence.cells)


def test_refused_merge_leaves_the_map_alone(pairs):
    apart = pairs[-1]
    assert apart.overlap < 0.05
    joined, alignment = merge_aligned(apart.belief_a, apart.belief_b)
    assert not alignment.accepted
    assert np.array_equal(joined.cells, apart.a.cells)


@pytest.mark.slow
def test_news_over_two_hops_is_counted_once(office):
    labels = np.argwhere(office.free & (office.clearance >= 0.5))
    way = tour(office, tuple(int(v) for v in labels[len(labels) // 2]), 14.0)
    frames = [Pose(float(way[0, 0]), float(way[0, 1]), heading) for heading in (0.0, 1.0, 2.5)]
    robots = [UnknownStarts(map_along(office, way, frame, seed=k, name=f"r{k}")) for k, frame in enumerate(frames)]
    near, middle, far = robots
    assert middle.hear(far).accepted
    assert near.hear(middle).accepted
    once = near.merged()
    assert sorted(near.heard) == ["r0", "r1", "r2"]
    assert "r2" not in near.alignments  # it never met that robot: the frame comes from the one between
    true = frames[0].inverse() @ frames[2]
    assert near.T_own_other["r2"] == pytest.approx(true, abs=0.1)
    near.hear(middle)
    near.hear(far)
    assert np.array_equal(near.merged().cells, once.cells)


def test_refused_pair_is_tried_again_when_more_is_known():
    beliefs = [Beliefs([name], (20.0, 20.0), (-10.0, -10.0)) for name in "ab"]
    a, b = (UnknownStarts(one[0]) for one in beliefs)
    first = a.hear(b)
    assert first.refused
    assert a.hear(b) is first
    angles = np.linspace(-3.0, 3.0, 200)
    for one in beliefs:
        one[0].update((0.0, 0.0, 0.0), np.full(200, 5.0), angles, (0.0, 0.0, 0.0), 8.0, 0)
    second = a.hear(b)
    assert second is not first


def heard(grid, name="other", version=1):
    """A map as evidence of a robot."""
    evidence = np.select([grid.cells == 100, grid.cells == 0], [40, -40]).astype(np.int8)
    return MateEvidence(name, version, grid.with_cells(evidence))


def holder(grid):
    """A robot that has seen a map itself."""
    belief = Beliefs(["own"], (20.0, 20.0), (0.0, 0.0))[0]
    robot = UnknownStarts(belief)
    robot.heard["own"] = MateEvidence("own", belief.version, heard(grid).evidence)
    return robot


MARKED = [(10, 12, 10, 149), (107, 109, 10, 149), (10, 109, 10, 12), (10, 109, 147, 149)]
MARKED += [(12, 60, 50, 53), (40, 43, 90, 147)]


@pytest.mark.slow
def test_a_place_that_the_maps_contradict_is_revised():
    marked, true, wrong = drawn(*MARKED), Pose(4.0, -3.0, 2.0), Pose(2.0, 3.0, 0.3)
    robot = holder(marked)
    robot.store(heard(moved(marked, true)))
    robot.accepted["other"], robot.T_own_other["other"] = Alignment(wrong, 1.0, 1.0, 10.0), wrong
    assert robot.attempt("other") == "revised"
    assert robot.T_own_other["other"] == pytest.approx(true, abs=0.03)
    assert robot.accepted["other"].confidence < 1.0


def test_a_place_that_the_maps_contradict_is_withdrawn_when_there_is_no_better_one():
    one, two, wrong = drawn(*MARKED), drawn((20, 23, 5, 140), (60, 63, 20, 120)), Pose(0.0, 0.0, 0.0)
    robot = holder(one)
    alone = robot.merged().cells
    robot.store(heard(two))
    robot.accepted["other"], robot.T_own_other["other"] = Alignment(wrong, 1.0, 1.0, 10.0), wrong
    assert not np.array_equal(robot.merged().cells, alone)
    assert robot.attempt("other") == "withdrawn"
    assert "other" not in robot.T_own_other
    assert np.array_equal(robot.merged().cells, alone)
    robot.store(heard(two, version=2))
    assert robot.attempt("other") is None  # nothing more is known than at the last attempt


@pytest.mark.slow
def test_a_less_sure_place_does_not_replace_a_good_one():
    marked, true = drawn(*MARKED), Pose(4.0, -3.0, 2.0)
    held = Pose(4.02, -3.0, 2.001)
    robot = holder(marked)
    robot.store(heard(moved(marked, true)))
    robot.accepted["other"], robot.T_own_other["other"] = Alignment(held, 1.0, 1.0, 10.0), held
    assert robot.attempt("other") is None
    assert robot.T_own_other["other"] == held
    assert robot.alignments["other"].accepted


@pytest.mark.slow
def test_a_robot_is_found_through_what_another_has_seen():
    walls = [*MARKED, (10, 109, 240, 243), (60, 63, 150, 200), (107, 109, 149, 240), (10, 12, 149, 240)]
    walls += [(80, 83, 200, 240), (20, 50, 180, 183), (90, 107, 170, 173)]
    whole = drawn(*walls, shape=(120, 250)).cells.copy()
    whole[45:75, 147:149] = 0  # a door between the rooms

    def part(left, right):
        cells = np.full_like(whole, -1)
        cells[:, left:right] = whole[:, left:right]
        return Grid(cells, 0.1)

    near, between, far = part(0, 100), part(20, 245), part(150, 250)
    T_between, T_far = Pose(1.0, -2.0, 0.5), Pose(-3.0, 1.0, 2.0)
    robot = holder(near)
    robot.store(heard(moved(far, T_far), "far"))
    assert robot.attempt("far") == "refused"
    robot.store(heard(moved(between, T_between), "between"))
    assert robot.attempt("between") == "accepted"
    assert robot.attempt("far") == "accepted"
    assert robot.T_own_other["far"] == pytest.approx(T_far, abs=0.05)
    assert list(robot.accepted) == ["between", "far"]


@pytest.mark.slow
def test_same_maps_same_bytes(pairs, aligned):
    one, two = aligned(0), align(pairs[0].a, pairs[0].b)
    assert one == two
