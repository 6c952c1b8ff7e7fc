"""The step of a robot as records: what it is shown, and what it answers, without a simulation."""

import math
import pickle

import numpy as np
import pytest

import covey
from covey.comms.blackboard import Blackboard
from covey.comms.mailbox import Mailbox
from covey.comms.message import Message
from covey.errors import InvalidValueError
from covey.geometry import Pose
from covey.onboard.spec import RobotSpec
from covey.onboard.step import Failed, Requests, StepInput, StepOutput, TeamUpdate
from covey.robots.catalogue import disc
from covey.runtime.transport.codec import RobotEnd, SimulatorEnd
from covey.sensors.lidar import Lidar, LidarReading

HOME = Pose(1.0, 2.0, 0.0)


def alone(controller, *sensors, **model):
    """Return the software of one robot that nothing simulates."""
    robot = disc().model_copy(update={"sensors": sensors, "mapping": None, **model})
    names = tuple(sensor.name for sensor in sensors)
    spec = RobotSpec("scout0", 0, robot, HOME, 0.1, covey.Program(controller), 3, names)
    return spec.software(Mailbox("scout0", ("scout0", "scout1")), Blackboard(), None, None)


def scan(nearest_m):
    return LidarReading(np.array([nearest_m, 2.0]), np.array([0.0, 1.0]), 8.0, np.zeros(3))


LIDAR = Lidar(rays=2, range_m=8.0)


async def explorer(robot):
    robot.note("begins")
    robot.leave_tag("here", lifetime_s=4.0)
    while min(robot.lidar.ranges) > 1.0:
        robot.drive(0.5)
        await robot.sleep(0.1)
    robot.note(f"{[s.time for s in robot.samples('lidar')]} {robot.collided}")
    robot.finish()


def test_a_robot_steps_on_records_alone():
    onboard = alone(explorer, LIDAR)
    first = onboard.step(StepInput(0.0, HOME, readings=(scan(3.0),), times_s=((0.0,),)))
    assert first == StepOutput((0.5, 0.0, 0.0), "driving", Requests(notes=("begins",), tags=(("here", 4.0),)))
    second = onboard.step(StepInput(0.1, HOME, readings=(scan(3.0),), times_s=((),)))
    assert second == StepOutput((0.5, 0.0, 0.0), "driving")
    shown = StepInput(0.2, HOME, True, (scan(0.5),), ((0.15, 0.2),), ((scan(0.7),),))
    assert onboard.step(shown) == StepOutput((0.0, 0.0, 0.0), "done", Requests(notes=("[0.15, 0.2] True",)))


def breaks(robot):
    robot.note("before")
    raise KeyError("no such door")


def test_what_a_controller_asked_for_before_it_failed_is_answered():
    onboard = alone(breaks)
    with pytest.raises(KeyError):
        onboard.step(StepInput(0.0, HOME))
    answer = onboard.failed(Failed("no such door"))
    assert answer == StepOutput((0.0, 0.0, 0.0), "idle", Requests(notes=("before",), failure=Failed("no such door")))


def test_what_a_robot_missed_comes_before_what_is_new_and_the_oldest_is_forgotten():
    missed = StepInput(0.0, HOME, readings=("a2", "b1"), times_s=((0.1, 0.2), (0.1,)), older=(("a1",), ()))
    now = StepInput(0.2, HOME, readings=("a3", "b1"), times_s=((0.3,), ()))
    both = now.after(missed)
    assert both.times_s == ((0.1, 0.2, 0.3), (0.1,))
    assert [both.come(k) for k in range(2)] == [("a1", "a2", "a3"), ("b1",)]
    assert now.after(missed, 2).come(0) == ("a2", "a3")


def ends():
    class Shared:
        shared = ("angles", "range_m", "mount")

    bank = type("Bank", (), {"readings": Shared})
    return SimulatorEnd({"lidar": bank}), RobotEnd(("lidar",))  # pyright: ignore[reportArgumentType]


def over(parts):
    """Return the parts of a letter as they come out of a wire."""
    return tuple(pickle.loads(pickle.dumps(part)) for part in parts)


def test_records_come_out_of_letters_as_they_went_in():
    simulator, robot = ends()
    message = Message("scout1", None, "word", {"n": 1}, 40, 0.1, 0.2, 1, 7)
    received = TeamUpdate((message,), (("door", "open"),), {"scout1": Pose(1.0, 0.0, math.pi)})
    first = StepInput(0.1, HOME, True, (scan(3.0),), ((0.05, 0.1),), ((scan(4.0),),), (), received, [0.5] * 9)
    there = robot.decode(over(simulator.encode(first)))
    assert (there.time_s, there.pose, there.collided, there.times_s) == (0.1, HOME, True, ((0.05, 0.1),))
    assert [reading.ranges[0] for reading in there.come(0)] == [4.0, 3.0]
    assert there.covariance == [0.5] * 9
    assert "covariance" not in simulator.encode(StepInput(0.15, HOME, covariance=[0.5] * 9, times_s=((),)))[0]
    assert there.received is not None
    assert [m.number for m in there.received.messages] == [7]
    assert (there.received.entries, there.received.frames) == (received.entries, received.frames)

    letter = simulator.encode(StepInput(0.2, HOME, False, (scan(2.5),), ((0.2,),)))
    assert "angles" not in letter[0]["samples"][0][-1], "what never changes of a reading is sent once"
    later = robot.decode(over(letter))
    assert later.covariance == (), "not known any more"
    assert later.readings[0].ranges[0] == 2.5
    assert later.readings[0].angles[1] == 1.0
    assert later.received is None
    none = robot.decode(over(simulator.encode(StepInput(0.3, HOME, False, (scan(2.5),), ((),)))))
    assert none.readings[0].ranges[0] == 2.5, "the newest reading stays when none has come"
    assert none.come(0) == ()

    asked = Requests(("hm",), (("here", 4.0),), maps=("share",), taken=(7,), work={"search": 0.5})
    for answer in (StepOutput((0.1, 0.0, 0.2), "going", asked), StepOutput((0.0, 0.0, 0.0), "going")):
        assert simulator.decode(over(robot.encode(answer))) == answer
    assert robot.encode(StepOutput((0.0, 0.0, 0.0), "going"))[1:] == (None, None), "a status is sent when it changes"


def straight(robot):
    robot.drive(0.2)


@pytest.mark.slow
def test_the_handle_of_a_robot_in_another_process_is_refused():
    sim = covey.Simulation(covey.World.empty(6, 6), 1, straight, execution={"controllers": "processes"})
    try:
        with pytest.raises(InvalidValueError, match="handle of robot0 is in a process of its own; run with"):
            sim.robot("robot0")
    finally:
        sim.close()
    here = covey.Simulation(covey.World.empty(6, 6), 1, straight)
    with pytest.raises(covey.errors.UnknownNameError, match="robot0"):
        here.robot("robo0")
    here.close()
