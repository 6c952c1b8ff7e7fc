"""A bag in the place of a robot: what others hear of it, and when."""

import threading
import time

import numpy as np
import pytest
from tests.ros.test_bag_reading import BEGIN, SPEED, START, T, header, messages, scan, still, transform, write
from tests.ros.world import delivered, until

from covey.cli import main
from covey.errors import InvalidValueError
from covey.ros import play as player
from covey.ros.dds import Participant
from covey.ros.messages import clock
from covey.ros.play import play, restamped
from covey.ros.qos import CLOCK, LATCHED, TF
from covey.ros.types import types_of

TYPES = types_of("jazzy")
SCAN, ODOM, TFS = "sensor_msgs/msg/LaserScan", "nav_msgs/msg/Odometry", "tf2_msgs/msg/TFMessage"
CLOCKS, TWIST, GRID = "rosgraph_msgs/msg/Clock", "geometry_msgs/msg/Twist", "nav_msgs/msg/OccupancyGrid"


@pytest.fixture(scope="module")
def bag(tmp_path_factory):
    return write(tmp_path_factory.mktemp("play") / "drive", messages(seconds=2.0))


class Listener:
    """Another program on the domain: what it hears, decoded."""

    def __init__(self, domain, nobody_sends=(), **topics):
        self.nobody_sends = nobody_sends
        self.participant = Participant(domain, "jazzy")
        node = self.participant.node("listener")
        self._readers = {
            name: (node.reader(topic, kind, profile), kind) for name, (topic, kind, profile) in topics.items()
        }
        self.heard = {name: [] for name in topics}

    def listen(self):
        for name, (reader, kind) in self._readers.items():
            self.heard[name] += [TYPES.decode(kind, data) for data in reader.take()]

    @property
    def matched(self):
        return all(reader.matched for name, (reader, _) in self._readers.items() if name not in self.nobody_sends)


def played(domain, bag, listener, **how):
    """Play a bag in another thread while a listener listens; return what `play` returned, and how long it played [s]."""
    result, begun = [], []

    def met(_seconds, _stop):
        until(lambda: listener.matched)
        begun.append(time.perf_counter())

    def run():
        with Participant(domain, "jazzy") as participant:
            result.append(play(bag, participant, **how))
            result.append(time.perf_counter())
            participant.poll()
            delivered(participant)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(player, "_sleep", met)
        thread = threading.Thread(target=run)
        thread.start()
        while thread.is_alive():
            listener.listen()
            thread.join(0.002)
    listener.listen()
    found, ended = result
    return found, ended - begun[0] if begun else None


def stamp(message):
    at = message.header.stamp
    return at.sec + 1e-9 * at.nanosec


def test_a_robot_is_heard_at_its_pace_with_its_clock(domain, bag):
    listener = Listener(
        domain,
        ("command",),
        scan=("/scan", SCAN, TF),
        odom=("/odom", ODOM, TF),
        clock=("/clock", CLOCKS, TF),
        static=("/tf_static", TFS, LATCHED),
        map=("/map", GRID, LATCHED),
        command=("/cmd_vel", TWIST, TF),
    )
    with listener.participant:
        found, took_s = played(domain, bag, listener, speed=2.0)
        scans, odometry = listener.heard["scan"], listener.heard["odom"]
        assert found.sent == {"/map": 1, "/tf_static": 1, "/odom": 41, "/tf": 21, "/scan": 11}
        assert found.left_out == {"/cmd_vel": "a command"}
        assert listener.heard["command"] == []
        assert [stamp(message) for message in odometry] == pytest.approx([BEGIN + 0.05 * k for k in range(41)])
        for message in scans:
            x = START[0] + SPEED * (stamp(message) - BEGIN)
            np.testing.assert_allclose(message.ranges, scan(stamp(message), x, START[1]).ranges, rtol=1e-6)
        assert took_s >= 1.0  # 2 s in 1 s, not faster
        clocks = [message.clock.sec + 1e-9 * message.clock.nanosec for message in listener.heard["clock"]]
        assert clocks == sorted(clocks)
        assert (clocks[0], clocks[-1]) == pytest.approx((BEGIN, BEGIN + 2.0), abs=0.011)
        assert len(listener.heard["map"]) == len(listener.heard["static"]) == 1


def test_a_recorded_robot_joins_a_simulation(domain, bag):
    listener = Listener(domain, scan=("/scout9/scan", SCAN, TF), tf=("/scout9/tf", TFS, TF))
    told = 100.0
    with listener.participant:
        ticks = listener.participant.node("sim").writer("/clock", CLOCKS, CLOCK)
        listen, ended = listener.listen, threading.Event()

        def simulate():
            nonlocal told
            listen()
            scans = listener.heard["scan"]
            due = 1 + int((told - stamp(scans[0]) + 1e-6) / 0.2) if scans else 1  # its lidar has 5 Hz
            if not (listener.matched and ticks.matched):
                return
            if told >= 101.05 - 1e-6:
                ended.set()  # the simulation stands still: so does the bag
            elif told == 100.0 or len(scans) == due:
                told += 0.01
                ticks.write(clock(divmod(round(told * 1e9), 1_000_000_000)))

        listener.listen = simulate
        played(domain, bag, listener, namespace="scout9", time_from="follow", stop=ended.is_set)
        stamps = [stamp(message) for message in listener.heard["scan"]]
        # it begins at the first time that the simulation tells, and goes no further than that does
        assert stamps == pytest.approx([100.01 + 0.2 * k for k in range(6)], abs=1e-6)
        moved = [stamp(message.transforms[0]) for message in listener.heard["tf"]]
        assert moved[0] == pytest.approx(100.01, abs=1e-6)


def test_the_command_plays_and_counts(domain, bag, capsys):
    assert (
        main(["ros", "play", str(bag), "--topic", "/scan", "--topic", "/map", "--domain", str(domain), "--speed", "9"])
        == 0
    )
    out = capsys.readouterr().out.split("\n")
    assert "      11  /scan" in out
    assert "       1  /map" in out
    assert "left out  /odom: not asked for" in out


def test_stamps_are_shifted_and_nothing_else(domain):
    del domain
    twist = still().twist
    message = T["geometry_msgs/msg/TwistStamped"](header(10.5, "base"), twist)
    kind = "geometry_msgs/msg/TwistStamped"
    data = TYPES.encode(kind, message)
    later = TYPES.decode(kind, restamped(data, kind, 2_750_000_000, TYPES))
    assert (stamp(later), later.header.frame_id) == (13.25, "base")
    assert restamped(data, kind, 0, TYPES) == data
    assert restamped(b"\0\1\0\0" + bytes(48), TWIST, 5, TYPES) == b"\0\1\0\0" + bytes(48)  # it has no stamp
    frames = T["tf2_msgs/msg/TFMessage"]([transform(0.0, "a", "b", 1, 2, 3), transform(7.0, "b", "c", 1, 2, 3)])
    moved = TYPES.decode(TFS, restamped(TYPES.encode(TFS, frames), TFS, -1_000_000_000, TYPES)).transforms
    assert [stamp(one) for one in moved] == [0.0, 6.0]  # 0 stands for any time


def test_what_cannot_be_played_is_said(domain, bag, tmp_path):
    with Participant(domain) as participant:
        with pytest.raises(InvalidValueError, match="there is no bag"):
            play(tmp_path / "none.mcap", participant)
        with pytest.raises(InvalidValueError, match="has no topic /there; it has"):
            play(bag, participant, topics=["/there"])
        with pytest.raises(InvalidValueError, match="the speed is 0"):
            play(bag, participant, speed=0.0)
        with pytest.raises(InvalidValueError, match="leave out the speed"):
            play(bag, participant, speed=2.0, time_from="follow")
        twist = still().twist
        only = write(tmp_path / "only", [(BEGIN, "/cmd_vel", TWIST, twist)])
        with pytest.raises(InvalidValueError, match=r"nothing to play: /cmd_vel \(a command\)"):
            play(only, participant)
