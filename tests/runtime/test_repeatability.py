"""The same seed gives the same bytes, whatever else is different."""

import hashlib
import os
import subprocess
import sys
from importlib.util import find_spec

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
stop: {timeout_s: 6}
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


CHANGING = (
    text().replace("nearest_frontier", "minpos").replace("timeout_s: 6", "timeout_s: 10")
    + """
radio:
  links: [{disc: {range_m: 25}}, {gilbert_elliott: {}}]
  loss: 0.2
  latency_s: 0.02
  jitter_s: 0.2
  bandwidth_kbit_s: 200
doors: [{name: d1, box_m: [-10.4, 5.8, -7.6, 6.2]}, {name: d2, box_m: [-6.2, 7.6, -5.8, 12]}]
events:
  - {rate_per_min: 60, door: any, to: toggle}
  - {at_s: 2, wall: {from: [9, -9], to: [10, -9]}, name: w}
  - {at_explored: 0.2, remove: w}
  - {obstacle: {path_m: [[-9, 9], [-7, 9], [-7, 11]], radius_m: 0.3, repeat: loop}}
faults:
  - {kind: wheel_sticks, rate_per_min: 20, for_s: 2}
  - {kind: localization_jumps, rate_per_min: 20, for_s: 2}
  - {kind: sensor, every_s: 1, probability: 0.5, for_s: 1, range_factor: 0.5, noise_m: 0.1, dropout: 0.3}
  - {kind: radio_dies, at_s: 3, for_s: 4}
  - {kind: dies, rate_per_min: 10, max_count: 2}
"""
)


DROPS = """
world: {generate: hills, size_m: [30, 30], height_m: 2, seed: 3}
robots:
  - {name: rover, robot: skid_steer, count: 3, start: {together: {around: [0, 0], gap_m: 1}}, controller: minpos}
share_maps: {every_s: 1}
events:
  - {at_s: 1, trench: {from: [6, -15], to: [6, 15], width_m: 2, depth_m: 3}}
  - {at_s: 3, crater: {centre_m: [-6, 0], depth_m: 3, radius_m: 3}}
stop: {timeout_s: 4}
seed: SEED
"""


RUN_ALL = """
import sys
import covey

for name in sys.argv[1:]:
    covey.load_scenario(f"{name}.yaml").build(name).run()
"""


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """Return the folder of the same runs in another process: other hashes, one thread, and garbage in fresh memory."""
    folder = tmp_path_factory.mktemp("elsewhere")
    scenarios = {"drops": DROPS.replace("SEED", "1"), "plain": text(), "changing": CHANGING}
    if find_spec("mujoco") is None:
        del scenarios["drops"]
    for name, content in scenarios.items():
        (folder / f"{name}.yaml").write_text(content)
    environment = {"PYTHONHASHSEED": "5", "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    environment |= {"OPENBLAS_NUM_THREADS": "2"}  # here it has one
    environment |= {"MALLOC_PERTURB_": "85"}  # the C library fills fresh memory with it
    command = [sys.executable, "-c", RUN_ALL, *scenarios]
    subprocess.run(command, cwd=folder, check=True, env={**os.environ, **environment})
    return folder


def test_another_process_hash_seed_and_number_of_threads_change_no_byte(elsewhere, reference):
    """The reference has as many threads as processors."""
    assert digest(elsewhere / "plain") == reference


def test_a_sensor_added_to_another_robot_changes_no_byte(tmp_path, reference):
    parse_scenario(text(sensors=MORE), file="s.yaml").build(tmp_path / "run").run()
    assert digest(tmp_path / "run") == reference


def test_another_seed_changes_the_run(tmp_path, reference):
    parse_scenario(text(seed=5), file="s.yaml").build(tmp_path / "run").run()
    assert digest(tmp_path / "run") != reference


@pytest.mark.slow
def test_a_changing_world_faults_and_a_lossy_radio_repeat_in_another_process(elsewhere, tmp_path):
    run = parse_scenario(CHANGING, file="s.yaml").build(tmp_path / "here").run()
    kinds = set(run.events["kind"])
    assert {"door_closed", "door_opened", "wall_added", "obstacle_added", "fault", "recovered"} <= kinds
    assert 0 < run.metrics["delivery_ratio"] < 1
    assert run.metrics["dropped_by_cause"]["loss"] > 0
    for table in ("measurements.parquet", "events.parquet", "maps.npz", "radio.parquet", "traffic.parquet"):
        assert (tmp_path / "here" / table).read_bytes() == (elsewhere / "changing" / table).read_bytes()


def test_a_landscape_with_drops_repeats_after_another_run_and_in_another_process(elsewhere, tmp_path):
    pytest.importorskip("mujoco", reason="MuJoCo, of the extra covey[terrain], is not installed")
    other = parse_scenario(DROPS.replace("SEED", "0"), file="s.yaml").build(tmp_path / "other").run()
    again = parse_scenario(DROPS.replace("SEED", "1"), file="s.yaml").build(tmp_path / "after").run()
    assert {"ground_changed"} <= set(again.events["kind"])
    for table in ("measurements.parquet", "events.parquet", "maps.npz"):
        assert (elsewhere / "drops" / table).read_bytes() == (tmp_path / "after" / table).read_bytes(), table
    assert digest(other.folder) != digest(again.folder)
