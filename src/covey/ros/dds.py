"""The wire of ROS 2: a participant with nodes, and their writers and readers of messages as bytes.

::

    with Participant(domain_id=7) as ros:
        robot = ros.node("base", "/robot_0")
        scans = robot.writer("scan", "sensor_msgs/msg/LaserScan", SENSOR)
        commands = robot.reader("cmd_vel", "geometry_msgs/msg/Twist", COMMAND)
        scans.write(ros.types.encode("sensor_msgs/msg/LaserScan", {...}))
        for data in commands.take():
            twist = ros.types.decode("geometry_msgs/msg/Twist", data)

Nothing calls back: a reader is asked with ``take`` as often as its owner likes, such as once per step. One participant
per process is enough for any number of robots. One machine has room for about 32 such processes.
"""

import os
import re
import struct
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Self
from weakref import WeakValueDictionary

from covey.errors import CoveyError, InvalidValueError
from covey.ros.libraries import (
    BuiltinDataReader,
    BuiltinTopicDcpsPublication,
    DataReader,
    DataWriter,
    DDSException,
    DDSStatus,
    Domain,
    DomainParticipant,
    InstanceState,
    Nodetype,
    Policy,
    Publisher,
    Qos,
    ReadCondition,
    SampleState,
    Subscriber,
    Topic,
    ViewState,
    WaitSet,
    ddspy_take,
    ddspy_write,
    idl,
    make_idl_struct,
)
from covey.ros.qos import LATCHED, QosProfile
from covey.ros.reach import configuration, domain_of, keep_local, reach_of, udp_sockets
from covey.ros.types import Types, dds_name, types_of

__all__ = ["Participant"]

_MATCHED, _UNFIT = DDSStatus.PublicationMatched, DDSStatus.RequestedIncompatibleQos
_EVERY = SampleState.Any | ViewState.Any | InstanceState.Any
_DISCOVERY = "rmw_dds_common/msg/ParticipantEntitiesInfo"
_domains: WeakValueDictionary[int, Domain] = WeakValueDictionary()  # a process has one of each number

_PACKET_BYTES, _SETTLE_NS = 10_000, 100_000_000


class Participant:
    """A process in the graph of ROS 2.

    Attributes:
        types: the message types of its distribution.
        domain_id: the domain.
        reach: who can be heard, in the words of ROS_AUTOMATIC_DISCOVERY_RANGE.
        delayed: names of services with replies that wait for their clients; ``take`` of the service sends them.
    """

    def __init__(self, domain_id: int | None = None, distro: str | None = None, reach: str | None = None):
        """Join a domain.

        Args:
            domain_id: 0 to 232; None: ROS_DOMAIN_ID, else 0.
            distro: humble, iron, jazzy, kilted, lyrical or rolling, as all others on the domain; None: ROS_DISTRO,
                else jazzy.
            reach: LOCALHOST, SUBNET, SYSTEM_DEFAULT or OFF; None: ROS_AUTOMATIC_DISCOVERY_RANGE, else LOCALHOST. Both
                sides need the same. The settings of CYCLONEDDS_URI are kept.

        Raises:
            InvalidValueError: there is no such domain.
            UnknownNameError: there is no such distribution or reach.
            CoveyError: the domain cannot be joined, perhaps because 32 processes are in it.
        """
        self.domain_id, self.reach = domain_of(domain_id), reach_of(reach)
        self.types: Types = types_of(distro or os.environ.get("ROS_DISTRO") or "jazzy")
        before = udp_sockets()
        try:
            domain = _domains.get(self.domain_id) or Domain(self.domain_id, configuration(self.reach))
            _domains[self.domain_id] = domain
            self._participant = DomainParticipant(self.domain_id, Qos(Policy.Userdata(b"enclave=/;")))
        except DDSException as error:
            raise CoveyError(f"domain {self.domain_id} of ROS 2 cannot be joined: {error}") from error
        if self.reach in ("LOCALHOST", "OFF"):
            keep_local(udp_sockets() - before)
        self._domain = domain
        self._publisher, self._subscriber = Publisher(self._participant), Subscriber(self._participant)
        self._topics: dict[tuple[str, str], Topic] = {}
        self._nodes: list[Node] = []
        self._ends: list[Writer | Reader] = []
        self._wait_sets: list[WaitSet] = []
        self._audience = WaitSet(self._participant)
        self.delayed: set[str] = set()
        self._changed = True
        self._announced: Any = None
        self._senders: dict[str, set[tuple[bytes, str]]] = {}  # topics; who sends there, and the type of it
        self._discovery = self._writer("ros_discovery_info", _DISCOVERY, LATCHED, self.user_data(_DISCOVERY))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __str__(self) -> str:
        return f"ROS 2 {self.types.distro}, domain {self.domain_id}, " + {
            "LOCALHOST": "this machine only: start the others with ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST",
            "OFF": "heard by nobody (ROS_AUTOMATIC_DISCOVERY_RANGE=OFF)",
        }.get(self.reach, f"open to the network ({self.reach})")

    def node(self, name: str, namespace: str = "/") -> "Node":
        """Return a new node, which ``ros2 node list`` shows as ``/namespace/name``.

        Raises:
            InvalidValueError: a name has other characters than ``A-Z a-z 0-9 _``, or begins with a digit.
        """
        self._nodes.append(Node(self, name, namespace))
        self._changed = True
        return self._nodes[-1]

    def announce(self) -> None:
        """Tell the graph which node has which writers and readers; ``write`` and ``take`` do it after a change."""
        self._changed = False
        width = self.types.fields("rmw_dds_common/msg/Gid")[0][1][1][1]  # of a GUID: 24 bytes in Humble, 16 later

        def row(ends: Sequence[Writer | Reader]) -> bytes:
            return struct.pack("<I", len(ends)) + b"".join(end.guid.ljust(width, b"\0") for end in ends)

        parts = [b"\0\1\0\0", self.guid.ljust(width, b"\0"), struct.pack("<I", len(self._nodes))]
        for node in self._nodes:  # by hand, as a large team has thousands of GUIDs
            parts += [_text(node.namespace), _text(node.name), row(node.readers), row(node.writers)]
        self._discovery.write(b"".join(parts))

    @property
    def guid(self) -> bytes:
        """Its DDS GUID, 16 bytes."""
        return self._participant.guid.bytes

    def user_data(self, kind: str) -> bytes:
        """Return what a writer or reader tells about its type: its hash, since Iron."""
        return b"" if self.types.distro == "humble" else f"typehash={self.types.hash(kind)};".encode()

    def close(self) -> None:
        """Leave the graph: all nodes vanish from it at once. Writers and readers cannot be used any more."""
        for wait_set in self._wait_sets:
            for condition in wait_set.get_entities():
                wait_set.detach(condition)
        self._wait_sets.clear()
        del self._audience
        for end in self._ends:
            del end.end  # Cyclone DDS ends what nothing refers to
        self._ends, self._nodes, self._topics = [], [], {}
        del self._publisher, self._subscriber, self._participant, self._domain

    def waiter(self, *readers: "Reader") -> Callable[[float], bool]:
        """Return a function that waits until one of some readers has a message, at most the given time [s].

        It returns whether one has. With 0 s it asks any number of readers at the price of one.
        """
        wait_set = WaitSet(self._participant)
        for reader in readers:
            wait_set.attach(ReadCondition(reader.end, ViewState.Any | InstanceState.Any | SampleState.NotRead))
        self._wait_sets.append(wait_set)

        def wait(seconds: float) -> bool:
            if wait_set not in self._wait_sets:  # the participant has left
                return False
            return wait_set.wait(max(0, int(seconds * 1e9))) > 0

        return wait

    def poll(self) -> set["Writer"]:
        """Look who hears, see `Writer.readers`; return the writers that have got a reader since the last look."""
        if not self._audience.wait(0):  # for any number of writers at the price of one
            return set()
        ends = [end for end in self._ends if isinstance(end, Writer) and end.end.take_status(_MATCHED)]
        return {end for end in ends if end._look()}

    def misfits(self) -> list[tuple[str, str, str]]:
        """Return what others send in vain, because it has another type than is read here.

        Returns:
            For each, the topic, such as ``/scout0/cmd_vel``, its type there, and the type that is read here.
        """
        self._look_for_senders()
        found = {
            (end.topic.removeprefix("rt"), _ros_name(wire_name), end.kind)
            for end in self._ends
            if isinstance(end, Reader)
            for _, wire_name in self._senders.get(end.topic, ())
            if wire_name != dds_name(end.kind)
        }
        return sorted(found)

    def unreliable(self) -> list[str]:
        """Return the topics, such as ``/scout0/path``, with a sender with best effort, whom no reader of them hears."""
        readers = (end for end in self._ends if isinstance(end, Reader))
        unfit = {one.topic.removeprefix("rt") for one in readers if one.end.read_status(_UNFIT)}
        return sorted(unfit - {topic for topic, *_ in self.misfits()})  # another type is unfit, too

    def others(self, topic: str) -> set[bytes]:
        """Return the other participants that have announced to send on a topic, such as ``/clock``."""
        self._look_for_senders()
        return {who for who, _ in self._senders.get(f"rt{topic}", ())} - {self.guid}

    def _look_for_senders(self) -> None:
        if self._announced is None:
            self._announced = _Announced(self._participant, BuiltinTopicDcpsPublication)
        for topic, wire_name, who in self._announced.take(10_000):  # each writer once
            self._senders.setdefault(topic, set()).add((who, wire_name))

    def _topic(self, name: str, kind: str) -> Topic:
        if (name, kind) not in self._topics:
            struct = _struct(self.types, kind, name.startswith(("rq/", "rr/")))
            self._topics[name, kind] = Topic(self._participant, name, struct)
        return self._topics[name, kind]

    def _writer(self, topic: str, kind: str, profile: QosProfile, user_data: bytes) -> "Writer":
        end = DataWriter(self._publisher, self._topic(topic, kind), profile.policies(user_data))
        end.set_status_mask(_MATCHED)
        self._audience.attach(end)
        self._ends.append(writer := Writer(self, end))
        return writer

    def _reader(self, topic: str, kind: str, profile: QosProfile, user_data: bytes) -> "Reader":
        end = DataReader(self._subscriber, self._topic(topic, kind), profile.policies(user_data))
        self._ends.append(reader := Reader(self, end, topic, kind, profile.depth))
        return reader


class Node:
    """A node: a name in the graph with writers, readers and services.

    Attributes:
        name: such as ``base``.
        namespace: such as ``/robot_0``, or ``/``.
        writers: its writers.
        readers: its readers.
    """

    def __init__(self, participant: Participant, name: str, namespace: str):
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or not re.fullmatch(
            r"/|(/[A-Za-z_]\w*)+", namespace, re.ASCII
        ):
            raise InvalidValueError(
                f"node {name!r} in {namespace!r}: a name is of A-Z, a-z, 0-9 and _, without a digit at first; "
                "a namespace is / or /name/name"
            )
        self.participant, self.name, self.namespace = participant, name, namespace
        self.writers: list[Writer] = []
        self.readers: list[Reader] = []

    def topic_name(self, name: str) -> str:
        """Return the full name of a topic: ``scan`` is in the namespace, ``/clock`` is full, ``~/x`` below the node."""
        base = self.namespace.rstrip("/")
        if name.startswith("/"):
            return name
        return f"{base}/{self.name}/{name[2:]}" if name.startswith("~/") else f"{base}/{name}"

    def writer(self, topic: str, kind: str, profile: QosProfile) -> "Writer":
        """Return a new writer of a topic.

        Args:
            topic: such as ``scan`` (in the namespace of the node) or ``/clock``.
            kind: type of the messages, such as ``sensor_msgs/msg/LaserScan``.
            profile: how they are delivered.

        Raises:
            UnknownNameError: the distribution has no such type.
        """
        return self.add_writer(f"rt{self.topic_name(topic)}", kind, profile, self.participant.user_data(kind))

    def reader(self, topic: str, kind: str, profile: QosProfile) -> "Reader":
        """Return a new reader of a topic; see ``writer``."""
        return self.add_reader(f"rt{self.topic_name(topic)}", kind, profile, self.participant.user_data(kind))

    def add_writer(self, dds_topic: str, kind: str, profile: QosProfile, user_data: bytes) -> "Writer":
        """Return a new writer of a topic by its name on the wire."""
        writer = self.participant._writer(dds_topic, kind, profile, user_data)
        self.writers.append(writer)
        self.participant._changed = True
        return writer

    def add_reader(self, dds_topic: str, kind: str, profile: QosProfile, user_data: bytes) -> "Reader":
        """Return a new reader of a topic by its name on the wire."""
        reader = self.participant._reader(dds_topic, kind, profile, user_data)
        self.readers.append(reader)
        self.participant._changed = True
        return reader


class Writer:
    """Sends the messages of one topic.

    Attributes:
        guid: its DDS GUID, 16 bytes.
        readers: handles of the readers of other programs, or of this one, that got its messages at the last
            `Participant.poll`; one that leaves and comes back has another.
    """

    def __init__(self, participant: Participant, end: DataWriter):
        self.participant, self.end, self.guid, self._handle = participant, end, end.guid.bytes, end._ref
        self.readers = frozenset[int]()

    def write(self, data: bytes) -> None:
        """Send a message.

        Args:
            data: its bytes, as ``Types.encode`` makes them.

        Raises:
            CoveyError: a reliable reader did not take its messages for 0.1 s and its queue is full.
        """
        if self.participant._changed:
            self.participant.announce()
        answer = ddspy_write(self._handle, data.ljust(-(-len(data) // 4) * 4, b"\0"))
        if answer < 0:
            raise CoveyError(f"{self.end.topic.name} cannot be written: {DDSException(answer, '')}")

    def settle(self, data: bytes) -> None:
        """Wait until its readers have a message that travels in several packets, at most 0.1 s.

        A smaller one arrives before all that is written after it.
        """
        if len(data) > _PACKET_BYTES:
            self.await_readers(_SETTLE_NS)

    def await_readers(self, timeout_ns: int) -> bool:
        """Wait until its reliable readers have all that was written; return False if they have not within the time."""
        wait: Any = self.end._wait_for_acks  # cyclonedds' own method fails with an AttributeError
        return wait(self._handle, timeout_ns) == 0

    @property
    def matched(self) -> int:
        """How many readers of other programs, or of this one, get its messages now."""
        return len(self.end.get_matched_subscriptions())

    def _look(self) -> bool:
        """Set `readers`, and return whether there is a new one."""
        before, self.readers = self.readers, frozenset(self.end.get_matched_subscriptions())
        return not self.readers <= before


class Reader:
    """Takes the messages of one topic.

    Attributes:
        topic: its name on the wire, such as ``rt/scout0/cmd_vel``.
        kind: type of the messages.
        guid: its DDS GUID, 16 bytes.
    """

    def __init__(self, participant: Participant, end: DataReader, topic: str, kind: str, depth: int):
        self.participant, self.end, self.topic, self.kind, self._depth = participant, end, topic, kind, depth
        self.guid, self._handle = end.guid.bytes, end._ref

    def take(self) -> list[bytes]:
        """Return the messages that came since the last time, the oldest first: at most the depth of its profile.

        Messages whose bytes do not fit the type never arrive here; Cyclone DDS drops them.
        """
        return [data for data, _ in self.samples()]

    def samples(self) -> list[tuple[bytes, Any]]:
        """Return the same with what Cyclone DDS knows of each, such as ``publication_handle``, who sent it."""
        if self.participant._changed:
            self.participant.announce()
        taken = ddspy_take(self._handle, _EVERY, self._depth)
        if not taken:  # as most readers in most steps
            return []
        if isinstance(taken, int):
            raise CoveyError(f"{self.topic} cannot be read: {DDSException(taken, '')}")
        return [sample for sample in taken if sample[1].valid_data]

    @property
    def matched(self) -> int:
        """How many writers of other programs, or of this one, send to it now."""
        return len(self.end.get_matched_publications())


def _ros_name(kind: str) -> str:
    return kind.replace("::dds_::", "/").replace("::", "/").removesuffix("_")


class _Announced(BuiltinDataReader):
    """Reads topic, type and owner of each writer that is announced, not its policies, which take 0.2 ms to read."""

    def _make_constructors(self) -> None:
        super()._make_constructors()
        self._constructor = lambda key, participant, handle, topic, kind, *_: (topic, kind, bytes(participant))
        self._cqos_conv = lambda pointer: None


def _text(text: str) -> bytes:
    """Return a text as CDR has it: length, characters, zero; filled up to a multiple of 4 bytes."""
    data = text.encode() + b"\0"
    return struct.pack("<I", len(data)) + data.ljust(-(-len(data) // 4) * 4, b"\0")


_BASES = {"string": str, "bool": bool, "byte": idl.uint8, "octet": idl.uint8}


@cache
def _struct(types: Types, kind: str, of_service: bool = False) -> Any:
    """Return the type in the terms of Cyclone DDS, which compares the messages that arrive with it.

    The bodies of services begin with the numbers of the client and of its request.
    """

    def of(how: Any) -> Any:
        form, inner = how
        if form == Nodetype.BASE:
            return _BASES.get(inner[0]) or getattr(idl, inner[0])
        if form == Nodetype.NAME:
            return _struct(types, inner)
        if form == Nodetype.ARRAY:
            return idl.array[of(inner[0]), inner[1]]
        return idl.sequence[of(inner[0])]

    fields = {"client": idl.uint64, "number": idl.int64} if of_service else {}
    fields |= {name: of(how) for name, how in types.fields(kind)}
    return make_idl_struct(kind.rsplit("/", 1)[1], dds_name(kind).replace("::", "."), fields)
