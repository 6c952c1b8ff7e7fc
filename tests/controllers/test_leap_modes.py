"""The two modes of the terrain team differ: one trusts its map, the other only what it sees now."""

import numpy as np
import pytest

from covey.scenario.load import parse_scenario

pytest.importorskip("mujoco", reason="MuJoCo, of the extra covey[terrain], is not installed")

DUST = """
world: {generate: hills, size_m: [50, 30], seed: 1, height_m: 0.1}
robots:
- name: r
  count: 3
  robot: skid_steer
  known_map: true
  controller: terrain_team
  start: [[-12, -2, 0], [-12, 0, 0], [-12, 2, 0]]
share_maps: {every_s: 1}
mission: {formation: {objective_m: [14, 0], formation: rank, mode: MODE}}
faults: [{at_s: 5, kind: sensor, robot: all, sensor: wedge, for_s: 12}]
events: [{at_s: 5, crater: {centre_m: [2, 0], depth_m: 3, radius_m: 8}}]
stop: {timeout_s: 18}
"""


def dusty(mode):
    return parse_scenario(DUST.replace("MODE", mode)).build().run()


@pytest.mark.slow
def test_in_dust_faith_leaps_into_a_fresh_crater_and_who_looks_first_waits():
    """All know the ground; dust hides it for 12 s, and meanwhile a crater is dug 3 m or more ahead of all three."""
    faith, looks = dusty("leap_of_faith"), dusty("look_before_leap")
    for run in (faith, looks):
        before = run.poses[np.searchsorted(run.pose_times, 4.95), :, :2]
        assert np.hypot(*(before - (2.0, 0.0)).T).min() > 8.0 + 3.0
    assert faith.metrics["robots_lost"] > 0
    assert looks.metrics["robots_lost"] == 0
    # They drive on what they saw in the last 3 s, brake, and stand until the dust has settled at 17 s.
    stood, still = (looks.poses[np.searchsorted(looks.pose_times, s), :, :2] for s in (8.8, 16.8))
    assert np.hypot(*(still - stood).T).max() < 0.15
    notes = looks.events.filter(looks.events["kind"] == "note")
    waits = notes.filter(notes["text"].str.contains("before it leaps") & (notes["time_s"] > 5))
    assert waits["robot"].n_unique() == 3
