"""Metrics of users' files: in the rows of a design, in its report, and what is said where one cannot be loaded."""

import importlib
import json
from dataclasses import asdict

import pytest

from covey import ScenarioError
from covey.errors import UnknownNameError
from covey.experiments.design.load import load_design
from covey.experiments.design.plan import PlannedRun, plan
from covey.experiments.report.figures import shown_metrics
from covey.experiments.workers.execute import execute
from covey.registry import forget_files, looking
from covey.results.metrics import is_time_to_goal, metrics

FILE = '''\
from covey.results.metrics import metrics, time_to_goal
from robots_counted import number

def robots_there(run) -> int:
    """Robots of the team [1]."""
    return number(run)

@metrics.register("never_s")
@time_to_goal
def never_s(run):
    """When it never happens [s]."""
    return None

shape = 3
'''
DESIGN = """\
design: own
scenario:
  world: {{empty_m: [8, 8]}}
  robots: [{{name: scout, robot: disc, controller: wander}}]
  stop: {{timeout_s: 0.2}}
parameters: {{robots.scout.count: [1, 2]}}
iterations: 1
keep: rows
metrics: {metrics}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine.py").write_text(FILE)
    (tmp_path / "robots_counted.py").write_text("def number(run):\n    return len(run.names)\n")
    yield tmp_path
    forget_files()


def designed(folder, *names, **options):
    path = folder / "own.yaml"
    path.write_text(DESIGN.format(metrics=json.dumps(names)))
    return load_design(path, **options)


def test_a_metric_of_a_file_is_in_the_row_of_every_run(folder):
    design = designed(folder, "./mine.py:robots_there", "exploration_cost_m", "./mine.py:never_s")
    assert design.columns == ("robots_there", "exploration_cost_m", "never_s")
    found = []
    for planned in plan(design):
        sent = PlannedRun(**json.loads(json.dumps(asdict(planned))))
        forget_files()  # a process of its own knows no more than what was sent
        assert "robots_there" not in metrics.names()
        row = execute(sent, folder / "runs" / planned.run_id)["metrics"]
        found.append((row["robots_there"], row["never_s"]))
    assert found == [(1, None), (2, None)]


def test_a_metric_that_a_program_has_registered_is_found_by_the_processes_of_the_runs(folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    importlib.import_module("mine")
    try:
        design = designed(folder, "never_s")
        assert design.metrics == ("./mine.py:never_s",)
        assert [run.metrics for run in plan(design)] == [[f"{folder.resolve() / 'mine.py'}:never_s"]] * 2
        assert designed(folder, "./mine.py:never_s").columns == ("never_s",)
    finally:
        metrics.forget("never_s")


def test_the_id_of_a_run_depends_on_the_code_of_its_metrics(folder):
    ids = {run.run_id for run in plan(designed(folder, "exploration_cost_m"))}
    own = {run.run_id for run in plan(designed(folder, "./mine.py:robots_there"))}
    (folder / "robots_counted.py").write_text("def number(run):\n    return 7\n")
    changed = {run.run_id for run in plan(designed(folder, "./mine.py:robots_there"))}
    assert len(ids | own | changed) == 6


def test_a_command_that_runs_no_code_reads_what_a_metric_is(folder):
    (folder / "mine.py").write_text("raise SystemExit\n" + FILE)
    with looking(checks=True) as seen:
        design = designed(folder, "./mine.py:never_s", "./mine.py:robots_there")
        assert is_time_to_goal("never_s")
        assert not is_time_to_goal("robots_there")
        assert metrics.get("robots_there").__doc__ == "Robots of the team [1]."
        assert metrics.get("robots_there").__annotations__ == {"return": "int"}
    assert set(seen.unread) == set(design.metrics)
    assert not {"never_s", "robots_there"} & {*metrics.names()}, "runs of this process would call them"
    (folder / "mine.py").write_text(FILE)
    designed(folder, "./mine.py:robots_there")
    assert metrics.get("robots_there").__code__.co_filename == str(folder.resolve() / "mine.py")


def test_a_report_may_name_the_metric_of_a_file(folder):
    import polars as pl

    design = designed(folder, "./mine.py:robots_there", "exploration_cost_m")
    table = pl.DataFrame({"robots_there": [1, 2], "exploration_cost_m": [1.0, 2.0]})
    assert shown_metrics(design, table) == ["robots_there", "exploration_cost_m"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("robots_ther", "unknown metric 'robots_ther', did you mean 'robots_lost'"),
        ("./mine.py:robots_ther", "unknown name in mine.py 'robots_ther', did you mean 'robots_there'"),
        ("./mime.py:robots_there", "no file 'mime.py'"),
        ("./mine.py:shape", "is int; a metric is a function of a run"),
    ],
)
def test_what_is_no_metric_is_refused_with_its_place(folder, name, said):
    with pytest.raises(ScenarioError, match=said) as error:
        designed(folder, "exploration_cost_m", name)
    assert (error.value.problems[0].line, "metrics[1]" in str(error.value)) == (9, True)
    assert len(str(error.value).replace(str(folder), "")) < 250  # no list of all metrics


def test_code_of_metrics_is_refused_where_only_trusted_code_may_run(folder):
    with pytest.raises(ScenarioError, match="would run code from a file, which --trusted-only refuses"):
        designed(folder, "./mine.py:robots_there", trusted_only=True)
    with pytest.raises(UnknownNameError):
        metrics.get("robots_there")


def test_a_metric_that_no_other_process_can_load_is_refused_with_the_cure(folder):
    metrics.register("local_m")(lambda run: 1.0)
    try:
        with pytest.raises(ScenarioError, match=r"'local_m' is not found by the processes .*\./file\.py:local_m here"):
            designed(folder, "local_m")
    finally:
        metrics.forget("local_m")
