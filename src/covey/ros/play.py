"""A bag played into a graph of ROS 2: a recorded robot in the place of a real one."""

import struct
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from covey.errors import CoveyError, InvalidValueError
from covey.mapping.slam.bags import check_bag
from covey.ros.dds import Participant, Reader, Writer
from covey.ros.libraries import Nodetype
from covey.ros.messages import clock
from covey.ros.qos import CLOCK, LATCHED, TF, QosProfile
from covey.ros.types import Types

Clock = Literal["send", "follow", "wall"]
_CLOCK, _TF, _GRID = "rosgraph_msgs/msg/Clock", "tf2_msgs/msg/TFMessage", "nav_msgs/msg/OccupancyGrid"
_COMMANDS = ("cmd_vel", "cmd_vel_stamped", "goal_pose")
_TICK_NS = 10_000_000  # between two clocks that are sent
_LOOK_S = 0.001
_SECOND = 1_000_000_000


@dataclass(frozen=True)
class PlayResult:
    """What was played.

    Attributes:
        sent: number of messages by topic.
        left_out: why topics of the bag were not played, by topic.
    """

    sent: dict[str, int]
    left_out: dict[str, str]


def play(
    path: Path,
    participant: Participant,
    *,
    namespace: str = "",
    topics: Iterable[str] = (),
    speed: float = 1.0,
    time_from: Clock = "send",
    wait_s: float = 1.0,
    stop: Callable[[], bool] = lambda: False,
) -> PlayResult:
    """Send the messages of a bag at the pace at which they were recorded.

    Commands, such as cmd_vel, are left out: they are what others send, also to the recorded robot, which heeds nobody.

    Args:
        path: a bag of ROS 2: a folder, ``.mcap`` or ``.db3``.
        participant: of this process.
        namespace: put before all topics: ``/scan`` becomes ``/scout9/scan``.
        topics: those to play, as in the bag; empty: all.
        speed: recorded seconds per second.
        time_from: ``send``: stamps stay, and /clock tells the time of the bag, if the bag does not. ``follow``: the
            time is that of the /clock of others, such as a simulation; the bag begins when the first one is heard, and
            the stamps of headers and transforms are of this time. ``wall``: the same with the clock of this machine.
        wait_s: time that the others get to find the topics, before the first message [s]; not with ``follow``.
        stop: asked again and again; true ends it.

    Raises:
        InvalidValueError: it is no bag of ROS 2, has nothing to play, or the speed is not possible.
        CoveyError: the library ``rosbags`` is not installed.
    """
    if not 0.0 < speed < 1e6:
        raise InvalidValueError(f"the speed is {speed:g}; give recorded seconds per second, such as 1")
    if time_from == "follow" and speed != 1.0:
        raise InvalidValueError("a bag that follows /clock has its speed; leave out the speed")
    with _opened(path) as reader:
        chosen, left_out = _choose(reader.connections, participant.types, set(topics))
        if time_from != "send":
            left_out |= {one.topic: "another clock counts" for one in chosen if one.msgtype == _CLOCK}
            chosen = [one for one in chosen if one.msgtype != _CLOCK]
        if not chosen:
            said = ", ".join(f"{topic} ({why})" for topic, why in left_out.items()) or "it is empty"
            raise InvalidValueError(f"{path} has nothing to play: {said}")
        node = participant.node(f"bag_{namespace.strip('/').replace('/', '_') or 'player'}")
        before = f"/{namespace.strip('/')}" if namespace.strip("/") else ""
        writers: dict[str, Writer] = {}
        for one in chosen:
            name = one.topic if one.msgtype == _CLOCK else before + one.topic
            writers[one.topic] = node.writer(name, one.msgtype, _delivery(one))
        tells = time_from == "send" and not any(one.msgtype == _CLOCK for one in chosen)
        ticks = node.writer("/clock", _CLOCK, CLOCK) if tells else None
        messages = ((one.topic, one.msgtype, at, bytes(data)) for one, at, data in reader.messages(connections=chosen))
        if time_from == "follow":
            pace: _Followed | _Timed = _Followed(node.reader("/clock", _CLOCK, CLOCK), participant.types, stop)
        else:
            pace = _Timed(speed, time_from == "wall", ticks, stop)
            participant.announce()
            _sleep(wait_s, stop)
        return PlayResult(dict(_send(messages, writers, pace, participant.types)), left_out)


def _send(
    messages: Iterator[tuple[str, str, int, bytes]], writers: dict[str, Writer], pace: Any, types: Types
) -> Counter[str]:
    sent = Counter[str]()
    for topic, kind, at, data in messages:
        if not pace.wait_for(at):
            break
        try:
            writers[topic].write(restamped(data, kind, pace.shift, types))
        except CoveyError:  # a reader that is stuck
            continue
        sent[topic] += 1
    return sent


class _Timed:
    """Waits by the clock of this machine; tells the time of the bag on the way."""

    def __init__(self, speed: float, restamp: bool, ticks: Writer | None, stop: Callable[[], bool]):
        self._speed, self._restamp, self._ticks, self._stop = speed, restamp, ticks, stop
        self._begun: tuple[int, float] | None = None
        self._told = 0
        self.shift = 0

    def wait_for(self, at: int) -> bool:
        """Wait until a time of the bag [ns] has come; return False if it is to end."""
        if self._begun is None:
            self._begun = at, time.perf_counter()
            self.shift = time.time_ns() - at if self._restamp else 0
            self._told = at
            self._tell(at)
        first, began = self._begun
        while True:
            now = first + round(_SECOND * self._speed * (time.perf_counter() - began))
            while self._ticks is not None and self._told + _TICK_NS <= min(now, at):
                self._told += _TICK_NS
                self._tell(self._told)
            if now >= at or self._stop():
                return not self._stop()
            time.sleep(min(_LOOK_S, (at - now) / _SECOND / self._speed))

    def _tell(self, at: int) -> None:
        if self._ticks is not None:
            self._ticks.write(clock(divmod(at, _SECOND)))


class _Followed:
    """Waits by the /clock of others."""

    def __init__(self, reader: Reader, types: Types, stop: Callable[[], bool]):
        self._reader, self._types, self._stop = reader, types, stop
        self._now: int | None = None
        self._begun = False
        self.shift = 0

    def wait_for(self, at: int) -> bool:
        """Wait until a time of the bag [ns] has come; return False if it is to end."""
        while not self._stop():
            for data in self._reader.take():
                stamp = self._types.decode(_CLOCK, data).clock
                self._now = stamp.sec * _SECOND + stamp.nanosec
            if self._now is not None:
                if not self._begun:
                    self._begun, self.shift = True, self._now - at
                if self._now >= at + self.shift:
                    return True
            time.sleep(_LOOK_S)
        return False


def restamped(data: bytes, kind: str, shift_ns: int, types: Types) -> bytes:
    """Return the bytes of a message whose stamps are later by a time [ns]: that of its header, or of its transforms.

    Args:
        data: CDR. kind: its type. types: of the distribution.
    """
    if not shift_ns:
        return data
    if kind == _TF:
        message = types.decode(kind, data)
        for one in message.transforms:
            at = one.header.stamp
            at.sec, at.nanosec = _later(at.sec, at.nanosec, shift_ns)
        return types.encode(kind, message)
    fields = types.fields(kind)
    if not fields or fields[0] != ("header", (Nodetype.NAME, "std_msgs/msg/Header")):
        return data
    order = "<" if data[1] & 1 else ">"
    changed = bytearray(data)
    seconds, nanoseconds = struct.unpack_from(f"{order}iI", data, 4)
    struct.pack_into(f"{order}iI", changed, 4, *_later(seconds, nanoseconds, shift_ns))
    return bytes(changed)


def _later(seconds: int, nanoseconds: int, shift_ns: int) -> tuple[int, int]:
    """Return a stamp that is later; 0 stays 0, which means any time; none is before 0."""
    at = seconds * _SECOND + nanoseconds
    return divmod(max(at + shift_ns, 0), _SECOND) if at else (0, 0)


def _choose(connections: list[Any], types: Types, topics: set[str]) -> tuple[list[Any], dict[str, str]]:
    """Return the connections to play, and why others are not, by topic."""
    chosen, left_out = [], {}
    for one in connections:
        if topics and one.topic not in topics:
            left_out[one.topic] = "not asked for"
        elif one.topic.rpartition("/")[2] in _COMMANDS and one.topic not in topics:
            left_out[one.topic] = "a command"
        elif one.msgtype not in types:
            left_out[one.topic] = f"{one.msgtype} is not known"
        else:
            chosen.append(one)
    if missing := topics - {one.topic for one in connections}:
        raise InvalidValueError(f"the bag has no topic {sorted(missing)[0]}; it has {', '.join(sorted(left_out))}")
    return chosen, left_out


def _delivery(connection: Any) -> QosProfile:
    """Return how a topic is delivered: latched if it was so when it was recorded, or is a map or a static transform."""
    offered = getattr(connection.ext, "offered_qos_profiles", [])
    was_latched = any(getattr(one.durability, "name", "") == "TRANSIENT_LOCAL" for one in offered)
    if was_latched or connection.msgtype == _GRID or connection.topic.endswith("tf_static"):
        return LATCHED
    return TF


@contextmanager
def _opened(path: Path):
    """Open a bag of ROS 2.

    Raises:
        InvalidValueError: it is none.
    """
    from rosbags.highlevel import AnyReader  # the extra of `Participant` has it
    from rosbags.typesys import Stores, get_typestore

    check_bag(path)
    if path.suffix == ".bag":
        raise InvalidValueError(
            f"{path} is a bag of ROS 1; turn it into one of ROS 2: rosbags-convert --src {path} --dst …"
        )
    try:
        reader = AnyReader([path], default_typestore=get_typestore(Stores.LATEST))
        reader.open()
    except Exception as error:  # of whatever damage
        raise InvalidValueError(f"{path} cannot be read as a bag: {' '.join(str(error).split())[:200]}") from error
    try:
        yield reader
    finally:
        reader.close()


def _sleep(seconds: float, stop: Callable[[], bool]) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end and not stop():
        time.sleep(min(0.05, seconds))
