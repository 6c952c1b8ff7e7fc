"""`covey replay-robot`: the steps of one robot are recorded, and its controller is stepped against them, alone."""

import gzip
import json
import os
import shutil
import subprocess
import sys

import pytest

from covey.cli import main
from covey.registry import forget_files

CODE = """
import covey


async def patrol(robot, *, speed=0.4):
    for turn in range(100):
        robot.drive(speed, robot.random.uniform(-1.0, 1.0))
        robot.blackboard[robot.name] = turn
        robot.send({"turn": turn}, kind="word")
        if turn == 3:
            robot.leave_tag("here")
        heard = [m.payload["turn"] for m in robot.messages("word")]
        seen = [round(float(s.reading.ranges.min()), 3) for s in robot.samples("lidar")]
        robot.note(f"{turn} {heard} {dict(robot.blackboard)} {seen} {[t.content for t in robot.tags]}")
        await robot.sleep(0.2)
        if turn == 6:
            await robot.goto((10.0, -10.0), until=lambda r: r.time > 2.5)


@covey.controller(scope="group", sees=("pose",))
def ring(group):
    return [[0.2, 0.1, 0.0]] * group.count
"""
SCENARIO = """
world: {terrain: loop, size_m: 24, road_m: 4, resolution_m: 0.2}
robots:
  - {name: scout, count: 2, controller: "./mine.py:patrol", localization: noise, start: {together: {around: [-10, 10]}},
     robot: {base: pioneer3dx, mapping: {resolution_m: 0.2}, computer: {cpus: 1, speed: 0.5}}}
  - {name: ring, count: 2, controller: "./mine.py:ring", start: {together: {around: [10, 10]}}}
  - {name: minpos, count: 1, controller: minpos, start: {together: {around: [10, -10]}},
     robot: {base: pioneer3dx, mapping: {resolution_m: 0.2}}}
radio: {range_m: 60, loss: 0.1}
share_maps: {every_s: 0.5}
stop: {timeout_s: 3}
seed: 3
"""


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """Return a folder with a scenario, its controller, and its run."""
    folder = tmp_path_factory.mktemp("replay")
    (folder / "mine.py").write_text(CODE)
    (folder / "mine.yaml").write_text(SCENARIO)
    assert main(["run", str(folder / "mine.yaml"), "--out", str(folder / "run"), "--no-pictures", "-q"]) == 3
    return folder


@pytest.fixture(scope="module")
def recorded(shipped):
    """Return the same, with the steps of scout0 recorded."""
    assert main(["replay-robot", str(shipped / "run"), "scout0"]) == 0
    return shipped


def lines_of(path):
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


def test_a_robot_answers_alone_what_it_answered_among_the_others(recorded, capsys):
    log = recorded / "run" / "steps" / "scout0.jsonl.gz"
    lines = lines_of(log)
    assert {"step", "scan"} <= {next(iter(line)) for line in lines[1:]}
    shown = [line["step"]["fields"] for line in lines[1:] if "step" in line]
    assert any(fields["received"] and fields["received"]["fields"]["tiles"] for fields in shown), (
        "parts of others' maps"
    )
    assert any(fields["received"] and fields["received"]["fields"]["messages"]["tuple"] for fields in shown)
    assert any(fields["tags"] for fields in shown)
    assert main(["replay-robot", str(log)]) == 0
    assert f"scout0 gives the same answers in all {len(shown)} steps" in capsys.readouterr().out


def test_a_controller_that_ships_is_replayed_too(recorded, tmp_path, capsys):
    assert main(["replay-robot", str(recorded / "run"), "minpos0", "--out", str(tmp_path / "x.jsonl.gz")]) == 0
    assert "minpos0 gives the same answers in all 30 steps" in capsys.readouterr().out


@pytest.mark.slow
def test_a_file_of_steps_is_only_replaced_by_force(recorded, tmp_path, capsys):
    out = tmp_path / "x.jsonl.gz"
    out.write_text("mine")
    command = ["replay-robot", str(recorded / "run"), "minpos0", "--out", str(out)]
    assert main(command) == 2
    assert f"{str(out)!r} exists; choose another file, or add --force" in capsys.readouterr().err
    assert out.read_text() == "mine"
    assert main([*command, "--force"]) == 0
    assert main(["replay-robot", str(out)]) == 0


def edited(recorded, tmp_path, old, new):
    """Return the steps of scout0 in a folder of their own, whose controller has been edited."""
    (tmp_path / "mine.py").write_text(CODE.replace(old, new))
    lines = lines_of(recorded / "run" / "steps" / "scout0.jsonl.gz")
    text = "\n".join(map(json.dumps, lines))
    before, after = (_module(folder / "mine.py") for folder in (recorded, tmp_path))
    text = text.replace(str(recorded / "mine.py"), str(tmp_path / "mine.py")).replace(before, after)
    with gzip.open(tmp_path / "scout0.jsonl.gz", "wt") as file:
        file.write(text)
    return tmp_path / "scout0.jsonl.gz"


def _module(path):
    import hashlib

    return f"covey_user_mine_{hashlib.blake2b(str(path).encode(), digest_size=6).hexdigest()}"


def test_an_edit_is_seen_from_the_step_on_at_which_it_matters(recorded, tmp_path, capsys):
    log = edited(recorded, tmp_path, "if turn == 3:", "if turn == 4:")
    steps = [line for line in lines_of(log)[1:] if "step" in line]
    left = next(k for k, line in enumerate(steps) if "'here'" in repr(line["answer"]))
    time_s = steps[left]["step"]["fields"]["time_s"]
    assert main(["replay-robot", str(log), "scout0"]) == 3
    said = capsys.readouterr().out
    assert f"answers differently from step {left + 1} on, at {time_s:g} s: tags" in said
    assert "recorded  (('here', inf))" in said
    assert "now       ()" in said
    assert f"2 of {len(steps)} steps differ" in said
    assert "mine.py has changed since" in said


@pytest.mark.slow
def test_the_debugger_stops_in_the_controller_at_a_time(recorded):
    log, run = recorded / "run" / "steps" / "scout0.jsonl.gz", [sys.executable, "-m", "covey", "replay-robot"]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONBREAKPOINT"} | {"PYTHONUNBUFFERED": "1"}
    done = subprocess.run(
        [*run, str(log), "--break-at", "1.0"],
        input="p ('at', robot.time >= 1.0, turn)\nn\nn\nc\n",
        capture_output=True,
        text=True,
        timeout=240,
        env=environment,
    )
    assert "mine.py(" in done.stdout, done.stderr
    assert "('at', True, " in done.stdout
    assert "gives the same answers" in done.stdout
    assert "waiting" not in done.stdout


@pytest.mark.slow
def test_the_debugger_says_that_the_controller_is_waiting_at_that_time(recorded):
    log, run = recorded / "run" / "steps" / "scout0.jsonl.gz", [sys.executable, "-m", "covey", "replay-robot"]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONBREAKPOINT"} | {"PYTHONUNBUFFERED": "1"}
    at = [*run, str(log), "--break-at", "1.1"]  # it sleeps between the even steps
    done = subprocess.run(at, input="c\n", capture_output=True, text=True, timeout=240, env=environment)
    assert "the controller is waiting at 1.1 s; the debugger stops where it goes on" in done.stdout, done.stderr
    assert done.stdout.index("waiting") < done.stdout.index("mine.py(")


@pytest.mark.parametrize(
    ("robot", "match"),
    [
        ("scout7", "unknown robot 'scout7', did you mean 'scout"),
        ("ring0", "ring0 has no controller of its own: ring commands several robots at once"),
        (None, "name the robot too"),
    ],
)
def test_a_robot_that_cannot_be_replayed_is_refused(shipped, capsys, robot, match):
    assert main(["replay-robot", str(shipped / "run"), *([robot] if robot else [])]) == 2
    said = capsys.readouterr()
    assert match in said.err
    assert "simulating" not in said.out or robot == "ring0"


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"scenario": ""}, "was not run from a scenario"),
        ({"repeatable": False}, "is not repeatable"),
        ({"versions": {"covey": "0.0.1"}}, "was run with covey 0.0.1"),
    ],
)
def test_a_run_that_cannot_be_simulated_again_is_refused(shipped, tmp_path, capsys, change, match):
    shutil.copytree(shipped / "run", tmp_path / "run")
    manifest = tmp_path / "run" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | change))
    assert main(["replay-robot", str(tmp_path / "run"), "scout1"]) == 2
    assert match in capsys.readouterr().err
    assert not list((tmp_path / "run").glob("steps/*scout1*"))


def test_a_controller_that_was_edited_before_its_steps_were_recorded_is_refused(shipped, tmp_path, capsys):
    shutil.copytree(shipped / "run", tmp_path / "run")
    manifest = tmp_path / "run" / "manifest.json"
    data = json.loads(manifest.read_text())
    data["inputs"][0]["sha256"] = "0" * 64
    manifest.write_text(json.dumps(data))
    assert main(["replay-robot", str(tmp_path / "run"), "scout1"]) == 2
    assert "mine.py has changed since" in capsys.readouterr().err


MOODY = """
import os


def moody(robot):
    robot.drive(0.4 if robot.time < 1.0 or "GLAD" in os.environ else 0.2)
"""


def test_of_a_robot_that_does_not_repeat_itself_the_time_is_said(tmp_path, capsys, monkeypatch):
    (tmp_path / "mine.py").write_text(MOODY)
    (tmp_path / "mine.yaml").write_text(
        "world: {empty_m: [8, 8]}\nrobots: [{name: r, controller: './mine.py:moody'}]\nstop: {timeout_s: 2}\n"
    )
    out = str(tmp_path / "run")
    monkeypatch.setenv("GLAD", "1")
    assert main(["run", str(tmp_path / "mine.yaml"), "--out", out, "--no-pictures", "-q"]) == 3
    monkeypatch.delenv("GLAD")
    assert main(["replay-robot", out, "r0"]) == 2
    assert "r0 behaves differently than in" in (told := capsys.readouterr().err)
    assert "from 1.1 s on" in told  # what is commanded at 1.0 s moves it until 1.1 s


def test_events_that_cannot_be_read_leave_no_file_that_was_begun(shipped, tmp_path, capsys):
    shutil.copytree(shipped / "run", tmp_path / "run")
    (tmp_path / "run" / "events.parquet").write_bytes(b"no table")
    assert main(["replay-robot", str(tmp_path / "run"), "scout1"]) == 2
    assert "events.parquet" in capsys.readouterr().err
    assert not list((tmp_path / "run").glob("steps/*scout1*"))


@pytest.mark.slow
def test_a_run_that_takes_the_place_of_another_has_no_steps_yet(shipped, tmp_path, capsys):
    run = ["run", str(shipped / "mine.yaml"), "--out", str(tmp_path / "run"), "--no-pictures", "-q"]
    assert main(run) == 3
    assert main(["replay-robot", str(tmp_path / "run"), "scout1"]) == 0
    assert main([*run, "--force", "--seed", "4"]) == 3
    capsys.readouterr()
    assert main(["replay-robot", str(tmp_path / "run"), "scout1"]) == 0
    assert "wrote 30 steps of scout1" in capsys.readouterr().out


def test_of_a_controller_that_was_broken_since_it_is_said_that_it_has_changed(shipped, tmp_path, capsys):
    """Its files are all there, though the scenario cannot be read with them."""
    for name in ("mine.py", "mine.yaml"):
        shutil.copy(shipped / name, tmp_path / name)
    run = ["run", str(tmp_path / "mine.yaml"), "--out", str(tmp_path / "run"), "--no-pictures", "-q"]
    assert main(run) == 3
    (tmp_path / "mine.py").write_text(CODE + "\ndef broken(:\n")
    forget_files()
    assert main(["replay-robot", str(tmp_path / "run"), "scout1"]) == 2
    assert "mine.py has changed since" in capsys.readouterr().err


def test_a_file_that_holds_no_steps_is_refused(tmp_path, capsys):
    packed = map(gzip.compress, (b"{}\n", b"no\n", b"[]\n", b'{"format":"covey steps 2"}\n'))
    for k, content in enumerate((b"no", *packed)):
        path = tmp_path / f"{k}.gz"
        path.write_bytes(content)
        assert main(["replay-robot", str(path)]) == 2
        assert "holds no steps of a robot" in capsys.readouterr().err
