"""More types of the independent peer: sensors, markers, map updates, and the requests of robots and paths."""

from dataclasses import dataclass

from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float32, float64, int8, int32, int64, sequence, uint8, uint16, uint32, uint64
from tests.ros.peer_types import (
    UUID,
    Duration,
    Header,
    Point,
    Pose,
    PoseStamped,
    Quaternion,
    Time,
    Vector3,
    ros,
)


@dataclass
class PointField(IdlStruct, **ros("sensor_msgs/msg/PointField")):
    name: str
    offset: uint32
    datatype: uint8
    count: uint32


@dataclass
class PointCloud2(IdlStruct, **ros("sensor_msgs/msg/PointCloud2")):
    header: Header
    height: uint32
    width: uint32
    fields: sequence[PointField]
    is_bigendian: bool
    point_step: uint32
    row_step: uint32
    data: sequence[uint8]
    is_dense: bool


@dataclass
class Image(IdlStruct, **ros("sensor_msgs/msg/Image")):
    header: Header
    height: uint32
    width: uint32
    encoding: str
    is_bigendian: uint8
    step: uint32
    data: sequence[uint8]


@dataclass
class RegionOfInterest(IdlStruct, **ros("sensor_msgs/msg/RegionOfInterest")):
    x_offset: uint32
    y_offset: uint32
    height: uint32
    width: uint32
    do_rectify: bool


@dataclass
class CameraInfo(IdlStruct, **ros("sensor_msgs/msg/CameraInfo")):
    header: Header
    height: uint32
    width: uint32
    distortion_model: str
    d: sequence[float64]
    k: array[float64, 9]
    r: array[float64, 9]
    p: array[float64, 12]
    binning_x: uint32
    binning_y: uint32
    roi: RegionOfInterest


@dataclass
class Imu(IdlStruct, **ros("sensor_msgs/msg/Imu")):
    header: Header
    orientation: Quaternion
    orientation_covariance: array[float64, 9]
    angular_velocity: Vector3
    angular_velocity_covariance: array[float64, 9]
    linear_acceleration: Vector3
    linear_acceleration_covariance: array[float64, 9]


@dataclass
class BatteryState(IdlStruct, **ros("sensor_msgs/msg/BatteryState")):
    header: Header
    voltage: float32
    temperature: float32
    current: float32
    charge: float32
    capacity: float32
    design_capacity: float32
    percentage: float32
    power_supply_status: uint8
    power_supply_health: uint8
    power_supply_technology: uint8
    present: bool
    cell_voltage: sequence[float32]
    cell_temperature: sequence[float32]
    location: str
    serial_number: str


@dataclass
class Bool(IdlStruct, **ros("std_msgs/msg/Bool")):
    data: bool


@dataclass
class MultiArrayDimension(IdlStruct, **ros("std_msgs/msg/MultiArrayDimension")):
    label: str
    size: uint32
    stride: uint32


@dataclass
class MultiArrayLayout(IdlStruct, **ros("std_msgs/msg/MultiArrayLayout")):
    dim: sequence[MultiArrayDimension]
    data_offset: uint32


@dataclass
class Float64MultiArray(IdlStruct, **ros("std_msgs/msg/Float64MultiArray")):
    layout: MultiArrayLayout
    data: sequence[float64]


@dataclass
class ColorRGBA(IdlStruct, **ros("std_msgs/msg/ColorRGBA")):
    r: float32
    g: float32
    b: float32
    a: float32


@dataclass
class CompressedImage(IdlStruct, **ros("sensor_msgs/msg/CompressedImage")):
    header: Header
    format: str
    data: sequence[uint8]


@dataclass
class UVCoordinate(IdlStruct, **ros("visualization_msgs/msg/UVCoordinate")):
    u: float32
    v: float32


@dataclass
class MeshFile(IdlStruct, **ros("visualization_msgs/msg/MeshFile")):
    filename: str
    data: sequence[uint8]


@dataclass
class Marker(IdlStruct, **ros("visualization_msgs/msg/Marker")):
    header: Header
    ns: str
    id: int32
    type: int32
    action: int32
    pose: Pose
    scale: Vector3
    color: ColorRGBA
    lifetime: Duration
    frame_locked: bool
    points: sequence[Point]
    colors: sequence[ColorRGBA]
    texture_resource: str
    texture: CompressedImage
    uv_coordinates: sequence[UVCoordinate]
    text: str
    mesh_resource: str
    mesh_file: MeshFile
    mesh_use_embedded_materials: bool


@dataclass
class MarkerArray(IdlStruct, **ros("visualization_msgs/msg/MarkerArray")):
    markers: sequence[Marker]


@dataclass
class KeyValue(IdlStruct, **ros("diagnostic_msgs/msg/KeyValue")):
    key: str
    value: str


@dataclass
class DiagnosticStatus(IdlStruct, **ros("diagnostic_msgs/msg/DiagnosticStatus")):
    level: uint8
    name: str
    message: str
    hardware_id: str
    values: sequence[KeyValue]


@dataclass
class OccupancyGridUpdate(IdlStruct, **ros("map_msgs/msg/OccupancyGridUpdate")):
    header: Header
    x: int32
    y: int32
    width: uint32
    height: uint32
    data: sequence[int8]


@dataclass
class Path(IdlStruct, **ros("nav_msgs/msg/Path")):
    header: Header
    poses: sequence[PoseStamped]


@dataclass
class BroadcastToAll_Request(IdlStruct, **ros("maes_msgs/srv/BroadcastToAll_Request")):
    client: uint64
    number: int64
    msg: str


@dataclass
class BroadcastToAll_Response(IdlStruct, **ros("maes_msgs/srv/BroadcastToAll_Response")):
    client: uint64
    number: int64
    result: bool


@dataclass
class DepositTag_Request(IdlStruct, **ros("maes_msgs/srv/DepositTag_Request")):
    client: uint64
    number: int64
    msg: str


@dataclass
class DepositTag_Response(IdlStruct, **ros("maes_msgs/srv/DepositTag_Response")):
    client: uint64
    number: int64
    result: bool


@dataclass
class SetMarkerPosition_Request(IdlStruct, **ros("scoring_interfaces/srv/SetMarkerPosition_Request")):
    client: uint64
    number: int64
    marker_id: int8
    marker_position: Point


@dataclass
class SetMarkerPosition_Response(IdlStruct, **ros("scoring_interfaces/srv/SetMarkerPosition_Response")):
    client: uint64
    number: int64
    accepted: bool


@dataclass
class Empty(IdlStruct, **ros("std_msgs/msg/Empty")):
    structure_needs_at_least_one_member: uint8


@dataclass
class FollowPath_Goal(IdlStruct, **ros("nav2_msgs/action/FollowPath_Goal")):
    path: Path
    controller_id: str
    goal_checker_id: str
    progress_checker_id: str


@dataclass
class FollowPath_Result(IdlStruct, **ros("nav2_msgs/action/FollowPath_Result")):
    result: Empty
    error_code: uint16
    error_msg: str


@dataclass
class FollowPath_Feedback(IdlStruct, **ros("nav2_msgs/action/FollowPath_Feedback")):
    distance_to_goal: float32
    speed: float32


@dataclass
class FollowPath_FeedbackMessage(IdlStruct, **ros("nav2_msgs/action/FollowPath_FeedbackMessage")):
    goal_id: UUID
    feedback: FollowPath_Feedback


@dataclass
class FollowPath_SendGoal_Request(IdlStruct, **ros("nav2_msgs/action/FollowPath_SendGoal_Request")):
    client: uint64
    number: int64
    goal_id: UUID
    goal: FollowPath_Goal


@dataclass
class FollowPath_SendGoal_Response(IdlStruct, **ros("nav2_msgs/action/FollowPath_SendGoal_Response")):
    client: uint64
    number: int64
    accepted: bool
    stamp: Time


@dataclass
class FollowPath_GetResult_Request(IdlStruct, **ros("nav2_msgs/action/FollowPath_GetResult_Request")):
    client: uint64
    number: int64
    goal_id: UUID


@dataclass
class FollowPath_GetResult_Response(IdlStruct, **ros("nav2_msgs/action/FollowPath_GetResult_Response")):
    client: uint64
    number: int64
    status: int8
    result: FollowPath_Result
