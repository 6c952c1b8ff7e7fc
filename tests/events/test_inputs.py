"""A world that changes while it runs: what happens when, to whom, and what of it is recorded."""

import math

import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.events.checks import as_input
from covey.events.inputs import recorded_inputs
from covey.experiments.repeating import Repeated
from covey.onboard.group import Group
from covey.robots.catalogue import pioneer3dx
from covey.runtime.simulation import Simulation
from covey.runtime.stop import Stop
from covey.world.doors import Door
from covey.world.editing.changing import with_doors
from covey.world.world import World


async def ahead(robot, *, v=0.5):
    await robot.drive(v, for_s=1000.0)


async def stand(robot):
    await robot.sleep(1000.0)


def rooms(open_door=True):
    """Two rooms of 4 x 4 m with a door of 1 m between them."""
    world = World.polygons([[0, 0], [8, 0], [8, 4], [0, 4]], walls_m=[[[4, 0], [4, 4]]], wall_m=0.2, resolution_m=0.1)
    return with_doors(world, [Door("d", 3.9, 1.5, 4.1, 2.5, open=open_door)])


def simulation(*starts, controller=stand, world=None, **options):
    group = Group("scout", pioneer3dx(), starts or ((1.0, 2.0, 0.0),), controller)
    return Simulation(world or rooms(), [group], stop=Stop(timeout_s=1000), **options)


def happened(run, *kinds):
    events = run.events
    rows = events.select("step", "kind", "robot", "other").rows()
    return [row for row in rows if not kinds or row[1] in kinds]


def run_for(sim, seconds):
    return sim.run(until_s=seconds)


def sight_m(sim, robot=0):
    """What the robot's lidar measures straight ahead."""
    scan = next(b for b in sim.sensing.banks if b.record.kind == "lidar")
    return scan.readings.ranges[robot, np.argmin(np.abs(scan.readings.angles))]


def test_sensors_bodies_and_area_follow_a_door_at_once():
    sim = simulation(controller=ahead)
    area = sim.world.free_area_m2
    sim.step()
    assert sight_m(sim) == pytest.approx(7.0, abs=0.3)
    sim.close_door("d")
    sim.step()
    assert sight_m(sim) == pytest.approx(2.9, abs=0.3)
    assert sim.world.free_area_m2 == pytest.approx(area - 0.2)
    run = run_for(sim, 15)
    assert run.poses[-1, 0, 0] == pytest.approx(3.9 - 0.26, abs=0.05), "it stands before the shut door"
    assert run.maps.truth.cells[sim.world.grid.to_cells((4.0, 2.0))[0], sim.world.grid.to_cells((4.0, 2.0))[1]] == 1


def test_the_world_that_was_given_never_changes():
    world = rooms()
    before = world.grid.cells.copy()
    sim = simulation(world=world, events=[{"door": "d", "to": "closed"}])
    run_for(sim, 1)
    assert np.array_equal(world.grid.cells, before)
    assert (world.version, sim.world.version) == (0, 1)


def test_a_door_waits_for_the_robot_in_it():
    sim = simulation((4.0, 2.0, 0.0), controller=ahead, events=[{"at_s": 0.5, "door": "d", "to": "closed"}])
    run = run_for(sim, 3)
    waits, closed = happened(run, "door_waits", "door_closed")
    assert waits == (6, "door_waits", "scout0", "d")
    behind = run.poses[closed[0] - 2, 0, 0] - sim.groups[0].robot.outer_radius_m
    assert behind == pytest.approx(4.1, abs=0.1)
    assert run.poses[-1, 0, 0] > 4.5, "nothing held the robot back"


def test_a_door_that_waits_stays_open_when_told_so():
    sim = simulation((4.0, 2.0, 0.0))
    sim.close_door("d")
    sim.step()
    sim.open_door("d")
    run = run_for(sim, 2)
    assert [kind for _, kind, _, _ in happened(run)] == ["door_waits", "input", "input"]


def test_a_wall_is_put_up_and_taken_away_but_not_on_a_robot():
    events = [
        {"at_s": 0.3, "wall": {"from": [1.0, 1.0], "to": [1.0, 3.0]}, "name": "on the robot"},
        {"at_s": 0.4, "wall": {"from": [2.0, 1.0], "to": [2.0, 3.0], "thickness_m": 0.1}, "name": "w"},
        {"at_s": 0.5, "wall": {"from": [3.0, 1.0], "to": [3.0, 3.0]}, "name": "w"},
        {"at_s": 0.9, "remove": "w"},
        {"at_s": 1.0, "remove": "w"},
    ]
    sim = simulation(events=events)
    seen = []
    while sim.time < 1.2:
        sim.step()
        seen.append(sight_m(sim))
    assert np.array(seen[4:9]) == pytest.approx(0.95, abs=0.2)
    assert seen[9] > 5
    assert happened(sim.close()) == [
        (4, "refused", "scout0", "on the robot"),
        (5, "wall_added", "", "w"),
        (6, "refused", "", "w"),
        (10, "wall_removed", "", "w"),
        (11, "refused", "", "w"),
    ]


def test_the_worlds_own_wall_falls_in_a_region():
    region = {"polygon_m": [[3, 3], [5, 3], [5, 4], [3, 4]]}
    sim = simulation((1.0, 3.5, 0.0), controller=ahead, events=[{"remove": region}])
    assert run_for(sim, 12).poses[-1, 0, 0] > 5.0


def test_an_obstacle_moves_at_its_speed_and_turns_back():
    track = {"path_m": [[6.0, 1.0], [6.0, 3.0]], "speed_m_s": 1.0, "radius_m": 0.3}
    sim = simulation((1.0, 2.0, 0.0), events=[{"obstacle": track, "name": "cart"}])
    area = sim.world.free_area_m2
    height = []
    while sim.time < 4.05:
        sim.step()
        filled = np.argwhere(sim.world.grid.cells[:, sim.world.grid.to_cells((6.0, 1.0))[1]] == 1)[:, 0]
        inner = filled[(filled > 1) & (filled < sim.world.grid.shape[0] - 2)]
        height.append(sim.world.grid.to_world((inner.mean(), 0))[1])
        assert sim.world.free_area_m2 == pytest.approx(area - 0.28, abs=0.06)
    time = np.arange(len(height)) * 0.1
    assert np.array(height) == pytest.approx(1 + np.where(time <= 2, time, 4 - time), abs=0.1)


def test_an_obstacle_waits_for_a_robot_and_goes_on():
    track = {"path_m": [[1.0, 0.6], [1.0, 3.4]], "speed_m_s": 0.5, "size_m": [0.4, 0.4], "repeat": "once"}
    sim = simulation((1.0, 2.0, 0.0), events=[{"obstacle": track, "name": "cart"}])
    for _ in range(60):
        sim.step()
    assert sim.state.pose[0].tolist() == [1.0, 2.0, 0.0]
    sim.state.pose[0] = (3.0, 2.0, 0.0)
    run = run_for(sim, 12)
    assert [kind for _, kind, _, _ in happened(run)] == ["obstacle_added", "obstacle_waits"]
    row, column = sim.world.grid.to_cells((1.0, 3.4))
    assert sim.world.grid.cells[row, column] == 1


def test_what_can_be_explored_counts_all_doors_open():
    opened, shut = simulation(world=rooms(True)), simulation(world=rooms(False))
    opened.close(), shut.close()
    assert np.array_equal(opened.scoring.exploration.mask, shut.scoring.exploration.mask)
    assert opened.scoring.exploration.mask[
        opened.world.grid.to_cells((4.0, 2.0))[0], opened.world.grid.to_cells((4.0, 2.0))[1]
    ]


def test_times_shares_and_rates():
    events = [
        {"every_s": 0.25, "door": "d", "to": "toggle", "max_count": 4},
        {"at_step": 3, "wall": {"from": [6, 1], "to": [6, 2]}, "name": "step"},
        {"at_explored": 0.3, "wall": {"from": [7, 1], "to": [7, 2]}, "name": "share"},
    ]
    sim = simulation(events=events)
    run = run_for(sim, 3)
    assert [s for s, kind, _, _ in happened(run) if kind.startswith("door")] == [4, 6, 9, 11]
    assert [s for s, _, _, name in happened(run) if name == "step"] == [4]
    share = run.series("explored_share_union")
    (step,) = [s for s, _, _, name in happened(run) if name == "share"]
    assert share[step - 2] >= 0.3
    assert step == 2 or share[step - 3] < 0.3


def test_an_interactive_run_replays_byte_for_byte(tmp_path):
    starts = ((1.0, 2.0, 0.0), (1.0, 3.0, 0.0))
    sim = simulation(*starts, controller=ahead, recording=tmp_path / "first", seed=3)
    for step in range(80):
        if step == 10:
            sim.close_door("d")
            sim.fault("wheel_sticks", "any", for_s=2.0)
        if step == 20:
            sim.fault("localization_jumps", "scout0")
            sim.add_obstacle([[2.0, 1.0], [3.0, 1.0]], "cart", radius_m=0.2)
        if step == 30:
            sim.do({"door": "any", "to": "toggle"})
            sim.add_wall([6.0, 1.0], [6.0, 3.0], thickness_m=0.3)
        if step == 50:
            sim.remove_wall("cart")
            sim.fault("dies", "any")
        sim.step()
    calls = recorded_inputs(sim.close())
    assert len(calls) == 8
    again = simulation(*starts, controller=ahead, recording=tmp_path / "again", seed=3, events=calls)
    for _ in range(80):
        again.step()
    again.close()
    assert (tmp_path / "first/measurements.parquet").read_bytes() == (
        tmp_path / "again/measurements.parquet"
    ).read_bytes()


def test_a_call_that_strikes_several_robots_repeats_with_the_same_events(tmp_path):
    starts = ((1.0, 1.0, 0.0), (1.0, 2.0, 0.0), (1.0, 3.0, 0.0))
    sim = simulation(*starts, controller=ahead, recording=tmp_path / "first")
    sim.fault("wheel_sticks", "all", wheel="left")
    sim.close_door("d")
    first = sim.run(until_s=1.0)
    again = simulation(*starts, controller=ahead, recording=tmp_path / "again")
    assert len(recorded_inputs(first)) == 4
    again.run(until_s=1.0, before_step=Repeated(first))
    for table in ("events.parquet", "measurements.parquet"):
        assert (tmp_path / "again" / table).read_bytes() == (tmp_path / "first" / table).read_bytes(), table


@pytest.mark.parametrize(
    ("event", "why"),
    [
        ({"door": "e", "to": "open"}, "unknown door 'e'; known: d"),
        ({"door": "d", "to": "open", "at_s": 3}, "has a time"),
        ({"kind": "dies", "robot": "scout7"}, "unknown robot or group 'scout7', did you mean 'scout'?"),
        ({"kind": "dies", "robots": "scout0"}, "neither an event nor a fault"),
        ({"kind": "./mine.py:Flood"}, "would run code from a file, which an input may not"),
        ({"./mine.py:Flood": {}}, "would run code from a file, which an input may not"),
        ({"wall": {"from": [90, 0], "to": [91, 0]}}, "lies outside the world"),
    ],
)
def test_calls_that_make_no_sense_are_refused_at_once(event, why):
    sim = simulation()
    with pytest.raises(InvalidValueError) as error:
        sim.do(event)
    sim.close()
    assert why in str(error.value)


def test_the_run_knows_the_world_at_every_step():
    events = [
        {"every_s": 0.4, "door": "d", "to": "toggle"},
        {"obstacle": {"path_m": [[6.0, 1.0], [6.0, 3.0]], "speed_m_s": 1.0, "radius_m": 0.3}, "at_s": 0.5},
    ]
    sim = simulation(events=events)
    cells = [sim.world.grid.cells.copy()]
    for _ in range(30):
        sim.step()
        cells.append(sim.world.grid.cells.copy())
    maps = sim.close().maps
    for step, then in enumerate(cells):
        assert np.array_equal(maps.truth_at(step).cells, then)


@pytest.mark.parametrize(("events", "scans"), [([(5, "closed")], 3), ([(5, "closed"), (25, "open")], 9)])
def test_a_door_is_mapped_anew_by_whoever_sees_it(events, scans):
    """From the bound of no, -2.0, hits of 0.85 turn a cell in 3 scans; from that of yes, 3.5, misses of 0.4 in 9.

    The SICK of a Pioneer scans 2.5 times in a step.
    """
    sim = simulation((2.0, 2.0, 0.0), events=[{"at_step": step, "door": "d", "to": to} for step, to in events])
    belief = sim.localization.belief_of[0]
    row, column = belief.grid.to_cells((3.95, 2.05))
    seen = []
    for _ in range(45):
        sim.step()
        seen.append(int(belief.occupancy()[row, column]))
    sim.close()
    last, to = events[-1]
    changed = seen.index(100 if to == "closed" else 0, last)
    assert changed - last + 1 == math.ceil(scans / 2.5)


def test_what_is_neither_an_event_nor_a_fault_is_refused():
    as_input({"wall": {"from": [0, 0], "to": [1, 0]}, "name": "w"})
    as_input({"kind": "dies", "robot": "any"})
    with pytest.raises(InvalidValueError, match="neither an event nor a fault"):
        as_input({"walls": 3})
