"""SLAM, and localization in a known map, with controllers in processes of their own: the same bytes as without."""

import pytest

from covey.scenario.load import parse_scenario

SCENARIO = """
world: {terrain: loop, size_m: 24, road_m: 4, resolution_m: 0.2}
robots:
  - {name: scout, count: 2, controller: nearest_frontier, localization: KIND, start: {together: {around: [-10, 10]}},
     robot: {base: pioneer3dx, mapping: {resolution_m: 0.2}}}
radio: {range_m: 30}
share_maps: {every_s: 1}
stop: {timeout_s: 12}
execution: {controllers: WHERE}
record: {maps_every_s: 1}
seed: 3
"""
FILES = (
    "measurements.parquet",
    "events.parquet",
    "radio.parquet",
    "localization.parquet",
    "maps.npz",
    "map_changes.npz",
)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["{particles: {filter: {particles: 5}}}", "slam", "{known_map: {start: unknown}}"])
def test_the_same_bytes_in_processes(kind, tmp_path):
    runs = []
    for where in ("in_process", "processes"):
        text = SCENARIO.replace("WHERE", where).replace("KIND", kind)
        runs.append(
            parse_scenario(text)
            .replace("robots.scout.robot.sensors.odometry.noise", "gmapping")
            .build(tmp_path / where)
            .run()
        )
    for name in FILES:
        here, there = ((run.folder / name).read_bytes() for run in runs)
        assert here == there, name
    corrected = runs[0].localization["revision"].max() > 0
    assert corrected == ("known_map" not in kind)  # a given map does not change
