"""Strategies for maps of walls explore the drivable map of a landscape as they are."""

import numpy as np
import pytest

from covey.geometry.heightfield import steepness
from covey.scenario.load import parse_scenario

TEXT = """
world: {generate: hills, size_m: [20, 20], seed: 4, height_m: 1.5, wavelength_m: 15}
physics: planar
robots:
- name: r
  count: 2
  robot: {base: disc, sensors: [{kind: wedge, fov_deg: 360}], mapping: {kind: elevation}, max_speed_m_s: 1.0}
  controller: NAME
  start: [[-2, 0, 0], [2, 0, 0]]
share_maps: {every_s: 1}
stop: {timeout_s: 600}
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nearest_frontier", "minpos"])
def test_frontier_strategies_map_what_can_be_driven_on_and_end(name):
    sim = parse_scenario(TEXT.replace("NAME", name)).build()
    run = sim.run()
    assert run.status == "reached"  # every robot says that it can reach no frontier
    assert sim.time < 600
    drivable = (
        steepness(np.ascontiguousarray(sim.world.ground.altitude)) <= 0.4 + 1e-9
    )  # m per m, and vertices are 1 m apart
    rows, columns = drivable.shape
    known = sim.localization.teams[0].beliefs.union()[:rows, :columns]
    assert (known >= 0)[drivable].mean() > 0.95
    judged = (known >= 0)[1:-1, 1:-1]
    assert ((known == 0) == drivable)[1:-1, 1:-1][judged].mean() > 0.9
    assert (np.abs(sim.state.pose[:, :2]) <= 10.5).all()
