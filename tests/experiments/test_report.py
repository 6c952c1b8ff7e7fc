"""The report of a design, and two sets of results side by side."""

import re

import numpy as np
import polars as pl
import pytest

from covey.errors import InvalidValueError
from covey.experiments.axes import Axes
from covey.experiments.compare import compare_results
from covey.experiments.report import outcome, tests, write_report
from covey.experiments.run import Results, run_design
from covey.experiments.sheets import Sheet

tests.__test__ = False


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
    ((sheet, remark),) = tests(few, "exploration_time_s", axes)
    assert sheet is None  # five pairs: two-sided p is at least 2 / 2^5 = 0.0625
    assert "1 of 1 comparisons are not shown" in remark
    many = table_of((10 + rng.random(12)).tolist(), [*(50 + rng.random(11)).tolist(), None])
    ((sheet, remark),) = tests(many, "exploration_time_s", axes)
    assert remark == ""
    row = dict(zip(sheet.head, sheet.rows[0], strict=True))
    assert float(row["p (Holm)"]) == pytest.approx(2 / 2**12, rel=1e-3)  # every pair the same way
    assert row["delta"] == "-1"


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
