"""The report of a design, and two sets of results side by side."""

import re

import numpy as np
import polars as pl
import pytest

from covey.errors import InvalidValueError
from covey.experiments.axes import Axes
from covey.experiments.compare import compare_results
from covey.experiments.findings import comparisons, hidden, of_fleets, ranks
from covey.experiments.report import outcome, write_report
from covey.experiments.run import Results, run_design
from covey.experiments.sheets import Sheet


def table_of(a, b, timeout=100.0):
    """Return a table of two strategies on one map, runs in pairs; None is a run that timed out."""
    times = [*a, *b]
    return pl.DataFrame(
        {
            "run_id": [f"r{i}" for i in range(len(times))],
            "vector": [0] * len(a) + [1] * len(b),
            "iteration": [*range(len(a)), *range(len(b))],
            "seed": [*range(len(a)), *range(len(b))],
            "controller": ["near"] * len(a) + ["far"] * len(b),
            "status": ["timeout" if t is None else "reached" for t in times],
            "timeout_s": [timeout] * len(times),
            "exploration_time_s": pl.Series(times, dtype=pl.Float64),
            "simulated_time_s": [timeout if t is None else t for t in times],
        }
    )


@pytest.fixture
def done(plain, tmp_path, in_this_process):
    design = plain(
        design="sizes & <signs>",
        parameters={"robots.scout.count": [1, 2, 2000]},
        metrics=["exploration_cost_m", "simulated_time_s"],
    )
    return design, run_design(design, tmp_path, jobs=1)


def test_a_report_is_one_page_that_needs_nothing_else(done, tmp_path):
    written = write_report(*done)
    page = written.page.read_text(encoding="utf-8")
    assert not re.search(r'(?:src|href)="(?!data:|#|\.\./runs/)', page)  # pictures inside, links to the runs
    assert "sizes &amp; &lt;signs&gt;" in page
    assert page.count("data:image/png") == 4  # one for each run that has a result
    for row in done[1].rows:
        assert f"../runs/{row['run_id']}/" in page
    assert {path.suffix for path in written.figures} == {".png", ".svg", ".pdf"}


def test_failures_come_with_the_command_that_runs_them_alone(done):
    page = write_report(*done).page.read_text(encoding="utf-8")
    failed = done[1].failures
    assert len(failed) == 2
    for row in failed:
        assert row["reproduce"] in page
    assert "robots.scout" in page[page.index('id="failures"') :]


def test_the_tables_of_a_report_are_latex_too(done):
    text = write_report(*done).latex.read_text(encoding="utf-8")
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") >= 3
    assert not re.search(r"(?<!\\)_", text)


def test_a_report_of_nothing(plain, tmp_path, in_this_process):
    run_design(plain(), tmp_path, jobs=1, shard=(4, 4))
    for folder in (tmp_path / "runs").iterdir():
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
    with pytest.raises(InvalidValueError, match="run the design first"):
        write_report(plain(), Results(tmp_path))


def test_a_test_that_could_not_have_shown_anything_is_not_shown():
    axes = Axes("controller", None, None, ())
    rng = np.random.default_rng(0)
    few = table_of([10.0, 11.0, 12.0, 13.0, 14.0], [50.0, 51.0, 52.0, 53.0, None])
    assert not list(comparisons(few, "exploration_time_s", axes))  # five pairs: p is at least 2 / 2^5 = 0.0625
    assert next(hidden(few, "exploration_time_s", axes)).startswith("1 of 1 comparisons are not shown")
    many = table_of((10 + rng.random(12)).tolist(), [*(50 + rng.random(11)).tolist(), None])
    (sheet,) = comparisons(many, "exploration_time_s", axes)
    assert not list(hidden(many, "exploration_time_s", axes))
    row = dict(zip(sheet.head, sheet.rows[0], strict=True))
    assert float(row["p (Holm)"]) == pytest.approx(2 / 2**12, rel=1e-3)  # every pair the same way
    assert row["delta"] == "-1"


def study(times):
    """Return a table of runs by (controller, terrain, count), each with its time; its cost is ten times as much."""
    rows = [
        {
            "run_id": f"r{i}",
            "vector": i,
            "iteration": 0,
            "seed": 7,
            "controller": controller,
            "world.terrain": terrain,
            "robots.scout.count": count,
            "status": "reached",
            "timeout_s": 100.0,
            "exploration_time_s": time,
            "exploration_cost_m": 10 * time,
            "simulated_time_s": time,
        }
        for i, ((controller, terrain, count), time) in enumerate(times.items())
    ]
    return pl.DataFrame(rows)


def test_strategies_are_ranked_over_maps():
    times = {
        (controller, terrain, 1): base * factor
        for controller, factor in (("a", 1.0), ("b", 1.2), ("c", 3.0))
        for terrain, base in (("loop", 10.0), ("cross", 20.0), ("maze", 30.0), ("zigzag", 25.0))
    }
    average, profile = ranks(study(times), "exploration_time_s", Axes("world.terrain", "controller", None, ()))
    assert average.rows == (("a", "1"), ("b", "2"), ("c", "3"))
    assert "Friedman: p = 0.0183" in average.caption  # chi^2 = 12 / (4 * 3 * 4) * (4^2 + 8^2 + 12^2) - 3 * 4 * 4 = 8
    assert dict(zip(profile.head, profile.rows[2], strict=True)) == {"factor": "1.25", "a": "1", "b": "1", "c": "0"}


def test_the_best_fleet_and_its_speed_up():
    times = {("a", "maze", n): t for n, t in ((1, 80.0), (2, 40.0), (4, 25.0), (8, 30.0))}
    by_time, by_both, scaled = of_fleets(study(times), Axes("robots.scout.count", None, None, ()))
    assert by_time.rows[0][:2] == ("4", "25")
    assert by_both.rows[0][:2] == ("4", "0.625")  # 25/80 + 250/800
    assert [row[-2:] for row in scaled.rows] == [("1", "1"), ("2", "1"), ("3.2", "0.8"), ("2.667", "0.3333")]


def test_the_outcome_counts_every_end():
    table = table_of([10.0, None], [None, 20.0])
    assert outcome(table, 6) == (
        "4 runs of 2 parameter vectors: 2 reached, 2 timeout. 2 of 6 planned runs have not ended yet."
    )


def test_results_against_themselves_do_not_differ(done):
    (sheet,) = compare_results(done[1], done[1], ["exploration_cost_m"])
    assert [row[sheet.head.index("delta")] for row in sheet.rows] == ["0", "0"]


def test_results_that_share_no_setting(plain, tmp_path, in_this_process):
    crossed = [
        [{"robots.scout.count": 1, "execution.step_s": 0.1}, {"robots.scout.count": 2, "execution.step_s": 0.2}],
        [{"robots.scout.count": 1, "execution.step_s": 0.2}, {"robots.scout.count": 2, "execution.step_s": 0.1}],
    ]
    one, other = (
        run_design(plain(parameters={}, vectors={"list": listed}), tmp_path / f"listed{i}", jobs=1)
        for i, listed in enumerate(crossed)
    )
    with pytest.raises(InvalidValueError, match="no setting in common"):
        compare_results(one, other)


def test_what_has_no_common_value_is_what_differs(plain, done, tmp_path):
    other = run_design(plain(parameters={"robots.scout.count": [3]}), tmp_path / "other", jobs=1)
    (sheet,) = compare_results(done[1], other, ["exploration_cost_m"])
    row = dict(zip(sheet.head, sheet.rows[0], strict=True))
    assert (row["n a"], row["n b"], row["delta"]) == ("4", "2", "-1")  # three drive further than one or two


def test_a_sheet_in_latex_escapes_what_latex_would_read():
    sheet = Sheet.of(pl.DataFrame({"a_b": ["50 %"], "n": [1234.5678]}), "T & C")
    assert r"a\_b & n \\" in sheet.to_latex()
    assert r"50 \% & 1235 \\" in sheet.to_latex()
    assert r"\begin{tabular}{lr}" in sheet.to_latex()


def test_runs_that_the_seed_does_not_change_are_told():
    from covey.experiments.summary import is_seedless

    def rows(*times):
        each = [{"vector": k // 2, "status": "reached", "metrics": {"t": t}} for k, t in enumerate(times)]
        for k, row in enumerate(each):
            row["metrics"]["wall_time_s"] = 0.1 * k
        return each

    assert is_seedless(rows(1.0, 1.0, 2.0, 2.0))
    assert not is_seedless(rows(1.0, 1.0, 2.0, 2.5))
    assert not is_seedless(rows(1.0)), "one run says nothing"
    failed = rows(1.0, 1.0)
    failed[1]["status"] = "failed"
    assert not is_seedless(failed)
