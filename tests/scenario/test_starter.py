"""What `covey new` writes is a run in which the robots get somewhere, and a schema by which editors check scenarios."""

import json

import jsonschema
import yaml

import covey
from covey.scenario.shipped import library
from covey.scenario.starter import write_starter


def test_the_first_robots_turn_away_before_they_touch_anything(tmp_path):
    written, _ = write_starter("search", tmp_path)
    run = covey.load_scenario(written).build(tmp_path / "run").run()
    assert run.metrics["collisions"] == run.metrics["collisions_wall"] == 0
    assert run.poses[-1, :, 1].max() - run.poses[:, :, 1].min() > 4.0, "they leave their lanes along x"


def test_an_editor_takes_what_covey_takes_and_marks_a_field_that_is_not_there(tmp_path):
    written, _ = write_starter("search", tmp_path)
    text = written.read_text(encoding="utf-8")
    schema = text.partition("$schema=")[2].splitlines()[0]
    validator = jsonschema.Draft202012Validator(json.loads((tmp_path / schema).read_text(encoding="utf-8")))
    shipped = [path.read_text(encoding="utf-8") for path in library().values()]
    for one in map(yaml.safe_load, [text, *shipped]):
        assert [f"{one['name']}: {error.json_path} {error.message}" for error in validator.iter_errors(one)] == []
    wrong = yaml.safe_load(text) | {"robotz": []}
    assert "robotz" in next(validator.iter_errors(wrong)).message
