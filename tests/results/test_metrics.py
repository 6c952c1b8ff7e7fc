import dataclasses
import json
import re
import tracemalloc
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import covey
from covey.errors import InvalidValueError
from covey.results import recorder as recorder_module
from covey.results.manifest import build_manifest
from covey.results.maps import Maps
from covey.results.metrics import compute, localization, metrics
from covey.results.metrics.exploration import auc, exploration_cost, exploration_efficiency, time_to_share
from covey.results.metrics.headlines import of_interest
from covey.results.metrics.motion import exploration_safety
from covey.results.recorder import Recorder
from covey.scenario.load import parse_scenario


def test_every_metric_of_the_circles_by_hand(record):
    found = record().metrics
    area = 38 * 38 * 0.25**2  # free cells of the room
    expected = {
        "exploration_time_s": 9.9,  # 1 % of G in each 0.1 s
        "exploration_time_one_map_s": 9.9,  # the map of a0 grows as fast as the union: 1.25 * 0.8
        "t50_s": 5.0,
        "t80_s": 8.0,
        "t90_s": 9.0,
        "t95_s": 9.5,
        "t99_s": 9.9,
        "tail_ratio": 1.1,
        "auc": 0.5,  # straight line from 0 to 1
        "explored_share": 1.0,
        "explored_area_m2": area,
        "explorable_area_m2": area,
        "exploration_cost_m": 10.0 + 5.0,
        "energy_j": 150.0,
        "exploration_efficiency_m2_per_m": area / 15.0,
        "overlap": 0.2,  # 0.8 + 0.4 of G for 1 of G
        **{f"exploration_cost_t{p}_m": 1.5 * p / 10 for p in (50, 80, 90)},  # 1.5 m/s together, 1 % in each 0.1 s
        **{f"energy_t{p}_j": 15.0 * p / 10 for p in (50, 80, 90)},
        **{f"overlap_t{p}": 0.2 for p in (50, 80, 90)},
        "exploration_safety": 1 - 2 / 200,
        "collisions": 2,
        "collisions_wall": 6,
        "makespan_distance_m": 10.0,
        "workload_std_m": 2.5,
        "workload_jain": 15.0**2 / (2 * 125.0),
        "workload_min_over_max": 0.5,
        "distance_by_robot_m": {"a0": 10.0, "a1": 5.0},
        "position_error_m": 0.05,  # 3-4-5 triangle
        "simulated_time_s": 10.0,
        "status": "reached",
        "map_completeness": 19 / 38,  # southern half
        "coverage_share": 19 / 38,
    }
    assert {name: found[name] for name in expected} == {
        name: value if isinstance(value, str | dict) else pytest.approx(value) for name, value in expected.items()
    }


def test_separation_of_two_circles_is_the_least_over_time(record):
    time = np.arange(1, 101) / 10
    a, b = time / 2.0, 0.5 * time / 3.0
    expected = np.hypot(2 * np.cos(a) - 3 * np.cos(b), 2 * np.sin(a) - 3 * np.sin(b)).min()
    assert record().metrics["min_separation_m"] == pytest.approx(expected)
    assert record(n=1).metrics["min_separation_m"] is None


def test_goals_that_were_not_reached_are_null_and_costs_are_not(record):
    found = record(steps=85, status="timeout", goal={"timeout_s": 8.5}).metrics
    names = ("exploration_time_s", "exploration_time_one_map_s", "t90_s", "t95_s", "t99_s", "tail_ratio")
    assert [found[name] for name in names] == [None] * len(names)
    assert found["t80_s"] == pytest.approx(8.0)
    assert found["exploration_cost_m"] == pytest.approx(1.5 * 8.5)
    assert found["exploration_cost_t80_m"] == pytest.approx(1.5 * 8.0)
    assert (found["exploration_cost_t90_m"], found["overlap_t90"], found["bytes_sent_t90"]) == (None, None, None)
    assert found["status"] == "timeout"


def test_goal_share_comes_from_the_scenario(record):
    assert record(goal={"explored_share": 0.6}).metrics["exploration_time_s"] == pytest.approx(6.0)


def test_auc_over_a_common_time_keeps_the_last_share(record):
    run = record(goal={"timeout_s": 20.0})
    assert run.metrics["auc"] == pytest.approx((0.5 * 10 + 10) / 20)
    assert auc(run, reference_s=5.0) == pytest.approx(0.25)


def test_cost_by_energy_and_by_a_function_of_the_user(record):
    run = record()
    assert exploration_cost(run, "energy") == pytest.approx(150.0)
    assert exploration_cost(run, lambda r: [7.0] * len(r.names)) == 14.0
    assert exploration_efficiency(run, lambda r: 1.0) == pytest.approx(90.25)
    with pytest.raises(InvalidValueError, match="'distance', 'energy'"):
        exploration_cost(run, "gold")


def test_safety_with_another_cardinal_and_walls(record):
    run = record()
    assert exploration_safety(run, cardinal=10) == pytest.approx(0.8)
    assert exploration_safety(run, cardinal=10, walls=True) == pytest.approx(0.2)


def test_known_share_is_taken_for_the_one_map_time_and_own_beams_without_a_map(record):
    run = record()
    known = run.series("known_share").max(axis=1)
    assert time_to_share(run.times, known, 0.5) == pytest.approx(5.0)
    assert time_to_share(run.times, run.series("explored_share").max(axis=1), 0.99) is None


def test_map_metrics_of_a_map_with_counted_mistakes(record, square_maps):
    run = record(n=1)
    run.maps = maps = square_maps(1)
    faultless = np.where(maps.truth.cells == 1, 100, 0).astype(np.int8)
    wrong = faultless.copy()
    wrong[10, 10:14] = 100  # walls that are not there: known, but wrong
    wrong[0, 5:8] = 0  # free where a wall is
    wrong[20, 5:10] = -1  # unknown: wrong, and not explored either
    area, cell = 38 * 38 * 0.0625, 0.0625
    for cells, error, known in ((faultless, 0, area), (wrong, 12, area - 5 * cell)):
        maps.union = maps.truth.with_cells(cells)
        maps.robots = [maps.union]
        found = compute(run)
        assert found["map_error_cells"] == found["map_error_cells_mean"] == error
        assert found["map_wrong_cells_mean"] == max(error - 5, 0)
        assert found["map_completeness"] == pytest.approx(known / area)
        assert found["map_quality"] == pytest.approx((known - error * cell) / area)
        assert found["map_quality_known"] == pytest.approx((known - max(error - 5, 0) * cell) / area)
        assert found["map_quality_by_robot"] == {"a0": found["map_quality"]}


def test_a_right_map_that_is_incomplete_is_shown_with_both_readings(record, square_maps):
    """A quarter is known: 1/4 - 3/4 if what is unknown is an error, and 1/4 if it is none."""
    run = record(n=1)
    run.maps = maps = square_maps(1)
    faultless = np.where(maps.truth.cells == 1, 100, 0).astype(np.int8)
    faultless[10:] = -1
    maps.union = maps.truth.with_cells(faultless)
    run.metrics = compute(run)
    shown = of_interest(run)
    assert shown["map_quality"][0] == pytest.approx(-0.5, abs=0.1)
    assert shown["map_quality_known"][0] == pytest.approx(0.25, abs=0.05)


def test_quality_at_an_explored_share_is_that_of_the_map_then(record, square_maps):
    run = record(n=1)
    run.maps = maps = square_maps(1)
    faultless = np.where(maps.truth.cells == 1, 100, 0).astype(np.int8)
    half = faultless.copy()
    half[20:, :] = -1
    half[10, 10:14] = 100  # walls that are not there
    maps.union = maps.truth.with_cells(faultless)
    maps.union_at = {50: maps.truth.with_cells(half)}
    found, cell, area = compute(run), 0.0625, 38 * 38 * 0.0625
    known, unknown = 19 * 38 * cell, 19 * 38 + (38 + 2 * 19)  # of the room, and of its wall above and at both sides
    assert found["map_quality_known_t50"] == pytest.approx((known - 4 * cell) / area)
    assert found["map_quality_t50"] == pytest.approx((known - (4 + unknown) * cell) / area)
    assert (found["map_quality"], found["map_quality_t80"]) == (1.0, None)


def test_what_a_team_had_at_each_share_is_what_its_tables_and_maps_hold_then():
    scenario = """
    world: {empty_m: [14, 10], resolution_m: 0.25}
    robots: [{name: scout, count: 2, controller: nearest_frontier, start: {together: {around: [-5, 0]}},
              robot: {base: disc, sensors: [{kind: lidar, range_m: 3, rays: 60}], mapping: {resolution_m: 0.25}}}]
    share_maps: {every_s: 0.5}
    stop: {explored: 0.9, timeout_s: 60}
    record: {maps_every_s: 0.1}
    seed: 1
    """
    run = parse_scenario(scenario).build().run()
    share = run.team["explored_share_union"].to_numpy()
    spent = []
    for percent in (50, 80, 90):
        row = next(i for i, explored in enumerate(share) if explored >= percent / 100)
        step, time = int(run.steps[row]), run.times[row]
        assert run.metrics[f"t{percent}_s"] == time
        driven = run.measurements.filter(pl.col("step") == step)
        assert run.metrics[f"exploration_cost_t{percent}_m"] == pytest.approx(driven["distance_m"].sum())
        sent = run.traffic.filter(pl.col("step") <= step).group_by("robot", "kind").agg(pl.col("bytes_sent").last())
        assert run.metrics[f"bytes_sent_t{percent}"] == sent["bytes_sent"].sum()
        assert (run.maps.union_at[percent].cells == run.map_changes.at(step).cells).all()
        assert run.metrics[f"map_quality_known_t{percent}"] <= run.metrics["map_completeness"]
        spent.append(sent["bytes_sent"].sum())
    assert 0 < spent[0] < spent[1] < spent[2]


def test_robots_without_maps_or_eyes_leave_the_others_their_metrics(record, square_maps, tmp_path):
    run = record()
    maps = square_maps()
    maps.robots[0] = None
    (tmp_path / "maps.npz").write_bytes(maps.to_bytes())
    run.maps = Maps.load(tmp_path / "maps.npz")
    found = compute(run)["map_quality_by_robot"]
    assert found["a0"] is None
    assert found["a1"] == pytest.approx(compute(run)["map_quality"])
    run.maps.explorable[:] = False
    blind = compute(run)
    assert (blind["map_quality"], blind["map_completeness"]) == (None, None)
    assert blind["coverage_share"] == pytest.approx(19 / 38)  # of all free cells


def test_metric_of_a_user_is_computed_and_a_broken_one_loses_nothing(record, monkeypatch):
    run = record()
    monkeypatch.setattr(metrics, "_items", dict(metrics._items))
    metrics.register("robots")(lambda run: np.int64(len(run.names)))
    metrics.register("broken")(lambda run: 1 / 0)
    with pytest.warns(RuntimeWarning, match="'broken' failed: ZeroDivisionError"):
        found = compute(run)
    assert (found["robots"], found["broken"]) == (2, None)
    assert found["exploration_time_s"] == pytest.approx(9.9)


def test_metrics_file_is_strict_json_with_all_that_was_promised(record, tmp_path):
    record(tmp_path / "run", n=1, maps=False)
    found = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert "NaN" not in (tmp_path / "run" / "metrics.json").read_text()
    assert {
        *("exploration_time_s", "exploration_cost_m", "exploration_efficiency_m2_per_m", "exploration_safety"),
        *("map_completeness", "map_error_cells", "map_quality", "explored_share", "collisions"),
        *("simulated_time_s", "wall_time_s", "real_time_factor", "status"),
    } <= found.keys()
    assert found["map_quality"] is None
    assert found["real_time_factor"] == pytest.approx(found["simulated_time_s"] / found["wall_time_s"])


def test_every_metric_is_documented_by_itself():
    for name in metrics.names():
        said = (metrics.get(name).__doc__ or "").strip()
        assert len(said) > 20, name
        assert not said.startswith("The same"), "the list of metrics has another order"


def test_the_page_names_only_metrics_that_there_are():
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
    table = re.findall(r"`(\w+)`", page.partition("## Which to take")[2].partition("## Safety")[0])
    assert len(table) > 40
    assert {*table} <= {*metrics.names()}


def test_no_metric_cites_a_number_that_readers_do_not_have():
    from covey.results.metrics import metrics

    assert not [name for name in metrics.names() if re.search(r"\b00\d-\d+", metrics.get(name).__doc__ or "")]


@pytest.mark.parametrize(("knows", "bytes_each"), [(True, 50), (False, 130)])
def test_the_end_of_a_long_run_does_not_hold_its_tables(knows, bytes_each, tmp_path, circle_frame, monkeypatch):
    """Of each robot and step there are 18 numbers; with estimates, 6 errors of each are kept, and pooled."""
    monkeypatch.setattr(recorder_module, "_ROWS", 1200)
    monkeypatch.setattr(localization, "_AT_ONCE", 3000)
    steps, names = 600, [f"a{i}" for i in range(20)]
    recorder = Recorder(tmp_path / "run", names)
    recorder.open(build_manifest(robots=names, seed=7))
    for step in range(1, steps + 1):
        frame = circle_frame(step, 20)
        recorder.observe(dataclasses.replace(frame, estimate=frame.pose) if knows else frame)
    whole = recorder.close("timeout")
    compute(covey.Run(whole.folder))  # loads modules and compiles kernels
    tracemalloc.start()
    found = compute(covey.Run(whole.folder))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < steps * 20 * bytes_each
    error = np.hypot(*(whole.estimates - whole.poses)[..., :2].T)
    assert found["position_error_m"] == pytest.approx(error.mean())
    assert found["position_error_max_m"] == (None if knows else error.max())
    assert found["position_error_end_m"] == (None if knows else error[:, -1].max())
    assert found["makespan_distance_m"] == whole.series("distance_m")[-1].max()
    monkeypatch.undo()
    assert found == compute(whole), "as if all robots were measured at once"
