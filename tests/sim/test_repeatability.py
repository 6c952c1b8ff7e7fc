"""The same seed gives the same bytes, whatever else is different."""

import hashlib
import os
import subprocess
import sys

import pytest

from covey.scenario.load import parse_scenario

SCENARIO = """
world: {terrain: loop, size_m: 24, road_m: 4, resolution_m: 0.2}
robots:
  - name: scout
    robot: {base: pioneer3dx, mapping: {resolution_m: 0.2}}
    count: 3
    start: {together: {around: [-10, 10]}}
    localization: noise
    controller: nearest_frontier
  - name: guard
    robot: {base: disc, SENSORS}
    count: 2
    start: {together: {around: [10, -10]}}
    controller: random_ballistic_walk
share_maps: {every_s: 1}
stop: {timeout_s: 12}
seed: SEED
"""

PLAIN = "sensors: [{kind: lidar, rays: 40, range_m: 5, sigma_m: 0.02}]"
MORE = "sensors: [{kind: lidar, rays: 40, range_m: 5, sigma_m: 0.02}, {kind: proximity}, {kind: odometry}]"


def text(seed: int = 4, sensors: str = PLAIN) -> str:
    return SCENARIO.replace("SENSORS", sensors).replace("SEED", str(seed))


def digest(folder) -> str:
    return hashlib.sha256((folder / "measurements.parquet").read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "reference"
    parse_scenario(text(), file="s.yaml").build(folder).run()
    return digest(folder)


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1", "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"},
        {"PYTHONHASHSEED": "77", "NUMBA_NUM_THREADS": "2", "OMP_NUM_THREADS": "2", "POLARS_MAX_THREADS": "2"},
    ],
)
def test_another_process_hash_seed_and_number_of_threads_change_no_byte(tmp_path, reference, environment):
    (tmp_path / "s.yaml").write_text(text())
    code = f"import covey; covey.load_scenario({str(tmp_path / 's.yaml')!r}).build({str(tmp_path / 'run')!r}).run()"
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, **environment})
    assert digest(tmp_path / "run") == reference


def test_a_sensor_added_to_another_robot_changes_no_byte(tmp_path, reference):
    parse_scenario(text(sensors=MORE), file="s.yaml").build(tmp_path / "run").run()
    assert digest(tmp_path / "run") == reference


def test_another_seed_changes_the_run(tmp_path, reference):
    parse_scenario(text(seed=5), file="s.yaml").build(tmp_path / "run").run()
    assert digest(tmp_path / "run") != reference
