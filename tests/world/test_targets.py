import math

import numpy as np
import pytest
from shapely import LineString, box
from shapely.ops import unary_union

import covey
from covey.errors import InvalidValueError, ScenarioError
from covey.geometry.faces import face_list, faces
from covey.geometry.grid import Grid
from covey.scenario.load import load_scenario
from covey.testing.boundary import check_boundary
from covey.world.placement.targets import lay
from covey.world.targets import Targets
from covey.world.world import FREE, WALL, World

ROOM = World.empty(4, 4, 0.1)  # free from -2 to 2 m


def _two_rooms(door: bool = False) -> World:
    """Two rooms of 3 x 3 m side by side with a wall of 0.2 m between x = 0 and 0.2, and a door of 1 m if wanted."""
    cells = np.full((32, 64), WALL, np.uint8)
    cells[1:31, 1:31] = cells[1:31, 33:63] = FREE
    if door:
        cells[10:20, 31:33] = FREE
    return World(Grid(cells, 0.1, (-3.1, -1.6, 0.0)))


def test_faces_by_hand():
    free = np.array([[0, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0]], bool)
    bits = faces(free, ~free)
    assert bits[1].tolist() == [0, 8 + 4 + 2, 8 + 1 + 2, 0]
    assert (bits[[0, 2]] == 0).all()
    assert sorted(map(tuple, face_list(free, ~free).tolist())) == [
        (1, 1, 1),
        (1, 1, 2),
        (1, 1, 3),
        (1, 2, 0),
        (1, 2, 1),
        (1, 2, 3),
    ]


@pytest.mark.parametrize(
    ("at", "place", "normal"),
    [
        ((1.9, 0.33), (1.995, 0.33), (-1, 0)),
        ((0.33, -2.03), (0.33, -1.995), (0, 1)),  # a little inside the wall
        ((-1.7, 1.9), (-1.7, 1.995), (0, -1)),
    ],
)
def test_a_placed_target_moves_to_the_nearest_face(at, place, normal):
    laid = lay([{"kind": "victim", "at": at, "height_m": 0.4}], ROOM, [(0, 0)], [0.2], 1)
    np.testing.assert_allclose(laid.positions, [(*place, 0.4)], atol=1e-6)
    np.testing.assert_allclose(laid.normals, [normal], atol=1e-12)


def test_in_a_turned_world_faces_are_turned():
    turned = World(Grid(ROOM.grid.cells, 0.1, (0.0, 0.0, math.pi / 2)))  # x of the cells points north
    laid = lay([{"kind": "victim", "at": (-2.05, 4.0)}], turned, [(-2.1, 2.1)], [0.2], 1)
    np.testing.assert_allclose(laid.positions[0, :2], (-2.05, 4.095), atol=1e-12)
    np.testing.assert_allclose(laid.normals, [(0, -1)], atol=1e-12)


def test_the_side_selects_the_face_of_a_thin_wall():
    world = _two_rooms(door=True)
    for side, x in ((180, -0.005), (0, 0.205)):
        laid = lay([{"kind": "victim", "at": (0.1, 1.0), "side_deg": side}], world, [(-1.5, 0)], [0.2], 1)
        np.testing.assert_allclose(laid.positions[0, :2], (x, 1.0), atol=1e-6)


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ([{"kind": "a", "at": (0, 0)}], "no face of a wall within 0.5 m; move it, or set on: floor"),
        ([{"kind": "a", "at": (90, 0)}], "within 0.5 m; move it; it is outside the world, x "),
        ([{"kind": "a", "at": (2.05, 0), "on": "floor"}], r"a at \(2.05, 0\) is in a wall; move it"),
        ([{"kind": "a", "at": (90, 0), "on": "floor"}], "is outside the world, x -2.1 to 2.1 m, y -2.1 to 2.1 m; move"),
        ([{"knd": "a", "at": (1.9, 0)}], r"^targets.0: unknown key 'knd', did you mean 'kind'\?$"),
        ([{"drwa": "a"}], r"^targets.0: unknown key 'drwa', did you mean 'draw'\?$"),
        ([{"kind": "a"}], "^targets.0.at: 'at' is missing$"),
        ([{"kind": "a", "at": (1, 2, 3)}], r"^targets.0.at: must have at most 2 values; given: \(1, 2, 3\)$"),
        ([{"draw": "a", "box_m": (0, 1, 1, 0)}], "^targets.0.box_m: the south edge, 1, is not south of the north edge"),
        ([{"kind": "a", "at": (1.9, 0), "side_deg": 0}], "that looks to 0°"),
        ([{"kind": "a", "at": (1.9, 0), "identity": 3}, {"draw": "b", "count": 2, "first_identity": 2}], "identity 3"),
        ([{"draw": "b", "count": 500}], "only .* of 500 targets of kind b"),
        ([{"draw": "b", "box_m": (5, 5, 6, 6)}], "only 0 of 1"),
        ([{"kind": "a", "at": (1.9, 0), "sise_m": 1}], "unknown key 'sise_m'"),
        ([{"kind": "a b", "at": (1.9, 0)}], "targets"),
    ],
)
def test_refused(targets, message):
    with pytest.raises(InvalidValueError, match=message):
        lay(targets, ROOM, [(0, 0)], [0.2], 1)


def test_deep_in_a_wall_is_refused():
    world = _two_rooms(door=True)
    cells = world.grid.cells.copy()
    cells[0:4] = WALL
    world = world.with_cells(cells)  # solid up to y = -1.2
    with pytest.raises(InvalidValueError, match=r"in a wall, 0\.2.* m behind"):
        lay([{"kind": "a", "at": (-1.55, -1.45)}], world, [(-1.5, 0)], [0.2], 1)


@pytest.mark.parametrize("at", [(2.3, 0.0), (0.0, -2.2)])
def test_behind_the_outer_wall_is_as_wrong_as_deep_in_one(at):
    with pytest.raises(InvalidValueError, match=r"a at .* is outside the world, x -2.1 to 2.1 m, .* m behind"):
        lay([{"kind": "a", "at": at}], ROOM, [(0, 0)], [0.2], 1)


def test_what_no_robot_can_see_is_refused_unless_allowed():
    hidden = {"kind": "a", "at": (3.0, 1.0)}
    lay([hidden], _two_rooms(door=True), [(-1.5, 0)], [0.2], 1)
    with pytest.raises(InvalidValueError, match="no robot can see a at"):
        lay([hidden], _two_rooms(), [(-1.5, 0)], [0.2], 1)
    with pytest.raises(InvalidValueError, match="no robot can see a at"):  # the door is too narrow for this robot
        lay([hidden], _two_rooms(door=True), [(-1.5, 0)], [0.6], 1)
    assert len(lay([hidden | {"allow_unseeable": True}], _two_rooms(), [(-1.5, 0)], [0.2], 1)) == 1
    lay([hidden], _two_rooms(), [(-1.5, 0), (1.5, 0)], [0.2, 0.2], 1)
    drawn = lay([{"draw": "a", "count": 10}], _two_rooms(), [(-1.5, 0)], [0.2], 1)
    assert (drawn.positions[:, 0] < 0).all()


def test_a_target_is_seeable_where_a_brute_force_search_finds_a_view():
    """From a room, through a door of 1 m, only a part of the next room is seen by a robot too wide for the door."""
    world, start, radius = _two_rooms(door=True), np.array([-1.5, 0.0]), 0.6
    walls = unary_union(
        [box(*corner, *(corner + 0.1)) for corner in world.grid.to_world(np.argwhere(world.solid)) - 0.05]
    )
    stands = world.grid.to_world(np.argwhere(world.free & (world.clearance >= radius)))
    stands = stands[stands[:, 0] < 0]
    agree = 0
    for at in ((0.6, 0.2), (0.6, 1.2), (0.3, -1.4), (1.2, 0.0), (2.6, 0.0), (0.25, 0.9)):
        away = stands - at
        near = stands[np.hypot(*away.T) <= 2.0]
        seen = any(not LineString([at, p]).intersects(walls) for p in near)
        record = {"kind": "a", "at": at, "on": "floor"}
        try:
            lay([record], world, [start], [radius], 1)
            assert seen, at
        except InvalidValueError:
            assert not seen, at
        agree += seen
    assert 0 < agree < 6


def test_draws():
    world = World.office(seed=3)
    start = covey.Simulation(world, 1).state.pose
    declared = [{"draw": "victim", "count": 30, "gap_m": 1.0, "size_m": 0.4}, {"draw": "fire", "on": "floor"}]
    laid = lay(declared, world, start, [0.2], 7)
    assert laid.kinds == ("victim",) * 30 + ("fire",)
    assert laid.identities.tolist() == list(range(31))
    gaps = np.linalg.norm(laid.positions[:30, None] - laid.positions[:30], axis=-1) + 9 * np.eye(30)
    assert gaps.min() >= 1.0
    before = laid.positions[:30, :2] + 0.02 * laid.normals[:30]
    behind = laid.positions[:30, :2] - 0.02 * laid.normals[:30]
    along = 0.19 * laid.normals[:30, ::-1]
    assert world.free[tuple(world.grid.to_cells(before).T)].all()
    assert world.solid[tuple(world.grid.to_cells(behind).T)].all()
    for side in (-1, 1):
        assert world.free[tuple(world.grid.to_cells(before + side * along).T)].all()
    again = lay(declared, world, np.vstack((start, start + 0.3)), [0.2, 0.2], 7)
    np.testing.assert_array_equal(again.positions, laid.positions)  # more robots, the same places
    alone = lay(declared[1:], world, start, [0.2], 7)
    np.testing.assert_array_equal(alone.positions[0], laid.positions[-1])  # other records draw nothing from it
    other = lay(declared, world, start, [0.2], 8)
    assert not np.array_equal(other.positions, laid.positions)
    box_m = (-5.0, -5.0, 5.0, 5.0)
    there = lay([{"draw": "a", "count": 5, "box_m": box_m, "side_deg": 90}], world, start, [0.2], 1)
    assert (np.abs(there.positions[:, :2]) <= 5).all()
    np.testing.assert_allclose(there.normals, [(0, 1)] * 5, atol=1e-12)


def test_a_simulation_has_targets_that_robots_cannot_reach(tmp_path):
    sim = covey.Simulation(ROOM, 2, "still", targets=[{"kind": "victim", "at": (1.9, 0)}], recording=tmp_path / "run")
    assert sim.targets.row(0) == 0
    assert sim.targets.row(1) == -1
    for _ in range(3):
        sim.step()
    check_boundary(sim)
    run = sim.close()
    assert run.manifest["targets"] == [
        {"kind": "victim", "identity": 0, "position_m": [1.995, 0.0, 0.25], "side_deg": 180.0, "size_m": 0.5}
    ]


def test_two_targets_with_one_identity():
    with pytest.raises(InvalidValueError, match="identity 4 is given to two"):
        Targets(("a", "b"), np.array([4, 4]), np.zeros((2, 3)), np.zeros((2, 2)), np.ones(2))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"identities": [-1, 4]}, r"whole numbers from 0 on; given: \[-1, 4\]"),
        ({"identities": [1.5, 4]}, r"whole numbers from 0 on; given: \[1.5, 4.0\]"),
        ({"identities": ["a", "b"]}, "the identities of targets are <U1 of the shape"),
        ({"kinds": ("a", "b", "c")}, r"3 kinds need finite numbers of the shape \(3,\)"),
        ({"positions": np.zeros((2, 2))}, r"the positions of targets are float64 of the shape \(2, 2\)"),
        ({"normals": np.full((2, 2), np.nan)}, "the normals of targets"),
        ({"sizes": 0.5}, "the sizes of targets"),
    ],
)
def test_arrays_that_are_no_targets_are_refused(changed, said):
    right = {"kinds": ("a", "b"), "identities": [4, 0], "positions": np.zeros((2, 3)), "normals": np.zeros((2, 2))}
    right["sizes"] = np.ones(2)
    assert Targets(**right).identities.dtype == np.int64
    with pytest.raises(InvalidValueError, match=said):
        Targets(**right | changed)


def test_a_scenario_names_the_place_of_a_wrong_target(tmp_path):
    path = tmp_path / "a.yaml"
    text = "world: {empty_m: [4, 4]}\nrobots: [{}]\ntargets:\n- {draw: victim, count: 2}\n- {kind: fire, at: [0, 0]}\n"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"targets\[1\]: fire at \(0, 0\) has no face") as caught:
        load_scenario(path).build()
    assert caught.value.problems[0].line == 5
    path.write_text(text.replace("at: [0, 0]", "at: [0, 0], on: floor"), encoding="utf-8")
    sim = load_scenario(path).build()
    assert sim.targets.kinds == ("victim", "victim", "fire")
    sim.close()


def test_a_thousand_targets():
    world = World.building(seed=2)
    start = covey.Simulation(world, 1).state.pose
    assert len(lay([{"draw": "a", "count": 1000}], world, start, [0.2], 1)) == 1000
