import math

import numpy as np
import polars as pl
import pytest
from scipy import stats as scipy_stats

from covey.errors import InvalidValueError, UnknownNameError
from covey.results.statistics import average_ranks, best_fleets, compare, holm, profiles, sample, scaling, summarize

TIMEOUT = 100.0


def study(times, **parameters):
    """Rows of one vector: a number is a run that reached the goal then, None one that timed out, a text its status."""
    rows = []
    for k, time in enumerate(times):
        reached = isinstance(time, int | float)
        rows.append(
            parameters
            | {
                "iteration": k,
                "seed": 1000 + k,
                "status": "reached" if reached else time or "timeout",
                "timeout_s": TIMEOUT,
                "exploration_time_s": float(time) if reached else None,
                "exploration_cost_m": 5.0 * time if reached else 400.0,
                "auc": 0.9 - time / 1000 if reached else None,
                "simulated_time_s": float(time) if reached else {"exhausted": 30.0, "stopped": 40.0}.get(time, TIMEOUT),
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def studies(times_by_vector, name="strategy", **more):
    parts = [study(t, **{name: key}, **more) for key, t in times_by_vector.items()]
    return pl.concat(parts, how="vertical_relaxed")


def test_a_timeout_counts_and_is_never_dropped():
    table = studies({"a": [10, 20, 30, None, None], "b": [40, None, None, None, None]})
    a, b = summarize(table, "exploration_time_s", "strategy").to_dicts()
    assert (a["runs"], a["n"], a["successes"]) == (5, 5, 3)
    assert (a["median"], a["q1"], a["q3"]) == (30.0, 20.0, None)  # the third quartile lies beyond the timeout
    assert a["mean"] == (10 + 20 + 30 + 100 + 100) / 5  # restricted to the timeout
    assert (a["low"], a["high"], a["interval"]) == (10.0, None, "range")
    assert (b["successes"], b["median"], b["until_s"]) == (1, None, TIMEOUT)


@pytest.mark.parametrize("status", ["exhausted", "failed", "hung", "out_of_memory", "died"])
def test_a_run_that_ends_early_without_the_goal_counts_as_a_timeout(status):
    found = sample(study([10, status]), "exploration_time_s")
    assert found.values.tolist() == [10.0, TIMEOUT]
    assert found.ranked.tolist() == [10.0, math.inf]


def test_a_run_that_somebody_stopped_counts_up_to_there():
    found = sample(study([60, "stopped"]), "exploration_time_s")
    assert found.values.tolist() == [60.0, 40.0]
    assert found.survival.share[-1] == 0.0  # at 60 s only one run was still watched


def test_a_run_without_a_timeout_counts_up_to_its_end():
    endless = study([60, None]).with_columns(timeout_s=pl.lit(None, pl.Float64))
    found = sample(endless, "exploration_time_s")
    assert found.values.tolist() == [60.0, TIMEOUT]
    assert found.until_s is None
    with pytest.raises(UnknownNameError, match="simulated_time_s"):
        sample(endless.drop("simulated_time_s"), "exploration_time_s")


def test_other_metrics_count_where_they_have_a_value():
    row = summarize(study([10, 20, None]), "auc", None).row(0, named=True)
    assert (row["runs"], row["n"], row["successes"]) == (3, 2, 2)
    assert row["median"] == pytest.approx((0.89 + 0.88) / 2)
    assert row["until_s"] is None
    empty = summarize(study([None]), "auc", None).row(0, named=True)
    assert (empty["n"], empty["median"], empty["interval"]) == (0, None, None)


def test_rows_come_in_the_order_of_the_design_and_numbers_ascending():
    table = pl.concat(study([n], terrain=t, size=n) for t in ("zigzag", "loop") for n in (10, 2, 1))
    assert summarize(table, "exploration_time_s", ["terrain", "size"]).select("terrain", "size").rows() == [
        (t, n) for t in ("zigzag", "loop") for n in (1, 2, 10)
    ]


def test_runs_with_shared_seeds_are_compared_in_pairs():
    a = [20, 22, 24, 26, 28, 30, 32]
    table = studies({"a": a, "b": [t + 5 for t in a[:-1]] + [None]})
    row = compare(table, "exploration_time_s", "strategy").row(0, named=True)
    assert (row["a"], row["b"], row["test"]) == ("a", "b", "Wilcoxon signed-rank")
    assert row["p"] == row["p_holm"] == row["smallest_p"] == 2 / 2**7
    assert row["shown"]
    unpaired = compare(table, "exploration_time_s", "strategy", paired=False).row(0, named=True)
    assert unpaired["test"] == "Mann-Whitney U"
    assert unpaired["cliffs_delta"] == pytest.approx((4 + 3 + 2 + 1 - 39) / 49)
    assert row["cliffs_delta"] == -1.0  # in every pair a is the faster


def test_pairs_are_found_by_seed_whatever_the_order_of_rows():
    table = studies({"a": [10, 20, 30, 40, 50, 60], "b": [11, 22, 33, 44, 55, 66]})
    mixed = table.sample(fraction=1.0, shuffle=True, seed=1).sort("strategy", maintain_order=True)
    assert compare(mixed, "exploration_time_s", "strategy").equals(compare(table, "exploration_time_s", "strategy"))


def test_without_partners_pairs_are_refused_or_not_made():
    table = studies({"a": [10, 20, 30, 40], "b": [11, 21, 31, 41]})
    strangers = table.with_columns(seed=pl.when(strategy="a").then(pl.col("seed")).otherwise(pl.col("seed") + 3))
    assert compare(strangers, "exploration_time_s", "strategy").row(0, named=True)["test"] == "Mann-Whitney U"
    table = table.filter(pl.int_range(pl.len()) > 0)
    with pytest.raises(InvalidValueError, match="in over or by"):
        compare(table, "exploration_time_s", "strategy", paired=True)
    two_maps = pl.concat(studies({"a": [10, 20], "b": [11, 21]}, terrain=t) for t in ("loop", "maze"))
    assert compare(two_maps, "exploration_time_s", "strategy").row(0, named=True)["n_a"] == 4
    on_maps = compare(two_maps, "exploration_time_s", "strategy", paired=True, over=["terrain"])
    assert on_maps.row(0, named=True)["smallest_p"] == 2 / 2**2, "two seeds are two blocks, whatever the maps"
    worlds = compare(two_maps, "exploration_time_s", "strategy", over=["terrain"], places=["terrain"])
    assert worlds.row(0, named=True)["smallest_p"] == 2 / 2**4, "in another world the same seed is other noise"


def test_a_run_that_is_missing_costs_its_own_pair_only():
    """One of two maps lacks a run of one strategy: the other pairs stay pairs, on both maps."""
    times = {"a": [10, 20, 30, 40, 50, 60, 70], "b": [15, 25, 35, 45, 55, 65, 75]}
    table = pl.concat(studies(times, terrain=t) for t in ("loop", "maze")).filter(pl.int_range(pl.len()) != 3)
    loop, maze = compare(table, "exploration_time_s", "strategy", "terrain").to_dicts()
    assert (loop["test"], loop["n_a"], loop["n_b"]) == ("Wilcoxon signed-rank", 6, 6)
    assert (maze["test"], maze["n_a"], maze["p"]) == ("Wilcoxon signed-rank", 7, 2 / 2**7)


def test_a_comparison_says_how_many_seconds_it_is_about():
    """0.2 s in each of eight pairs is a delta of -1, "large", and still 0.2 s."""
    a = [100.0 + 3 * k for k in range(8)]
    row = compare(studies({"a": a, "b": [t + 0.2 for t in a]}), "exploration_time_s", "strategy").row(0, named=True)
    assert (row["cliffs_delta"], row["magnitude"]) == (-1.0, "large")
    assert (row["shift"], row["shift_low"], row["shift_high"]) == pytest.approx((-0.2, -0.2, -0.2))
    five = compare(studies({"a": a[:5], "b": [t + 7 for t in a[:5]]}), "exploration_time_s", "strategy")
    assert five.select("shift", "shift_low", "shift_high").row(0) == (-7.0, None, None), "too few for an interval"


def test_a_few_seeds_in_many_settings_say_together_what_none_says_alone():
    """3 maps x 2 sizes x 4 seeds: no setting's four pairs can reach 0.05, the 24 pairs together can."""
    rng = np.random.default_rng(5)
    settings = [(terrain, size) for terrain in ("loop", "cross", "maze") for size in (3, 6)]
    parts, d = [], []
    for k, (terrain, size) in enumerate(settings):
        a, gain = 100.0 * (k + 1) + rng.normal(0, 5, 4), rng.normal(8, 6, 4)
        parts.append(studies({"a": a.tolist(), "b": (a + gain).tolist()}, terrain=terrain, size=size))
        d += (-gain).tolist()
    table = pl.concat(parts).with_columns(timeout_s=pl.lit(1000.0))
    alone = compare(table, "exploration_time_s", "strategy", ["terrain", "size"])
    assert not alone["shown"].any()
    settings = ["terrain", "size"]
    row = compare(table, "exploration_time_s", "strategy", over=settings, places=settings).row(0, named=True)
    assert (row["n_a"], row["blocks"], row["shown"]) == (24, 24, True)
    assert row["p"] == pytest.approx(scipy_stats.wilcoxon(d, method="exact").pvalue)
    by_map = compare(table, "exploration_time_s", "strategy", over=settings, places=["terrain"]).row(0, named=True)
    assert (by_map["n_a"], by_map["blocks"], by_map["shift"]) == (24, 12, row["shift"])
    assert row["shift"] == pytest.approx(np.median([(x + y) / 2 for i, x in enumerate(d) for y in d[i:]]))
    assert row["shift_low"] < row["shift"] < row["shift_high"] < 0


def test_a_pair_without_a_value_is_left_out_of_a_metric_that_is_no_time():
    row = compare(studies({"a": [10, 20, None], "b": [11, None, 30]}), "auc", "strategy").row(0, named=True)
    assert (row["test"], row["n_a"], row["n_b"]) == ("Wilcoxon signed-rank", 1, 1)


def test_a_test_that_could_not_have_found_anything_is_not_shown():
    five = {s: [10 * k + i for i in range(5)] for k, s in enumerate("abcd", 1)}
    pairs = compare(studies(five), "exploration_time_s", "strategy")  # 2 / 2^5 > 0.05
    assert not pairs["shown"].any()
    assert pairs["p"].null_count() == pairs["p_holm"].null_count() == pairs["statistic"].null_count() == 6
    assert (pairs["cliffs_delta"] == -1.0).all()
    unpaired = compare(studies(five), "exploration_time_s", "strategy", paired=False)
    assert unpaired["shown"].all()
    assert unpaired["p_holm"].to_list() == pytest.approx([6 * 2 / 252] * 6)  # 0.048
    five["e"] = [50 + i for i in range(5)]
    assert not compare(studies(five), "exploration_time_s", "strategy", paired=False)["shown"].any()  # 10 * 2 / 252


def test_what_could_not_be_significant_after_holm_depends_on_the_timeouts():
    """With nine of ten timed out nothing can be seen: C(9, 4) of C(10, 5) splits look like the most extreme one."""
    row = compare(studies({"a": [10] + [None] * 4, "b": [None] * 5}), "exploration_time_s", "strategy", paired=False)
    assert row["smallest_p"].item() == 1.0
    assert not row["shown"].item()


def test_the_family_of_holm_is_every_row():
    rng = np.random.default_rng(7)
    table = pl.concat(
        studies({s: (rng.normal(50 + 4 * k, 8, 12)).tolist() for k, s in enumerate("abc")}, terrain=t)
        for t in ("loop", "maze")
    )
    found = compare(table, "exploration_time_s", "strategy", "terrain", paired=False)
    assert found.select("terrain", "a", "b").rows() == [
        (t, a, b) for t in ("loop", "maze") for a, b in ("ab", "ac", "bc")
    ]
    assert found["p_holm"].to_list() == pytest.approx(holm(found["p"].to_numpy()))


def test_log_rank_of_a_table_and_only_of_it():
    table = studies({"a": [10, 20, 30, 40, 50, 60], "b": [50, 60, 70, 80, None, None]})
    row = compare(table, "exploration_time_s", "strategy", test="log-rank").row(0, named=True)
    assert (row["test"], row["shown"]) == ("log-rank", True)
    assert 0.0 < row["smallest_p"] <= row["p"] < 0.05
    with pytest.raises(InvalidValueError, match="log-rank"):
        compare(table, "exploration_time_s", "strategy", test="logrank")
    with pytest.raises(InvalidValueError, match="time to a goal"):
        compare(table, "exploration_cost_m", "strategy", test="log-rank")


def test_average_ranks_over_maps():
    maps = {"loop": (10, 20, 30), "cross": (20, 10, None), "maze": (30, 40, None), "zigzag": (1, 2, 3)}
    table = pl.concat(
        studies({s: [t] * 3 for s, t in zip("abc", times, strict=True)}, terrain=m) for m, times in maps.items()
    ).with_columns(auc=pl.col("exploration_time_s").fill_null(99.0))
    ranks, test = average_ranks(table, "exploration_time_s", "strategy", "terrain", ["terrain"])
    assert ranks.rows() == [("a", 1.25), ("b", 1.75), ("c", 3.0)]
    assert test.blocks == 12
    assert test.statistic == pytest.approx(12 * 12 / 12 * (1.25**2 + 1.75**2 + 9 - 12))
    by_seed, test = average_ranks(table, "exploration_time_s", "strategy", "terrain")
    assert (by_seed.rows(), test.blocks) == (ranks.rows(), 3)
    without = table.filter((pl.col("terrain") != "maze") | (pl.col("strategy") != "b"))
    assert average_ranks(without, "exploration_time_s", "strategy", "terrain", ["terrain"])[1].blocks == 9
    with pytest.raises(InvalidValueError, match="at least three values and two seeds"):
        average_ranks(table.filter(seed=1000), "exploration_time_s", "strategy", "terrain")
    worst, _ = average_ranks(table, "auc", "strategy", "terrain", larger_is_better=True)
    assert worst.rows()[0][0] == "c"


def test_profiles_of_single_runs():
    table = studies({"a": [10, 20, 90], "b": [20, 10, None]})
    found = profiles(table, "exploration_time_s", "strategy", "seed")
    assert found.rows() == [(1.0, pytest.approx(2 / 3), pytest.approx(1 / 3)), (2.0, 1.0, pytest.approx(2 / 3))]


def test_scaling_and_best_fleet_by_terrain():
    loop = studies({1: [80, 82, 84], 2: [40, 41, 42], 4: [22, 20, 21]}, "robots.scout.count", terrain="loop")
    maze = studies({1: [None] * 3, 2: [90, 95, None], 4: [70, 60, 65]}, "robots.scout.count", terrain="maze")
    table = pl.concat([loop, maze])
    rows = scaling(table, "exploration_time_s", "robots.scout.count", "terrain").rows(named=True)
    assert [r["speed_up"] for r in rows] == [1.0, 2.0, pytest.approx(82 / 21), None, None, None]
    assert [r["efficiency"] for r in rows][:3] == [1.0, 1.0, pytest.approx(82 / 84)]
    assert [r["median"] for r in rows] == [82.0, 41.0, 21.0, None, 95.0, 65.0]
    best = best_fleets(table, "exploration_time_s", "robots.scout.count", "terrain").rows(named=True)
    assert [(r["terrain"], r["best"], r["low"], r["high"], r["interval"]) for r in best] == [
        ("loop", 4, 4, 4, "range"),
        ("maze", 4, 4, 4, "range"),
    ]
    dear = best_fleets(loop, "exploration_time_s", "robots.scout.count", cost="exploration_cost_m", weight=1.0)
    assert dear["value"].item() == pytest.approx(21 / 82 + 21 / 82)  # here cost is five times time
    nobody = best_fleets(maze.filter(pl.col("robots.scout.count") == 1), "exploration_time_s", "robots.scout.count")
    assert nobody["best"].item() is None


def test_wrong_columns_are_named():
    table = study([10])
    with pytest.raises(UnknownNameError, match="did you mean 'exploration_time_s'"):
        summarize(table, "exploration_times", None)
    with pytest.raises(InvalidValueError, match="not numbers"):
        summarize(table, "status", None)
    with pytest.raises(UnknownNameError):
        compare(table, "explored_share", "strategy")
    with pytest.raises(UnknownNameError):
        compare(studies({"a": [1], "b": [2]}), "map_quality", "strategy", over=["map"])


def test_a_table_of_one_vector_has_nothing_to_compare():
    assert compare(studies({"a": [1, 2]}), "exploration_time_s", "strategy").is_empty()
