"""The page about a first change is true: each block is executed."""

import re
import sys
from pathlib import Path

import pytest

import covey
from covey.cli import main
from covey.registry import forget_files
from covey.scenario.load import load_scenario
from covey.viewer.inspect_robot import inspector

PAGE = (Path(__file__).parents[1] / "docs" / "your-first-change.md").read_text(encoding="utf-8")


def _blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    sensor, _ = _blocks("python")
    (scenario,) = _blocks("yaml")
    (tmp_path / "vane.py").write_text(sensor)
    (tmp_path / "wind.yaml").write_text(scenario)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    forget_files()
    sys.modules.pop("vane", None)


def test_the_commands_print_what_the_page_says(folder, capsys):
    told = [block.split("$ ")[1:] for block in _blocks("console")]
    for command, *said in (one.rstrip("\n").split("\n") for block in told for one in block):
        code = main(command.split()[1:] + (["--out", "run"] if " run " in command else []))
        out = capsys.readouterr().out
        assert code in (0, 3, None), command  # 3: the time is over, as it should be
        assert not said or out.rstrip("\n").split("\n") == said


def test_a_mistake_is_answered_as_the_page_says(folder):
    (message,) = re.findall(r"```\n(wind.yaml:.*)\n```", PAGE)
    (folder / "wind.yaml").write_text((folder / "wind.yaml").read_text().replace("sigma_deg: 1", "sigma: 1"))
    with pytest.raises(covey.ScenarioError) as error:
        load_scenario("wind.yaml")
    assert str(error.value) == message


def test_the_robot_turns_into_the_wind_and_its_panel_has_the_reading(folder):
    sim = load_scenario("wind.yaml").build("run")
    while not sim.done:
        sim.step()
    assert sim.state.pose[:, 2] == pytest.approx([1.5708] * 2, abs=0.1)  # 90 degrees, as the wind
    plain = {}
    inspector(sim, [0], {}, plain)
    assert "WindVane" in dict(plain["inspector"][0]["sections"]["Readings"])


def test_the_test_on_the_page_passes(folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    _, test = _blocks("python")
    found = {}
    exec(test, found)
    checks = found["TestWindVane"]()
    for name in dir(checks):
        if name.startswith("test_"):
            getattr(checks, name)()
    assert all(f"`{one}`" in PAGE for one in covey.testing.__all__ if one.endswith("Checks") and len(one) > 12)
