"""Starts that are chosen for the robots: wherever they are, every robot can leave."""

import pytest

from covey.scenario.load import parse_scenario


@pytest.mark.parametrize("robot", ["disc", "maes"])
@pytest.mark.parametrize("start", ["spread: {}", "hallway_ends: {}"])
def test_every_robot_drives_away_from_its_start_in_an_office(start, robot):
    scenario = f"""
        world: {{generate: office, size_m: [20, 12], seed: 3}}
        robots:
          - {{name: r, count: 6, start: {{{start}}}, robot: {robot}, controller: nearest_frontier}}
        share_maps: {{every_s: 1}}
        seed: 2
    """
    sim = parse_scenario(scenario).build()
    while sim.time < 20.0 and sim.state.distance_m.min() < 1.0:
        sim.step()
    assert sim.state.distance_m.min() >= 1.0
