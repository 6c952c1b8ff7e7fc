"""The schema that `covey new` writes, by which editors check scenarios."""

import json

import jsonschema
import yaml

from covey.scenario.shipped import library
from covey.scenario.starter import write_starter


def test_an_editor_takes_what_covey_takes_and_marks_a_field_that_is_not_there(tmp_path):
    written, _ = write_starter("search", tmp_path)
    text = written.read_text(encoding="utf-8")
    schema = text.partition("$schema=")[2].splitlines()[0]
    validator = jsonschema.Draft202012Validator(json.loads((tmp_path / schema).read_text(encoding="utf-8")))
    shipped = [path.read_text(encoding="utf-8") for path in library().values()]
    for one in map(yaml.safe_load, [text, *shipped]):
        assert [f"{one['name']}: {error.json_path} {error.message}" for error in validator.iter_errors(one)] == []
    for wrong in ({"robotz": []}, {"robots": [{"robot": {"base": "disc", "max_sped_m_s": 1}}]}):
        (error,) = validator.iter_errors(yaml.safe_load(text) | wrong)
        assert "robotz" in error.message or "max_sped_m_s" in error.message
