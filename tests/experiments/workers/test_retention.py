"""What is left of a run."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import covey
from covey.experiments.design.load import parse_design
from covey.experiments.design.plan import plan
from covey.experiments.design.quantities import QUANTITIES
from covey.experiments.design.records import Measurement
from covey.experiments.workers.execute import execute
from covey.experiments.workers.retention import keep_of
from covey.missions.patrolling import IdlenessTracker
from covey.results.event_data import EVENT_KINDS
from covey.results.run import Run
from covey.scenario.load import parse_scenario

TALKERS = """\
world: {empty_m: [6, 6]}
robots:
  - {name: scout, count: 2, robot: pioneer3dx, controller: nearest_frontier, start: [[-1, 0, 0], [1, 0, 180]]}
share_maps: {every_s: 1}
record: {readings: true}
faults: [{at_s: 2, robot: scout1, kind: dies}]
stop: {timeout_s: 4.5}
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A run with everything, and a copy that was thinned."""
    folder = tmp_path_factory.mktemp("runs")
    run = parse_scenario(TALKERS).build(folder / "whole").run()
    thin = run.save(folder / "thin")
    measurements = (
        Measurement(every="step", record=("explored_area", "min_separation", "graph_idleness")),
        Measurement(every_s=2, record=("pose", "distance", "cpu_percent", "kbytes_sent", "explored_share_union")),
        Measurement(when="fault", record=("robots", "position", "distance", "explored_area", "text")),
    )
    keep_of(thin, measurements, "pictures")
    return run, Run(thin.folder)


def table(run, name):
    return pl.read_parquet(run.folder / f"{name}.parquet")


def test_the_team_at_every_step(recorded):
    whole, thin = recorded
    kept = table(thin, "every_step")
    assert kept.columns == ["step", "time_s", "explored_area_m2", "min_separation_m", "graph_idleness_s"]
    assert kept["step"].to_list() == whole.steps.tolist()
    assert kept["explored_area_m2"][-1] == pytest.approx(whole.metrics["explored_area_m2"])
    assert kept["graph_idleness_s"].null_count() == len(kept)  # no patrol


def test_robots_at_a_period(recorded):
    whole, thin = recorded
    kept = table(thin, "every_2_s")
    assert kept["time_s"].to_list() == [2.0, 2.0, 4.0, 4.0]
    assert kept["robot"].to_list() == ["scout0", "scout1"] * 2
    there = whole.measurements.filter(pl.col("step").is_in([20, 40]))
    for name in ("x_m", "heading_rad", "distance_m"):
        assert kept[name].to_list() == there[name].to_list()
    assert kept["explored_share_union"][2] == whole.series("explored_share_union")[39]
    assert kept["cpu_percent"].null_count() == 4  # the robots share a process


def test_the_rate_of_traffic_adds_up_to_the_bytes_sent(recorded):
    whole, thin = recorded
    sent = table(thin, "every_2_s").group_by("robot", maintain_order=True).agg(pl.col("kbytes_sent_per_s").sum() * 2)
    counted = whole.traffic.filter(pl.col("time_s") <= 4.0).group_by("robot", "kind").agg(pl.col("bytes_sent").max())
    assert sent["kbytes_sent_per_s"].sum() * 1000 == pytest.approx(counted["bytes_sent"].sum())
    assert counted["bytes_sent"].sum() > 0


def test_the_computers_of_robots_tell_how_busy_they_were(tmp_path):
    scenario = parse_scenario(TALKERS.replace("timeout_s: 4.5", "timeout_s: 7")).replace(
        "robots.scout.robot.computer", {}
    )
    run = scenario.build(tmp_path / "run").run()
    told = table(run, "computers")
    keep_of(run, [Measurement(every_s=6, record=("cpu_percent", "ram_percent"))], "measurements")
    kept = table(run, "every_6_s")
    first = told.filter(pl.col("time_s") <= 6.0).group_by("robot", maintain_order=True).last()
    assert kept["cpu_percent"].to_list() == first["cpu_percent"].to_list()
    assert kept["ram_percent"].to_list() == first["ram_percent"].to_list()
    assert kept["ram_percent"].min() > 0
    assert not run.has("computers")


def test_events_of_a_kind(recorded):
    whole, thin = recorded
    (row,) = table(thin, "when_fault").to_dicts()
    assert (row["robot"], row["other"]) == ("scout1", "dies")
    at = int(np.flatnonzero(whole.steps == row["step"])[0])
    assert row["distance_m"] == whole.series("distance_m")[at, 1]
    assert (row["x_m"], row["y_m"]) == pytest.approx(tuple(whole.poses[at, 1, :2]), abs=0.2)


def test_a_thin_run_still_has_its_metrics_and_pictures(recorded, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    whole, thin = recorded
    assert thin.metrics == whole.metrics
    assert thin.times.tolist() == [1.0, 2.0, 3.0, 4.0, 4.5]
    assert thin.poses[1].tolist() == whole.poses[19].tolist()
    assert thin.plot() is not None
    assert not thin.has("traffic")
    assert (whole.plans is not None, thin.plans) == (True, None)
    assert (whole.readings is not None, thin.readings) == (True, None)
    assert thin.manifest["kept"] == "pictures"


def test_a_design_says_what_is_kept(write, tmp_path):
    write()
    text = "design: d\nscenario: room.yaml\niterations: 1\nmeasurements: [{every_s: 1, record: [pose]}]\n"
    left = {}
    for keep in ("measurements", "everything"):
        execute(plan(parse_design(f"{text}keep: {keep}\n"))[0], tmp_path / keep)
        left[keep] = {path.name for path in (tmp_path / keep).iterdir()}
    assert left["measurements"] == {"manifest.json", "metrics.json", "row.json", "team.parquet", "every_1_s.parquet"}
    assert {"measurements.parquet", "events.parquet", "maps.npz", "every_1_s.parquet"} <= left["everything"]
    assert len(table(Run(tmp_path / "everything"), "team")) == 30
    assert table(Run(tmp_path / "measurements"), "team")["time_s"].to_list() == [1.0, 2.0, 3.0]


def test_every_column_of_a_patrol_and_every_kind_of_event_has_a_name():
    of_team = {column for quantity in QUANTITIES.values() if quantity.scope == "team" for column in quantity.columns}
    assert set(IdlenessTracker.columns) <= of_team
    assert {"collision", "fault", "door_opened", "mission", "note"} <= set(EVENT_KINDS)


def test_every_kind_of_event_that_the_sources_write_down_can_be_waited_for():
    """As each is written: the first argument of what records an event."""
    sources = "".join(path.read_text() for path in Path(covey.__file__).parent.rglob("*.py"))
    written = set(re.findall(r'self\._?(?:event|record_event|say)\(\s*"(\w+)"', sources))
    assert {"maps_aligned", "fault", "door_waits"} <= written
    assert written <= set(EVENT_KINDS)
