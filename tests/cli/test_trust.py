"""In which ways code of a file can run: with the commands that run, when nobody refuses it; with none that looks."""

import json
import subprocess
import sys

import pytest
from tests.experiments.conftest import executed_here

from covey import registry
from covey.cli import main
from covey.cli.exit_codes import BAD_INPUT, NOT_REACHED, REACHED

pytestmark = pytest.mark.usefixtures("undrawn")

CODE = """
from pathlib import Path
Path(__file__).with_name("it_ran").write_text("")
from covey.robots.catalogue import disc as bot
from covey.comms.links import LinkModel
from covey.comms.protocols import Protocol

async def go(robot, v=0.5):
    await robot.sleep(9.0)

def heard(distance_m, through_walls_m):
    return distance_m < 5

class Link(LinkModel):
    pass

class Plain(Protocol):
    pass

def make(design):
    return [{"robots.a.count": 1}]
"""

WAYS = {
    "controller": {"robots": [{"name": "a", "controller": "./mine.py:go"}]},
    "controller with parameters": {"robots": [{"name": "a", "controller": {"name": "./mine.py:go", "v": 1}}]},
    "robot": {"robots": [{"name": "a", "robot": "./mine.py:bot"}]},
    "robot with changes": {"robots": [{"name": "a", "robot": {"base": "./mine.py:bot", "radius_m": 0.2}}]},
    "radio": {"radio": {"links": ["./mine.py:Link"]}},
    "function of a radio": {"radio": {"links": ["./mine.py:heard"]}},
    "protocol": {"radio": {"protocol": "./mine.py:Plain"}},
    "parameter of a radio": {"radio": {"links": [{"wall_length": {"function": "./mine.py:heard"}}]}},
}
SCENARIO = {"world": {"empty_m": [6, 6]}, "robots": [{"name": "a"}], "stop": {"timeout_s": 0.2}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CODE)
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("covey_user_mine")]:
        del sys.modules[name]


def ran(folder):
    """Whether the code has run; it may run anew afterwards."""
    mark = folder / "it_ran"
    found = mark.exists()
    mark.unlink(missing_ok=True)
    for name in [name for name in sys.modules if name.startswith("covey_user_mine")]:
        del sys.modules[name]
    return found


def write(folder, way):
    """Write a scenario that names the code, and a design of it."""
    scenario = SCENARIO | WAYS.get(way, {})
    design = {"design": "d", "scenario": scenario, "iterations": 1, "parameters": {"robots.a.count": [1]}}
    if way == "vectors":
        design |= {"vectors": "./mine.py:make"}
    (folder / "s.yaml").write_text(json.dumps(scenario))
    content = {key: value for key, value in design.items() if key != "design"}
    (folder / "d.yaml").write_text("design: d\n" + "".join(f"{k}: {json.dumps(v)}\n" for k, v in content.items()))


@pytest.mark.parametrize("way", [*WAYS, "vectors"])
def test_looking_runs_no_code_and_running_does(way, folder, capsys):
    write(folder, way)
    for command in ("check d.yaml", "show d.yaml", "run d.yaml --dry-run", "check s.yaml", "show s.yaml"):
        assert main(command.split()) in (REACHED, BAD_INPUT), command
        assert not ran(folder), command
        captured = capsys.readouterr()
        if command.startswith("check") and not (way == "vectors" and "s.yaml" in command):
            assert "not run: ./mine.py:" in captured.out
            assert "add --trust to run" in captured.out
    for command in ("check d.yaml --trust", "run d.yaml --dry-run --trust"):
        assert main(command.split()) == REACHED, command
        assert ran(folder), command
    if way != "vectors":
        assert main(["run", "s.yaml", "--no-pictures", "--out", "out"]) == NOT_REACHED
        assert ran(folder)
        assert main(["plot", "out", "overview"]) == REACHED
        assert not ran(folder)


@pytest.mark.parametrize("way", [*WAYS, "vectors"])
def test_trusted_only_refuses_every_way_for_every_command(way, folder, capsys):
    write(folder, way)
    sources = {"d.yaml": ("run", "check", "show", "report", "results"), "s.yaml": ("run", "check", "show")}
    pairs = [(command, source) for source, commands in sources.items() for command in commands]
    for command, source in pairs[:5] if way == "vectors" else pairs:
        assert main([command, source, "--trusted-only"]) == BAD_INPUT, (command, source)
        assert "would run code from a file, which --trusted-only refuses" in capsys.readouterr().err
    assert main(["compare", "d.yaml", "d.yaml", "--trusted-only"]) == BAD_INPUT
    assert not ran(folder)


def test_trusted_only_refuses_the_folder_of_a_run_whose_row_names_code(folder, capsys, monkeypatch):
    write(folder, "controller")
    executed_here(monkeypatch)
    assert main(["run", "d.yaml", "--out", "out", "-q", "--jobs", "1"]) == REACHED
    assert ran(folder)
    (run,) = (folder / "out" / "runs").iterdir()
    again = ["run", str(run), "--out", "again"]
    for command in (again, [*again, "--inputs"], ["plot", str(run)], ["results", "out"], ["report", "out"]):
        assert main([*command, "--trusted-only"]) == BAD_INPUT, command
        assert "--trusted-only refuses" in capsys.readouterr().err
        assert not ran(folder)
    for command in (["results", "out"], ["report", "out"], ["compare", "out", "out"]):
        assert main(command) == REACHED
        assert not ran(folder)


def test_a_dry_run_counts_what_has_been_run_though_it_runs_no_code(folder, capsys, monkeypatch):
    write(folder, "controller with parameters")  # v: 1 for a parameter that is a float
    executed_here(monkeypatch)
    assert main(["run", "d.yaml", "--out", "out", "-q", "--jobs", "1"]) == REACHED
    capsys.readouterr()
    assert main(["run", "d.yaml", "--out", "out", "--dry-run"]) == REACHED
    assert "1 runs: 1 have ended already, 0 would run" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("./mine.py:goo", "unknown name in mine.py 'goo', did you mean 'go'?"),
        ("./none.py:go", "no file 'none.py'"),
        ("./broken.py:go", "cannot be read: SyntaxError"),
    ],
)
def test_check_reads_whether_the_code_is_there(reference, said, folder, capsys):
    (folder / "broken.py").write_text("def go(:\n")
    (folder / "s.yaml").write_text(json.dumps(SCENARIO | {"robots": [{"controller": reference}]}))
    assert main(["check", "s.yaml"]) == BAD_INPUT
    assert said in capsys.readouterr().err
    assert not ran(folder)


def test_names_that_only_running_would_tell_are_let_through(folder):
    (folder / "late.py").write_text(
        "if len('a'):\n    from os import *\ntry:\n    A = B = 1\nexcept ImportError:\n    pass\n"
    )
    for name in ("A", "B", "anything"):
        registry.check_names(f"./late.py:{name}", folder)


def settings_of_libraries(folder):
    """Write settings, each of which would end the process that reads it."""
    (folder / ".numba_config.yaml").write_text("[")
    (folder / "matplotlibrc").write_bytes(b"\xff\xfe\x00")
    (folder / "ezdxf.ini").write_bytes(b"[[\xff\xfe\x00")


@pytest.mark.slow
def test_children_take_nothing_from_the_current_folder(folder):
    """As a stranger's folder may hold a json.py: neither workers nor robots' processes nor the compiling one take it."""
    for name in ("json", "queue", "pickle", "numpy", "covey", "gc", "threading"):
        (folder / f"{name}.py").write_text(
            "from pathlib import Path\nPath(__file__).with_name('it_ran').write_text('')\n"
        )
    settings_of_libraries(folder)
    scenario = SCENARIO | {"execution": {"controllers": "processes"}}
    design = {"scenario": scenario, "iterations": 1, "parameters": {"robots.a.count": [1]}}
    (folder / "d.yaml").write_text("design: d\n" + "".join(f"{k}: {json.dumps(v)}\n" for k, v in design.items()))
    code = (
        "from covey.cli import main; code = main('run d.yaml -q --jobs 1'.split());"
        "from covey.scenario import warmup; warmup.meet = warmup.move = warmup.think = lambda: None; warmup.compile_all();"
        "raise SystemExit(code)"
    )
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == REACHED, done.stderr
    assert not (folder / "it_ran").exists()


@pytest.mark.slow
def test_settings_of_libraries_that_lie_in_the_current_folder_are_not_read(folder):
    settings_of_libraries(folder)
    write(folder, "")
    command = [sys.executable, "-c", "from covey.cli import main; raise SystemExit(main())", "run", "s.yaml", "-q"]
    done = subprocess.run([*command, "--out", "alone"], capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode in (REACHED, NOT_REACHED), done.stderr
    assert (folder / "alone" / "figures" / "overview.png").is_file()


def test_a_report_into_a_file_is_refused_in_words(folder, capsys, monkeypatch):
    write(folder, "")
    executed_here(monkeypatch)
    assert main(["run", "d.yaml", "--out", "study", "-q", "--jobs", "1"]) == REACHED
    capsys.readouterr()
    assert main(["report", "study", "--out", "s.yaml"]) == BAD_INPUT
    assert "cannot read or write 's.yaml': File exists" in capsys.readouterr().err
