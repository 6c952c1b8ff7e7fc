import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from covey.errors import InvalidValueError
from covey.random import generator
from covey.world.materials import MATERIALS, made_of, patches
from covey.world.records.landscapes import WorldRecord
from covey.world.world import World

WORLDS = TypeAdapter(WorldRecord)
SQUARE = [[0, 0], [6, 0], [6, 4], [0, 4]]


def at(world, x, y):
    return world.material_names[world.materials[tuple(world.grid.to_cells((x, y)))]]


def test_a_world_of_one_material():
    world = made_of(World.empty(2, 1), "metal")
    assert world.materials is not None
    assert {world.material_names[k] for k in np.unique(world.materials)} == {"metal"}
    assert made_of(world, None) is world


@pytest.mark.parametrize("declared", [
    {"terrain": "loop"}, {"empty_m": [3, 2]}, {"workspace_m": SQUARE}, {"generate": "maze"}, {"generate": "office"},
    {"generate": "cave"}, {"generate": "building"}, {"generate": "rooms"}, {"generate": "rubble"},
], ids=str)  # fmt: skip
def test_every_declared_world_takes_a_material(tmp_path, declared):
    world = WORLDS.validate_python({**declared, "material": "brick"}).build(tmp_path, 0)
    assert world.materials is not None
    assert {world.material_names[k] for k in np.unique(world.materials[world.solid])} == {"brick"}
    plain = WORLDS.validate_python(declared).build(tmp_path, 0)
    assert plain.materials is None
    np.testing.assert_array_equal(plain.grid.cells, world.grid.cells)


def test_a_map_without_materials_can_be_given_one(tmp_path):
    World.empty(2, 1).save(tmp_path / "hall.yaml")
    world = WORLDS.validate_python({"file": "hall.yaml", "material": "wood"}).build(tmp_path, 0)
    assert at(world, 1.02, 0) == "wood"


def test_obstacles_and_walls_of_their_own_materials():
    world = World.polygons(
        SQUARE,
        obstacles_m=[[(1, 1), (2, 1), (2, 2), (1, 2)], [(3, 1), (4, 1), (4, 2), (3, 2)]],
        walls_m=[[(1, 3), (5, 3)]],
        material="concrete",
        obstacle_materials=["wood", "metal"],
        wall_materials=["drywall"],
    )
    assert (at(world, 1.5, 1.5), at(world, 3.5, 1.5), at(world, 3.0, 3.0)) == ("wood", "metal", "drywall")
    assert at(world, 6.02, 2.0) == "concrete"


@pytest.mark.parametrize(
    "options", [{"wall_materials": ["wood"]}, {"material": "brick", "obstacle_materials": ["wood", "wood"]}]
)
def test_materials_of_polygons_are_one_each(options):
    with pytest.raises(InvalidValueError, match="must have one for each"):
        World.polygons(SQUARE, obstacles_m=[[(1, 1), (2, 1), (2, 2)]], walls_m=[[(1, 3), (5, 3)]], **options)


def test_an_unknown_material_says_which_there_are(tmp_path):
    with pytest.raises(InvalidValueError, match=r"did you mean 'concrete'.*drywall, metal"):
        made_of(World.empty(1, 1), "concret")
    with pytest.raises(ValidationError, match="'concrete', 'brick', 'wood', 'drywall' or 'metal'"):
        WORLDS.validate_python({"empty_m": [3, 2], "material": "random"})  # there is nothing random about it


def test_patches_grow_with_each_run():
    # With 5 materials at random, 4 of 5 edges between two cells are borders; a majority of 9 cells leaves fewer.
    borders = []
    for runs in (0, 1, 4):
        found = patches((200, 200), runs, generator(1, "test"))
        assert set(np.unique(found)) == set(range(len(MATERIALS)))
        borders.append(np.mean(found[:, 1:] != found[:, :-1]))
    assert borders[0] == pytest.approx(0.8, abs=0.01)
    assert borders[0] > borders[1] > borders[2]
