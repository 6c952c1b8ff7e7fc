"""From a scenario to a world with robots in it, or to all that stands in the way."""

import inspect
import math

import numpy as np
import pytest

from covey.errors import ScenarioError
from covey.runtime import simulation
from covey.runtime.simulation import Simulation
from covey.scenario.build import inputs, set_up
from covey.scenario.load import load_scenario, parse_scenario
from covey.world.world import World


def scenario(*groups, world="{empty_m: [10, 10]}"):
    return parse_scenario("\n".join([f"world: {world}", "robots:", *(f"  - {g}" for g in groups)]), file="s.yaml")


def test_the_start_of_the_maze_is_the_published_line():
    ready = set_up(load_scenario("maze"))
    i = np.arange(6)
    assert np.array_equal(ready.poses[0], np.column_stack((np.full(6, -38.0), 38.0 - 2.0 * i, np.zeros(6))))
    assert ready.summary().startswith("6 scout (pioneer3dx) in maze (80.2 x 80.2 m")


def test_groups_do_not_overlap_each_other_and_headings_are_radians():
    ready = set_up(scenario("{name: a, count: 3, start: [[0, 0, 90], [1, 0, 0], [2, 0, 0]]}", "{name: b, count: 20}"))
    assert ready.poses[0][0, 2] == pytest.approx(math.pi / 2)
    points = np.vstack(ready.poses)[:, :2]
    gaps = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1)) + 10 * np.eye(23)
    assert gaps.min() >= 2 * 0.15


def test_equal_seeds_place_equally_and_other_groups_change_nothing():
    spread = "{name: a, count: 5, start: {spread: {}}}"
    one, two = set_up(scenario(spread)), set_up(scenario(spread, "{name: b, start: {spread: {}}}"))
    assert np.array_equal(one.poses[0], two.poses[0])


def test_an_equal_world_is_built_once_and_another_seed_builds_another():
    text = "seed: {}\nworld: {{generate: rooms}}\nrobots:\n  - {{name: {}, start: {{spread: {{}}}}}}"
    one, two, other = (set_up(parse_scenario(text.format(*of))).world for of in ((5, "a"), (5, "b"), (6, "a")))
    assert one is two
    assert one is not other
    assert not np.array_equal(one.grid.cells, other.grid.cells)


@pytest.mark.parametrize(
    ("groups", "world", "problems"),
    [
        (["{start: [[99, 0, 0]]}"], "{empty_m: [10, 10]}", [("s.yaml", 3, 13, "robot0 cannot start at (99, 0)")]),
        (["{start: [[5, 0, 0]]}"], "{empty_m: [10, 10]}", [("s.yaml", 3, 13, "nearest free place")]),
        (
            ["{count: 2, start: [[0, 0, 0], [0.1, 0, 0]]}"],
            "{empty_m: [10, 10]}",
            [("s.yaml", 3, 23, "robot1 cannot start at (0.1, 0): it overlaps robot0")],
        ),
        (
            ["{count: 2, start: [[0, 0, 0]]}"],
            "{empty_m: [10, 10]}",
            [("s.yaml", 3, 23, "1 start poses are given for 2")],
        ),
        (["{count: 9}"], "{empty_m: [0.7, 0.7]}", [("s.yaml", 3, 5, "does not fit: only")]),
        (
            ["{name: a, start: [[9, 0, 0]]}", "{name: b, start: [[0, 9, 0]]}"],
            "{empty_m: [10, 10]}",
            [("s.yaml", 3, 22, "a0 cannot start"), ("s.yaml", 4, 22, "b0 cannot start")],
        ),
        (["{count: 1}"], "{file: gone.yaml}", [("s.yaml", 1, 8, "gone.yaml")]),
        (["{count: 1}"], "{empty_m: [90000, 90000], resolution_m: 0.01}", [("s.yaml", 1, 8, "cells")]),
        (["{count: 1}"], "{empty_m: [6400, 6400], resolution_m: 1}", [("s.yaml", 1, 8, "at most 40,000,000")]),  # 2 GB
        (["{count: 1}"], "{generate: maze, size_m: [31, 30], road_m: 4}", [("s.yaml", 1, 8, "31")]),
    ],
)
def test_what_cannot_be_built_is_said_with_its_place(groups, world, problems):
    with pytest.raises(ScenarioError) as caught:
        set_up(scenario(*groups, world=world))
    found = caught.value.problems
    assert [(p.file, p.line, p.column) for p in found] == [p[:3] for p in problems]
    for problem, (*_, words) in zip(found, problems, strict=True):
        assert words in problem.message


def test_a_map_file_is_found_beside_the_scenario(write, monkeypatch):
    folder = write(
        plan_yaml="image: plan.pgm\nresolution: 0.5\norigin: [0, 0, 0]\nnegate: 0\n"
        "occupied_thresh: 0.65\nfree_thresh: 0.2"
    )
    (folder / "plan.pgm").write_bytes(b"P5 8 8 255\n" + bytes([254] * 64))
    (folder / "s.yaml").write_text("world: {file: plan.yaml}\nrobots: [{robot: disc}]")
    monkeypatch.chdir("/")
    loaded = load_scenario(folder / "s.yaml")
    assert set_up(loaded).world.free_area_m2 == 64 * 0.25
    assert inputs(loaded) == [folder / "plan.pgm", folder / "plan.yaml"]


def test_the_body_radius_reaches_the_farthest_point_of_the_footprint():
    group = scenario("{robot: {base: disc, radius_m: null, discs_m: [[0.2, 0, 0.1], [-0.1, 0, 0.1]]}}").robots[0]
    assert group.robot.outer_radius_m == pytest.approx(0.3)


@pytest.mark.slow
def test_damage_is_part_of_the_world_spares_the_targets_and_goes_by_the_seed():
    text = (
        "seed: {}\nworld: {{generate: rescue, seed: 4}}\ndamage: {{rubble: 12}}\n"
        "targets: [{{kind: big_fire, at: [{}, {}]}}]\nrobots: [{{start: [[0, 1, 0]]}}]"
    )
    plain = World.rescue(seed=4)
    laid = set_up(parse_scenario(text.format(1, 1.0, 0.0).replace("kind: big_fire, at: [1.0, 0.0]", "draw: big_fire")))
    x, y = laid.targets.positions[0, :2].round(3)
    one, other = (set_up(parse_scenario(text.format(seed, x, y))) for seed in (2, 3))
    assert (one.world.grid.cells != other.world.grid.cells).any()
    centres = plain.grid.to_world(np.moveaxis(np.indices(plain.grid.shape), 0, -1))
    near = np.hypot(*np.moveaxis(centres - (x, y), -1, 0)) < 1.0
    for ready in (one, other):
        assert ready.world.plan is not None
        assert (ready.world.grid.cells != plain.grid.cells).any()
        np.testing.assert_array_equal(ready.world.grid.cells[near], plain.grid.cells[near])


def test_damage_without_room_names_its_place_in_the_file():
    text = "world: {empty_m: [3, 3]}\ndamage:\n  body_m: 2\nrobots: [{}]"
    with pytest.raises(ScenarioError, match=r"s.yaml:3.*damage: .*body_m 2 m has room nowhere") as raised:
        set_up(parse_scenario(text, file="s.yaml"))
    assert len(raised.value.problems) == 1


EACH_SETTING = """
world: {empty_m: [10, 10]}
robots:
  - {name: a, controller: wander, localization: odometry, control_every: 3, control_phase: 2}
  - {name: b, controller: wander, known_map: true}
physics: planar
radio: {range_m: 5}
share_maps: {every_s: 2}
tags: {range_m: 3}
mission: {patrolling: {}}
events: [{at_s: 1, obstacle: {path_m: [[0, 4]], radius_m: 0.2}}]
faults: [{at_s: 1, robot: a, kind: dies}]
stop: {timeout_s: 7}
execution: {step_s: 0.05}
record: {scans_every_s: 1}
seed: 11
"""


def test_each_setting_reaches_the_simulation_and_its_groups(monkeypatch):
    scenario, given = parse_scenario(EACH_SETTING), []
    monkeypatch.setattr(simulation, "Simulation", lambda world, groups, **how: given.append((groups, how)))
    scenario.build()
    ((groups, how),) = given
    shared = set(inspect.signature(Simulation).parameters) & type(scenario).model_fields.keys() - {"robots", "world"}
    targets = how.pop("targets")
    assert not len(targets.kinds)
    for name in shared - {"targets"}:
        assert how[name] is getattr(scenario, name) or how[name] == getattr(scenario, name), name
        assert name in ("targets", "seed") or getattr(scenario, name) != type(scenario).model_fields[name].default, name
    for made, written in zip(groups, scenario.robots, strict=True):
        assert (made.name, made.robot, made.localization) == (written.name, written.robot, written.localization)
        assert (made.control_every, made.phase) == (written.control_every, written.control_phase)
        assert made.known_map == written.known_map
        assert made.program.name == "wander"
