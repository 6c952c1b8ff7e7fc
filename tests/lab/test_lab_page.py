"""What docs/lab.md shows works as it is written."""

import re
from pathlib import Path

import pytest

from covey.lab.settings import OF_ROBOTS, DrawingSettings, LabSettings
from covey.onboard.group_view import GroupView

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "lab.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(code.replace("speed=1)", 'speed="max")').replace("seconds=2)", "seconds=0.25)"), found)
    assert (tmp_path / "ways.png").is_file()
    assert (tmp_path / "run.gif").is_file()
    assert (found["again"].poses == found["out"].poses).all()


@pytest.mark.parametrize("name", sorted({*LabSettings.model_fields, *OF_ROBOTS, *DrawingSettings.model_fields}))
def test_every_setting_has_its_row(name):
    firsts = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("|")]
    assert any(f"`{name}`" in first for first in firsts)


def test_everything_that_a_team_offers_is_on_the_page():
    offered = {name for name in vars(GroupView) if not name.startswith("_")} - {"at", "fields", "reading"}
    assert [name for name in sorted(offered) if f"`{name}" not in PAGE] == []


def test_every_field_of_mars_has_its_setting():
    # Table 1 of the paper, without those that the simulator sets itself
    fields = ["Robots", "Initial_pose", "Sampling_time", "Stop_time", "Workspace", "Bounds", "Non-holonomic"]
    fields += ["Command_delay", "Geometric_center", "Exp_over", "Exp_over_msg", "Iteration", "Time", "Filename"]
    fields += ["Max_linear_speed", "Wheels_semiaxis_length", "Diameter", "Distance_center_barycenter"]
    fields += ["Title", "Grid", "Show_initial_pose", "Show_real_shape", "Wake", "Wake_style", "Playback_speed"]
    seconds = " ".join(line.split("|")[2] for line in PAGE.splitlines() if line.startswith("|"))
    assert [field for field in fields if field not in seconds] == []


@pytest.mark.slow
def test_the_session_of_the_paper_takes_25_lines_and_repeats_its_events(capsys):
    path = ROOT / "examples" / "10_bounce_among_obstacles.py"
    code = path.read_text(encoding="utf-8")
    assert len(code.splitlines()) <= 25
    first, again, other = {}, {}, {}
    exec(code, first)
    exec(code, again)
    exec(code.replace("sampling_s=1, stop_s=1000,", "sampling_s=1, stop_s=100, seed=5,"), other)
    assert len(first["out"].commands) == 1000
    assert first["out"].events.equals(again["out"].events)
    assert (first["out"].poses == again["out"].poses).all()
    assert len(other["out"].commands) == 100
    assert not (first["out"].poses[:101] == other["out"].poses).all()
    inside = first["out"].poses[..., :2]
    assert inside.min() > 0.1  # never through a wall
    assert inside.max() < 9.9
