"""The blocks of code on the pages do what they say, and the commands there can be typed: all that is cheap is run.

What a page presupposes is made once: a recorded run, a log, a study, a floor plan. Worlds are smaller and runs shorter
than on the pages. Blocks that only define something are run by `test_blocks.py`.
"""

import ast
import io
import shlex
import shutil
import uuid
from pathlib import Path

import polars as pl
import pytest
from tests.test_blocks import DEFINES, PAGES, ROOT, blocks, parsed
from tests.test_claims import commands

import covey
from covey.cli import main
from covey.experiments import run as running
from covey.experiments.design.shipped import designs, is_design
from covey.experiments.workers.execute import execute
from covey.scenario.load import parse_scenario

TINY = """
name: maze
world: {generate: rooms, size_m: [30, 30], room_m: 5, seed: 3}
robots:
  - {name: scout, robot: {base: pioneer3dx, mapping: {resolution_m: 0.5}}, count: 2, start: {together: {}}, controller: nearest_frontier}
share_maps: {every_s: 1}
record: {scans_every_s: 0.5, maps_every_s: 5}
stop: {timeout_s: 31}
"""
STUDY = """
design: {name}
scenario: {{world: {{empty_m: [8, 8]}}, robots: [{{name: scout, robot: disc, controller: wander}}], stop: {{timeout_s: 1}}}}
parameters: {{robots.scout.count: [1, 2]}}
iterations: 2
"""
SHORTER = {
    "stop_s=60": "stop_s=0.5",
    "stop_s=30": "stop_s=0.5",
    "timeout_s=600": "timeout_s=30",
    "worlds=1000": "worlds=3",
    "until_s=3600": "until_s=0.3",
}
"""What is changed in a block, so that it takes less time."""
ELSEWHERE = {
    "howto": "tests/test_howto.py",
    "lab": "tests/lab/test_lab_page.py",
    "learning": "tests/learning/test_page.py",
    "your-first-change": "tests/test_first_change.py",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with what the pages presuppose."""
    folder = tmp_path_factory.mktemp("desk")
    scenario = parse_scenario(TINY)
    run = scenario.build(folder / "runs" / "maze" / "once").run()
    for name in ("runs/maze/latest", "runs/office/latest", "runs/old", "RUN", "RUN_A", "rec"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(run.folder)
    other = scenario.replace("seed", 5).replace("stop.timeout_s", 3).build(folder / "runs" / "new").run()
    (folder / "RUN_B").symlink_to(other.folder)
    shutil.copy(ROOT / "examples" / "plans" / "second_floor.dxf", folder)
    covey.World.empty(30, 20).save(folder / "depot.yaml")
    for name in ("design", "study", "fleet"):
        (folder / f"{name}.yaml").write_text(STUDY.format(name=name), encoding="utf-8")
    for name in ("rooms", "mine", "hall", "theirs", "wind"):
        (folder / f"{name}.yaml").write_text(TINY, encoding="utf-8")
    (folder / "slurm.yaml").write_text(
        "slurm: {cores: 1, memory: 1GB, walltime: '00:10:00', interface: lo}\n", encoding="utf-8"
    )
    (folder / "law.py").write_text("def law(team):\n    return 0.2, 0.1\n", encoding="utf-8")
    (folder / "finder.py").write_text("def finder(robot):\n    robot.drive(0.1)\n", encoding="utf-8")
    (folder / "drive.mcap").symlink_to("office.mcap")  # which a command of the same page writes
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(running, "keep", executed_here)
        covey.run_design(covey.load_design("study.yaml"), jobs=1)
        patch.setenv("COLUMNS", "80")
        assert main(["export", "runs/maze/latest", "--format", "log", "--robot", "scout0", "--out", "driven.npz"]) == 0
    return folder


def executed_here(planned, folder, limits, software):
    """Execute a run of a study in this process."""
    return execute(planned, folder)


@pytest.fixture
def desk(made, monkeypatch):
    """Go to the folder, open no picture, execute studies here, and load the tiny scenario in the place of others."""
    monkeypatch.chdir(made)
    discovery = f"<Discovery><Tag>{uuid.uuid4().hex}</Tag></Discovery>"  # nobody else hears it
    monkeypatch.setenv("CYCLONEDDS_URI", f"<CycloneDDS><Domain>{discovery}</Domain></CycloneDDS>")
    monkeypatch.setattr("covey.results.run._open", lambda path: None)
    monkeypatch.setattr(running, "keep", executed_here)
    return made


def of_run(folder, number):
    return {"run": covey.Run("runs/maze/latest")}


def of_maze(folder, number):
    return {}


def with_robot(folder, number):
    kept = []

    def keep(robot):
        kept.append(robot)

    sim = covey.Simulation(covey.World.empty(8, 8), 1, keep)
    sim.step()
    return {"robot": kept[0]}


def with_table(folder, number):
    settings = [
        (place, count, strategy, radio, seed)
        for place in ("maze", "loop")
        for count in ((1, 2) if number == 0 else (2,))
        for strategy in ("a", "b")
        for radio in ((5,) if number == 0 else (5, 50))
        for seed in range(6)
    ]
    rows = [
        {"vector": k // 6, "world.terrain": p, "robots.scout.count": n, "strategy": s, "radio": r, "seed": seed}
        | {
            "status": "reached",
            "timeout_s": 300.0,
            "simulated_time_s": 90.0,
            "exploration_time_s": 50.0 + k % 7 + 9 * n,
        }
        | {"exploration_cost_m": 10.0 * n, "exploration_efficiency_m2_per_m": 2.0 / n, "map_quality": 0.9}
        for k, (p, n, s, r, seed) in enumerate(settings)
    ]
    return {"table": pl.DataFrame(rows), "statistics": covey.statistics}


def with_ros(folder, number):
    pytest.importorskip("cyclonedds", reason="covey[ros2] is not installed")
    return {}


def with_orders(folder, number):
    return {"sim": covey.load("terrain_team")}


def with_doors(folder, number):
    door = "{name: north, box_m: [0, 5, 1, 5.3], open: true}"
    return {
        "sim": parse_scenario(
            TINY.replace(
                "{generate: rooms, size_m: [30, 30], room_m: 5, seed: 3}", f"{{empty_m: [60, 40]}}\ndoors: [{door}]"
            )
        ).build()
    }


PREPARED = {
    "files": of_run,
    "metrics": of_run,
    "ros2": with_ros,
    "watching": lambda folder, number: {"sim": parse_scenario(TINY).build()},
    "sensors": with_robot,
    "statistics": with_table,
    "terrain": with_orders,
    "worlds": with_doors,
}


def python_blocks():
    """Yield page and number of all blocks of Python that do more than define."""
    for page in PAGES:
        for number, code in enumerate(blocks(page, "python")):
            if page.stem not in ELSEWHERE and not all(isinstance(one, DEFINES) for one in parsed(code).body):
                yield page, number, code


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "number", "code"),
    [*python_blocks()],
    ids=lambda one: one.stem if isinstance(one, Path) else str(one) if isinstance(one, int) else "",
)
def test_the_python_of_a_page_runs(desk, monkeypatch, page, number, code):
    tiny = parse_scenario(TINY).replace("stop.timeout_s", 1)
    load, read = covey.load, covey.load_scenario
    monkeypatch.setattr(covey, "load_scenario", lambda source, *how: read(source, *how) if how else tiny)
    monkeypatch.setattr(covey, "load", lambda source: load(source) if source != "maze" else tiny.build())
    space = {"covey": covey, **PREPARED.get(page.stem, of_maze)(desk, number)}
    for long, short in SHORTER.items():
        code = code.replace(long, short)
    exec(compile(code, f"{page.name}: block {number}", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), space)


def test_what_is_prepared_is_on_the_pages():
    assert {*PREPARED} <= {page.stem for page, _, _ in python_blocks()}
    assert {*ELSEWHERE} <= {page.stem for page in PAGES}
    assert [test for test in ELSEWHERE.values() if not (ROOT / test).is_file()] == []


PLACEHOLDERS = {
    "LOG": "driven.npz",
    "FILE": "depot.yaml",
    "A": "RUN_A",
    "B": "RUN_B",
    "RUN2": "RUN_B",
    **dict.fromkeys(("DESIGN", "NAME"), "study.yaml"),
    **dict.fromkeys(("robot.log", "intel.npz", "monday.npz", "tuesday.npz"), "driven.npz"),
    "intel.relations": "driven_relations.csv",
    **dict.fromkeys(("runs/*/", "runs/fleet", "runs/crowding", "runs/theirs"), "runs/study"),
    "runs/depot_doors/latest": "runs/maze/latest",
    "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT": "1/4",
}
"""What stands for what a reader has."""
LEFT_COMMANDS = {
    "tune": "tests/experiments/test_tuning.py",
    "tournament": "tests/lab/test_tournament.py",
    "lessons": "tests/lab/test_grading.py",
    "check-extension": "tests/testing/test_extension_checks.py",
    "replay-robot": "tests/cli/test_replay.py",
    "robot": "tests/runtime/remote/test_placement.py",
    "ros run": "tests/ros/test_bridge.py",
    "ros node": "tests/ros/test_node.py",
    "ros play": "tests/ros/test_play.py",
}
"""Commands that are not run, as they wait for others or take long, and the tests that run them."""


def why_not(words):
    """Return why a command of a page is not run here; empty: it is run."""
    command, rest = words[0], words[1:]
    named = rest[0] if rest else ""
    if "--help" in words or command in ("list", "schema", "doctor", "--help"):
        return ""
    if (
        not rest
        or named == "--live"
        or {"FOLDER", "BAG", "GRAPH.g2o"} & {*words}
        or (command == "ros" and rest == [named])
    ):
        return "it is only named"
    if command in LEFT_COMMANDS or f"{command} {named}" in LEFT_COMMANDS:
        return "it waits for others, or takes long; a test of its own runs it"
    if command == "install-completion":
        return "it writes into the home of the user"
    if "--paused" in words:
        return "it waits for a viewer"
    if "--cluster" in words and "--dry-run" not in words:
        return "it needs a cluster"
    if command == "slam" and named.endswith((".clf", ".bag", ".gz")):
        return "it reads a format of recorded logs; tests/mapping/slam read each"
    if words[-1].endswith(".rrd"):
        return "it loads half a gigabyte; tests/viewer/test_exports.py runs it"
    if command == "show":
        return "" if named.isidentifier() or ":" in named or "[" in named else "it is only named"
    return ""


def shortened(words):
    """Return a command that does the same in less time, with what stands for the reader's: a smaller study, no pictures."""
    command, *rest = ("study.yaml" if word in designs() else PLACEHOLDERS.get(word, word) for word in words)
    if command == "run" and not is_design(rest[0]):
        rest = [word if rest[k - 1] != "--speed" else "max" for k, word in enumerate(rest)]
        to = [] if "--out" in rest else ["--out", f"runs/of_{''.join(filter(str.isalnum, ''.join(rest)))[:80]}"]
        return [command, *rest, "-s", "stop.timeout_s=0.3", "--no-pictures", "--quiet", "--force", *to]
    if command == "play":
        rest = [word if rest[k - 1] != "--speed" else "max" for k, word in enumerate(rest)]
        return [command, *rest, *([] if "--speed" in rest else ["--speed", "max"]), "--stop", "0.3"]
    if command == "view":
        return [command, *rest, "--until-closed"]
    if words[-1] == "drive.npz":
        rest += ["--robot", "scout0"]  # their bag has one robot
    if command == "plot" and (len(rest) == 1 or rest[1].startswith("-")):
        return [command, rest[0], "overview", *rest[1:]]
    return [command, *rest]


@pytest.mark.slow
def test_the_commands_of_the_pages_run(desk, monkeypatch, capsys):
    monkeypatch.setattr("covey.cli.view.FIRST_S", 0.0)  # nobody opens a page
    monkeypatch.setattr("covey.viewer.study.wait_until_left", lambda *how: None)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    done, wrong = set(), []
    for page, line in commands():
        words = shlex.split(line, comments=True)[1:]
        if "…" in words or why_not(words) or (typed := tuple(shortened(words))) in done:
            continue
        done.add(typed)
        code = main([*typed])
        said = capsys.readouterr().err
        if code not in (0, 3):
            wrong.append(f"{page}: {line}: {code}: {said[-300:]}")
    assert not wrong, "\n".join(wrong)
    assert len(done) >= 120


def test_the_tests_that_run_the_other_commands_are_there():
    assert [test for test in LEFT_COMMANDS.values() if not (ROOT / test).is_file()] == []
