"""In real time what is sensed between two steps is sent at its time, and the clock ticks there."""

import struct

import pytest
from tests.ros.test_bridge import LIDAR, bridged, step
from tests.ros.test_pace import Hands
from tests.ros.world import until

from covey.ros import pace
from covey.ros.dds import Writer
from covey.ros.qos import SENSOR
from covey.ros.settings import BridgeSettings
from covey.sensors.imu import Imu
from covey.sensors.lidar import Lidar

assert bridged  # a fixture


def sent(monkeypatch, bridge, sim, steps=4):
    """Return topic, stamp [ms] and bytes of the IMU, the scans and the clock of some steps, in their order."""
    node, found, write = bridge.participant.node("listener"), [], Writer.write
    for topic, kind in (("imu", "Imu"), ("scan", "LaserScan")):
        reader = node.reader(f"/scout0/{topic}", f"sensor_msgs/msg/{kind}", SENSOR.best_effort())
        until(lambda reader=reader: reader.matched)

    def recorded(writer, data):
        topic = writer.end.topic.name.rpartition("/")[2]
        if topic in ("imu", "scan", "clock"):
            seconds, nanoseconds = struct.unpack_from("<iI", data, 4)
            found.append((topic, 1000 * seconds + round(nanoseconds / 1e6), data))
        write(writer, data)

    monkeypatch.setattr(pace, "time", Hands())
    monkeypatch.setattr(Writer, "write", recorded)
    step(bridge, sim, steps)
    return found


def test_an_imu_is_heard_at_its_rate_between_the_ticks_of_the_clock(bridged, monkeypatch):
    sensors = Imu(), Lidar(rays=9, range_m=8.0, rate_hz=20.0)
    bridge, sim = bridged([(0.0, 0.0, 0.0)], BridgeSettings(1.0), sensors=sensors)
    told = [(topic, at) for topic, at, _ in sent(monkeypatch, bridge, sim)]
    for at in range(210, 300, 10):  # the third step is the first that waits
        assert told.index(("imu", at)) + 1 == told.index(("clock", at))
    # what needs a transform comes with the step, and the clock after all of it
    assert told[-4:] == [("imu", 300), ("scan", 250), ("scan", 300), ("clock", 300)]
    clocks = [at for topic, at in told if topic == "clock"]
    assert clocks == sorted(set(clocks))
    assert [at for topic, at in told if topic == "imu"] == list(range(0, 301, 10))  # each once


def test_what_is_sent_at_its_time_is_what_the_robots_get(bridged, monkeypatch):
    found = []
    for speed in (1.0, "max"):
        with pytest.MonkeyPatch.context() as patch:
            bridge, sim = bridged([(0.0, 0.0, 0.0)], BridgeSettings(speed), sensors=(Imu(), LIDAR), seed=5)
            found.append({at: data for topic, at, data in sent(patch, bridge, sim) if topic == "imu"})
        (bank,) = sim.sensing.feeding("turn")
        assert [sample.substep for sample in bank.samples] == list(range(21, 31))
    assert found[0] == found[1]
    assert len(found[0]) == 31


@pytest.mark.parametrize(("speed", "count"), [(1.0, 0), ("max", 1), ("lockstep", 1)])
def test_what_comes_in_bursts_is_said_at_the_start(bridged, caplog, speed, count):
    bridged([(0.0, 0.0, 0.0)], BridgeSettings(speed), sensors=(Imu(), Lidar(rays=9, range_m=8.0, rate_hz=50.0)))
    assert [one.message for one in caplog.records] == count * [
        "imu: the 10 samples of a step of 0.1 s are sent together, but readers with the profile of sensors keep 5: read it "
        "with a depth of 10 or more, or give -s execution.step_s=0.02"
    ]
