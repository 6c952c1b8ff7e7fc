"""The types of the independent peer, written by hand after the ROS documentation: poses, transforms, services, actions."""

from dataclasses import dataclass

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
class PoseWithCovarianceStamped(IdlStruct, **ros("geometry_msgs/msg/PoseWithCovarianceStamped")):
    header: Header
    pose: PoseWithCovariance


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


@dataclass
class ParameterValue(IdlStruct, **ros("rcl_interfaces/msg/ParameterValue")):
    type: uint8
    bool_value: bool
    integer_value: int64
    double_value: float64
    string_value: str
    byte_array_value: sequence[uint8]
    bool_array_value: sequence[bool]
    integer_array_value: sequence[int64]
    double_array_value: sequence[float64]
    string_array_value: sequence[str]


@dataclass
class ListParametersResult(IdlStruct, **ros("rcl_interfaces/msg/ListParametersResult")):
    names: sequence[str]
    prefixes: sequence[str]


@dataclass
class ListParameters_Request(IdlStruct, **ros("rcl_interfaces/srv/ListParameters_Request")):
    client: uint64
    number: int64
    prefixes: sequence[str]
    depth: uint64


@dataclass
class ListParameters_Response(IdlStruct, **ros("rcl_interfaces/srv/ListParameters_Response")):
    client: uint64
    number: int64
    result: ListParametersResult


@dataclass
class GetParameters_Request(IdlStruct, **ros("rcl_interfaces/srv/GetParameters_Request")):
    client: uint64
    number: int64
    names: sequence[str]


@dataclass
class GetParameters_Response(IdlStruct, **ros("rcl_interfaces/srv/GetParameters_Response")):
    client: uint64
    number: int64
    values: sequence[ParameterValue]
