import math
import tracemalloc

import numpy as np
import pytest
from pydantic import TypeAdapter
from scipy.spatial.distance import pdist

from covey.errors import InvalidValueError, PlacementError
from covey.random import generator
from covey.world.placement import start_search
from covey.world.placement.farthest import farthest, ranks
from covey.world.placement.placing import place
from covey.world.placement.start_search import Standing
from covey.world.records.starts import Start
from covey.world.standing import gap_to_wall
from covey.world.world import World

STARTS = TypeAdapter(Start)


def start(declared, world, count, radius=0.25, taken=(), seed=0):
    record = STARTS.validate_python(declared)
    return place(record, world, np.full(count, radius), generator(seed, "start"), taken)


def check_free(world, poses, radius):
    gaps = [gap_to_wall(world, x, y, 1.0) for x, y, _ in poses]
    assert min(gaps) >= radius - 1e-6
    assert pdist(poses[:, :2]).min() >= 2 * radius
    assert world.free[tuple(world.grid.to_cells(poses[:, :2]).T)].all()


def test_a_line_is_where_it_is_declared():
    poses = start(
        {"line": {"from": [-38, 38], "step": [0, -2], "heading_deg": -90}}, World.terrain("maze"), 30, radius=0.3
    )
    np.testing.assert_allclose(poses[:, :2], [(-38, 38 - 2 * i) for i in range(30)])
    np.testing.assert_allclose(poses[:, 2], -math.pi / 2)


def test_poses_are_taken_as_they_are():
    poses = start([[1, 1, 90], [0, 0, 0]], World.empty(4, 4), 2)
    np.testing.assert_allclose(poses, [(1, 1, math.pi / 2), (0, 0, 0)])


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ([[0.0, 1.9, 0]], r"robot 0 cannot start at \(0, 1.9\): a wall is 0.1 m away.*radius of the body is 0.25 m; "
                          r"the nearest free place is \((-?0.0\d), 1.7\d\)"),
        ([[0, 2.02, 0]], "inside a wall"),
        ([[5, 0, 0]], "outside the world"),
        ([[0, 0, 0], [0.3, 0, 0]], r"robot 1 .* overlaps robot 0 at \(0, 0\) by 0.2 m; the nearest free place is"),
        ([[0, 0, 0], [1, 1, 0], [2, 2, 0]], "3 start poses are given for 1|3 start poses are given for 2"),
    ],
)  # fmt: skip
def test_a_pose_that_is_not_free_says_why_and_what_is(declared, message):
    with pytest.raises(PlacementError, match=message):
        start(declared, World.empty(4, 4, 0.05), min(len(declared), 2))


def test_outside_an_open_border_is_outside():
    world = World.empty(4, 4, border="open")
    assert start([[1.95, 0, 0]], world, 1).shape == (1, 3)
    with pytest.raises(PlacementError, match="outside the world"):
        start([[2.02, 0, 0]], world, 1)


def test_robots_of_other_groups_are_in_the_way():
    with pytest.raises(PlacementError, match="a robot of another group"):
        start([[0, 0, 0]], World.empty(4, 4), 1, taken=[(0.3, 0, 0.2)])


def test_names_are_used():
    with pytest.raises(PlacementError, match="scout7 cannot"):
        place([(9, 9, 0)], World.empty(4, 4), [0.2], generator(0, "start"), names=["scout7"])


def test_a_pose_that_is_no_number_is_refused():
    with pytest.raises(InvalidValueError, match="finite"):
        place([(math.nan, 0, 0)], World.empty(4, 4), [0.2], generator(0, "start"))


@pytest.mark.parametrize(
    "declared",
    [
        {"together": {"around": [0, 1]}}, {"together": {}}, {"room": "largest"}, {"spread": {}}, {"apart": {}},
        {"room": "largest", "order": "x_then_y"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("count", [1, 12])
def test_chosen_poses_are_free_and_repeat(declared, count):
    world = World.office(seed=5)
    poses = start(declared, world, count)
    assert poses.shape == (count, 3)
    if count > 1:
        check_free(world, poses, 0.25)
    np.testing.assert_array_equal(poses, start(declared, world, count))


def test_a_flock_is_dense_and_does_not_cross_a_wall():
    world = World.polygons([(0, 0), (10, 0), (10, 10), (0, 10)], walls_m=[[(5, 0), (5, 9)]])
    poses = start({"together": {"around": [4.5, 1], "gap_m": 0.1}}, world, 20)
    assert (poses[:, 0] < 5).all()
    # 20 discs with 0.6 m to each other, at a quarter of the densest packing: within a half disc of this radius.
    radius = math.sqrt(4 * 20 * (0.6**2 * math.sqrt(3) / 2) * 2 / math.pi)
    assert np.hypot(poses[:, 0] - 4.5, poses[:, 1] - 1).max() < radius


def test_different_sizes_keep_apart():
    world, radii = World.empty(6, 6), np.array([0.5, 0.1, 0.5, 0.1, 0.3])
    poses = place(STARTS.validate_python({"together": {}}), world, radii, generator(0, "s"), taken=[(0, 0, 0.4)])
    everyone = np.vstack((poses[:, :2], (0, 0)))
    sizes = np.append(radii, 0.4)
    for i in range(6):
        for j in range(i):
            assert np.hypot(*(everyone[i] - everyone[j])) >= sizes[i] + sizes[j] + 0.1 - 1e-6


def test_spread_robots_are_far_apart():
    # Of five points in a square of 9.5 m that maximise the least distance, the fifth is half a diagonal from corners;
    # the greedy choice is within a factor of two of it (Gonzalez 1985).
    poses = start({"spread": {}}, World.empty(10, 10), 5)
    assert pdist(poses[:, :2]).min() > 9.5 / math.sqrt(2) / 2
    assert len(set(poses[:, 2])) == 5
    other = start({"spread": {"heading_deg": 90}}, World.empty(10, 10), 5, seed=1)
    assert (poses[0] != other[0]).any()
    np.testing.assert_allclose(other[:, 2], math.pi / 2)


def test_a_room_is_filled_from_its_west_side():
    # Two rooms with a door of 1 m between them; the eastern one is larger: x from 2.1 to 8.
    world = World.polygons([(0, 0), (8, 0), (8, 4), (0, 4)], walls_m=[[(2, 0), (2, 1)], [(2, 2), (2, 4)]], wall_m=0.2)
    poses = start({"room": "largest", "order": "x_then_y", "gap_m": 0.1}, world, 10, radius=0.25)
    # The room keeps half of 1.2 m from its walls. In a column 2.8 m high there are 5 bodies, 0.6 m apart.
    # The first one stands a little farther west, in front of the door.
    np.testing.assert_allclose(poses[1:5, 0], 2.1 + 0.6, atol=0.05)
    assert 2.1 < poses[0, 0] <= poses[1, 0]
    assert (np.diff(poses[:, 0]) >= 0).all()
    assert (np.diff(poses[1:4, 1]) >= 0.6 - 1e-9).all()
    assert poses[5, 0] > poses[1, 0] + 0.3


def test_apart_is_anywhere_with_equal_probability():
    poses = start({"apart": {"gap_m": 0.0}}, World.empty(20, 10, 0.1), 400, radius=0.04)
    check_free(World.empty(20, 10, 0.1), poses, 0.04)
    # Standard deviations of uniform x, y and heading: a / sqrt(12), within 4 standard errors of their estimates.
    for values, width in ((poses[:, 0], 20), (poses[:, 1], 10), (poses[:, 2], 2 * math.pi)):
        assert values.mean() == pytest.approx(0, abs=4 * width / math.sqrt(12 * 400))
        assert values.std() == pytest.approx(width / math.sqrt(12), rel=4 * math.sqrt(0.2 / 400))
    assert (poses != start({"apart": {"gap_m": 0.0}}, World.empty(20, 10, 0.1), 400, radius=0.04, seed=1)).any()
    heading = start({"apart": {"heading_deg": 90}}, World.empty(4, 4), 3)[:, 2]
    np.testing.assert_allclose(heading, math.pi / 2)


def test_apart_is_not_behind_closed_walls():
    world = World.polygons([(0, 0), (8, 0), (8, 4), (0, 4)], walls_m=[[(2, 0), (2, 4)]])
    assert (start({"apart": {}}, world, 20)[:, 0] > 2).all()


def test_hallway_ends_are_the_places_in_halls_nearest_to_the_edge():
    world = World.building(seed=2)
    poses = start({"hallway_ends": {}}, world, 12)
    check_free(world, poses, 0.25)
    edges = 25 - np.abs(poses[:, :2]).max(axis=1)
    for x, y, _ in poses:
        assert any(x0 < x < x1 and y0 < y < y1 for x0, y0, x1, y1 in world.halls)
    # The first hall runs from the south to the north; its ends are closed 2 m from the edge (border and wall).
    np.testing.assert_allclose(edges[:2], 2 + 0.25 + 0.125, atol=0.13)
    assert (np.diff(edges) >= -1e-9).all()
    np.testing.assert_array_equal(poses, start({"hallway_ends": {}}, world, 12))


def test_hallway_ends_need_a_world_that_knows_its_halls():
    with pytest.raises(PlacementError, match=r"maze has no halls.*use a generated building"):
        start({"hallway_ends": {}}, World.maze(size_m=(8, 8)), 2)


@pytest.mark.parametrize("declared", [
    {"together": {}}, {"spread": {}}, {"apart": {}}, {"room": "largest"}, {"room": "largest", "order": "x_then_y"}
])  # fmt: skip
def test_more_robots_than_fit_is_an_error(declared):
    with pytest.raises(PlacementError, match=r"only \d+ of 100 robots"):
        start(declared, World.empty(3, 3), 100)
    with pytest.raises(PlacementError, match=r"fits nowhere|only 0 of 1"):
        start(declared, World.empty(3, 3), 1, radius=2.0)


def test_spreading_over_a_large_world_takes_memory_for_what_it_tries():
    world = World.empty(200, 200, 0.1)
    start({"spread": {}}, world, 20)  # what belongs to the world is kept with it
    tracemalloc.start()
    try:
        start({"spread": {}}, world, 20)
        assert tracemalloc.get_traced_memory()[1] < 30 * world.grid.cells.size
    finally:
        tracemalloc.stop()


MANY = (
    {"together": {}},
    {"together": {"around": [3, -2], "gap_m": 0.3}},
    {"together": {"around": "random"}},
    {"spread": {}},
    {"apart": {}},
    {"room": "largest"},
    {"room": "largest", "order": "x_then_y"},
    [[1.0, 1.0, 0.0]],
)


@pytest.mark.parametrize("seed", range(2))
def test_groups_one_after_the_other_stand_where_each_alone_would_among_those_before(seed):
    world, draws = World.empty(16, 12), np.random.default_rng(seed)
    standing, taken = Standing(world), np.empty((0, 3))
    for group in range(16):
        declared, radius = MANY[draws.integers(len(MANY))], float(draws.choice([0.15, 0.3]))
        count = 1 if isinstance(declared, list) else int(draws.integers(1, 5))
        given = (declared, world, count, radius)
        try:
            alone = start(*given, taken=taken, seed=group)
        except PlacementError as error:
            with pytest.raises(PlacementError) as caught:
                start(*given, taken=standing, seed=group)
            assert str(caught.value) == str(error)
            continue
        np.testing.assert_array_equal(start(*given, taken=standing, seed=group), alone)
        taken = np.vstack((taken, np.column_stack((alone[:, :2], np.full(count, radius)))))
        standing.add(alone[:, :2], np.full(count, radius))


@pytest.mark.parametrize("declared", [{"together": {}}, {"room": "largest"}, {"apart": {}}])
def test_the_work_for_a_group_does_not_grow_with_the_groups_before(declared, monkeypatch):
    """Cells around a body are crossed out twice: for the group itself and for those after it."""
    world, work = World.empty(20, 20), []
    fence = start_search._fence
    monkeypatch.setattr(start_search, "_fence", lambda *given: (work.append(given), fence(*given)))
    standing = Standing(world)
    for group in range(40):
        placed = start(declared, world, 1, taken=standing, seed=group)
        standing.add(placed[:, :2], np.full(1, 0.25))
    assert len(work) <= 2 * 40
    assert pdist(standing.taken[:, :2]).min() >= 0.5


@pytest.mark.parametrize("taken", [(), [(0.3, 0.2, 0.4), (1.0, 1.0, 0.2)]])
def test_each_robot_of_a_spread_team_has_the_place_with_the_most_room(taken):
    """The plain rule, cell by cell: of equal ones the first of a random order."""
    world, radii = World.empty(4, 3), np.array([0.1, 0.13, 0.1, 0.13, 0.1])
    random = np.random.default_rng(3)
    ours = place(STARTS.validate_python({"spread": {}}), world, radii, np.random.default_rng(3), taken)
    cells = np.flatnonzero(world.free & (world.clearance >= 0.13 * (1 - 1e-6)))
    cells = cells[random.permutation(len(cells))]
    points = world.grid.to_world(np.column_stack(np.unravel_index(cells, world.grid.shape)))
    bodies = [tuple(body) for body in taken]
    for pose, radius in zip(ours, radii, strict=True):
        room = np.full(len(points), np.inf)
        for x, y, r in bodies:
            room = np.minimum(room, np.hypot(points[:, 0] - x, points[:, 1] - y) - r)
        assert pose[:2].tolist() == points[np.argmax(room)].tolist()
        bodies.append((*pose[:2].tolist(), radius))


def test_of_points_with_equal_room_the_first_of_the_order_is_taken():
    points, order = np.stack(np.meshgrid(np.arange(20.0), np.arange(20.0)), -1).reshape(-1, 2), np.arange(400)[::-1]
    room, chosen = np.full(400, 5.0), np.zeros(3, np.int64)
    assert farthest(points, ranks(order), room, np.full(3, 0.25), 0.1, chosen) == 3
    assert chosen[0] == 399  # at (19, 19)
    assert chosen[1] == 393  # at (13, 19), 6 m away: the first whose distance to the body leaves it 5 m
    np.testing.assert_allclose(room[[398, 397]], [0.75, 1.75])
