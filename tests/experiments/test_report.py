"""The report of a design, and two sets of results side by side."""

import json
import re
import shlex
import shutil
import subprocess
import warnings

import numpy as np
import polars as pl
import pytest
from tests.experiments.conftest import executed_here

from covey.errors import InvalidValueError
from covey.experiments.analysis.analysis import hidden, of_fleets, of_metric, ranks, summary
from covey.experiments.analysis.compare import compare_results, differences
from covey.experiments.analysis.findings import findings
from covey.experiments.analysis.questions import Question, apart, has_goal
from covey.experiments.analysis.report_tables import Sheet
from covey.experiments.design.axes import Axes
from covey.experiments.design.plan import plan
from covey.experiments.report.figures import figures, metric_figures, rank_figure
from covey.experiments.report.report import (
    FigureWriter,
    _in_latex,
    confounds,
    outcome,
    write_report,
)
from covey.experiments.report.runs import chosen, failed, spread
from covey.experiments.run import Results, run_design
from covey.results import statistics
from covey.results.figures import style


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


def report_of(design, folder):
    """Return a design that was run, its results and its report."""
    with pytest.MonkeyPatch.context() as patch:
        executed_here(patch)
        results = run_design(design, folder, jobs=1)
    return design, results, write_report(design, results)


@pytest.fixture(scope="module")
def done(plain, tmp_path_factory):
    design = plain(
        design="sizes & <signs>",
        parameters={"robots.scout.count": [1, 2, 2000]},
        metrics=["exploration_cost_m", "simulated_time_s"],
    )
    return report_of(design, tmp_path_factory.mktemp("done"))


def test_a_report_is_one_page_that_needs_nothing_else(done):
    written = done[2]
    page = written.page.read_text(encoding="utf-8")
    assert not re.search(r'(?:src|href)="(?!data:|#|\.\./runs/)', page)  # pictures inside, links to the runs
    assert "sizes &amp; &lt;signs&gt;" in page
    assert '<h2 id="answer">Question and answer</h2>\n<p>Does number of robots (1, 2, 2000) change' in page
    assert page.index('id="answer"') < page.index('id="design"')
    assert page.count("data:image/png") == 4  # two settings with a result, and the best and worst run of each
    for row in done[1].rows:
        assert row["run_id"] in page
    assert {path.suffix for path in written.figures} == {".png", ".svg", ".pdf"}


def test_python_draws_each_figure_of_a_report(done):
    design, results, written = done
    own = figures(design, results)
    assert {*own} == {path.stem for path in written.figures}
    own["exploration_cost_m_box"].draw().save(results.folder / "box.pdf")
    (there,) = (path for path in written.figures if path.name == "exploration_cost_m_box.pdf")
    assert (results.folder / "box.pdf").read_bytes() == there.read_bytes()


def list_of(page):
    """Return the data of the list of all runs."""
    text = page.partition('id="all-runs-data">')[2].partition("</script>")[0]
    return json.loads(text)


@pytest.mark.slow
def test_the_list_of_all_runs_holds_each_with_its_values(done):
    page = done[2].page.read_text(encoding="utf-8")
    found = list_of(page)
    assert found["metrics"] == ["exploration_cost_m", "simulated_time_s"]
    assert found["settings"] == ["number of robots 1", "number of robots 2", "number of robots 2000"]
    for row, line in zip(done[1].rows, found["rows"], strict=True):
        setting, iteration, status, run_id, there, cost, time = line
        assert (setting, iteration, run_id, there) == (row["vector"], row["iteration"], row["run_id"], 1)
        assert found["statuses"][status] == row["status"]
        failed = row["status"] == "failed"
        assert cost == (None if failed else pytest.approx(row["metrics"]["exploration_cost_m"], rel=1e-3))
        assert time == (None if failed else 1.0)
    assert (done[2].page.parent / found["runs"] / done[1].rows[0]["run_id"] / "row.json").is_file()


def test_best_median_and_worst_are_those_of_the_metric():
    """A run that never got there is worse than all others; of a share, the larger the better."""
    table = table_of([30.0, None, 10.0, 20.0, 40.0], [5.0, 6.0])
    first, second = (part for _, part in statistics.groups(table, "vector"))
    assert [(word, row["iteration"]) for word, row in chosen(first, "exploration_time_s")] == [
        ("best", 2),
        ("median", 0),
        ("worst", 1),
    ]
    assert [(word, row["iteration"]) for word, row in chosen(second, "exploration_time_s")] == [
        ("best", 0),
        ("worst", 1),
    ]
    shares = first.with_columns(explored_share=pl.Series([0.3, 0.1, 0.9, 0.5, 0.4]))
    assert [row["iteration"] for _, row in chosen(shares, "explored_share")] == [2, 4, 1]
    assert [word for word, _ in chosen(first[:1], "exploration_time_s")] == [""]


def test_of_very_many_settings_some_are_shown_from_the_best_to_the_worst():
    groups = [pl.DataFrame({"vector": [v] * 3, "t": [float(v), 300.0, float(v)]}) for v in range(250)][::-1]
    shown = [part["vector"][0] for part in spread(groups, "t")]
    assert len(shown) == 100
    assert {shown[0], shown[-1]} == {0, 249}
    gaps = np.diff(sorted(shown))
    assert {int(gap) for gap in gaps} <= {2, 3}


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("keep", ["measurements", "rows"])
def test_runs_without_maps_have_no_pictures_and_none_that_is_broken(keep, plain, tmp_path):
    written = report_of(plain(keep=keep), tmp_path)[2]
    page = written.page.read_text(encoding="utf-8")
    assert "data:image/png" not in page
    assert 'src="data:,"' not in page
    assert "The runs kept no maps" in page
    found = list_of(page)
    assert [line[4] for line in found["rows"]] == [int(keep != "rows")] * 4
    assert not re.findall(r'href="\.\./runs/[^"]+"', page) or keep != "rows"
    assert "numpy" in page[page.index('id="environment"') :], "the versions are known without folders, too"


def test_failures_with_the_same_reason_stand_together(tmp_path):
    rows = [
        {
            "run_id": f"{n:x}",
            "iteration": n,
            "status": "died",
            "reason": "it vanished",
            "parameters": {},
            "reproduce": f"r{n}",
        }
        for n in range(7)
    ]
    rows.insert(3, rows[0] | {"run_id": "ff", "status": "failed", "reason": "<b>", "reproduce": "alone"})
    often, once = failed(rows, Axes(None, None, None, ()), tmp_path, {"0"}, tmp_path / "report")
    assert (often["status"], often["count"], len(often["runs"])) == ("died", 7, 5)
    assert (once["reason"], once["count"], once["runs"][0]["reproduce"]) == ("<b>", 1, "alone")
    assert [run["href"] for run in often["runs"]] == ["../runs/0/", "", "", "", ""]


@pytest.mark.usefixtures("undrawn")
def test_a_report_tells_its_progress(done, tmp_path):
    said = []
    write_report(*done[:2], tmp_path, observer=lambda *step: said.append(step))
    assert said
    assert all(0 <= done_ <= total for _, done_, total in said)


def test_failures_come_with_the_command_that_runs_them_alone(done):
    page = done[2].page.read_text(encoding="utf-8")
    failed = done[1].failures
    assert len(failed) == 2
    for row in failed:
        assert row["reproduce"] in page
    assert "robots.scout" in page[page.index('id="failures"') :]


def test_the_tables_of_a_report_are_latex_too(done):
    text = done[2].latex.read_text(encoding="utf-8")
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") >= 3
    assert not re.search(r"(?<!\\)_", text)
    labels = re.findall(r"\\label{([^}]*)}", text)
    assert len(labels) == len(set(labels)) == text.count(r"\caption")
    assert "tab:exploration-cost-m-of-each-setting" in labels


def test_a_report_of_nothing(plain, tmp_path, in_this_process):
    run_design(plain(), tmp_path, jobs=1, shard=(4, 4))
    for name in ("rows", "runs"):
        shutil.rmtree(tmp_path / name)
    with pytest.raises(InvalidValueError, match="run the design first"):
        write_report(plain(), Results(tmp_path))


def question(table, parameter, *over, places=()):
    return Question(parameter, over, places, True, table[parameter][0])


def test_a_test_that_could_not_have_shown_anything_is_not_shown():
    rng = np.random.default_rng(0)
    axes = Axes("controller", None, None, ())
    few = table_of([10.0, 11.0, 12.0, 13.0, 14.0], [50.0, 51.0, 52.0, 53.0, None])
    found = findings(few, ["exploration_time_s"], [question(few, "controller")], "exploration_time_s")
    assert [sheet.title for sheet in of_metric(few, "exploration_time_s", axes, found)] == [
        "exploration_time_s of each setting"  # five pairs: p is at least 2 / 2^5 = 0.0625
    ]
    assert next(hidden(found)).startswith(
        "Wilcoxon signed-rank test of exploration_time_s between values of controller: 1 of 1 comparisons are not shown"
    )
    many = table_of((10 + rng.random(12)).tolist(), [*(50 + rng.random(11)).tolist(), None])
    found = findings(many, ["exploration_time_s"], [question(many, "controller")], "exploration_time_s")
    _, sheet, curves = of_metric(many, "exploration_time_s", axes, found)
    assert not list(hidden(found))
    row = dict(zip(sheet.head, sheet.rows[0], strict=True))
    assert (row["p"], row["p (Holm)"], row["delta"]) == ("0.00049", "0.00049", "-1")  # 2 / 2^12: all the same way
    assert (row["blocks"], row["pairs"], row["telling"]) == ("12", "12", "12")
    assert "p (BH)" in curves.head, "the same question once more is exploratory"


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
    asked = Question("controller", ("world.terrain",), ("world.terrain",), True, "a")
    average, profile = ranks(study(times), "exploration_time_s", asked)
    assert average.rows == (("a", "1"), ("b", "2"), ("c", "3"))
    assert "p = 0.0046" in average.caption  # 1 / 6^3: the clearest of all permutations within four blocks
    assert dict(zip(profile.head, profile.rows[2], strict=True)) == {"factor": "1.25", "a": "1", "b": "1", "c": "0"}


@pytest.mark.usefixtures("undrawn")
def test_ranks_are_drawn_with_bars_over_those_that_do_not_differ(tmp_path):
    from covey.results.figures.study_ranks import cliques, rank_diagram

    picture = rank_diagram(["c", "a", "b"], [2.9, 1.0, 2.1], 1.0, 12)
    (axes,) = picture.axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b", "c"]
    points, bar = axes.lines
    assert points.get_ydata().tolist() == [0, 1, 2]
    assert axes.yaxis_inverted(), "the best is on top"
    assert points.get_xdata().tolist() == [1.0, 2.1, 2.9]
    assert bar.get_xdata() == pytest.approx([2.07, 2.93]), "b and c are 0.8 apart, a and b 1.1"
    assert "12 blocks" in picture.note
    assert len(rank_diagram(["a", "b"], [1.0, 2.0], None, 5).axes[0].lines) == 1, "Friedman's test found nothing"
    assert cliques(np.array([1.0, 1.5, 2.4, 4.0]), 1.0) == [(0, 1), (1, 2)]
    table, gallery = three_by_three(), FigureWriter(tmp_path)
    asked = question(table, "strategy", "world.terrain", "robots.scout.count", places=("world.terrain",))
    (figure,) = gallery.add(rank_figure(table, "exploration_time_s", asked))
    assert "Average ranks over 12 blocks" in figure["caption"]
    assert (tmp_path / "exploration_time_s_ranks.pdf").is_file()


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


def test_a_run_without_a_goal_has_not_failed_to_reach_it():
    """A patrol lasts its planned time: that is its end, not a timeout."""
    table = table_of([None, None], [None, None])
    assert not has_goal({"timeout_s": 100.0}, table["status"])
    assert has_goal({"explored": 0.9, "timeout_s": 100.0}, table["status"])
    assert has_goal({"timeout_s": 100.0}, table_of([None, 5.0], [None, None])["status"]), "a mission's goal"
    said = outcome(table, 4, goal=False)
    assert said == "4 runs of 2 parameter vectors: 4 lasted their planned time."
    driven = table.with_columns(exploration_cost_m=pl.Series([5.0, 6.0, 7.0, 8.0]))
    axes = Axes("controller", None, None, ())
    sheet = summary(driven, "exploration_cost_m", axes, goal=False)
    assert sheet.head[:3] == ("controller", "runs", "n"), "nobody succeeds where there is no goal"
    assert "mean [m]" in sheet.head
    assert "goal" not in sheet.caption
    assert "successes" in summary(driven, "exploration_cost_m", axes).head


def test_a_summary_of_patrols_says_that_they_ended(plain, tmp_path, in_this_process):
    from covey.experiments.analysis.summary import as_text

    results = run_design(plain(stop={"timeout_s": 1}), tmp_path, jobs=1)
    assert "ended" in as_text(results).splitlines()[0]
    assert "2/2" in as_text(results)
    assert "reached" not in as_text(results)


@pytest.mark.usefixtures("undrawn")
def test_one_robot_alone_stands_beside_the_team_and_in_no_test(plain, tmp_path, in_this_process):
    strategies = {"robots.scout.controller": ["wander", "random_ballistic_walk"], "robots.scout.count": 2}
    design = plain(parameters=strategies, alone=True, metrics=["exploration_cost_m"])
    results = run_design(design, tmp_path / "out", jobs=1)
    team, alone = apart(design, results.table)
    assert (team["robots.scout.count"].unique().to_list(), len(team)) == ([2], 4)
    assert (alone["robots.scout.count"].unique().to_list(), len(alone)) == ([1], 4)
    axes = Axes.of(design, team)
    assert axes.varying == ("robots.scout.controller",)
    first = next(of_metric(team, "exploration_cost_m", axes, (), alone))
    assert [row[:2] for row in first.rows] == [
        (name, n) for name in strategies["robots.scout.controller"] for n in "12"
    ]
    page = write_report(design, results).page.read_text()
    assert "8 runs of 4 parameter vectors" in page
    assert "not ended yet" not in page
    assert "A seed changes only noise and chance during the run" in page, "all runs start together at one place"
    assert "All settings" in page
    assert re.search(r"robots\.scout\.robot\.max_speed_m_s</td>\s*<td[^>]*>1<", page), "a setting that nobody wrote"
    assert "also each with one robot alone" in page
    once = plain(parameters=strategies | {"robots.scout.count": [1, 2]}, alone=True)
    assert len(plan(once)) == len(plan(once.model_copy(update={"alone": False})))  # one robot is there already


def test_parameters_that_go_with_a_controller_are_told_beside_its_results(plain):
    controllers = ["minpos", {"label": "slow", "value": {"name": "cost_utility", "replan_s": 9}}]
    said = list(confounds(plain(parameters={"robots.scout.controller": controllers}), table_of([5.0], [7.0])))
    assert any(line.startswith("The parameter replan_s differs together with the controller (") for line in said)
    apart = plain(scenario=plain().scenario | {"robots": [{"name": "scout", "robot": "disc", "start": {"apart": {}}}]})
    assert not list(confounds(apart, table_of([5.0], [7.0])))


def test_results_against_themselves_do_not_differ(done):
    together, sheet = compare_results(done[1], done[1], ["exploration_cost_m"])
    assert [row[sheet.head.index("delta")] for row in sheet.rows] == ["0", "0"]
    assert together.rows[0][together.head.index("telling")] == "0"
    assert differences(done[1], done[1]) == []


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


def test_what_has_no_common_value_is_what_differs(plain, done, tmp_path, in_this_process):
    other = run_design(plain(parameters={"robots.scout.count": [3]}), tmp_path / "other", jobs=1)
    (sheet,) = compare_results(done[1], other, ["exploration_cost_m"])
    rows = [dict(zip(sheet.head, cells, strict=True)) for cells in sheet.rows]
    assert [(row["setting"], row["pairs"], row["delta"]) for row in rows] == [
        ("A: number of robots 1; B: all", "2", "-1"),  # three drive further than one or two, which are never pooled
        ("A: number of robots 2; B: all", "2", "-1"),
    ]


def test_a_sheet_in_latex_escapes_what_latex_would_read():
    sheet = Sheet.of(pl.DataFrame({"a_b": ["50 %"], "n": [1234.5678]}), "T & C")
    assert r"a\_b & n \\" in sheet.to_latex()
    sizes = Sheet.of(pl.DataFrame({"size": ["[8, 8]", "*"], "n": [1, 2]}), "Sizes").to_latex()
    assert "\n{}[8, 8] & 1" in sizes, "not the option of the end of the line before"
    assert "\n{}* & 2" in sizes
    assert r"50 \% & 1235 \\" in sheet.to_latex()
    assert r"\begin{tabular}{lr}" in sheet.to_latex()


def test_runs_that_the_seed_does_not_change_are_told():
    from covey.experiments.analysis.summary import is_seedless

    def table(*times, status="reached"):
        n = len(times)
        columns = {"vector": [k // 2 for k in range(n)], "status": ["reached"] * (n - 1) + [status]}
        columns |= {"timeout_s": [9.0] * n, "t": times, "host_wall_time_s": [0.1 * k for k in range(n)]}
        return pl.DataFrame(columns)

    assert is_seedless(table(1.0, 1.0, 2.0, 2.0))
    assert not is_seedless(table(1.0, 1.0, 2.0, 2.5))
    assert not is_seedless(table(1.0)), "one run says nothing"
    assert not is_seedless(table(1.0, 1.0, status="failed"))


STRATEGIES, TERRAINS, SIZES = ("near", "far", "wide"), ("loop", "cross", "maze"), (3, 6)


def three_by_three(gain=8.0, seeds=4):
    """Return a table of 3 strategies in 3 worlds with 2 sizes and some seeds: each strategy is slower than the last."""
    rng, rows = np.random.default_rng(1), []
    for a, strategy in enumerate(STRATEGIES):
        for b, terrain in enumerate(TERRAINS):
            for size in SIZES:
                for seed in range(seeds):
                    time = 100.0 * (b + 1) / size * 3 + gain * a + float(rng.normal(0, 1))
                    rows.append(
                        {
                            "run_id": f"{len(rows):x}",
                            "vector": len(rows) // seeds,
                            "iteration": seed,
                            "seed": seed,
                            "strategy": strategy,
                            "world.terrain": terrain,
                            "robots.scout.count": size,
                            "status": "reached",
                            "timeout_s": 1000.0,
                            "exploration_time_s": time,
                            "simulated_time_s": time,
                        }
                    )
    return pl.DataFrame(rows)


BY_LINE_AND_FACET = Axes("robots.scout.count", "strategy", "world.terrain", ())


@pytest.mark.usefixtures("undrawn")
def test_worlds_are_never_pooled_in_a_figure(tmp_path):
    gallery = FigureWriter(tmp_path)
    captions = [
        f["caption"] for f in gallery.add(metric_figures(three_by_three(), "exploration_time_s", BY_LINE_AND_FACET))
    ]
    boxes, curves = ([c for c in captions if word in c] for word in ("by number of robots", "not there yet"))
    assert [next(t for t in TERRAINS if f"terrain {t}" in caption) for caption in boxes] == list(TERRAINS)
    assert [next(t for t in TERRAINS if f"terrain {t}" in caption) for caption in curves] == list(TERRAINS)
    assert all("by strategy and number of robots" in caption for caption in curves), "nor are team sizes"
    assert (tmp_path / "exploration_time_s_box_3_maze.pdf").is_file()


@pytest.mark.usefixtures("undrawn")
def test_what_has_to_be_pooled_says_so(tmp_path):
    table = three_by_three().with_columns(radio=pl.int_range(pl.len()) % 30)
    table = table.select("run_id", "vector", "iteration", "seed", "radio", *table.columns[4:-1])
    axes = Axes("robots.scout.count", "strategy", None, ("radio", "world.terrain"))
    captions = [one.caption for one in metric_figures(table, "exploration_time_s", axes)]
    assert captions
    assert all("all values of radio pooled" in caption for caption in captions)


def three(table):
    """Return the findings about the strategies of `three_by_three`."""
    asked = question(table, "strategy", "world.terrain", "robots.scout.count", places=("world.terrain",))
    return findings(table, ["exploration_time_s"], [asked], "exploration_time_s")


def test_few_seeds_in_many_settings_are_tested_together():
    table = three_by_three()
    sheets = {s.title: s for s in of_metric(table, "exploration_time_s", BY_LINE_AND_FACET, three(table))}
    sheet = sheets["exploration_time_s: Wilcoxon signed-rank test of strategy"]
    row = dict(zip(sheet.head, sheet.rows[0], strict=True))
    assert (row["A"], row["B"], row["pairs"], row["blocks"]) == ("near", "far", "24", "12")
    found = re.fullmatch(r"(\S+) \((\S+) to (\S+)\)", row["A - B [s]"])
    shift, low, high = map(float, found.groups())
    assert shift == pytest.approx(-8.0, abs=0.7)
    assert low < shift < high < 0
    assert row["p (Holm)"] == f"{3 * 2 / 2**12:.2g}"  # all 12 blocks one way; three tests


def test_tables_name_their_tests_and_what_is_not_shown():
    table = three_by_three()
    found = three(table)
    titles = [sheet.title for sheet in of_metric(table, "exploration_time_s", BY_LINE_AND_FACET, found)]
    assert not any("setting by setting" in title for title in titles), "four seeds of one setting show nothing"
    assert not list(hidden(found))
    table = three_by_three(seeds=12)
    titles = [s.title for s in of_metric(table, "exploration_time_s", BY_LINE_AND_FACET, three(table))]
    assert "exploration_time_s: Wilcoxon signed-rank test of strategy, setting by setting" in titles


def test_smallest_and_largest_run_are_not_called_a_range_of_the_median():
    caption = summary(three_by_three(), "exploration_time_s", BY_LINE_AND_FACET).caption
    assert "range of the median" not in caption
    assert "smallest and largest run" in caption
    caption = summary(three_by_three(seeds=8), "exploration_time_s", BY_LINE_AND_FACET).caption
    assert "95 % interval of the median between order statistics" in caption


def test_tables_say_what_a_success_is():
    table = three_by_three(seeds=12)
    assert "successes: runs that got there" in summary(table, "exploration_time_s", BY_LINE_AND_FACET).caption
    cost = table.with_columns(exploration_cost_m=1.0)
    assert "successes: runs that reached their goal" in summary(cost, "exploration_cost_m", BY_LINE_AND_FACET).caption


HOSTILE = ["[14, 10]", r"$\frac$", "=2+2", "a^2_{x} & 50 % ~#", "red \x1b[31m", "<b>bold</b>", "中文 ²"]


@pytest.fixture(scope="module")
def hostile(plain, tmp_path_factory):
    """Return a design whose values bear names that each kind of reader might obey, its results and its report."""
    values = [{"label": label, "value": 1.0 + k / 10} for k, label in enumerate(HOSTILE)]
    where = {"robots.scout.robot.max_speed_m_s": values, "robots.scout.count": [1, {"label": "small", "value": 2}]}
    design = plain(design="names", parameters=where, metrics=["exploration_time_s", "exploration_cost_m"])
    draw = style.Picture.to_bytes
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.filterwarnings("ignore", "Glyph")
        patch.setattr(style.Picture, "to_bytes", lambda picture, kind: draw(picture, kind) if kind == "svg" else b"")
        return report_of(design, tmp_path_factory.mktemp("hostile"))


def test_names_are_text_everywhere(hostile):
    from covey.experiments.analysis.summary import as_csv, as_text

    _, results, written = hostile
    page = written.page.read_text(encoding="utf-8")
    assert "<b>bold" not in page
    assert "&lt;b&gt;bold" in page
    for text in (page, written.latex.read_text(encoding="utf-8"), as_text(results), as_csv(results)):
        assert "\x1b" not in text
        assert r"\x1b" in text or r"\textbackslash{}x1b" in text
    assert ",'=2+2," in as_csv(results)
    for path in written.figures:
        if path.suffix == ".svg":
            assert "\x1b" not in path.read_text(encoding="utf-8")


def test_labelled_sizes_have_no_best_fleet(hostile):
    design, results, _ = hostile
    assert of_fleets(results.table, Axes.of(design, results.table)) == []


def has_class(name):
    """Return whether LaTeX has a class and its fonts; IEEE's are Times."""
    if not shutil.which("kpsewhich"):
        return False
    needed = [f"{name}.cls", *(["ptmr7t.tfm"] if name == "IEEEtran" else [])]
    found = subprocess.run(["kpsewhich", *needed], check=False, capture_output=True)
    return len(found.stdout.split()) == len(needed)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdfLaTeX (Debian: texlive-latex-recommended)")
@pytest.mark.parametrize("style", ["{article}", "[twocolumn]{article}", "[journal]{IEEEtran}", "{llncs}"])
def test_the_tables_compile_and_fit_the_page(style, hostile, tmp_path):
    name = style.partition("{")[2].rstrip("}")
    if not has_class(name):
        pytest.skip(f"needs the LaTeX class {name} (Debian: texlive-publishers, texlive-fonts-recommended)")
    wide = r"\textwidth516pt\columnwidth252pt\hsize252pt\oddsidemargin-20pt" if "two" in style else ""  # as IEEE's
    head = {"IEEEtran": r"\footnotesize\scshape ", "llncs": r"\small Table 10. "}.get(name, "Table 10: ")
    measured = (  # a caption that is longer than its line
        r"\let\set\caption\renewcommand\caption[1]{\sbox0{\normalfont " + head + r"#1}"
        r"\ifdim\wd0>\linewidth\typeout{Long caption: #1}\fi\set{#1}}"
    )
    text = (
        rf"\documentclass{style}\usepackage{{array,booktabs}}{wide}{measured}"
        r"\begin{document}\input{tables.tex}\end{document}"
    )
    shutil.copy(hostile[2].latex, tmp_path)
    (tmp_path / "paper.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "paper.tex"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=240, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout
    assert "Float too large" not in done.stdout
    assert "Long caption" not in done.stdout, "one line"


def test_a_table_for_a_paper_is_neither_scaled_nor_wider_than_a_column():
    cells = {"strategy": ["a", "b", "c"], "runs": [8, 8, 8], "shift [s]": [-1.25, 10.5, 3.0]}
    sheet = Sheet.of(pl.DataFrame(cells), "Shifts", "What they mean.")
    latex = sheet.to_latex()
    assert r"\begin{table}" in latex
    assert r"\caption{Shifts}" in latex, "one line; the rest is a note"
    assert "In all rows: runs 8. What they mean." in latex
    assert r"a & $-$1&.25 \\" in latex
    assert r"b & 10&.5 \\" in latex, "points are below each other"
    assert "resizebox" not in latex
    assert r"\tiny" not in latex
    wide = Sheet.of(pl.DataFrame({f"column {k}": [1.5, 2.5] for k in range(9)}), "Wide").to_latex()
    assert r"\begin{table*}" in wide
    wider = Sheet.of(pl.DataFrame({"key": ["a", "b"]} | {f"column {k}": [1.5, 2.5] for k in range(30)}), "Wider")
    parts = wider.to_latex().split(r"\end{table*}")[:-1]
    assert len(parts) > 2
    assert all("key" in part for part in parts)


def test_a_caption_takes_one_line_and_the_note_says_the_rest():
    cells = {"strategy": ["a", "b"], "shift [s]": [-1.25, 10.5]}
    title = "exploration_time_s: Wilcoxon signed-rank test of controller, setting by setting"
    latex = Sheet.of(pl.DataFrame(cells), title, "Two-sided.").to_latex()
    assert r"\caption{exploration\_time\_s}" in latex, "the test does not fit into 40 letters"
    assert rf"\raggedright {title.replace('_', chr(92) + '_')}. Two-sided.}}" in latex
    wide = Sheet.of(pl.DataFrame(cells | {f"column {k}": [1.5, 2.5] for k in range(7)}), title, "Two-sided.")
    assert r"\caption{exploration\_time\_s: Wilcoxon signed-rank test of controller}" in wide.to_latex(), (
        "of a page: 60"
    )
    parts = Sheet.of(pl.DataFrame({f"column {k}": [1.5, 2.5] for k in range(30)}), "A" * 70).to_latex()
    captions = re.findall(r"\\caption{(.*?)}", parts)
    assert {len(caption) for caption in captions} == {60}
    assert re.search(r"A \(2 of \d\)$", captions[1])


def test_figures_are_as_wide_as_ieees_columns():
    """252 and 516 pt, of which an inch has 72.27: a figure that is wider is an overfull box."""
    assert 251.8 < style.COLUMN_IN * 72.27 <= 252.0
    assert 515.8 < style.PAGE_IN * 72.27 <= 516.0


@pytest.mark.usefixtures("undrawn")
def test_a_design_with_a_controller_of_its_own_is_reported_from_its_results(write, capsys, in_this_process):
    from covey.cli import main

    mine = "async def c(robot):\n    robot.drive(0.2, 0.1)\n    await robot.sleep(0.5)\n"
    text = "design: own\nscenario: room.yaml\nparameters: {robots.scout.controller: [./mine.py:c, wander]}\niterations: 1\n"
    folder = write(mine_py=mine, own_yaml=text)
    assert main(["run", "own.yaml", "--out", "results", "--quiet", "--jobs", "1"]) == 0
    (folder / "elsewhere").mkdir()
    assert main(["report", str(folder / "results"), "--out", str(folder / "elsewhere")]) == 0
    assert "report.html" in capsys.readouterr().out


def test_the_median_of_results_counts_those_that_did_not_get_there():
    from covey.experiments.analysis.summary import _median

    table = table_of([10.0, 20.0, 30.0, None], [None, None, None, 40.0])
    near, far = (statistics.sample(part, "exploration_time_s") for _, part in statistics.groups(table, "controller"))
    assert _median(near) == "25"  # of 10, 20, 30 and more than 100
    assert _median(far) == "> 100"


def test_different_worlds_are_not_compared_without_a_word(write, capsys, in_this_process):
    from covey.cli import main

    text = "design: {}\nscenario: {{world: {{empty_m: [{}, 8]}}, robots: [{{controller: wander}}], stop: {{timeout_s: 1}}}}\n"
    write(small_yaml=text.format("small", 8), large_yaml=text.format("large", 12))
    for name in ("small", "large"):
        assert main(["run", f"{name}.yaml", "--out", name, "--quiet", "--jobs", "1"]) == 0
    assert main(["compare", "small", "large", "--metric", "exploration_cost_m"]) == 0
    said = capsys.readouterr().out
    assert "A and B differ in world.empty_m: [8, 8] / [12, 8]" in said
    assert "A - B [m]" in said


@pytest.mark.slow
def test_another_interval_of_measuring_runs_nothing_again(plain, tmp_path, in_this_process):
    def measuring(every_s, **more):
        return plain(measurements=[{"every_s": every_s, "record": ["position", "explored_share_union"]}], **more)

    longer = {"timeout_s": 6}
    run_design(measuring(1, stop=longer), tmp_path / "a", jobs=1)
    before = list(in_this_process)
    run_design(measuring(3, stop=longer), tmp_path / "a", jobs=1)
    assert in_this_process == before
    fresh = run_design(measuring(3, stop=longer), tmp_path / "b", jobs=1)
    for run in fresh.runs:
        there = pl.read_parquet(tmp_path / "a" / "runs" / run.folder.name / "every_3_s.parquet")
        assert there.equals(pl.read_parquet(run.folder / "every_3_s.parquet"))
        assert there["time_s"].unique().to_list() == [3.0, 6.0]
    before, remarks = list(in_this_process), []
    finer = measuring(0.5, stop=longer)
    run_design(finer, tmp_path / "a", jobs=1, observer=lambda progress: remarks.extend(progress.remarks))
    assert len(in_this_process) == len(before) + 4, "what was thinned away can only be had by running again"
    assert any("4 runs are repeated" in remark for remark in remarks)


@pytest.mark.usefixtures("undrawn")
def test_the_command_that_a_design_names_at_its_end_writes_its_report(write, capsys, in_this_process):
    from covey.cli import main

    text = "design: {other name}\nscenario: {world: {empty_m: [8, 8]}, robots: [{controller: wander}], stop: {timeout_s: 1}}\n"
    write(small_yaml=text.replace("{other name}", "other name"))
    main(["run", "small.yaml", "--out", "some where", "--jobs", "1"])
    said = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("report "))
    assert main(shlex.split(said)[2:]) == 0
    assert "some where/report/report.html" in capsys.readouterr().out


def test_tables_for_latex_leave_it_room_for_its_floats():
    """LaTeX holds 18 tables that have no page yet: a report with more of them has new pages in between."""
    sheet = Sheet.of(pl.DataFrame({"a": [1.5]}), "T")
    pages = "".join(_in_latex([sheet] * 40)).split(r"\clearpage")
    assert sum(page.count(r"\begin{table}") for page in pages) == 40
    assert max(page.count(r"\begin{table}") for page in pages) < 18
