"""The aerial scout: it looks at what it is asked for, else ahead of the team, and the team is faster for it."""

import numpy as np
import pytest

from covey.controllers import controllers
from covey.errors import InvalidValueError
from covey.scenario.load import parse_scenario

TEAM = """
world: {generate: flat, size_m: [100, 60]}
physics: planar
robots:
- name: r
  count: 2
  robot: {base: disc, sensors: [{kind: wedge}], mapping: {kind: elevation}, max_speed_m_s: 1.0}
  controller: terrain_team
  start: [[-20, 0, 0], [-18, 0, 0]]
SCOUT
share_maps: {every_s: 0.5}
mission: {formation: {objective_m: [20, 0], formation: rank, facing_deg: 90, robots: 2}}
stop: {timeout_s: 200}
"""
SCOUT = """- name: s
  robot:
    base: disc
    max_speed_m_s: 4.0
    sensors: [{kind: wedge, fov_deg: 90, elevation_deg: 45, declination_deg: 45, range_m: 14, height_m: 8,
               mount_x_m: 0, mount_pitch_deg: 90}]
    mapping: {kind: elevation}
  controller: aerial_scout
  start: [[-19, 3, 0]]"""


def simulation(scout=SCOUT, team=TEAM):
    return parse_scenario(team.replace("SCOUT", scout)).build()


@pytest.mark.slow
def test_a_team_with_a_scout_is_there_sooner():
    near = TEAM.replace("[20, 0], formation", "[6, 0], formation")
    alone, together = simulation("", near).run(), simulation(team=near).run()
    for run in (alone, together):
        assert run.status == "reached"
        assert run.metrics["robots_arrived"] == 2
    assert together.metrics["last_order_met_s"] < 0.9 * alone.metrics["last_order_met_s"]


@pytest.mark.slow
def test_what_is_asked_for_comes_first_and_then_the_corridor_ahead():
    sim = simulation()
    asked = None
    while not sim.done:
        sim.step()
        assert not sim.deciding.failures
        text = sim.robot("s0").text
        if asked is None and " for r" in text:
            asked = sim.time
            x = sim.state.pose[2, 0]
        if asked is not None and sim.time < asked + 2:
            assert sim.state.pose[2, 0] >= x - 0.5  # it goes there: the place lies to the east
    assert asked is not None
    assert sim.robot("s0").text == "hovers: there is nothing left to look at"
    belief = sim.robot("s0").map
    rows, columns = belief.grid.to_cells(np.array([(x, y) for x in range(-15, 20) for y in (-8, 0, 8)])).T
    assert (belief.occupancy()[rows, columns] == 0).all()  # the corridor, 12 m to both sides, is mapped
    far = belief.grid.to_cells((0.0, 27.0))
    assert belief.occupancy()[tuple(far)] == -1
    sim.close()


def test_without_an_order_it_looks_where_nobody_has_been():
    alone = TEAM.split("- name: r")[0] + "SCOUT\n" + "share_maps: {every_s: 0.5}\nstop: {timeout_s: 30}\n"
    run = simulation(team=alone).run()
    assert run.series("distance_m")[-1, 0] > 60


def test_senseless_parameters_are_named():
    with pytest.raises(InvalidValueError, match="corridor_m"):
        controllers.get("aerial_scout")(corridor_m=0.0)


FAR = (
    TEAM.replace("[100, 60]", "[140, 60]")
    .replace("[20, 0], formation", "[60, 0], formation")
    .replace("stop:", "events: [{at_s: 50, crater: {centre_m: [30, 0], depth_m: 2, radius_m: 4}}]\nstop:")
)


@pytest.mark.slow
def test_a_crater_that_is_dug_in_ground_mapped_long_ago_is_seen_again_before_the_team_is_there():
    run = simulation(team=FAR.replace("max_speed_m_s: 1.0", "max_speed_m_s: 0.5")).run(until_s=65)
    events = run.events
    assert "looks again at old ground" in events.filter(events["robot"] == "s0")["text"].to_list()
    first = events.filter(events["kind"] == "change_noticed").row(0, named=True)
    assert first["robot"] == "s0"
    on_the_ground = run.poses[list(run.times).index(first["time_s"]), :2, 0]
    assert on_the_ground.max() < 25.0  # no robot there was near enough to see it
