"""A file costs no more than its size: what is absurd is refused in words, soon, and without taking memory."""

import time
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
import shapely

from covey.errors import CoveyError, ScenarioError
from covey.geometry.grid import Grid
from covey.scenario import yaml12
from covey.scenario.build import build, set_up, try_out
from covey.scenario.load import parse_scenario
from covey.world.editing.obstacles import disc_patch
from covey.world.editing.shapes import rasterize
from covey.world.world import World

ROBOT = "robots: [{robot: disc, controller: wander}]\n"


def refused(text: str) -> str:
    with pytest.raises(CoveyError) as error:
        set_up(parse_scenario(text, file="mine.yaml"))
    return str(error.value)


@pytest.mark.parametrize("mission", ["patrolling", "{patrolling: {}}", "{patrolling: {sight_m: 4}}"])
def test_a_mission_that_was_written_reads_back(mission):
    scenario = parse_scenario(f"world: {{empty_m: [9, 9]}}\n{ROBOT}mission: {mission}\n")
    assert parse_scenario(scenario.to_yaml()) == scenario


@pytest.mark.parametrize("start", ["{together: {}}", "{spread: {}}", "{apart: {}}", "{room: largest}", "[[0, 0, 0]]"])
def test_a_start_that_was_written_reads_back(start):
    scenario = parse_scenario(f"world: {{empty_m: [9, 9]}}\nrobots: [{{robot: disc, start: {start}}}]\n")
    assert parse_scenario(scenario.to_yaml()) == scenario


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("world: {workspace_m: [[0, 0], [1e300, 0], [0, 1]]}\n" + ROBOT, "beyond 1e\\+12 m"),
        ("world: {empty_m: [9, 9]}\nrobots: [{robot: disc, start: [[1e300, 0, 0]]}]", "1e\\+300 is too"),
        ("world: {empty_m: [9, 9]}\nrobots: [{robot: {base: disc, radius_m: 1e200}}]", "1e\\+200 is too"),
        (f"world: {{empty_m: [9, 9]}}\n{ROBOT}execution: {{substep_s: 1e-12}}", "substeps of 1e-12 s; at most 10000"),
        (f"world: {{empty_m: [9, 9]}}\n{ROBOT}execution: {{step_s: 60, substep_s: 1e-5}}", "at most 10000"),
        (f"world: {{empty_m: [9, 9]}}\n{ROBOT}execution: {{controllers: processes, processes: {{address: 'a:99999'}}}}",
         "ports go from 0 to 65535"),
        ("world: {empty_m: [9, 9]}\nrobots: [{robot: {base: maes, mapping: {resolution_m: 1.0e-6}}}]", "0.001"),
        (f"world: {{generate: cave, size_m: [100000, 44]}}\n{ROBOT}", "grows on at most 500000"),
        (f"world: {{generate: maze, size_m: [20000, 20000], resolution_m: 10, road_m: 40}}\n{ROBOT}", "at most 40000"),
        (f"world: {{generate: building, size_m: [3000, 3000], resolution_m: 1, hall_m: 1, min_room_m: 2, door_m: 1, "
         f"door_padding_m: 0}}\n{ROBOT}", "at most 40000"),
    ],
)  # fmt: skip
def test_what_is_absurd_is_refused_by_name(text, message):
    begin = time.process_time()
    with pytest.raises(CoveyError, match=message):
        set_up(parse_scenario(text))
    assert time.process_time() - begin < 5


def test_a_long_line_of_robots_on_top_of_each_other_is_refused_soon():
    begin = time.process_time()
    said = refused(
        "world: {empty_m: [90, 90], resolution_m: 0.1}\n"
        "robots: [{robot: {base: disc, radius_m: 0.2}, count: 20000, start: {line: {from: [-40, 0], step: [0.01, 0]}}}]"
    )
    assert "robot1 cannot start at (-39.99, 0): it overlaps robot0 at (-40, 0) by 0.39 m" in said
    assert time.process_time() - begin < 5  # was 34 s for a tenth of them


def test_the_nearest_free_place_is_the_nearest_of_all_that_are_free():
    radius, count = 0.3, 60
    text = f"""world: {{empty_m: [12, 12], resolution_m: 0.1}}
robots:
  - {{name: a, robot: {{base: disc, radius_m: {radius}}}, count: {count}, start: {{together: {{}}}}}}
  - {{name: b, robot: {{base: disc, radius_m: {radius}}}, start: [[0.12, 0.07, 0]]}}
"""
    said = refused(text)
    x, y = (float(v) for v in said.rpartition("(")[2].rstrip(")").split(", "))
    crowd = set_up(parse_scenario(text.rpartition("  - ")[0])).poses[0]
    world = World.empty(12, 12, 0.1)
    cells = np.argwhere(world.free)
    centres = world.grid.to_world(cells)
    fits = np.abs(centres).max(axis=1) <= 6 - radius + 1e-9
    for px, py, _ in crowd:
        fits &= np.hypot(centres[:, 0] - px, centres[:, 1] - py) >= 2 * radius
    away = np.hypot(centres[:, 0] - 0.12, centres[:, 1] - 0.07)
    assert np.hypot(x - 0.12, y - 0.07) == pytest.approx(away[fits].min(), abs=0.01)


def test_an_error_shows_the_first_twenty_problems_and_counts_the_rest():
    with pytest.raises(ScenarioError) as error:
        parse_scenario(f"world: {{empty_m: [9, 9]}}\n{ROBOT}events: [{'{door: a}, ' * 500}]")
    lines = str(error.value).splitlines()
    assert len(lines) == 21
    assert lines[-1] == "… and 480 more"
    assert len(error.value.problems) == 500


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "robots: [" + "{a: 1, a: 2}, " * 70_000 + "]",
        "robots: {" + "a: 1, " * 160_000 + "}",
        "world: [" + "1, " * 300_000 + "]",
    ],
    ids=["mappings", "one key", "numbers"],
)
def test_a_megabyte_of_yaml_is_refused_soon(text, monkeypatch):
    monkeypatch.setattr(yaml12, "MAX_NODES", 20_000)  # a fifth, in a fifth of the time
    begin = time.process_time()
    assert "more than 20000 values" in refused(text)
    assert time.process_time() - begin < 3  # all 100000 took 24 s, and up to 249 000 lines


def test_escape_characters_of_a_file_are_spelled_out():
    said = refused('world: {empty_m: [9, 9]}\nrobots: [{robot: "\\e[2J\\u202Egone"}]')
    assert "\\x1b[2J\\u202egone" in said
    assert said.isprintable()


def test_a_thin_wall_right_across_a_large_world_takes_little_memory():
    grid = Grid(np.zeros((4000, 4000), np.uint8), 0.1)
    line = shapely.LineString([(0.03, 0.01), (399.98, 399.9)]).buffer(0.001)
    filled = rasterize(grid, line)
    on_line = np.arange(0.5, 4000) * 0.1
    at = grid.to_cells(np.column_stack((on_line, 0.01 + (on_line - 0.03) * (399.89 / 399.95))))
    assert filled[tuple(at.T)].all()
    assert 4000 <= filled.sum() <= 3 * 4000


def test_a_wall_that_reaches_out_of_the_world_fills_what_is_in_it():
    grid = Grid(np.zeros((40, 40), np.uint8), 0.1, (-2.0, -2.0, 0.0))
    spike = shapely.Polygon([(1, 1), (1.5, 1), (1.5, 9), (1, 1.5)])
    filled = rasterize(grid, spike)
    assert filled[grid.cell_at(1.45, 1.95)]
    assert not filled[grid.cell_at(-1.0, 0.0)]


def test_a_disc_larger_than_the_world_fills_it_without_taking_memory_for_the_rest():
    patch = disc_patch(3.0, 4.0, 1e9, (6, 8))
    assert patch is not None
    assert patch.mask.shape == (6, 8)
    assert patch.mask.all()


def test_the_folder_of_a_patrol_can_be_read(tmp_path):
    from covey.results.run import Run
    from covey.scenario.build import build

    text = f"world: {{empty_m: [9, 9]}}\n{ROBOT}mission: {{patrolling: {{waypoints_m: [[1, 1], [2, 1]]}}}}\n"
    simulation = build(parse_scenario(text), folder=tmp_path / "run")
    simulation.step()
    simulation.close()
    waypoints = Run(tmp_path / "run", incomplete=True).manifest["mission"]["waypoints_m"]
    assert waypoints == [[1, 1], [2, 1]]


@pytest.mark.parametrize("start", [build, try_out])
def test_maps_that_have_no_room_are_refused_before_they_take_memory(start, monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=20e6, total=4e9))
    fine = "robots: [{robot: {base: turtlebot3_burger, mapping: {resolution_m: 0.004}}, count: 2}]"
    scenario = parse_scenario(f"world: {{empty_m: [10, 10], resolution_m: 0.1}}\n{fine}")
    with pytest.raises(CoveyError, match=r"a team of 2 \(searches over maps .* are left of the 4 GB .* coarser maps"):
        start(scenario)


@pytest.mark.parametrize("start", [build, try_out])
def test_a_simulation_that_has_no_room_is_refused_before_it_takes_memory(start, monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=20e6, total=4e9))
    scenario = parse_scenario(f"world: {{empty_m: [40, 40], resolution_m: 0.05}}\n{ROBOT}")
    with pytest.raises(CoveyError, match=r"80\d x 80\d cells and a team of 1 .* are left of the 4 GB .* coarser world"):
        start(scenario)
