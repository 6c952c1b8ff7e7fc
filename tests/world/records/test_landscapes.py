import numpy as np
import pytest
from PIL import Image
from pydantic import TypeAdapter, ValidationError

from covey.errors import InvalidValueError, MapFileError
from covey.scenario.build import inputs, set_up
from covey.scenario.load import load_scenario
from covey.world.records.landscapes import GENERATED_GROUNDS, WorldRecord
from covey.world.world import World

WORLDS = TypeAdapter(WorldRecord)


@pytest.mark.parametrize("kind", GENERATED_GROUNDS)
def test_a_generator_takes_its_own_seed_or_that_of_the_run(tmp_path, kind):
    size = {"size_m": [30, 20], "range_m": [-3, 20]}
    run = WORLDS.validate_python({"generate": kind, **size})
    world = run.build(tmp_path, 3)
    assert world.ground is not None
    assert (world.ground.size_m, world.ground.range_m) == ((30, 20), (-3, 20))
    assert WORLDS.validate_python(run.model_dump()) == run
    if kind != "flat":
        own = WORLDS.validate_python({"generate": kind, "seed": 3, **size})
        np.testing.assert_array_equal(own.build(tmp_path, 7).ground.altitude, world.ground.altitude)


def test_a_height_map_with_walls_on_it(tmp_path):
    """A slope of 10 %, 1 m a level, 10 m between pixels, sampled anew each 2 m, and a map of 8 x 6 m."""
    Image.fromarray(np.tile(np.arange(10, dtype=np.uint8), (8, 1))).save(tmp_path / "slope.png")
    World.empty(8, 6, 0.1).save(tmp_path / "hall.yaml")
    declared = {"height_map": "slope.png", "spacing_m": 10, "m_per_step": 1, "resample_m": 2}
    world = WORLDS.validate_python({**declared, "walls": {"file": "hall.yaml"}}).build(tmp_path, 0)
    assert world.free_area_m2 == pytest.approx(48)
    assert world.ground.spacing_m == 2.0
    assert world.ground.altitude_at((3.0, 2.0)) == pytest.approx(4.5 + 0.3)
    bare = WORLDS.validate_python(declared).build(tmp_path, 0)
    assert bare.grid.shape == bare.ground.shape == (36, 46)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"generate": "hils"}, r"\{height_map: …\}, \{generate: hills, ridges, boulders or flat\}"),
        ({"generate": "hills", "walls": {"generate": "hills"}}, "walls are one of {terrain"),
        ({"generate": "hills", "roughness": 2}, "less than or equal to 1"),
        ({"generate": "hills", "spacing_m": 0}, "greater than or equal to 0.001"),
        ({"generate": "flat", "seed": 1}, "unknown key"),
        ({"height_map": ""}, "at least 1 character"),
        ({"height_map": "a.png", "spacing_m": 0}, "greater than or equal to 0.001"),
    ],
)
def test_wrong_declarations_say_what_is_allowed(declared, message):
    with pytest.raises(ValidationError, match=message):
        WORLDS.validate_python(declared)


def test_what_only_building_finds(tmp_path):
    with pytest.raises(MapFileError, match="no such file"):
        WORLDS.validate_python({"height_map": "a.png"}).build(tmp_path, 0)
    with pytest.raises(InvalidValueError, match="range_m is"):
        WORLDS.validate_python({"generate": "hills", "range_m": [0, 1]}).build(tmp_path, 0)
    with pytest.raises(InvalidValueError, match="at most 2"):
        WORLDS.validate_python({"generate": "hills", "size_m": [1e5, 1e5]}).build(tmp_path, 0)


def test_a_scenario_names_its_files_and_reads_them_anew(tmp_path):
    image, walls = tmp_path / "hill.png", tmp_path / "hall.yaml"
    Image.fromarray(np.zeros((30, 30), np.uint8)).save(image)
    World.empty(8, 6, 0.1).save(walls)
    (tmp_path / "s.yaml").write_text(
        "world: {height_map: hill.png, walls: {file: hall.yaml}}\n"
        "robots: [{name: r, robot: pioneer3dx, count: 1, start: [[0, 0, 0]], controller: still}]\n"
    )
    scenario = load_scenario(tmp_path / "s.yaml")
    assert inputs(scenario) == [walls.with_suffix(".pgm"), walls, image]
    assert set_up(scenario).world.ground.altitude.max() == 0
    Image.fromarray(np.full((30, 30), 50, np.uint8)).save(image)
    assert set_up(scenario).world.ground.altitude.max() == pytest.approx(5)
