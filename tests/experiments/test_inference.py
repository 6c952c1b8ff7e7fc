"""A study of three strategies in two buildings with two radios and eight seeds, of which some run out of time.

``quitter`` drives half as fast and as far: in the large building it rarely gets there, and then it has driven least. The
short radio changes nothing for even seeds, and little for others: 96 runs are 16 seeds and places, not 32 pairs.
"""

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from covey.experiments.analysis import analysis
from covey.experiments.analysis.at_share import at_share
from covey.experiments.analysis.findings import findings
from covey.experiments.analysis.questions import identical, main_parameter, primary_metric, questions, untested
from covey.experiments.analysis.report_tables import within
from covey.experiments.design.axes import Axes
from covey.experiments.design.records import Design
from covey.experiments.report.answer import _of_two, answer, not_reached
from covey.results import statistics
from covey.results.statistics import SUCCESS, average_ranks, censored, compare

CONTROLLER = "robots.scout.controller"
TIMEOUT_S = 600.0
AT_80 = ("t80_s", "exploration_cost_t80_m")
AT = {50: 0.3, 80: 0.6, 90: 0.98}  # time of each explored share over that of the goal
SCENARIO = {"world": {"empty_m": [8, 8]}, "robots": [{"name": "scout", "robot": "disc", "controller": "wander"}]}


def design(**report):
    """Return the design of the study; its place changes the world under a name that does not say so."""
    places = [
        {"label": label, "set": {"world.empty_m": size}} for label, size in (("atrium", [8, 8]), ("depot", [20, 20]))
    ]
    return Design.model_validate(
        {
            "design": "study",
            "scenario": {**SCENARIO, "stop": {"explored": 0.9, "timeout_s": TIMEOUT_S}},
            "parameters": {
                "place": places,
                "radio": [{"label": "far", "value": {"range_m": 99}}, {"label": "near", "value": {"range_m": 9}}],
                CONTROLLER: ["wander", "nearest_frontier", "minpos"],
            },
            "metrics": ["exploration_time_s", "exploration_cost_m"],
            "report": report,
        }
    )


def study(seeds=8):
    rng, rows = np.random.default_rng(4), []
    for place, base in (("atrium", 200.0), ("depot", 440.0)):
        of_seed = rng.lognormal(0.0, 0.1, seeds)
        for controller, factor in (("steady", 1.0), ("brisk", 0.9), ("quitter", 1.45)):
            own = rng.lognormal(0.0, 0.05, seeds)
            for radio in ("far", "near"):
                for seed in range(seeds):
                    time = base * factor * of_seed[seed] * own[seed] * (1.02 if radio == "near" and seed % 2 else 1.0)
                    reached = time <= TIMEOUT_S
                    lasted = float(min(time, TIMEOUT_S))
                    row = {"run_id": f"{len(rows):x}", "vector": len(rows) // seeds, "iteration": seed, "seed": seed}
                    row |= {"place": place, "radio": radio, CONTROLLER: controller}
                    row |= {"status": "reached" if reached else "timeout", "timeout_s": TIMEOUT_S}
                    row |= {"exploration_time_s": lasted if reached else None, "simulated_time_s": lasted}
                    rate = 0.5 if controller == "quitter" else 1.0
                    row["exploration_cost_m"] = lasted * rate
                    for percent, part in AT.items():
                        there = part * time if part * time <= TIMEOUT_S else None
                        row |= {f"t{percent}_s": there}
                        row[f"exploration_cost_t{percent}_m"] = None if there is None else there * rate
                    rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


@pytest.fixture(scope="module")
def table():
    return study()


@pytest.fixture(scope="module")
def found(table):
    asked = design()
    axes, metrics = Axes.of(asked, table), ["exploration_time_s", "exploration_cost_m"]
    return findings(table, [SUCCESS, *metrics], questions(asked, table, axes), primary_metric(asked, metrics))


def by_head(sheet):
    return [dict(zip(sheet.head, row, strict=True)) for row in sheet.rows]


def one(found, metric, parameter=CONTROLLER, by=()):
    (rows,) = (
        f.rows
        for f in found
        if (f.metric, f.question.parameter, f.by) == (metric, parameter, by) and f.rows["test"][0] != "log-rank"
    )
    return {(row["a"], row["b"]): row for row in rows.iter_rows(named=True)}


def test_nobody_is_the_cheapest_who_did_not_get_there(table, found):
    """By the metres of all runs alone, the quitter would be first in the depot: it stopped when the time was up."""
    depot = table.filter(place="depot")
    metres = depot.group_by(CONTROLLER).agg(pl.col("exploration_cost_m").mean()).sort("exploration_cost_m")
    assert metres[CONTROLLER][0] == "quitter"
    failed = depot.filter(pl.col(CONTROLLER) == "quitter")["status"].to_list()
    assert failed.count("timeout") >= 12
    ranks, _ = average_ranks(depot, "exploration_cost_m", CONTROLLER, ["radio"])
    assert ranks[CONTROLLER][-1] == "quitter"
    row = one(found, "exploration_cost_m")["steady", "quitter"]
    assert row["shift_low"] is None, "how much more it would have driven is unknown"
    assert row["mean_shift"] is None
    summary = analysis.summary(table, "exploration_cost_m", Axes.of(design(), table))
    medians = [
        row["median [m]"] for row in by_head(summary) if {row["place"], row["controller"]} == {"depot", "quitter"}
    ]
    assert medians == ["–", "–"]
    assert "no result here" in summary.caption


def test_at_an_equal_share_everybody_has_a_cost(table):
    """The quitter is half as fast, needs 1.45 times as long, and so drives 0.725 times as far for the same area."""
    shown = ["exploration_time_s", "exploration_cost_m", "map_quality"]
    equal = at_share(table, shown, 0.99)
    explored = {percent: len(table) - table[f"t{percent}_s"].null_count() for percent in AT}
    assert explored[90] < 0.9 * 96 <= explored[80], "90 % is too much for the quitter in the depot"
    assert equal.title == f"At 80 % explored ({explored[80]} of 96 runs)"
    assert equal.metrics == ("t80_s", "exploration_cost_t80_m")
    asked = questions(design(), table, Axes.of(design(), table))
    found = findings(censored(table, equal.metrics), equal.metrics, asked, "exploration_time_s")
    assert not any(f.is_primary for f in found)
    assert {f.question.parameter for f in found if f.metric != "t80_s"} == {CONTROLLER}
    row = one(found, "exploration_cost_t80_m")["steady", "quitter"]
    cost = {
        name: table.filter(pl.col(CONTROLLER) == name)["exploration_cost_t80_m"].to_numpy()
        for name in ("steady", "quitter")
    }
    assert row["mean_shift"] == pytest.approx((cost["steady"] - cost["quitter"]).mean()), "nobody is censored"
    assert 0 < row["shift_low"] < row["shift"] < row["shift_high"]
    assert (row["blocks"], row["successes_a"], row["successes_b"]) == (16, 32, 32)
    assert at_share(table, shown, 0.8).percent == 50, "80 % is the goal itself"
    assert at_share(table, shown, None) is None
    assert at_share(table.with_columns(status=pl.lit("reached")), shown, 0.99) is None


def test_who_did_not_explore_the_share_is_worst_there(table):
    gone = (pl.col(CONTROLLER) == "quitter") & (pl.col("place") == "depot")
    few = table.with_columns(pl.when(gone).then(None).otherwise(pl.col(f"{m}")).alias(m) for m in AT_80)
    ranks, _ = average_ranks(few.filter(place="depot"), "exploration_cost_t80_m", CONTROLLER, ["radio"])
    assert ranks[CONTROLLER][-1] == "quitter"
    assert ranks["average_rank"][-1] == 3.0
    sheet = analysis.summary(few, "exploration_cost_t80_m", Axes.of(design(), few))
    assert "A run that did not explore 80 % has no result here" in sheet.caption
    quitter = [row for row in by_head(sheet) if {row["place"], row["controller"]} == {"depot", "quitter"}]
    assert [(row["n"], row["successes"], row["median [m]"]) for row in quitter] == [("8", "0", "–")] * 2


def test_rows_of_before_are_compared_by_what_they_have(table):
    """Rows without what a team had driven when a share was explored; half of a study that was made longer later."""
    shown, before = ["exploration_time_s", "exploration_cost_m"], table.drop("exploration_cost_t80_m")
    equal = at_share(before, shown, 0.99)
    assert equal.metrics == ("t80_s",)
    lacking = len(table) - table["t80_s"].null_count()
    (said,) = equal.missing
    assert said.startswith(
        f"Not compared: exploration cost t80 [m], because {lacking} of 96 runs were made before it was measured."
    )
    old = pl.when(pl.col("seed") >= 4).then(pl.col("exploration_cost_t80_m")).alias("exploration_cost_t80_m")
    assert at_share(table.with_columns(old), shown, 0.99).metrics == ("t80_s",)
    assert at_share(before.drop("t50_s", "t80_s", "t90_s"), shown, 0.99) is None


def test_a_share_that_grows_until_the_goal_is_worst_where_it_was_not_reached(table):
    better = table.with_columns(map_quality=pl.when(status="reached").then(0.8).otherwise(0.95))
    ranks, _ = average_ranks(better.filter(place="depot"), "map_quality", CONTROLLER, ["radio"], larger_is_better=True)
    assert ranks[CONTROLLER][-1] == "quitter"


def test_success_is_a_result_of_its_own(table, found):
    row = one(found, SUCCESS)["steady", "quitter"]
    assert row["test"] == "McNemar exact"
    failed = table.filter((pl.col(CONTROLLER) == "quitter") & (pl.col("status") == "timeout"))
    seeds = failed["seed"].n_unique()
    assert row["p"] == pytest.approx(2 / 2**seeds), "each seed that failed in the depot, with both radios, is one sign"
    assert (row["successes_a"], row["successes_b"]) == (32, 32 - len(failed))
    assert row["mean_shift"] == pytest.approx(len(failed) / 32)
    sheets = list(analysis.of_success(table, Axes.of(design(), table), found))
    cells = [row for row in by_head(sheets[0]) if {row["place"], row["controller"]} == {"atrium", "quitter"}]
    low = 100 * statistics.wilson(8, 8)[0]
    assert [(row["reached"], row["runs"], row["share [%]"]) for row in cells] == [
        ("8", "8", f"100 ({low:.0f} to 100)")
    ] * 2


def test_the_same_seed_with_two_radios_is_one_observation(table, found):
    row = one(found, "exploration_time_s")["steady", "brisk"]
    assert (row["n_a"], row["blocks"], row["smallest_p"]) == (32, 16, 2 / 2**16)
    half = compare(table.filter(radio="far"), "exploration_time_s", CONTROLLER, over=["place"], places=["place"])
    alone = next(r for r in half.iter_rows(named=True) if (r["a"], r["b"]) == ("steady", "brisk"))
    assert alone["blocks"] == 16
    assert row["p"] == pytest.approx(alone["p"], rel=0.5), (
        "the second radio repeats the first, so p stays about the same"
    )
    (said,) = [line for line in identical(table, Axes.of(design(), table)) if "radio" in line]
    assert said.startswith("24 of 96 runs equal the run of the same seed"), "the even seeds of three in two places"


def test_labels_dealt_out_by_seed_are_found_different_in_five_percent_only(table):
    """The names of two strategies are exchanged at random for each place and seed, in both radios: 500 times."""
    steady, brisk = (
        table.filter(pl.col(CONTROLLER) == name).with_columns(pl.col("exploration_time_s").fill_null(np.inf))
        for name in ("steady", "brisk")
    )
    a, b = (part["exploration_time_s"].to_numpy() for part in (steady, brisk))
    block = steady.select(pl.struct("place", "seed").rank("dense") - 1).to_series().to_numpy()
    rng = np.random.default_rng(0)
    swaps = (rng.random((500, block.max() + 1)) < 0.5)[:, block]
    p = [statistics.wilcoxon_paired(np.where(s, a, b), np.where(s, b, a), block).p for s in swaps]
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.02)
    pooled = [statistics.wilcoxon_paired(np.where(s, a, b), np.where(s, b, a)).p for s in swaps]
    assert np.mean(np.array(pooled) < 0.05) > 0.1, "as 32 pairs they would claim far too much"


def test_two_timeouts_are_no_difference_of_zero():
    """13 of 20 pairs both time out, in the others A is 100 s faster: the interval is that of the seven."""
    a, b = [100.0, 105, 98, 110, 120, 90, 101], [200.0, 215, 199, 230, 221, 188, 203]
    rows = [
        {"seed": seed, "strategy": which, "status": "timeout" if time is None else "reached", "timeout_s": 300.0}
        | {"exploration_time_s": time, "simulated_time_s": time or 300.0}
        for which, times in (("a", a), ("b", b))
        for seed, time in enumerate([*times, *[None] * 13])
    ]
    row = compare(pl.DataFrame(rows, infer_schema_length=None), "exploration_time_s", "strategy").row(0, named=True)
    seven, interval = statistics.shift_in_pairs(a, b)
    assert (row["n_a"], row["telling"], row["p"]) == (20, 7, 2 / 2**7)
    assert (row["shift"], row["shift_low"], row["shift_high"]) == (seven, interval.low, interval.high)
    assert interval.high < 0
    assert row["mean_shift"] == pytest.approx((sum(a) - sum(b)) / 20), "restricted means count two timeouts as equal"
    assert row["mean_low"] < row["mean_shift"] < row["mean_high"]


def test_a_difference_and_its_test_agree():
    """The 95 % interval holds zero exactly if p is above 5 %, for timeouts and several settings of a seed, too."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        n, settings = int(rng.integers(6, 12)), int(rng.integers(1, 3))
        block = np.repeat(np.arange(n), settings)
        a, b = (rng.lognormal(5.0 + by, 0.3, len(block)) for by in (0.15, 0.0))
        a, b = (np.where(x > 230.0, np.inf, x) for x in (a, b))
        if np.isinf(a).all() or not (np.isfinite(a) | np.isfinite(b)).any():
            continue
        p = statistics.wilcoxon_paired(a, b, block).p
        _, interval = statistics.shift_in_pairs(a, b, block=block)
        if interval is not None:
            assert (interval.low <= 0.0 <= interval.high) == (p > 0.05)


def test_every_parameter_that_varies_is_tested_the_question_first(table):
    """With the strategies along the axis and the radio as lines, strategies are tested all the same."""
    asked = design(x=CONTROLLER, line="radio")
    axes = Axes.of(asked, table)
    assert main_parameter(asked, axes) == CONTROLLER
    first, *others = questions(asked, table, axes)
    assert (first.parameter, first.is_main, set(first.over), first.places) == (
        CONTROLLER,
        True,
        {"place", "radio"},
        ("place",),
    )
    assert {q.parameter: q.places for q in others} == {"radio": ("place",), "place": ()}
    assert main_parameter(design(question="radio"), axes) == "radio"
    assert main_parameter(design(question="controller"), axes) == CONTROLLER
    with pytest.raises(ValidationError, match="'radios' is not a parameter, did you mean 'radio'"):
        design(question="radios")
    with pytest.raises(ValidationError, match="exploration_time_s"):
        design(primary="exploration_tim")


def test_what_is_not_tested_is_said_with_the_reason(table):
    many = pl.concat(table.with_columns(radio=pl.lit(k), seed=pl.col("seed") + 100 * k) for k in range(50))
    (said,) = untested(design(), many, Axes.of(design(), many))
    assert said == "radio is not tested: it has 50 values, and at most 40 are compared with each other."
    apart = table.with_columns(seed=pl.int_range(pl.len()))
    axes = Axes.of(design(), apart)
    found = findings(apart, ["exploration_time_s"], questions(design(), apart, axes), "exploration_time_s")
    lines = list(analysis.hidden(found))
    assert all("because runs of equal seeds have no partners" in line for line in lines)
    assert len(lines) == 3


def test_many_strategies_are_compared_with_the_best_and_the_reference():
    rng = np.random.default_rng(1)
    rows = [
        {"run_id": f"{k}{seed}", "vector": k, "iteration": seed, "seed": seed, CONTROLLER: f"s{k:02}"}
        | {"status": "reached", "timeout_s": 999.0, "exploration_time_s": float(t := rng.normal(300.0 - 10 * k, 5.0))}
        | {"simulated_time_s": t}
        for seed in range(12)
        for k in range(12)
    ]
    table = pl.DataFrame(rows)
    asked = design(reference="s03")
    (question,) = questions(asked, table, Axes.of(asked, table))
    rank, curves = findings(table, ["exploration_time_s"], [question], "exploration_time_s")
    assert {row for row in rank.rows.select("a", "b").rows() if "s11" not in row} == {
        row for row in rank.rows.select("a", "b").rows() if "s03" in row and "s11" not in row
    }
    assert len(rank.rows) == len(curves.rows) == 11 + 10, "the best is s11, the reference s03"
    assert rank.rows["p_holm"].drop_nulls().min() == pytest.approx(66 * 2 / 2**12), "the family is every two of twelve"


def test_one_family_for_the_question_and_one_for_the_rest(found):
    primary = [f for f in found if f.is_primary]
    assert [(f.metric, f.question.parameter, f.by) for f in primary] == [("exploration_time_s", CONTROLLER, ())]
    (rows,) = (f.rows for f in primary)
    assert rows["p_adjusted"].to_list() == rows["p_holm"].to_list() == statistics.holm(rows["p"].to_numpy()).tolist()
    others = np.concatenate([f.rows["p"].drop_nulls().to_numpy() for f in found if not f.is_primary])
    adjusted = np.concatenate([f.rows["p_adjusted"].drop_nulls().to_numpy() for f in found if not f.is_primary])
    assert adjusted == pytest.approx(statistics.benjamini_hochberg(others))


def test_tests_that_could_not_be_significant_do_not_hide_others():
    """Four of eight comparisons have eight pairs that all go one way, 2 / 2^8; the others have two pairs each."""
    parts = []
    for k in range(8):
        n = 8 if k < 4 else 2
        for strategy, by in (("a", 0.0), ("b", 5.0)):
            times = [100.0 + 3 * seed + by for seed in range(n)]
            part = {"seed": range(n), "timeout_s": 300.0, "status": "reached", "exploration_time_s": times}
            parts.append(pl.DataFrame(part | {"simulated_time_s": times, "map": k, "strategy": strategy}))
    found = compare(pl.concat(parts), "exploration_time_s", "strategy", "map")
    assert found["shown"].to_list() == [True] * 4 + [False] * 4
    assert found["p_holm"].to_list() == [pytest.approx(4 * 2 / 2**8)] * 4 + [None] * 4


def asked_of(table, *metrics, **report):
    asked = design(**report)
    names = metrics or ("exploration_time_s",)
    found = findings(table, names, questions(asked, table, Axes.of(asked, table)), names[0])
    return answer(table, found)


def test_a_report_opens_with_the_question_and_its_answer(table, found):
    said = answer(table, found)
    assert said.question.startswith("Does controller (steady, brisk, quitter) change exploration time [s], over ")
    row = one(found, "exploration_time_s")["steady", "brisk"]
    size = within(row["shift"], row["shift_low"], row["shift_high"])
    assert said.answer.startswith(
        "brisk has the best average rank in exploration time [s]. It is better than steady by "
    )
    assert f"steady by {size} s (p < 0.0001, 16 blocks)" in said.answer
    assert "quitter by 149 (121 to 176) s in the restricted mean" in said.answer, "how much later it is, nobody knows"
    assert not_reached(table, goal=True) == f"{(table['status'] != 'reached').sum()} of 96 runs did not reach the goal."
    assert not_reached(table, goal=False) is None


def test_what_cannot_be_told_or_is_not_shown_is_said_in_words(table):
    few = asked_of(table.filter((pl.col("seed") < 2) & (pl.col("place") == "atrium")))
    assert few.answer == (
        "This design cannot tell: at most 2 of 2 blocks differ between two values. With these and a family of 3 tests, "
        "no outcome could have reached p < 0.05."
    )
    two = table.filter(pl.col(CONTROLLER) != "quitter")
    better = asked_of(two)
    assert better.answer.startswith("brisk is better than steady by 30 (23 to 41) s (p < 0.0001, 16 blocks)")
    same = two.with_columns(exploration_time_s=pl.col("seed") * 3.0 + pl.int_range(pl.len()) * 7 % 11)
    open_ = asked_of(same)
    assert open_.answer.startswith("A difference between steady and brisk is not shown: ")
    assert any("would be needed, a rough guess" in line for line in open_.uncertain)
    cost = asked_of(table, "exploration_cost_m", primary="exploration_cost_m")
    assert any("count as worse than all that did, by an unknown amount" in line for line in cost.uncertain)


def test_no_number_of_runs_is_planned_for_a_difference_that_is_negligible():
    """Ten of twenty pairs go each way, by nearly the same: the formula would ask for hundreds of pairs."""
    base = 200.0 + 10.0 * np.arange(20)
    times = {"steady": base, "brisk": base + np.where(np.arange(20) % 2, 1.0, -1.0) * (3.0 + 0.1 * np.arange(20) % 1)}
    rows = [
        {"run_id": f"{name}{k}", "vector": name, "iteration": k, "seed": k, CONTROLLER: name, "status": "reached"}
        | {"timeout_s": TIMEOUT_S, "exploration_time_s": float(t), "simulated_time_s": float(t)}
        for name, those in times.items()
        for k, t in enumerate(those)
    ]
    table = pl.DataFrame(rows)
    asked = questions(design(), table, Axes.of(design(), table))
    found = findings(table, ["exploration_time_s"], asked, "exploration_time_s")
    (row,) = one(found, "exploration_time_s").values()
    assert statistics.runs_needed(statistics.walsh_share(times["steady"], times["brisk"]), paired=True) > 484
    assert row["runs_needed"] is None
    (sheet,) = analysis.tested(found[0])
    assert by_head(sheet)[0]["runs for 80 %"] == "negligible"
    assert "no difference to plan runs for" in sheet.caption
    said = answer(table, found)
    assert said.answer.startswith("A difference between steady and brisk is not shown: ")
    assert said.uncertain[-1].endswith("nothing to plan more runs for: 1 of 1 differences.")


def test_two_shares_of_success_have_agresti_and_mins_interval(table, found):
    row = one(found, SUCCESS)["steady", "quitter"]
    failed = table.filter((pl.col(CONTROLLER) == "quitter") & (pl.col("status") == "timeout"))
    share = failed.group_by("place", "seed").len()["len"].to_numpy() / 2  # of the two radios of each block
    middle = share.sum() / 18
    away = 1.959964 * np.sqrt((share**2).sum() + 1.0 - 18 * middle**2) / 18
    assert (row["mean_low"], row["mean_high"]) == pytest.approx((middle - away, middle + away), abs=1e-6)
    (_, sheet, *_) = analysis.of_success(table, Axes.of(design(), table), found)
    assert "with Agresti and Min's 95 % interval" in sheet.caption


def test_an_answer_says_how_large_what_is_not_shown_may_be():
    """Three strategies in eight seeds that hardly differ: the interval and the blocks stand in the sentence."""
    rng = np.random.default_rng(3)
    times = {name: 200.0 + 10.0 * np.arange(8) + rng.normal(0.0, 5.0, 8) for name in ("steady", "brisk", "calm")}
    rows = [
        {"run_id": f"{name}{k}", "vector": name, "iteration": k, "seed": k, CONTROLLER: name, "status": "reached"}
        | {"timeout_s": TIMEOUT_S, "exploration_time_s": float(t), "simulated_time_s": float(t)}
        for name, those in times.items()
        for k, t in enumerate(those)
    ]
    table = pl.DataFrame(rows)
    found = findings(
        table, ["exploration_time_s"], questions(design(), table, Axes.of(design(), table)), "exploration_time_s"
    )
    said = answer(table, found).answer
    best = said.partition(" ")[0]
    (other,) = [row for row in found[0].rows.iter_rows(named=True) if {row["a"], row["b"]} == {best, "calm"}]
    sign = 1.0 if other["b"] == best else -1.0
    ends = sorted((sign * other["shift_low"], sign * other["shift_high"]))
    assert "That it is better than any other is not shown: " in said
    assert f"calm less {best} is {within(sign * other['shift'], *ends)} s (p = " in said
    assert said.endswith(", 8 blocks).")


def test_the_better_one_is_better_by_the_size_that_is_printed():
    """Most pairs are a little slower, some much faster: the shift decides, not the number of pairs."""
    row = {"a": "steady", "b": "brisk", "p_adjusted": 0.01, "blocks": 12, "cliffs_delta": 0.2, "shift": -5.0}
    row |= {"shift_low": -9.0, "shift_high": -1.0, "mean_shift": None, "mean_low": None, "mean_high": None}
    assert (
        _of_two("exploration_time_s", row) == "steady is better than brisk by 5.0 (1.0 to 9.0) s (p = 0.01, 12 blocks)."
    )
