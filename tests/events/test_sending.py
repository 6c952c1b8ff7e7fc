"""A robot that is sent to a place goes there around walls, waits, and is let go; it is an input like others."""

import numpy as np
import pytest

import covey
from covey.errors import InvalidValueError
from covey.events.inputs import recorded_inputs


def room(tmp_path=None, **options):
    """A room of 6 m with a wall at x = 0 m that has a gap of 1 m at the top."""
    world = covey.World.empty(6, 6, resolution_m=0.1)
    cells = world.grid.cells.copy()
    (row, column), (top, _) = world.grid.to_cells([[0.05, -2.95], [0.05, 1.95]])
    cells[row : top + 1, column] = 1
    world = world.with_cells(cells)
    start = [[-2.0, -2.0, 0.0], [2.0, -2.0, 0.0]]
    group = covey.Group("robot", covey.robots.disc(), np.array(start), "still")
    recording = None if tmp_path is None else tmp_path
    return covey.Simulation(world, [group], seed=1, recording=recording, **options)


def test_it_goes_around_a_wall_waits_there_and_is_let_go():
    sim = room()
    seen = []
    sim.observers.append(lambda snapshot: seen.extend(snapshot.events))
    call = sim.do({"drive": "robot0", "to": [2.0, 0.0]})
    way = 0.0
    while not any(event.text == "is at (2, 0)" for event in seen):
        before = sim.state.pose[0].copy()
        sim.step()
        way += float(np.hypot(*(sim.state.pose[0] - before)[:2]))
        assert sim.clock.step < 1000
    assert call.refused is None
    assert np.hypot(*(sim.state.pose[0, :2] - (2.0, 0.0))) < 0.06
    shortest = np.hypot(2.0, 4.0) + np.hypot(2.0, 2.0)  # through the gap's lower corner at (0, 2)
    assert shortest < way < 1.1 * shortest + 0.5
    assert not any(event.kind == "collision" for event in seen)
    assert sim.state.pose[1].tolist() == [2.0, -2.0, 0.0]
    stands = sim.state.pose[0].copy()
    for _ in range(10):
        sim.step()
    np.testing.assert_allclose(sim.state.pose[0], stands, atol=0.02)
    sim.do({"drive": "robot0"})
    sim.step()
    assert [event.kind for event in seen][-2:] == ["drive_over", "input"]


def test_it_stops_before_another_robot():
    sim = room()
    sim.do({"place": "robot1", "pose": [-0.8, -2.0, 0.0]})
    sim.do({"drive": "robot0", "to": [-0.8, -2.0]})
    for _ in range(200):
        sim.step()
    assert sim.scoring.collisions_robot.sum() == 0
    assert 0.3 < sim.state.pose[1, 0] - sim.state.pose[0, 0] < 1.0


def test_it_goes_around_a_robot_that_stands():
    sim = room()
    sim.do({"place": "robot1", "pose": [-1.2, -2.0, 0.0]})
    sim.do({"drive": "robot0", "to": [-0.5, -2.0]})
    for _ in range(200):
        sim.step()
    assert np.hypot(*(sim.state.pose[0, :2] - (-0.5, -2.0))) < 0.06
    assert sim.scoring.collisions_robot.sum() == 0


def test_where_no_way_leads_it_is_refused():
    sim = room()
    call = sim.do({"drive": "robot0", "to": [0.05, -2.0]})
    sim.step()
    assert call.refused is not None
    assert (call.refused.robot, call.refused.text) == ("robot0", "no way leads there")
    with pytest.raises(InvalidValueError, match="lies outside the world"):
        sim.do({"drive": "robot0", "to": [90.0, 1.0]})
    with pytest.raises(InvalidValueError, match="not both"):
        sim.do({"drive": "robot0", "to": [1.0, 1.0], "twist": [1.0, 0.0]})


def test_its_input_repeats_the_run(tmp_path):
    sim = room(tmp_path / "first")
    sim.do({"drive": "robot0", "to": [-1.0, 2.5]})
    for _ in range(60):
        sim.step()
    sim.end()
    first = sim.close()
    inputs = recorded_inputs(first)
    assert inputs == [{"at_step": 0, "drive": "robot0", "to": [-1.0, 2.5]}]
    again = room(tmp_path / "again", events=inputs)
    for _ in range(60):
        again.step()
    again.end()
    np.testing.assert_array_equal(again.close().poses, first.poses)


def test_it_is_sent_wherever_it_can_stand_and_through_a_gap_a_centimetre_wider_on_each_side():
    """A disc of 15 cm, a wall from 0 to 0.02 m with a gap of 32 cm, and a place 1 cm from the wall of the room."""
    world = covey.World.empty(4, 4, resolution_m=0.02)
    cells = world.grid.cells.copy()
    (row, column), (top, _) = world.grid.to_cells([[0.01, -0.15], [0.01, 0.15]])
    cells[:row, column] = cells[top + 1 :, column] = 1
    radius = covey.robots.disc().outer_radius_m
    assert 0.02 * (top + 1 - row) == pytest.approx(2 * (radius + 0.01))
    sim = covey.Simulation(world.with_cells(cells), 1, "still")
    sim.do({"place": "robot0", "pose": [-1.0, -1.0, 0.0]})
    sim.step()
    to = (2.0 - radius - 0.01, 0.5)
    call = sim.do({"drive": "robot0", "to": list(to)})
    while not (arrived := np.hypot(*(sim.state.pose[0, :2] - to)) < 0.06):
        sim.step()
        assert call.refused is None
        assert sim.clock.step < 300
    assert arrived
