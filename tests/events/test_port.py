"""Events and faults without a simulation: all that they need and do goes through the port."""

from types import SimpleNamespace

import numpy as np
import pytest

from covey.clock import Clock
from covey.events.inputs import Inputs
from covey.events.port import Impairment, Port
from covey.geometry import Pose
from covey.onboard.group import Group
from covey.robots.catalogue import turtlebot3_burger
from covey.robots.team import TeamModel, TeamState
from covey.world.ground import Ground
from covey.world.state import WorldState


def a_port(clock):
    """Return a port of two robots with a lidar on level ground, and what has been called."""
    poses = np.array([[-5.0, 0.0, 0.0], [5.0, 0.0, 0.0]])
    group = Group("r", turtlebot3_burger(), poses)
    called = SimpleNamespace(events=[], impairments=[], orders=[], edits=[])
    port = Port(
        7,
        clock,
        [group],
        TeamModel.of([group.robot] * 2),
        WorldState(Ground.of(np.zeros((31, 31))).world()),
        TeamState.at(poses),
        estimate=poses.copy(),
        explored=lambda: 0.0,
        digs=lambda: (),
        record=called.events.append,
        carry=lambda robot, pose: pytest.fail("nobody is carried"),
        impair=called.impairments.append,
        order=lambda order, number: called.orders.append((order.objective_m, number)),
        ground_edited=lambda step, edit: called.edits.append((step, edit.row, edit.column)),
        grounds=lambda: pytest.fail("nothing is saved"),
    )
    return port, called


def test_a_crater_and_an_order():
    clock = Clock(0.01, 0.1)
    port, called = a_port(clock)
    declared = {"crater": {"centre_m": [0, 0], "depth_m": 2, "radius_m": 4}, "at_step": 1}
    inputs = Inputs(port, [declared], [])
    inputs.apply_due()
    assert called.events == []
    assert port.world.version == port.world.ground.version == 0
    clock.advance(10)
    inputs.call({"order": {"objective_m": [3, 4]}})
    inputs.call({"crater": {"centre_m": [0, 0], "depth_m": 9, "radius_m": 4}})
    inputs.apply_due()
    # radius 4 around vertex [15, 15]: vertices 11 to 19, the outermost of which the bowl just touches
    assert called.edits == [(2, 11, 11)]
    assert port.world.ground.altitude_at((2.0, 0.0)) == pytest.approx(-2 * (1 - (2 / 4) ** 2))
    assert called.orders == [((3.0, 4.0), 1)]
    assert [event.kind for event in called.events] == ["ground_changed", "order", "input", "refused", "input"]
    assert "from -11 to" in called.events[3].text


def test_faults_change_the_state_and_never_the_model():
    clock = Clock(0.01, 0.1)
    port, called = a_port(clock)
    jump = {"kind": "localization_jumps", "robot": "r1", "offset": [1.0, 0.0, 0.0]}
    died = {"kind": "dies", "robot": "r0", "vanishes": True, "at_step": 1}
    mute = {"kind": "radio_dies", "robot": "r1", "for_s": 0.1, "at_step": 1}
    worse = {"kind": "sensor", "robot": "r1", "range_factor": 0.5, "at_step": 2}
    inputs, discs = Inputs(port, [], [jump, died, mute, worse]), port.model.disc_count.copy()
    for _ in range(3):
        inputs.apply_due()
        clock.advance(10)
    np.testing.assert_array_equal(port.model.disc_count, discs)
    assert port.state.vanished.tolist() == [True, False]
    assert port.state.disc_count(port.model).tolist() == [0, discs[1]]
    assert port.state.radio_alive.tolist() == [False, True]  # that of r1 has recovered
    assert not port.state.halted.any()  # whoever hears of the impairment halts
    first, last = called.impairments[0], called.impairments[-1]
    assert isinstance(first, Impairment)
    assert (first.down, first.jumps) == (frozenset(), {1: Pose(1.0, 0.0, 0.0)})
    assert last.down == last.lost == {0}
    (lidar,) = (sensor for sensor in port.groups[0].robot.sensors if sensor.kind == "lidar")
    assert [(worse.robot, worse.range_m) for worse in last.degraded[lidar]] == [(0, np.inf), (1, 0.5 * lidar.range_m)]
