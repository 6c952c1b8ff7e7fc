"""What README and docs show is what the commands print."""

import json
import re
import shlex
from pathlib import Path

import pytest
from cyclopts.exceptions import MissingArgumentError

import covey
from covey.cli import main
from covey.cli.app import app
from covey.experiments.design.load import load_design
from covey.experiments.design.plan import plan
from covey.experiments.design.shipped import designs
from covey.registry import forget_changed_files
from covey.results.metrics.headlines import of_interest
from covey.scenario.shipped import library

ROOT = Path(__file__).parents[1]
_TIME = r"(\d+(?:\.\d+)?) s"
CLAIMS = {
    "README.md": rf"Six Pioneer robots have explored a maze of 80 m x 80 m in {_TIME}",
    "docs/watching.md": rf"`maze`, 6 robots, {_TIME}",
}


@pytest.mark.slow
def test_pages_name_the_time_that_the_demo_prints():
    run = covey.load("maze").run()
    shown = of_interest(run)
    (printed, _), (overlap, meaning) = shown["exploration_time_s"], shown["overlap"]
    for page, claim in CLAIMS.items():
        found = re.findall(claim, (ROOT / page).read_text(encoding="utf-8"))
        assert [float(text) for text in found] == [round(printed, 1)], page
    assert (overlap > 1) <= ("share" not in meaning), "a share is at most 1"


def test_no_metric_that_may_exceed_1_is_called_a_share():
    from covey.results.metrics import headlines

    known = {name: text for group in headlines._BY_MISSION.values() for name, text in group.items()}
    for name in ("overlap", "coverage_overlap"):  # n - 1 if all robots saw all
        assert "share" not in known[name]


def blocks(text):
    """Return the blocks of code of a page that name no language, or bash."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [code for language, code in found if language in ("", "bash")]


def block(page, beginning):
    """Return the lines of the block that begins so."""
    (found,) = (one for one in blocks((ROOT / page).read_text(encoding="utf-8")) if one.startswith(beginning))
    return found.splitlines()


def assert_printed(claimed, said):
    """Assert that the claimed lines were printed in their order; … stands for anything."""
    rest = [line.rstrip() for line in said.splitlines()]
    for line in claimed:
        wanted = re.compile(re.escape(line.rstrip()).replace("…", ".*"))
        after = [k for k, one in enumerate(rest) if wanted.fullmatch(one)]
        assert after, f"{line!r} is not in {rest}"
        del rest[: after[0] + 1]


def commands():
    """Return page and command of all that pages tell one to type."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        typed = [line for code in blocks(text) for line in code.splitlines()]
        within = re.findall(r"(?<!`)`(covey [^`\n]+)`(?!`)", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
        for line in [line for line in typed if line.startswith("covey ")] + within:
            yield page.name, re.split(r" [>&|](?: |$)", line)[0]


@pytest.mark.slow
def test_every_command_on_the_pages_can_be_typed():
    wrong, count = [], 0
    for line, page in {line: page for page, line in commands()}.items():
        words = shlex.split(line, comments=True)[1:]
        if "…" in words or "N" in words:
            continue
        count += 1
        try:
            _, bound, _ = app.parse_args(words, print_error=False, exit_on_error=False)
        except MissingArgumentError:
            continue  # a command that is only named
        except Exception as error:
            wrong.append(f"{page}: {line}: {error}")
            continue
        source = bound.arguments.get("source")
        if isinstance(source, str) and source.isidentifier() and source.islower():
            assert source in {*library(), *designs()}, f"{page}: {line}"
    assert not wrong
    assert count > 150


def test_the_errors_of_a_scenario_are_those_of_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = ["world: {generate: office}", "robots:", "  - name: scout", "    controller: nearest_frontier"]
    lines += ["    start: {room: largest}", "    cuont: 3", "    robot: pionier3dx"]
    Path("first.yaml").write_text("\n".join(lines) + "\n")
    assert main(["check", "first.yaml"]) == 2
    assert_printed(block("docs/scenario.md", "first.yaml:"), capsys.readouterr().err)


LAWS = [
    "def law(team):\n    team.pose",
    "def law(team):\n    return 0.1, team.bearing_too(0)",
    "def law(team):\n    return np.ones(team.count), 0",
    "settings = {'robts': 3}\ndef law(team):\n    return 0.1, 0",
    "def law(team):\n    return 0.1, float('nan')",
    "def law(team):\n    return (0.1 if team.heading > 0 else 0.2), 0",
    "def law(team):\n    return 20, 0",
]


def test_the_errors_of_laws_are_those_of_the_page(tmp_path, monkeypatch, capsys, caplog):
    monkeypatch.chdir(tmp_path)
    for claimed, law in zip(block("docs/lab.md", "law.py:2"), LAWS, strict=True):
        Path("law.py").write_text(law + "\n")
        main(["play", "law.py", "--robots", "2", "--speed", "max", "--stop", "0.5"])
        said = "\n".join([capsys.readouterr().err.replace(f"{tmp_path}/", ""), *caplog.messages])
        assert_printed([claimed], said)


def test_the_floor_plan_is_told_as_on_its_page(tmp_path, monkeypatch, capsys):
    pytest.importorskip("ezdxf", reason="ezdxf, of the extra covey[lab], is not installed")
    monkeypatch.chdir(tmp_path)
    Path("second_floor.dxf").write_bytes((ROOT / "examples" / "plans" / "second_floor.dxf").read_bytes())
    (typed,) = (line for line in block("docs/floor_plans.md", "pip install") if line.startswith("covey map"))
    assert main(shlex.split(typed, comments=True)[1:]) == 0
    assert_printed(block("docs/floor_plans.md", "second_floor.dxf: a unit"), capsys.readouterr().out)
    assert main(["map", "second_floor.dxf", "-s", "layers=[A-WAL]"]) == 2
    claimed = block("docs/floor_plans.md", "plan.dxf: LINE")[1:]
    assert_printed(claimed, capsys.readouterr().err)


@pytest.mark.slow
def test_hand_ins_are_judged_as_on_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    anna, bob, carl = (Path("handed_in") / name / "01_first_robot.py" for name in ("anna", "bob", "carl"))
    for path in (anna, bob, carl):
        path.parent.mkdir(parents=True)
    from covey.lab.lessons.course import lessons

    book = lessons()[0].notebook()
    text = next(text for kind, text in lessons()[0].cells if kind == "complete")
    (gap,) = (cell for cell in book["cells"] if "".join(cell["source"]) == text)
    gap["source"] = lessons()[0].solution
    anna.with_suffix(".ipynb").write_text(json.dumps(book))
    bob.write_text("def law(team):\n    return 0.5, 0\n")  # straight on to the north, as far as the wall
    carl.write_text("import sys\nsys.exit(0)\ndef law(team):\n    return 0.5, 0\n")
    assert main(["lessons", "check", "handed_in"]) == 3
    assert_printed(block("docs/teachers.md", "hand-in"), capsys.readouterr().out)


@pytest.mark.slow
def test_a_controller_that_was_edited_answers_as_on_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    drives = "async def go(robot):\n    while True:\n        robot.drive({})\n        await robot.sleep(0.1)\n"
    Path("mine.py").write_text(drives.format("0.4"))
    robot = "{name: scout, robot: pioneer3dx, start: [[-8, 0, 0]], controller: ./mine.py:go}"
    Path("mine.yaml").write_text(f"world: {{empty_m: [20, 20]}}\nrobots: [{robot}]\nstop: {{timeout_s: 10}}\n")
    assert main(["run", "mine.yaml", "--out", "runs/first", "--no-pictures"]) == 3
    assert main(["replay-robot", "runs/first", "scout0"]) == 0
    Path("mine.py").write_text(drives.format("0.4 if robot.time < 4.05 else 0.3"))
    forget_changed_files()  # as in a new process
    capsys.readouterr()
    main(["replay-robot", "runs/first", "scout0"])
    told = "".join(capsys.readouterr()).replace(str(tmp_path), "/home/me")
    assert_printed(block("docs/first_controller.md", "scout0 answers"), told)


@pytest.mark.parametrize(
    ("page", "claim"),
    [
        ("README.md", r"covey check (\w+) +# shows the (\d+) runs"),
        ("README.md", r"covey run (\w+) --jobs 2 +# (\d+) runs"),
    ],
)
def test_designs_have_the_runs_that_pages_say(page, claim):
    ((name, count),) = re.findall(claim, (ROOT / page).read_text(encoding="utf-8"))
    assert len(plan(load_design(name))) == int(count)


def test_scenarios_have_the_robots_that_the_first_page_says():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    numbers = dict(zip(("two", "three", "four", "five", "six"), range(2, 7), strict=True))
    claims = re.findall(r"covey run (\w+) +# (\w+) [\w-]* ?robots", text)
    assert len(claims) >= 2
    for name, count in claims:
        assert sum(group.count for group in covey.load_scenario(name).robots) == numbers[count], name
