"""The pages of results: their numbers are those of the rows beside them, and older rows are marked where they stand."""

import re
from pathlib import Path

import polars as pl
import pytest

from covey.experiments.design.load import load_design
from covey.experiments.design.plan import plan
from covey.experiments.workers.execute import execute
from covey.results import statistics

RESULTS = Path(__file__).parents[1] / "docs" / "results"
OLDER = "of this page is of today's code"
MARK = "older code"


def tables(page):
    """Return the tables of a page by their heads, each a list of rows of cells without marks of code and bold."""
    found = {}
    for block in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        head, _, *rows = ([cell.strip(" `*") for cell in line.strip("|").split("|")] for line in block.splitlines())
        found[tuple(head)] = rows
    return found


def same(cell, *values):
    """Return whether the numbers of a cell are some values, rounded to the digits that it has."""
    found = re.findall(r"−?\d+(?:\.\d+)?", cell)
    return len(found) == len(values) and all(
        abs(float(text.replace("−", "-")) - value) <= 0.5001 * 10.0 ** -len(text.partition(".")[2])
        for text, value in zip(found, values, strict=True)
    )


def rows_of(name, **columns):
    """Return the rows of a study as `covey.results.statistics` takes them; every run reached its goal."""
    table = pl.read_csv(RESULTS / name).with_columns(timeout_s=pl.lit(600.0))
    return table.with_columns(simulated_time_s=pl.col("exploration_time_s")).rename(columns)


@pytest.fixture(scope="module")
def coordination():
    return rows_of("coordination.csv")


@pytest.fixture(scope="module")
def page():
    return tables((RESULTS / "strategies.md").read_text(encoding="utf-8"))


def test_medians_of_strategies_are_those_of_their_rows(coordination, page):
    (rows,) = (rows for head, rows in page.items() if head[:2] == ("strategy", "robots"))
    found = {
        (r["strategy"], r["place"], r["robots"], metric): r
        for metric in ("exploration_time_s", "exploration_cost_m")
        for r in statistics.summarize(coordination, metric, ["strategy", "place", "robots"]).to_dicts()
    }
    teams = list(dict.fromkeys(coordination["strategy"]))
    checked = 0
    for name, robots, *cells in rows:
        alone = {"nearest_frontier` alone": teams[:1], "each of the others alone": teams[1:]}
        for strategy in alone.get(name, [name]):
            for place, time, cost in (("cave", *cells[:2]), ("building", *cells[2:])):
                row = found[strategy, place, int(robots), "exploration_time_s"]
                assert same(time, row["median"], row["low"], row["high"]), (name, strategy, place)
                assert same(cost, found[strategy, place, int(robots), "exploration_cost_m"]["median"])
                checked += 1
    assert checked == 16


def test_differences_of_strategies_are_those_of_their_rows(coordination, page):
    """Also what the text says of the answer, of Friedman's test and of the average ranks."""
    (rows,) = (rows for head, rows in page.items() if head[:2] == ("A", "B"))
    team, metric = coordination.filter(robots=6), "exploration_time_s"
    found = statistics.compare(team, metric, "strategy", over=["place"], places=["place"])
    by_pair = {(row["a"], row["b"]): row for row in found.to_dicts()}
    assert len(rows) == len(by_pair) == 6
    for a, b, size, p, holm in rows:
        row = by_pair[a, b]
        assert row["blocks"] == 20
        assert same(size, row["shift"], row["shift_low"], row["shift_high"])
        assert row["p"] < 0.0001 if p == "< 0.0001" else same(p, row["p"])
        assert same(holm, row["p_holm"])
    ranks, test = statistics.average_ranks(team, metric, "strategy", ["place"], ["place"])
    text = (RESULTS / "strategies.md").read_text(encoding="utf-8")
    (p,) = re.findall(r"Friedman's test by blocks: p = ([\d.]+),", text)
    assert same(p, test.p)
    for strategy, rank in ranks.rows():
        said = re.search(rf"(\d\.\d+) \(`{strategy}`\)", text)
        assert said is not None
        assert float(said[1]) == pytest.approx(rank, abs=0.051)
    assert ranks["strategy"][0] == "hungarian_assignment"


def test_the_system_test_is_that_of_its_rows():
    """Each number of its table, and of the sentence below it."""
    text = (RESULTS / "reference.md").read_text(encoding="utf-8")
    (rows,) = (rows for head, rows in tables(text).items() if head[0] == "strategy")
    table, metric = rows_of("system_test_30x30.csv"), "exploration_time_s"
    found = {row["strategy"]: row for row in statistics.summarize(table, metric, "strategy").to_dicts()}
    assert len(rows) == len(found) == 2
    for name, there, median, quartiles, _ in rows:
        row = found[name]
        assert same(there, row["successes"], row["runs"])
        assert same(median, row["median"], row["low"], row["high"])
        assert same(quartiles, row["q1"], row["q3"])
    (row,) = statistics.compare(table, metric, "strategy").to_dicts()
    (said,) = re.findall(r"A difference between the two is not shown: ([^)]*)\)", text)
    assert same(said, row["shift"], row["shift_low"], row["shift_high"], row["p"], row["blocks"])


@pytest.mark.parametrize(
    ("name", "strategy", "robots"),
    [("coordination", "hungarian_assignment", 6), ("system_test_30x30", "first_frontier", 1)],
)
def test_a_page_without_a_mark_is_of_todays_code(name, strategy, robots, tmp_path):
    """A run of the study has the numbers of its row. If it has others, run the study again, or mark its page."""
    wanted = {"robots.scout.controller": strategy, "robots.scout.count": robots}
    run = next(one for one in plan(load_design(name)) if one.values.items() <= {*wanted.items(), ("place", "cave")})
    found = execute(run, tmp_path)["metrics"]
    row = pl.read_csv(RESULTS / f"{name}.csv").filter(seed=run.seed, strategy=strategy).row(0, named=True)
    for metric in ("exploration_time_s", "exploration_cost_m"):
        assert found[metric] == pytest.approx(row[metric], abs=0.01)


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.md")), ids=lambda path: path.stem)
def test_tables_of_older_code_say_so_in_their_first_cell(path):
    """A table that is copied out of its page takes the mark along; so does a picture with its text."""
    text = path.read_text(encoding="utf-8")
    if OLDER not in text:
        return
    assert MARK in text.partition("\n")[0]
    assert all(MARK in head[0] for head in tables(text))
    assert all(MARK in said for said in re.findall(r"!\[(.*?)\]", text))
