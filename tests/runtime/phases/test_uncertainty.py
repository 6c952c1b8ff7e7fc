"""Covariances of estimates, as runs record them, and their consistency."""

import numpy as np
import pytest

from covey.mapping.slam.scores import consistency
from covey.results.metrics.localization import _nees
from covey.scenario.load import parse_scenario

SCENARIO = """
world: {terrain: loop, size_m: 24, road_m: 4}
robots:
  - {name: noisy, count: 2, robot: pioneer3dx, localization: {noise: {sigma_m: 0.05, sigma_rad: 0.02}}, start: {together: {around: [-10, 10]}},
     controller: random_ballistic_walk}
  - {name: sure, robot: pioneer3dx, start: {together: {around: [10, -10]}}, controller: random_ballistic_walk}
  - {name: wheels, robot: {base: pioneer3dx, sensors: [{kind: odometry, noise: gmapping}], mapping: null}, localization: odometry,
     start: {together: {around: [10, 10]}}, controller: random_ballistic_walk}
stop: {timeout_s: 60}
seed: 4
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return parse_scenario(SCENARIO).build(tmp_path_factory.mktemp("run") / "run").run()


def test_a_row_for_each_second_and_robot_that_estimates(run):
    table = run.localization
    assert table["robot"].to_list() == ["noisy0", "noisy1", "wheels0"] * 60
    assert table["time_s"].to_list()[::3] == pytest.approx(np.arange(1.0, 60.5))
    noisy = table.filter(table["robot"] == "noisy1")
    assert set(noisy["xx_m2"]) == {0.05**2}
    assert set(noisy["hh_rad2"]) == {0.02**2}
    assert set(noisy["xy_m2"]) == set(noisy["revision"]) == {0}
    wheels = table.filter(table["robot"] == "wheels0")["hh_rad2"].to_numpy()
    assert (np.diff(wheels) >= 0.0).all()
    assert wheels[-1] > wheels[0] > 0.0


@pytest.mark.slow
def test_white_noise_is_consistent(run):
    """Its errors are independent in each step, so each sample counts as a run."""
    table = run.localization
    steps, values = _nees(run)
    names = np.array([name for name, det in zip(table["robot"], table["hh_rad2"], strict=True) if det > 0.0])
    noisy = np.char.startswith(names, "noisy")
    assert noisy.sum() == 120
    found = consistency(values[noisy], level=0.999)
    assert found.consistent
    assert run.metrics["nees"] == pytest.approx(values.mean())
    assert run.metrics["nees_end"] == pytest.approx(values[steps == 600].mean())


def test_runs_of_true_poses_have_no_covariances(tmp_path):
    run = (
        parse_scenario(
            "world: {terrain: loop, size_m: 24, road_m: 4}\nrobots: [{robot: pioneer3dx}]\nstop: {timeout_s: 2}"
        )
        .build(tmp_path / "r")
        .run()
    )
    assert run.localization is None
    assert (run.metrics["nees"], run.metrics["scan_cpu_ms_p50"]) == (None, None)


def test_the_time_of_a_scan_is_measured_where_scans_localize(tmp_path):
    text = "world: {terrain: loop, size_m: 24, road_m: 4}\nrobots: [{robot: pioneer3dx, localization: slam}]\nstop: {timeout_s: 3}"
    metrics = parse_scenario(text).build(tmp_path / "r").run().metrics
    assert 0.0 < metrics["scan_cpu_ms_p50"] <= metrics["scan_cpu_ms_p99"] < 1e5
