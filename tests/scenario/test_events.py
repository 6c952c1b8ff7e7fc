"""Doors, events and faults in scenario files: what they become, and what is said of wrong ones."""

import pytest

from covey.errors import ScenarioError
from covey.scenario.build import set_up
from covey.scenario.dump import to_yaml
from covey.scenario.load import parse_scenario
from covey.scenario.overrides import override
from covey.world.world import WALL

HEAD = """\
world: {workspace_m: [[0, 0], [10, 0], [10, 5], [0, 5]], walls_m: [[[5, 0], [5, 5]]], resolution_m: 0.1}
doors:
  - {name: d1, box_m: [4.8, 2, 5.2, 3], open: false}
robots:
  - {name: scout, robot: pioneer3dx, start: [[1, 1, 0]]}
"""
ALL = """\
events:
  - {at_s: 60, door: d1, to: open}
  - {rate_per_min: 2, door: any, to: toggle, max_count: 4}
  - {at_explored: 0.5, wall: {from: [1, 2], to: [3, 2], thickness_m: 0.1, material: brick}, name: w1}
  - {every_s: 5, probability: 0.5, wall: {polygon_m: [[1, 3], [2, 3], [2, 4]]}}
  - {at_s: 90, remove: w1}
  - {at_step: 7, remove: {polygon_m: [[4, 1], [6, 1], [6, 2], [4, 2]]}}
  - {obstacle: {path_m: [[7, 1], [9, 1]], speed_m_s: 0.3, radius_m: 0.2, repeat: loop}, name: cart}
faults:
  - {at_s: 100, robot: scout0, kind: dies}
  - {kind: radio_dies, rate_per_min: 1, for_s: 20}
  - {kind: sensor, sensor: lidar, range_factor: 0.5, noise_m: 0.1, dropout: 0.2}
  - {kind: wheel_sticks, wheel: right, robot: scout}
  - {kind: localization_jumps, offset: [1, 0, 90]}
"""


def scenario(tail):
    return parse_scenario(HEAD + tail, file="s.yaml")


def test_every_kind_survives_writing_and_reading():
    made = scenario(ALL)
    assert (len(made.events), len(made.faults)) == (7, 5)
    assert parse_scenario(to_yaml(made)) == made
    full = parse_scenario(to_yaml(made, full=True))
    assert (full.doors, full.events, full.faults) == (made.doors, made.events, made.faults)


def test_a_shut_door_is_wall_and_an_open_one_is_not():
    world = set_up(scenario("")).world
    row, column = world.grid.to_cells((5.0, 2.5))
    assert world.grid.cells[row, column] == WALL
    opened = set_up(override(scenario(""), {"doors.d1.open": True})).world
    assert opened.free_area_m2 == pytest.approx(world.free_area_m2 + 0.4)


def test_an_event_is_changed_from_the_command_line():
    assert override(scenario(ALL), {"events.0.at_s": 7}).events[0].at_s == 7


@pytest.mark.parametrize(
    ("tail", "problem"),
    [
        ("events: [{door: d2, to: open}]", "s.yaml:6:17: events[0].door: unknown door 'd2'; known: d1"),
        ("events: [{door: dd1, to: open}]", "did you mean 'd1'?"),
        ("events: [{door: d1, to: shut}]", "s.yaml:6:25: events[0].to: must be 'open', 'closed' or 'toggle'"),
        ("events: [{at_s: 1, every_s: 2, door: d1, to: open}]", "s.yaml:6:10: events[0]: at_s and every_s are given"),
        ("events: [{dor: d1}]", "s.yaml:6:10: events[0]: an event is one of {door: …"),
        ("events: [{door: d1, to: open, probability: 0.5}]", "probability needs every_s"),
        ("events: [{door: d1, to: open, max_count: 5}]", "max_count needs every_s or rate_per_min"),
        ("events: [{wall: {from: [50, 2], to: [52, 2]}}]", "s.yaml:6:24: events[0].wall.from: the wall lies outside"),
        ("events: [{wall: {from: [1, 2], to: [1, 2]}}]", "two different points"),
        ("events: [{wall: {from: [1, 2], too: [1, 2]}}]", "unknown key 'too', did you mean 'to'?"),
        ("events: [{obstacle: {path_m: [[1, 1]]}}]", "give one of radius_m and size_m"),
        ("events: [{obstacle: {path_m: [[1, 1], [99, 1]], radius_m: 1}}]", "[99.0, 1.0] lies outside the world"),
        ("events: [{obstacle: {path_m: [[1, 1]], radius_m: 0.05}}]", "at least 1.5 cells of 0.1 m"),
        ("events: [{remove: w1}]", "s.yaml:6:19: events[0].remove: no event adds a wall, obstacle or jam named 'w1'"),
        ("faults: [{kind: dies, robot: scot0}]", "s.yaml:6:30: faults[0].robot: unknown robot or group 'scot0', did"),
        ("faults: [{kind: dyes}]", "s.yaml:6:17: faults[0].kind: unknown fault 'dyes', did you mean 'dies'?"),
        ("faults: [{kind: sensor, sensor: radar}]", "any has no sensor 'radar', did you mean 'lidar'?"),
        ("faults: [{kind: dies, vanishes: true, for_s: 3}]", "for_s cannot be combined with vanishes"),
        ("doors: [{name: a, box_m: [1, 1, 0, 2]}]", "x0_m < x1_m"),
    ],
)
def test_problems_are_named_with_their_place(tail, problem):
    head = (
        HEAD
        if not tail.startswith("doors")
        else HEAD.replace("doors:\n  - {name: d1, box_m: [4.8, 2, 5.2, 3], open: false}\n", "")
    )
    with pytest.raises(ScenarioError) as error:
        set_up(parse_scenario(head + tail, file="s.yaml"))
    assert problem in str(error.value)


def test_doors_need_names_of_their_own_and_a_place_in_the_world():
    twice = HEAD.replace(
        "robots:", "  - {name: d1, box_m: [1, 1, 2, 2]}\n  - {name: d9, box_m: [90, 1, 92, 2]}\nrobots:"
    )
    with pytest.raises(ScenarioError) as error:
        set_up(parse_scenario(twice, file="s.yaml"))
    assert "s.yaml:4:12: doors[1]: there is a door 'd1' already" in str(error.value)
    assert "s.yaml:5:23: doors[2]: door 'd9' lies outside the world" in str(error.value)


def test_a_world_without_doors_says_so():
    bare = "world: {empty_m: [4, 4]}\nrobots: [{}]\nevents: [{door: d1, to: open}]"
    with pytest.raises(ScenarioError, match="this world has no doors"):
        set_up(parse_scenario(bare))
