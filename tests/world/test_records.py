import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from covey.errors import InvalidValueError, MapFileError
from covey.world.records.generated import GENERATED
from covey.world.records.landscapes import WorldRecord
from covey.world.records.starts import Start
from covey.world.world import World

WORLDS, STARTS = TypeAdapter(WorldRecord), TypeAdapter(Start)


@pytest.mark.parametrize(
    ("declared", "area_m2"),
    [
        ({"terrain": "loop"}, 79.8**2 - 64**2),
        ({"empty_m": [10, 6]}, 60),
        ({"workspace_m": [[0, 0], [4, 0], [4, 3]], "resolution_m": 0.01}, 6),
        ({"generate": "maze", "opening": 1.0, "size_m": [10, 8], "resolution_m": 0.1}, 9.8 * 7.8),
    ],
)
def test_declared_worlds(tmp_path, declared, area_m2):
    record = WORLDS.validate_python({**declared, "wall_height_m": 3})
    world = record.build(tmp_path, 0)
    assert world.free_area_m2 == pytest.approx(area_m2, rel=0.01)
    assert world.wall_height_m == 3
    again = WORLDS.validate_python(record.model_dump())
    assert again == record


def test_a_file_is_relative_to_the_folder(tmp_path):
    (tmp_path / "maps").mkdir()
    World.empty(2, 1).save(tmp_path / "maps" / "hall.yaml")
    world = WORLDS.validate_python({"file": "maps/hall.yaml"}).build(tmp_path, 0)
    assert world.free_area_m2 == pytest.approx(2)
    assert world.wall_height_m == 2.0
    with pytest.raises(MapFileError, match="no such file"):
        WORLDS.validate_python({"file": "hall.yaml"}).build(tmp_path, 0)


@pytest.mark.parametrize("kind", GENERATED)
def test_a_generator_takes_its_own_seed_or_that_of_the_run(tmp_path, kind):
    own, run = WORLDS.validate_python({"generate": kind, "seed": 3}), WORLDS.validate_python({"generate": kind})
    np.testing.assert_array_equal(own.build(tmp_path, 7).grid.cells, run.build(tmp_path, 3).grid.cells)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({}, "a world is one of"),
        ({"terain": "maze"}, "a world is one of"),
        ({"generate": "town"}, "maze, office, cave, building, rooms, rubble or rescue"),
        ("maze", "a world is one of"),
        (None, "a world is one of"),
        ({"terrain": "mase"}, "'loop', 'cross', 'zigzag' or 'maze'"),
        ({"terrain": "maze", "size": 80}, "unknown key"),
        ({"terrain": "maze", "size_m": 0}, "greater than 0"),
        ({"empty_m": [10]}, "Field required|at least 2"),
        ({"empty_m": [10, -1]}, "greater than 0"),
        ({"empty_m": [10, 10], "resolution_m": float("nan")}, "greater than|finite"),
        ({"empty_m": [10, 10], "file": "a.yaml"}, "unknown key"),
        ({"workspace_m": [[0, 0], [1, 1], [1, 0], [0, 1]]}, "Self-intersection"),
        ({"file": ""}, "at least 1 character"),
        ({"generate": "maze", "opening": 2}, "less than or equal to 1"),
    ],
)
def test_wrong_declarations_say_what_is_allowed(declared, message):
    with pytest.raises(ValidationError, match=message):
        WORLDS.validate_python(declared)


@pytest.mark.parametrize(
    "declared",
    [
        {"empty_m": [1e5, 1e5]},
        {"terrain": "loop", "size_m": 1e5},
        {"generate": "office", "size_m": [1e5, 1e5]},
        {"generate": "maze", "size_m": [1e5, 1e5]},
        {"generate": "maze", "size_m": [1e5, 1e5], "road_m": 0.5, "resolution_m": 100},
        {"workspace_m": [[0, 0], [1e6, 0], [0, 1e6]]},
    ],
)
def test_huge_worlds_are_refused_before_memory_is_taken(tmp_path, declared):
    with pytest.raises(InvalidValueError, match=r"at most|at least two cells"):
        WORLDS.validate_python(declared).build(tmp_path, 0)


def test_starts_are_told_apart():
    line = STARTS.validate_python({"line": {"from": [-38, 38], "step": [0, -2]}})
    assert line.line.from_ == (-38, 38)
    assert line.model_dump() == {"line": {"from": (-38, 38), "step": (0, -2), "heading_deg": 0}}
    assert STARTS.validate_python([[1, 2, 90]]) == [(1, 2, 90)]
    assert STARTS.validate_python({"together": {}}).together.around is None
    for kind in ("together", "spread", "apart", "hallway_ends"):
        assert STARTS.validate_python({kind: {}}).model_dump().keys() == {kind}
    with pytest.raises(ValidationError, match="a start is a list"):
        STARTS.validate_python({"toghether": {}})
    with pytest.raises(ValidationError, match="largest"):
        STARTS.validate_python({"room": "smallest"})
