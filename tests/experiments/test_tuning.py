"""Tuning: what is searched, that it is repeatable and resumes, what is stopped early, and what is printed."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import covey
from covey.cli.tune import report, tune_command, verdict
from covey.errors import CoveyError, InvalidValueError
from covey.experiments import run
from covey.experiments.analysis.table import read_results
from covey.experiments.tuning.space import search_space
from covey.experiments.tuning.trials import Trial, Tried, number_of
from covey.experiments.tuning.tune import FRESH, TRIALS, tune
from covey.experiments.workers.folder import new_row
from covey.results.figures.tuning import TriedParameter, tuning_picture
from covey.scenario.load import load_scenario

WAIT = """
from typing import Literal

async def wait(robot, *, a: float = 1.0, way: Literal["short", "long"] = "long"):
    await robot.sleep(abs(a - 0.5) + (0.5 if way == "long" else 0.0) + abs(robot.pose.x) / 20)
"""
ROOM = """\
name: waiting
world: {empty_m: [8, 8]}
robots: [{name: one, robot: disc, start: {apart: {}}, controller: "./wait.py:wait"}]
stop: {done: true, timeout_s: 20}
"""
OVER = ("a=0.1..3", "way")


@pytest.fixture
def waiting(write):
    return write(wait_py=WAIT, waiting_yaml=ROOM)


@pytest.fixture
def executed(monkeypatch):
    """Have no run simulated: its time is a formula of the parameters and the seed. Return the list of ids."""
    done = []

    def keep(planned, folder, limits, software):
        done.append(planned.run_id)
        scenario = planned.load()
        given = {"a": 1.0, "way": "long"} | scenario.robots[0].controller.parameters
        time_s = abs(given["a"] - 0.5) + (given["way"] == "long") + scenario.robots[0].count + planned.seed % 7 / 7
        return new_row(planned, folder) | {"status": "reached", "metrics": {"simulated_time_s": time_s}}

    monkeypatch.setattr(run, "keep", keep)
    return done


def searched(name="maze", over=(), ranges=None, **changes):
    scenario = load_scenario(name)
    for path, value in changes.items():
        scenario = scenario.replace(path, value)
    return search_space(scenario, over, ranges or {})


def test_parameters_with_narrow_ranges_are_searched_and_others_named():
    found, left_out = searched()
    assert [str(one) for one in found] == ["definition (one of explore, m_explore, rescue, maes)"]
    assert found[0].default == "explore"
    assert left_out[0] == "min_cells (0 to 1e+06, default 8)"
    (one,), _ = searched(over=["min_cells=1..20"])
    assert (one.path, one.default, one.low, one.high, one.whole) == (
        "robots.scout.controller.min_cells",
        8,
        1,
        20,
        True,
    )
    (one,), _ = searched(over=["replan_s=1..20"])
    assert not one.whole, "it is declared as a real number"
    assert one.value(3.14159) == 3.142
    (one,), _ = searched(over={"replan_s": {"from": 1, "to": 100, "log": True}})
    assert one.log
    (one,), _ = searched(over=["robots.scout.robot.max_speed_m_s=0.1..0.5"])
    assert one.default == pytest.approx(0.7, abs=0.7)
    assert one.default > 0


def test_a_range_is_taken_as_it_is_typed_and_ends_at_a_step():
    (one,), _ = searched(over=["replan_s={from: 2.5, to: 11, step: 2.5}"])
    assert (one.low, one.high, one.default, one.begins) == (2.5, 10, 10.0, 10.0)
    (one,), _ = searched(over=["replan_s=.5..1e1"])
    assert (one.low, one.high) == (0.5, 10)
    (one,), _ = searched(over=["robots.scout.controller.definition=[explore,m_explore]"])
    assert one.choices == ("explore", "m_explore")
    (one,), _ = searched(over=["replan_s={from: 3, to: 11, step: 3}"])
    assert (one.high, one.begins) == (9, None), "Optuna would warn and take another"


def test_a_design_says_where_to_look(plain):
    design = plain(parameters={"robots.scout.controller.speed": {"from": 0.5, "to": 0.9}})
    from covey.experiments.design.plan import base_scenario

    (one,), _ = search_space(base_scenario(design), ["speed"], design.parameters)
    assert (one.low, one.high) == (0.5, 0.9)


@pytest.mark.parametrize(
    ("over", "said"),
    [
        ("min_cell=1..2", "no strategy of this scenario has a parameter 'min_cell', did you mean 'min_cells'?"),
        ("min_cells", "min_cells may be 0 to 1e+06, default 8: say where to look, for example --over min_cells=1..10"),
        ("min_cells=", "write NAME or NAME=FROM..TO"),
        ("min_cells=3", "one value leaves nothing to search"),
        ("min_cells=3..1", "goes from 3 down to 1"),
        ("min_cells=-5..1", "given: -5"),
        ("definition=[explore, mine]", "given: 'mine'"),
        ("robots.scout.nose=1..2", "unknown key 'nose'"),
        ("min_cells=1..many", "min_cells: 'to' must be a finite number; given: 'many'; words are listed: "),
        ("min_cells=.nan..1", "'from' must be a finite number; given: "),
        ("min_cells=1...inf", "'to' must be a finite number; given: inf"),
        ("min_cells=1..2.5", "with a fractional part; given: 2.5"),
        ("min_cells={from: 1, to: 9, lg: true}", "unknown key 'lg', did you mean 'log'?"),
        ("min_cells={from: 1}", "'to' is missing"),
        ("min_cells=[1", "--over min_cells:1:"),
        ("min_cells={from: 1, to: 3, step: 5}", "one value leaves nothing to search"),
        ("replan_s=[1, 1.0]", "one value leaves nothing to search"),
    ],
)
def test_what_cannot_be_searched_is_said(over, said):
    with pytest.raises(CoveyError) as error:
        searched(over=[over])
    assert said in str(error.value)


def test_a_strategy_without_parameters_is_said():
    with pytest.raises(InvalidValueError, match="have no parameter; name a field of the scenario"):
        searched(robots=[{"name": "a", "robot": "disc", "controller": "still"}])


def test_a_run_without_a_result_counts_as_the_timeout_or_as_worst():
    row = {"status": "timeout", "timeout_s": 300.0, "metrics": {"exploration_time_s": None, "exploration_cost_m": 7.0}}
    assert number_of(row, "exploration_time_s", larger=False) == 300.0
    assert number_of(row, "exploration_cost_m", larger=False) == np.inf, "it had no time to drive further"
    assert number_of(row | {"status": "reached"}, "exploration_cost_m", larger=False) == 7.0
    assert number_of(row | {"status": "died"}, "exploration_time_s", larger=True) == -np.inf
    with pytest.raises(InvalidValueError, match="has no value in this scenario"):
        number_of(row, "ate_m", larger=False)
    with pytest.raises(InvalidValueError, match="not one number"):
        number_of(row | {"metrics": {"ate_m": {"a": 1}}}, "ate_m", larger=False)


def test_settings_worse_than_the_median_are_stopped_early(plain, tmp_path, monkeypatch):
    tried = Tried(plain(iterations=3), [{}], "simulated_time_s", False, tmp_path, None)
    monkeypatch.setattr(tried, "_run", lambda settings, seeds: [[one["a"]] * seeds for one in settings])
    tried.trials = [Trial(k, {"a": k}, (k, k, k), True) for k in range(5)]
    made = tried.together([{"a": 9}, {"a": 2}, {"a": 1}])
    assert [one.means for one in made] == [(9,), (2, 2, 2), (1, 1, 1)]
    assert [one.is_finished for one in made] == [False, True, True]
    assert (tried.best.number, tried.stopped) == (0, 1)


def test_tuning_repeats_resumes_and_checks_on_fresh_seeds(waiting, executed, undrawn):
    design = covey.Design(design="wait", scenario=str(waiting / "waiting.yaml"), iterations=2, keep="rows")
    how = {"over": OVER, "trials": 6, "at_once": 3, "fresh": 6, "jobs": 1}

    def stop(progress):
        if progress.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune(design, "simulated_time_s", **how, observer=stop)
    assert len(executed) == 3 * 2
    found = tune(design, "simulated_time_s", **how)
    assert len(executed) == len({*executed}) == (6 + 6) * 2, "no run is repeated"
    again = tune(design, "simulated_time_s", **how | {"jobs": 2, "fresh": 2}, folder=waiting / "other")
    assert again.trials == found.trials

    assert found.trials[0].values == {"robots.one.controller.a": 1.0, "robots.one.controller.way": "long"}
    assert found.best.value < found.trials[0].value
    assert found.best.values["robots.one.controller.way"] == "short"
    assert {*found.importance} == {*found.trials[0].values}
    assert sum(found.importance.values()) == pytest.approx(1.0)
    tried = {*read_results(found.folder / TRIALS)["seed"]}
    assert tried.isdisjoint(found.fresh.table["seed"])
    assert found.comparison["n_a"].to_list() == [6]
    assert found.comparison["mean_low"][0] > 0, "tuned is faster on seeds that it has not seen"

    said = report(found, "waiting.yaml")
    assert "tuned is better than default on fresh seeds" in said
    assert verdict(replace(found, larger=True)).startswith("tuned is worse than default on fresh seeds")
    assert verdict(replace(found, fresh=again.fresh)).startswith("tuned is not shown to be better than default")
    assert "6 settings tried for the smallest mean of simulated_time_s" in said
    assert "covey run waiting.yaml -s robots.one.controller.a=" in said
    assert f"covey report {found.folder / FRESH}" in said
    assert {"trials.csv", "tuning.png", "tuning.svg"} < {path.name for path in found.folder.iterdir()}
    lines = (found.folder / "trials.csv").read_text().splitlines()
    assert lines[0] == "trial,robots.one.controller.a,robots.one.controller.way,seeds,finished,simulated_time_s"
    assert len(lines) == 7


def test_each_setting_meets_all_vectors_of_a_design(waiting, executed, undrawn):
    parameters = {"robots.one.count": [1, 2], "robots.one.controller.a": [0.5, 4.0]}
    design = covey.Design(
        design="sizes", scenario=str(waiting / "waiting.yaml"), parameters=parameters, iterations=1, keep="rows"
    )
    found = tune(design, "simulated_time_s", over=["a"], trials=3, fresh=2, jobs=1)
    assert len(executed) == 2 * (3 + 2 * 2), "three settings, then two on two fresh seeds, in two sizes"
    assert found.trials[0].values == {"robots.one.controller.a": 1.0}, "the default is tried, although not listed"
    assert found.best.values == {"robots.one.controller.a": 0.5}
    assert found.conditions == ("robots.one.count",)
    assert "settings: -s robots.one.controller.a=0.5" in report(found, "sizes.yaml")


def test_a_default_that_is_best_is_not_checked(waiting, executed, undrawn, capsys):
    how = {"over": ["way=[long, short]"], "trials": 3, "seeds": 1, "fresh": 2, "jobs": 1, "larger": True}
    found = tune("waiting.yaml", "simulated_time_s", **how)
    assert found.fresh is None
    assert tune_command("waiting.yaml", "simulated_time_s", None, False, **how) == 0
    out, err = capsys.readouterr()
    assert "no setting was better than the default" in out
    assert "3/3 trials" in err


def test_runs_are_simulated(waiting, in_this_process, undrawn, capsys):
    how = {"over": ["a=[1.0, 0.5]"], "trials": 3, "seeds": 1, "fresh": 2, "jobs": 1}
    assert tune_command("waiting.yaml", "simulated_time_s", None, True, **how) == 0
    assert len(in_this_process) == 2 * 1 + 2 * 2
    assert capsys.readouterr().out == f"{waiting / 'runs/tune-waiting'}\n"
    assert sorted(path.name for path in (waiting / "runs/tune-waiting").iterdir()) == [
        *("fresh", "trials", "trials.csv", "tuning.png", "tuning.svg")
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"metric": "time"}, "unknown metric 'time'"),
        ({"metric": "bytes_sent_by_robot"}, "one value for each robot"),
        ({"trials": 1}, "trials is 1; it must be 2 or more"),
        ({"seeds": 0}, "seeds is 0; it must be 1 or more"),
        ({"jobs": 0}, "jobs is 0; it must be 1 or more"),
        ({"source": "smoke"}, "the design compares controllers of 'scout': nearest_frontier, minpos"),
    ],
)
def test_what_cannot_be_tuned_is_said(waiting, change, said):
    given = {"source": "waiting.yaml", "metric": "simulated_time_s", "over": OVER} | change
    with pytest.raises(CoveyError) as error:
        tune(given.pop("source"), given.pop("metric"), **given)
    assert said in str(error.value)


def test_without_optuna_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(CoveyError, match=r"pip install 'covey\[tune\]'"):
        tune("hello", "simulated_time_s")


def test_the_picture_shows_each_parameter():
    tried = [
        TriedParameter("world.grain", [1.0, 10.0, 100.0], True, 0.8),
        TriedParameter("world.kind", ["x", "y", "x"]),
    ]
    picture = tuning_picture("exploration_time_s", [5.0, np.inf, 3.0], [True, True, False], tried)
    assert [axes.get_xlabel() for axes in picture.axes] == ["trial", "grain (80%)", "kind"]
    assert "1 trials without a result" in picture.note
    with pytest.raises(InvalidValueError, match="no trials"):
        tuning_picture("a", [], [], [])
