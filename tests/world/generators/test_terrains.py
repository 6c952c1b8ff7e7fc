import json
from pathlib import Path

import networkx
import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.world.editing.shapes import wall
from covey.world.generators.terrains import maze_walls, start_line
from covey.world.world import World

PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "terrains"
PUBLISHED = next(
    (p / "shared/data/terrains" for p in Path(__file__).parents if (p / "shared/data").is_dir()), PUBLISHED
)
NAMES = ["loop", "cross", "zigzag", "maze"]


def maze_graph():
    walls = maze_walls()
    graph = networkx.grid_2d_graph(10, 10)
    graph.remove_edges_from(((r, c), (r, c + 1)) for r, c in np.argwhere(walls.east))
    graph.remove_edges_from(((r, c), (r + 1, c)) for r, c in np.argwhere(walls.north))
    return graph


@pytest.mark.parametrize(
    ("name", "free_m2"),
    [
        # The ideal free areas 2304, 3264 and 6400 m² less the walls: the outer ones stand half inside.
        ("loop", 2304 - (80**2 - 79.8**2)),
        ("cross", 3264 - (80**2 - 79.8**2)),
        # Nine walls of 72 m from the inner face of an outer wall to half a thickness beyond their end.
        ("zigzag", 6400 - (80**2 - 79.8**2) - 9 * 0.2 * 72),
    ],
)
def test_free_area(name, free_m2):
    world = World.terrain(name)
    assert world.free_area_m2 == pytest.approx(free_m2, abs=1e-6)
    assert len(world.components()[1]) == 1


def test_free_area_of_the_maze():
    # 73 walls of 8 m by 0.2 m stand on the lattice; where they meet or end the area differs by at most 0.04 m² each.
    inner = World.terrain("maze").free_area_m2 - 79.8**2
    assert -inner == pytest.approx(73 * 8 * 0.2, abs=0.04 * 73)


def test_the_maze_is_the_published_one():
    walls, graph = maze_walls(), maze_graph()
    assert walls.east.sum() + walls.north.sum() == 73
    steps = networkx.single_source_shortest_path_length(graph, (9, 0))
    assert len(steps) == 100
    assert max(steps.values()) == 19
    degrees = [d for _, d in graph.degree()]
    assert {k: degrees.count(k) for k in range(1, 5)} == {1: 22, 2: 45, 3: 30, 4: 3}
    assert graph.number_of_edges() - graph.number_of_nodes() + 1 == 8


def test_zigzag_is_one_way_of_792_metres():
    world = World.terrain("zigzag", resolution_m=0.5, wall_m=0.5)
    free = world.free
    for i in range(9):
        column = world.grid.to_cells((8 * i - 32, 0.0))[1]
        ys = world.grid.to_world(np.argwhere(free[:, column : column + 1]))[:, 1]
        assert np.all(ys > 31) if i % 2 == 0 else np.all(ys < -31)
        assert len(ys) > 0


@pytest.mark.parametrize("name", NAMES)
def test_thirty_robots_fit_on_the_start_line(name):
    world = World.terrain(name)
    poses = np.array([start_line(i) for i in range(30)])
    assert poses[0] == pytest.approx((-38, 38, 0))
    assert poses[29] == pytest.approx((-38, -20, 0))
    cells = world.grid.to_cells(poses[:, :2])
    assert (world.clearance[cells[:, 0], cells[:, 1]] > 0.5).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_terrain_of_half_size_has_a_quarter_of_the_area(name):
    full, half = World.terrain(name), World.terrain(name, size_m=40, road_m=4, wall_m=0.1, resolution_m=0.05)
    assert half.free_area_m2 == pytest.approx(full.free_area_m2 / 4)
    assert start_line(3, 40, 4) == pytest.approx(np.array(start_line(3)) / 2)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("mase", {}, "known: loop, cross, zigzag, maze"),
        ("maze", {"size_m": 88}, "80"),
        ("maze", {"size_m": 81}, "multiple"),
        ("zigzag", {"size_m": 83}, "multiple"),
        ("loop", {"size_m": 16}, "larger than 16"),
        ("cross", {"size_m": 20}, "larger than 24"),
        ("loop", {"wall_m": 9}, "two cells"),
        ("loop", {"resolution_m": 4}, "two cells"),
        ("loop", {"road_m": -1}, "road_m"),
        ("loop", {"size_m": 1e5}, "at most"),
    ],
)
def test_what_does_not_fit_is_refused(name, options, message):
    with pytest.raises(InvalidValueError, match=message):
        World.terrain(name, **options)


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published maps are not here")
@pytest.mark.parametrize("name", NAMES)
def test_geometry_is_that_of_the_published_segments(name):
    import shapely

    data = json.loads((PUBLISHED / "terrains.json").read_text())["terrains"][name]
    lines = data["outer_walls"] + data["inner_walls"]
    solid = [wall([(a, b), (c, d)], 0.2) for a, b, c, d in lines]
    solid += [shapely.box(*block) for block in data["solid_blocks_xmin_ymin_xmax_ymax"]]
    world = World.terrain(name)
    centres = world.grid.to_world(np.argwhere(np.ones(world.grid.shape, bool)))
    expected = shapely.intersects_xy(shapely.union_all(solid), centres[:, 0], centres[:, 1])
    np.testing.assert_array_equal(world.solid.ravel(), expected)


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published maps are not here")
@pytest.mark.parametrize(("name", "share"), [("loop", 0.99), ("cross", 0.99), ("maze", 0.99), ("zigzag", 0.9)])
def test_walls_lie_where_the_published_maps_have_them(name, share):
    # The published maps were drawn by SLAM, at an unknown offset and slightly bent (zigzag visibly sheared). Less than
    # a quarter of the free area lies within a metre of a wall.
    theirs = World.from_file(PUBLISHED / f"{name}.pgm", resolution_m=0.2, border="open")
    points = theirs.grid.to_world(np.argwhere(theirs.solid))
    low, high = np.percentile(points, [0.5, 99.5], axis=0)
    points -= (low + high) / 2
    ours = World.terrain(name)
    cells = np.clip(ours.grid.to_cells(points), 0, np.array(ours.grid.shape) - 1)
    assert (ours.clearance[cells[:, 0], cells[:, 1]] < 1.0).mean() > share
