"""From a design to its runs."""

import re
import shutil
from importlib import metadata
from pathlib import Path

import pytest

from covey.errors import ScenarioError
from covey.experiments.design import plan as module
from covey.experiments.design.plan import iteration_seeds, plan, run_ids
from covey.experiments.design.records import Design
from covey.experiments.workers.again import scenario_of
from covey.experiments.workers.execute import execute
from covey.experiments.workers.folder import read_row

PLAIN = {
    "design": "two sizes",
    "scenario": {"world": {"empty_m": [8, 8]}, "robots": [{"name": "scout"}], "stop": {"timeout_s": 1}},
    "parameters": {"robots.scout.count": [1, 2]},
    "iterations": 2,
}


def test_every_vector_has_the_same_seeds():
    runs = plan(Design.model_validate(PLAIN))
    assert [(r.vector, r.iteration, r.values["robots.scout.count"]) for r in runs] == [
        (0, 0, 1),
        (0, 1, 1),
        (1, 0, 2),
        (1, 1, 2),
    ]
    assert [r.seed for r in runs[:2]] == [r.seed for r in runs[2:]]
    assert runs[0].seed != runs[1].seed
    assert len({r.run_id for r in runs}) == 4


def test_the_id_of_a_run_depends_on_everything_that_its_result_depends_on(monkeypatch):
    """Otherwise rows would be used for runs that would end in another way."""
    usual = ("name: a\n", [1], ["of a map"])
    (first,) = run_ids(*usual)
    assert run_ids(*usual) == [first]
    others = [run_ids("name: b\n", *usual[1:]), run_ids(usual[0], [2], usual[2]), run_ids(*usual[:2], ["of another"])]
    others += [run_ids(*usual[:2], []), run_ids("name: a\nseed: 1\n", *usual[1:])]
    monkeypatch.setattr(module, "environment", lambda: "other software")
    others.append(run_ids(*usual))
    assert len({first, *(one for (one,) in others)}) == 1 + len(others)
    assert run_ids(usual[0], [1, 2], usual[2])[0] == others[-1][0], "nor on the other seeds"


@pytest.mark.parametrize("change", ["version", "package", "plugin", "sources"])
def test_other_software_is_another_environment(change, monkeypatch, tmp_path):
    shutil.copytree(Path(module.__file__).parents[2] / "geometry", tmp_path / "covey")
    monkeypatch.setattr(module.resources, "files", lambda _: tmp_path / "covey")
    packages = {"python": "3.11.0", "numpy": "2.1.0"}
    monkeypatch.setattr(module, "versions", lambda: packages)
    before = module.environment.__wrapped__()
    assert module.environment.__wrapped__() == before
    if change == "version":
        packages["numpy"] = "2.1.1"
    elif change == "package":
        packages["numba"] = "1"
    elif change == "sources":
        with (tmp_path / "covey" / "se2.py").open("a") as file:
            file.write("\n")
    else:
        named = metadata.EntryPoint("mine", "mine:Controller", "covey.controllers")
        monkeypatch.setattr(module.metadata, "entry_points", lambda: metadata.EntryPoints([named]))
    assert module.environment.__wrapped__() != before


def test_more_iterations_change_no_earlier_seed():
    assert iteration_seeds(7, 5)[:3] == iteration_seeds(7, 3)


def test_a_run_leaves_its_row(tmp_path):
    planned = plan(Design.model_validate(PLAIN))[-1]
    row = execute(planned, tmp_path / planned.run_id)
    assert row["status"] == "timeout"
    assert row["metrics"]["simulated_time_s"] == 1.0
    assert read_row(tmp_path / planned.run_id) == row


def test_a_run_that_raises_leaves_a_row_with_its_cause(tmp_path):
    crowd = PLAIN | {"parameters": {"robots.scout.count": [2000]}}
    row = execute(plan(Design.model_validate(crowd))[0], tmp_path / "run")
    assert row["status"] == "failed"
    assert row["reason"].startswith("robots.scout: ")  # no line: the text of the scenario is in no file
    folder = str(tmp_path / "run")
    with pytest.raises(ScenarioError, match=f"^{re.escape(folder)}: robots.scout: "):
        scenario_of(folder).build(tmp_path / "again")
