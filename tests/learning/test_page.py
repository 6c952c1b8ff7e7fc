"""The code of the page about learning runs, and its tables name what there is."""

import re
from pathlib import Path

import pytest

from covey.controllers.policies.actions import actions
from covey.controllers.policies.observations import observations

PAGE = (Path(__file__).parents[2] / "docs" / "learning.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    space = {}
    for block in BLOCKS:
        exec(compile(block, "docs/learning.md", "exec"), space)
    assert (tmp_path / "policy.onnx.json").is_file()


@pytest.mark.parametrize("registry", [observations, actions], ids=["observations", "actions"])
def test_the_page_names_what_there_is(registry):
    rows = {name for row in re.findall(r"^\| (`[^|]+) \|", PAGE, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    assert set(registry.names()) <= rows
