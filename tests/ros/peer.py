"""An independent peer: a ROS 2 program of its own, with Cyclone DDS and its IdlStruct, and nothing of Covey.

It reads commands, one JSON object per line, and answers each with one line. The types (`peer_types`) are written by hand after the ROS
documentation, and their bytes are made and read by Cyclone DDS, not by rosbags: so two implementations check each other.
"""

import dataclasses
import gc
import json
import sys

from cyclonedds.builtin import (
    BuiltinDataReader,
    BuiltinTopicDcpsParticipant,
    BuiltinTopicDcpsPublication,
    BuiltinTopicDcpsSubscription,
)
from cyclonedds.core import InstanceState, ReadCondition, SampleState, ViewState
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.pub import DataWriter
from cyclonedds.qos import Policy, Qos
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from tests.ros import peer_sensors, peer_types

TYPES = vars(peer_types) | vars(peer_sensors)
RECEIPTS = "<Internal><HeartbeatInterval min='1 ms' minsched='1 ms'>1 ms</HeartbeatInterval></Internal>"
"""Writers ask their readers for receipts each millisecond, not each tenth of a second: tests wait for them."""
_PATIENCE_NS = 30_000_000_000


def filled(kind, values):
    """Return an object of a type; what has no value is zero or empty."""
    hints = kind.__annotations__
    given = {name: one(hints[name], values.get(name)) for name in hints}
    return kind(**given)


def one(hint, value):
    if isinstance(hint, type) and issubclass(hint, IdlStruct):
        return filled(hint, value or {})
    row = next((m for m in getattr(hint, "__metadata__", ()) if hasattr(m, "subtype")), None)
    if row is not None:
        length = getattr(row, "length", 0)
        return [one(row.subtype, item) for item in (value if value is not None else [None] * length)]
    if hint is str:
        return value or ""
    return value or 0


def qos(latched=False, depth=10, reliable=True, user_data=b""):
    history = Policy.History.KeepLast(depth)
    return Qos(
        Policy.Reliability.Reliable(100_000_000) if reliable else Policy.Reliability.BestEffort,
        Policy.Durability.TransientLocal if latched else Policy.Durability.Volatile,
        history,
        Policy.DataRepresentation(use_cdrv0_representation=True),
        Policy.DurabilityService(0, history, -1, -1, -1),
        Policy.Userdata(user_data),
    )


class Peer:
    def __init__(self, domain, tag):
        self.domain = Domain(
            domain,
            "<CycloneDDS><Domain><General><Interfaces><NetworkInterface address='127.0.0.1'/></Interfaces>"
            "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
            f"<Peers><Peer address='127.0.0.1'/></Peers><LeaseDuration>1 s</LeaseDuration><Tag>{tag}</Tag></Discovery>{RECEIPTS}"
            "<Compatibility><IgnoreTypeInformation>1.16</IgnoreTypeInformation></Compatibility>"  # by name, as ROS does
            "</Domain></CycloneDDS>",
        )
        self.participant = DomainParticipant(domain, Qos(Policy.Userdata(b"enclave=/;")))
        self.builtin = {
            "participants": BuiltinDataReader(self.participant, BuiltinTopicDcpsParticipant),
            "writers": BuiltinDataReader(self.participant, BuiltinTopicDcpsPublication),
            "readers": BuiltinDataReader(self.participant, BuiltinTopicDcpsSubscription),
        }
        self.readers, self.writers, self.clients = {}, {}, {}

    def graph(self):
        """Return all that other programs announce and that is alive."""
        found = {}
        mine = self.participant.guid
        for name, reader in self.builtin.items():
            alive = ReadCondition(reader, SampleState.Any | ViewState.Any | InstanceState.Alive)
            found[name] = [
                {
                    "guid": one.key.hex,
                    "topic": getattr(one, "topic_name", ""),
                    "type": getattr(one, "type_name", ""),
                    "user_data": one.qos[Policy.Userdata].data.decode() if Policy.Userdata in one.qos else "",
                    "qos": sorted(str(policy) for policy in one.qos if not isinstance(policy, Policy.Userdata)),
                }
                for one in reader.read(10_000, alive)
                if getattr(one, "participant_key", one.key) != mine
            ]
        return found

    def read(self, topic, kind, **how):
        kind = TYPES[kind]
        self.readers[topic] = DataReader(self.participant, Topic(self.participant, topic, kind), qos=qos(**how))

    def take(self, topic, count=1000):
        samples = self.readers[topic].take(count)
        return [dataclasses.asdict(one) for one in samples if one.sample_info.valid_data]

    def sizes(self, topic, row="data"):
        """Take, and return only how long a row of each message is, and its sum."""
        samples = self.readers[topic].take(10)
        rows = [getattr(one, row) for one in samples if one.sample_info.valid_data]
        return [(len(values), sum(values)) for values in rows]

    def matched(self, topic):
        if topic in self.readers:
            return len(self.readers[topic].get_matched_publications())
        return len(self.writers[topic].get_matched_subscriptions())

    def advertise(self, topic, kind, **how):
        kind = TYPES[kind]
        self.writers[topic] = DataWriter(self.participant, Topic(self.participant, topic, kind), qos=qos(**how))

    def write(self, topic, values=None, repeat=1):
        """Write a message, or as many as ``repeat`` as fast as possible, whose ``linear.x`` count from 0.

        The readers have it, or the last of them, when this returns.
        """
        writer = self.writers[topic]
        message = filled(writer.data_type, values or {})
        for k in range(repeat):
            if repeat > 1:
                message.linear.x = float(k)
            writer.write(message)
        await_receipts(writer)

    def client(self, name, service, kind):
        """Make a client of a service; several may ask the same one."""
        number = len(self.clients) + 1
        mark = f"clientid={number:2x}.{'.'.join(['0'] * 15)};".encode()
        request, reply = TYPES[f"{kind}_Request"], TYPES[f"{kind}_Response"]
        self.clients[name] = [
            DataWriter(
                self.participant, Topic(self.participant, f"rq{service}Request", request), qos=qos(user_data=mark)
            ),
            DataReader(self.participant, Topic(self.participant, f"rr{service}Reply", reply), qos=qos(user_data=mark)),
            number * 1000,  # its number in the header
        ]

    def ready(self, name):
        writer, reader, _ = self.clients[name]
        return bool(writer.get_matched_subscriptions() and reader.get_matched_publications())

    def call(self, name, number, values=None):
        writer, _, client = self.clients[name]
        writer.write(filled(writer.data_type, (values or {}) | {"client": client, "number": number}))
        await_receipts(writer)

    def replies(self, name):
        """Return the replies to this client; those to others arrive at the same reader."""
        _, reader, client = self.clients[name]
        taken = [dataclasses.asdict(one) for one in reader.take(1000) if one.sample_info.valid_data]
        return [one for one in taken if one["client"] == client]


def await_receipts(writer):
    """Wait until all reliable readers have what was written."""
    assert writer._wait_for_acks(writer._ref, _PATIENCE_NS) == 0, "no receipt"


def main():
    """Serve one test after the other: ``join`` begins one, ``leave`` ends it."""
    peer = None
    for line in sys.stdin:
        command = json.loads(line)
        do = command.pop("do")
        if do in ("join", "leave"):
            peer = answer = None
            gc.collect()  # Cyclone DDS ends what nothing refers to
            if do == "join":
                peer = Peer(**command)
        else:
            answer = getattr(peer, do)(**command)
        print(json.dumps(answer, default=list), flush=True)


if __name__ == "__main__":
    main()
