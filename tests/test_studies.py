"""The studies of ``benchmarks/``, small: rows repeat, a study goes on where it ended."""

import json

import exploration
import pytest
import strategies
import table4_contention

from covey.scenario.load import load_scenario

KEY = ("nearest_frontier", "cave1", 4, "20 m", 0)


@pytest.mark.slow
def test_a_run_of_the_study_reaches_its_goal_and_repeats():
    row, again = strategies.run(KEY), strategies.run(KEY)
    assert 0.99 <= row["explored_share"] <= 1.0
    assert 20.0 < row["explored_90_s"] < row["explored_99_s"] == row["simulated_s"] < 200.0
    assert {k: v for k, v in row.items() if k != "wall_s"} == {k: v for k, v in again.items() if k != "wall_s"}


@pytest.mark.slow
def test_six_robots_that_start_together_explore_the_loop_and_none_stands():
    row = exploration.run(("loop", 6, "truth", 0))
    assert (row["status"], row["stuck"], row["collisions_robot"]) == ("reached", 0, 0)
    assert row["time_union_s"] < 120


@pytest.mark.slow
def test_a_study_goes_on_where_it_ended(tmp_path):
    wanted = [("a", 1), ("b", 1)]
    (tmp_path / "rows.jsonl").write_text(json.dumps({"name": "a", "seed": 1, "value": "old"}) + "\n")
    strategies.study(wanted, tmp_path / "rows.jsonl", 1, row_of, ("name", "seed"))
    strategies.study(wanted, tmp_path / "rows.jsonl", 1, row_of, ("name", "seed"))
    assert [r["value"] for r in strategies.read(tmp_path / "rows.jsonl")] == ["old", "new"]


def row_of(key):
    return {"name": key[0], "seed": key[1], "value": "new"}


def test_what_says_nothing_runs_once_for_all_radios():
    wanted = strategies.keys("main", 10)
    assert len(wanted) == len(set(wanted)) == 7 * 10 * (2 * 5 + 6 * (4 * 4 + 1))
    assert wanted[0][2] == 8


def test_another_seed_is_another_run_and_all_strategies_start_alike():
    from covey.scenario.build import build

    starts = {}
    for strategy, seed in (("minpos", 0), ("tnf", 0), ("minpos", 1)):
        sim = build(strategies.scenario(strategy, "cave1", 2, "none", seed))
        starts[strategy, seed] = sim.state.pose.tolist()
        sim.close()
    assert starts["minpos", 0] == starts["tnf", 0] != starts["minpos", 1]


@pytest.mark.slow
@pytest.mark.parametrize("key", [("connected", "cave1", 2, "20 m", 6), ("rrt_frontier", "building1", 2, "20 m", 5)])
def test_nobody_turns_back_and_forth_between_two_goals_for_ever(key):
    assert strategies.run(key)["explored_99_s"] < 300.0


def test_published_rows_are_read_as_they_were_written(tmp_path):
    row = {"explored_99_s": 31.5, "covered_50_s": None, "received_bytes": None, "overlap": 1.25, "covered_share": 0.5}
    row = dict(zip(strategies.KEY, KEY, strict=True)) | row
    row |= {"explored_90_s": 20.0, "covered_90_s": None, "cost_m": 100.0, "all_done": False, "stuck": 0}
    row |= {"failures": ["Error: 1,\n2"]}
    strategies.write([row], tmp_path)
    strategies.begin(tmp_path / "rows.jsonl", tmp_path / "strategies.csv")
    assert strategies.read(tmp_path / "rows.jsonl") == [row]
    strategies.begin(tmp_path / "rows.jsonl", tmp_path / "other.csv")  # what is there stays
    assert strategies.read(tmp_path / "rows.jsonl") == [row]


def test_a_second_of_costmaps_and_merging_is_charged_as_declared():
    changes = {"stop.timeout_s": 2, **table4_contention.changes("as there", 2)}
    simulation = load_scenario("maze", changes).build()
    for _ in range(10):
        simulation.step()
    machines = simulation.computing.machines
    before = [machines[robot].used_s for robot in range(2)]
    table4_contention.charge(simulation, 2)
    known = [int((belief.occupancy() >= 0).sum()) for belief in simulation.localization.belief_of.values()]
    assert min(known) > 1000
    for robot, other in ((0, 1), (1, 0)):
        costmaps = 5 * (800**2 + 60**2) * 7e-9
        merged = known[other] / 5 * 2e-8
        seconds = machines[robot].used_s - before[robot]
        assert seconds == pytest.approx((costmaps + merged) / 0.15)
    simulation.close()
