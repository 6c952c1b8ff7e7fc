"""An independent peer: a ROS 2 program of its own, with Cyclone DDS and its IdlStruct, and nothing of Covey.

It reads commands, one JSON object per line, and answers each with one line. The types are written by hand after the ROS
documentation, and their bytes are made and read by Cyclone DDS, not by rosbags: so two implementations check each other.
"""

import dataclasses
import json
import sys
from dataclasses import dataclass

from cyclonedds.builtin import (
    BuiltinDataReader,
    BuiltinTopicDcpsParticipant,
    BuiltinTopicDcpsPublication,
    BuiltinTopicDcpsSubscription,
)
from cyclonedds.core import InstanceState, ReadCondition, SampleState, ViewState
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import (
    array,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    sequence,
    uint8,
    uint16,
    uint32,
    uint64,
)
from cyclonedds.pub import DataWriter
from cyclonedds.qos import Policy, Qos
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic


def ros(kind):
    """Return the base of a type with its name on the wire."""
    package, room, name = kind.split("/")
    return {"typename": f"{package}::{room}::dds_::{name}_"}


@dataclass
class Time(IdlStruct, **ros("builtin_interfaces/msg/Time")):
    sec: int32 = 0
    nanosec: uint32 = 0


@dataclass
class Duration(IdlStruct, **ros("builtin_interfaces/msg/Duration")):
    sec: int32 = 0
    nanosec: uint32 = 0


@dataclass
class Header(IdlStruct, **ros("std_msgs/msg/Header")):
    stamp: Time
    frame_id: str


@dataclass
class Vector3(IdlStruct, **ros("geometry_msgs/msg/Vector3")):
    x: float64
    y: float64
    z: float64


@dataclass
class Point(IdlStruct, **ros("geometry_msgs/msg/Point")):
    x: float64
    y: float64
    z: float64


@dataclass
class Quaternion(IdlStruct, **ros("geometry_msgs/msg/Quaternion")):
    x: float64
    y: float64
    z: float64
    w: float64


@dataclass
class Pose(IdlStruct, **ros("geometry_msgs/msg/Pose")):
    position: Point
    orientation: Quaternion


@dataclass
class PoseStamped(IdlStruct, **ros("geometry_msgs/msg/PoseStamped")):
    header: Header
    pose: Pose


@dataclass
class PoseWithCovariance(IdlStruct, **ros("geometry_msgs/msg/PoseWithCovariance")):
    pose: Pose
    covariance: array[float64, 36]


@dataclass
class Twist(IdlStruct, **ros("geometry_msgs/msg/Twist")):
    linear: Vector3
    angular: Vector3


@dataclass
class ShortTwist(IdlStruct, **ros("geometry_msgs/msg/Twist")):
    """Another message under the name of Twist, as of a robot with other definitions."""

    linear: Vector3


@dataclass
class TwistStamped(IdlStruct, **ros("geometry_msgs/msg/TwistStamped")):
    header: Header
    twist: Twist


@dataclass
class TwistWithCovariance(IdlStruct, **ros("geometry_msgs/msg/TwistWithCovariance")):
    twist: Twist
    covariance: array[float64, 36]


@dataclass
class Transform(IdlStruct, **ros("geometry_msgs/msg/Transform")):
    translation: Vector3
    rotation: Quaternion


@dataclass
class TransformStamped(IdlStruct, **ros("geometry_msgs/msg/TransformStamped")):
    header: Header
    child_frame_id: str
    transform: Transform


@dataclass
class TFMessage(IdlStruct, **ros("tf2_msgs/msg/TFMessage")):
    transforms: sequence[TransformStamped]


@dataclass
class LaserScan(IdlStruct, **ros("sensor_msgs/msg/LaserScan")):
    header: Header
    angle_min: float32
    angle_max: float32
    angle_increment: float32
    time_increment: float32
    scan_time: float32
    range_min: float32
    range_max: float32
    ranges: sequence[float32]
    intensities: sequence[float32]


@dataclass
class Odometry(IdlStruct, **ros("nav_msgs/msg/Odometry")):
    header: Header
    child_frame_id: str
    pose: PoseWithCovariance
    twist: TwistWithCovariance


@dataclass
class MapMetaData(IdlStruct, **ros("nav_msgs/msg/MapMetaData")):
    map_load_time: Time
    resolution: float32
    width: uint32
    height: uint32
    origin: Pose


@dataclass
class OccupancyGrid(IdlStruct, **ros("nav_msgs/msg/OccupancyGrid")):
    header: Header
    info: MapMetaData
    data: sequence[int8]


@dataclass
class Clock(IdlStruct, **ros("rosgraph_msgs/msg/Clock")):
    clock: Time


@dataclass
class String(IdlStruct, **ros("std_msgs/msg/String")):
    data: str


@dataclass
class Gid16(IdlStruct, **ros("rmw_dds_common/msg/Gid")):
    data: array[uint8, 16]


@dataclass
class NodeEntitiesInfo16(IdlStruct, **ros("rmw_dds_common/msg/NodeEntitiesInfo")):
    node_namespace: str
    node_name: str
    reader_gid_seq: sequence[Gid16]
    writer_gid_seq: sequence[Gid16]


@dataclass
class ParticipantEntitiesInfo16(IdlStruct, **ros("rmw_dds_common/msg/ParticipantEntitiesInfo")):
    gid: Gid16
    node_entities_info_seq: sequence[NodeEntitiesInfo16]


@dataclass
class Gid24(IdlStruct, **ros("rmw_dds_common/msg/Gid")):
    data: array[uint8, 24]


@dataclass
class NodeEntitiesInfo24(IdlStruct, **ros("rmw_dds_common/msg/NodeEntitiesInfo")):
    node_namespace: str
    node_name: str
    reader_gid_seq: sequence[Gid24]
    writer_gid_seq: sequence[Gid24]


@dataclass
class ParticipantEntitiesInfo24(IdlStruct, **ros("rmw_dds_common/msg/ParticipantEntitiesInfo")):
    gid: Gid24
    node_entities_info_seq: sequence[NodeEntitiesInfo24]


@dataclass
class SetBool_Request(IdlStruct, **ros("std_srvs/srv/SetBool_Request")):
    client: uint64  # these two are before each body
    number: int64
    data: bool


@dataclass
class SetBool_Response(IdlStruct, **ros("std_srvs/srv/SetBool_Response")):
    client: uint64
    number: int64
    success: bool
    message: str


@dataclass
class Trigger_Request(IdlStruct, **ros("std_srvs/srv/Trigger_Request")):
    client: uint64
    number: int64
    structure_needs_at_least_one_member: uint8


@dataclass
class Trigger_Response(IdlStruct, **ros("std_srvs/srv/Trigger_Response")):
    client: uint64
    number: int64
    success: bool
    message: str


@dataclass
class UUID(IdlStruct, **ros("unique_identifier_msgs/msg/UUID")):
    uuid: array[uint8, 16]


@dataclass
class GoalInfo(IdlStruct, **ros("action_msgs/msg/GoalInfo")):
    goal_id: UUID
    stamp: Time


@dataclass
class GoalStatus(IdlStruct, **ros("action_msgs/msg/GoalStatus")):
    goal_info: GoalInfo
    status: int8


@dataclass
class GoalStatusArray(IdlStruct, **ros("action_msgs/msg/GoalStatusArray")):
    status_list: sequence[GoalStatus]


@dataclass
class CancelGoal_Request(IdlStruct, **ros("action_msgs/srv/CancelGoal_Request")):
    client: uint64
    number: int64
    goal_info: GoalInfo


@dataclass
class CancelGoal_Response(IdlStruct, **ros("action_msgs/srv/CancelGoal_Response")):
    client: uint64
    number: int64
    return_code: int8
    goals_canceling: sequence[GoalInfo]


@dataclass
class NavigateToPose_Goal(IdlStruct, **ros("nav2_msgs/action/NavigateToPose_Goal")):
    pose: PoseStamped
    behavior_tree: str


@dataclass
class NavigateToPose_Result(IdlStruct, **ros("nav2_msgs/action/NavigateToPose_Result")):
    error_code: uint16
    error_msg: str


@dataclass
class NavigateToPose_Feedback(IdlStruct, **ros("nav2_msgs/action/NavigateToPose_Feedback")):
    current_pose: PoseStamped
    navigation_time: Duration
    estimated_time_remaining: Duration
    number_of_recoveries: int16
    distance_remaining: float32


@dataclass
class NavigateToPose_FeedbackMessage(IdlStruct, **ros("nav2_msgs/action/NavigateToPose_FeedbackMessage")):
    goal_id: UUID
    feedback: NavigateToPose_Feedback


@dataclass
class NavigateToPose_SendGoal_Request(IdlStruct, **ros("nav2_msgs/action/NavigateToPose_SendGoal_Request")):
    client: uint64
    number: int64
    goal_id: UUID
    goal: NavigateToPose_Goal


@dataclass
class NavigateToPose_SendGoal_Response(IdlStruct, **ros("nav2_msgs/action/NavigateToPose_SendGoal_Response")):
    client: uint64
    number: int64
    accepted: bool
    stamp: Time


@dataclass
class NavigateToPose_GetResult_Request(IdlStruct, **ros("nav2_msgs/action/NavigateToPose_GetResult_Request")):
    client: uint64
    number: int64
    goal_id: UUID


@dataclass
class NavigateToPose_GetResult_Response(IdlStruct, **ros("nav2_msgs/action/NavigateToPose_GetResult_Response")):
    client: uint64
    number: int64
    status: int8
    result: NavigateToPose_Result


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
            f"<Peers><Peer address='127.0.0.1'/></Peers><LeaseDuration>1 s</LeaseDuration><Tag>{tag}</Tag></Discovery>"
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
        kind = globals()[kind]
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
        kind = globals()[kind]
        self.writers[topic] = DataWriter(self.participant, Topic(self.participant, topic, kind), qos=qos(**how))

    def write(self, topic, values=None, repeat=1):
        """Write a message, or as many as ``repeat`` as fast as possible, whose ``linear.x`` count from 0."""
        writer = self.writers[topic]
        message = filled(writer.data_type, values or {})
        for k in range(repeat):
            if repeat > 1:
                message.linear.x = float(k)
            writer.write(message)

    def client(self, name, service, kind):
        """Make a client of a service; several may ask the same one."""
        number = len(self.clients) + 1
        mark = f"clientid={number:2x}.{'.'.join(['0'] * 15)};".encode()
        request, reply = globals()[f"{kind}_Request"], globals()[f"{kind}_Response"]
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

    def replies(self, name):
        """Return the replies to this client; those to others arrive at the same reader."""
        _, reader, client = self.clients[name]
        taken = [dataclasses.asdict(one) for one in reader.take(1000) if one.sample_info.valid_data]
        return [one for one in taken if one["client"] == client]


def main():
    peer = Peer(int(sys.argv[1]), sys.argv[2])
    print("ready", flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        answer = getattr(peer, command.pop("do"))(**command)
        print(json.dumps(answer, default=list), flush=True)


if __name__ == "__main__":
    main()
