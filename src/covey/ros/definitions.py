"""Services, actions and messages that ``rosbags`` does not know: fields, as ``ros2 interface show`` prints them."""

from typing import Any

from covey.ros.libraries import Nodetype, get_types_from_msg

Fields = dict[str, tuple[list[Any], list[tuple[str, Any]]]]
"""By the name of a type: constants, and names and kinds of fields, as ``rosbags`` describes them."""

MESSAGES = {
    "map_msgs/msg/OccupancyGridUpdate": "std_msgs/Header header\nint32 x\nint32 y\nuint32 width\nuint32 height\n"
    "int8[] data",
    "simulation_interfaces/msg/Result": "uint8 result\nstring error_message",
    "simulation_interfaces/msg/SimulationState": "uint8 state",
    "simulation_interfaces/msg/EntityCategory": "uint8 category",
    "simulation_interfaces/msg/TagsFilter": "string[] tags\nuint8 filter_mode",
    "simulation_interfaces/msg/Bounds": "uint8 type\ngeometry_msgs/Vector3[] points",
    "simulation_interfaces/msg/EntityFilters": "string filter\nsimulation_interfaces/EntityCategory[] categories\n"
    "simulation_interfaces/TagsFilter tags\nsimulation_interfaces/Bounds bounds",
    "simulation_interfaces/msg/EntityState": "std_msgs/Header header\ngeometry_msgs/Pose pose\n"
    "geometry_msgs/Twist twist\ngeometry_msgs/Accel acceleration",
    "simulation_interfaces/msg/SimulatorFeatures": "uint16[] features\nstring[] spawn_formats\nstring custom_info",
}
SECOND_SIMULATION = ("lyrical", "rolling")
"""Distributions with version 2 of simulation_interfaces."""
_DONE = "simulation_interfaces/Result result"
SERVICES = {
    "simulation_interfaces/srv/GetSimulatorFeatures": "---\nsimulation_interfaces/SimulatorFeatures features",
    "simulation_interfaces/srv/GetSimulationState": f"---\nsimulation_interfaces/SimulationState state\n{_DONE}",
    "simulation_interfaces/srv/SetSimulationState": f"simulation_interfaces/SimulationState state\n---\n{_DONE}",
    "simulation_interfaces/srv/StepSimulation": f"uint64 steps\n---\n{_DONE}",
    "simulation_interfaces/srv/ResetSimulation": f"uint8 scope\n---\n{_DONE}",
    "simulation_interfaces/srv/GetEntities": f"simulation_interfaces/EntityFilters filters\n---\n{_DONE}\n"
    "string[] entities",
    "simulation_interfaces/srv/GetEntityState": f"string entity\n---\n{_DONE}\nsimulation_interfaces/EntityState state",
    "simulation_interfaces/srv/DeleteEntity": f"string entity\n---\n{_DONE}",
    "std_srvs/srv/Empty": "---",
    "std_srvs/srv/SetBool": "bool data\n---\nbool success\nstring message",
    "std_srvs/srv/Trigger": "---\nbool success\nstring message",
    "nav_msgs/srv/GetMap": "---\nnav_msgs/OccupancyGrid map",
    "rcl_interfaces/srv/DescribeParameters": "string[] names\n---\nrcl_interfaces/ParameterDescriptor[] descriptors",
    "rcl_interfaces/srv/GetParameterTypes": "string[] names\n---\nuint8[] types",
    "rcl_interfaces/srv/GetParameters": "string[] names\n---\nrcl_interfaces/ParameterValue[] values",
    "rcl_interfaces/srv/ListParameters": "string[] prefixes\nuint64 depth\n---\n"
    "rcl_interfaces/ListParametersResult result",
    "rcl_interfaces/srv/SetParameters": "rcl_interfaces/Parameter[] parameters\n---\n"
    "rcl_interfaces/SetParametersResult[] results",
    "rcl_interfaces/srv/SetParametersAtomically": "rcl_interfaces/Parameter[] parameters\n---\n"
    "rcl_interfaces/SetParametersResult result",
    "maes_msgs/srv/BroadcastToAll": "string msg\n---\nbool result",
    "maes_msgs/srv/DepositTag": "string msg\n---\nbool result",
    "scoring_interfaces/srv/SetMarkerPosition": "int8 marker_id\ngeometry_msgs/Point marker_position\n"
    "---\nbool accepted",
    "action_msgs/srv/CancelGoal": "action_msgs/GoalInfo goal_info\n---\n"
    "int8 return_code\naction_msgs/GoalInfo[] goals_canceling",
}
_TRACKING = (
    "std_msgs/Header header\nfloat32 position_tracking_error\nfloat32 heading_tracking_error\n"
    "uint32 current_path_index\ngeometry_msgs/PoseStamped robot_pose\nfloat32 distance_to_goal\nfloat32 speed\n"
    "float32 remaining_path_length"
)


def _actions(distro: str) -> dict[str, str]:
    """Return the definitions of actions; those of Nav2 have grown from distribution to distribution."""
    humble, latest = distro == "humble", distro in ("lyrical", "rolling")
    code = "" if humble else "uint16 error_code\n" + ("" if distro == "iron" else "string error_msg\n")
    errors = "float32 position_tracking_error\nfloat32 heading_tracking_error\n" if latest else ""
    checkers = "" if humble else "string progress_checker_id\n" + ("string path_handler_id\n" if latest else "")
    tracking = "nav2_msgs/TrackingFeedback tracking_feedback" if latest else "float32 distance_to_goal\nfloat32 speed"
    return {
        "example_interfaces/action/Fibonacci": "int32 order\n---\nint32[] sequence\n---\nint32[] sequence",
        "nav2_msgs/action/NavigateToPose": "geometry_msgs/PoseStamped pose\nstring behavior_tree\n---\n"
        f"{code or 'std_msgs/Empty result'}\n---\ngeometry_msgs/PoseStamped current_pose\n"
        "builtin_interfaces/Duration navigation_time\nbuiltin_interfaces/Duration estimated_time_remaining\n"
        f"int16 number_of_recoveries\nfloat32 distance_remaining\n{errors}",
        "nav2_msgs/action/FollowPath": "nav_msgs/Path path\nstring controller_id\nstring goal_checker_id\n"
        f"{checkers}---\nstd_msgs/Empty result\n{code}---\n{tracking}",
    }


def _simulation(distro: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the messages and services of simulation_interfaces that differ between its versions 1 and 2."""
    second = distro in SECOND_SIMULATION
    settable = "bool set_pose\nbool set_twist\nbool set_acceleration\n" if second else ""
    resource = "simulation_interfaces/Resource entity_resource\n" if second else "string uri\n"
    more = "" if second else "string resource_string\n"
    spawnable = f"{resource}string description\nsimulation_interfaces/Bounds spawn_bounds"
    return {
        "simulation_interfaces/msg/Resource": "string uri\nstring resource_string",
        "simulation_interfaces/msg/Spawnable": spawnable,
    }, {
        "simulation_interfaces/srv/SetEntityState": "string entity\nsimulation_interfaces/EntityState state\n"
        f"{settable}---\n{_DONE}",
        "simulation_interfaces/srv/SpawnEntity": f"string name\nbool allow_renaming\n{resource}{more}"
        f"string entity_namespace\ngeometry_msgs/PoseStamped initial_pose\n---\n{_DONE}\nstring entity_name",
        "simulation_interfaces/srv/GetSpawnables": f"string[] sources\n---\n{_DONE}\n"
        "simulation_interfaces/Spawnable[] spawnables",
    }


_UUID, _TIME = (Nodetype.NAME, "unique_identifier_msgs/msg/UUID"), (Nodetype.NAME, "builtin_interfaces/msg/Time")


def definitions(distro: str) -> Fields:
    """Return the fields of the messages, and of all parts of the services and actions, of a distribution."""
    messages, services = _simulation(distro)
    found: Fields = {name: _fields(text) for name, text in (MESSAGES | messages).items()}
    if distro in ("lyrical", "rolling"):
        found["nav2_msgs/msg/TrackingFeedback"] = _fields(_TRACKING)
    for name, text in (SERVICES | services).items():
        found |= _parts(name, text, ("_Request", "_Response"))
    for name, text in _actions(distro).items():
        found |= _parts(name, text, ("_Goal", "_Result", "_Feedback")) | _wrapped(name)
    return found


def _parts(name: str, text: str, endings: tuple[str, ...]) -> Fields:
    """Return the fields of the parts of a definition, which ``---`` separates."""
    parts = text.split("---")
    return {name + ending: _fields(part) for ending, part in zip(endings, parts, strict=True)}


def _fields(text: str) -> tuple[list[Any], list[tuple[str, Any]]]:
    (parsed,) = get_types_from_msg(text, "covey/msg/Part").values()
    constants, fields = parsed[:2]  # a type without fields has one byte, as IDL wants a member
    return constants, fields or [("structure_needs_at_least_one_member", (Nodetype.BASE, ("uint8", 0)))]


def _wrapped(name: str) -> Fields:
    """Return what an action adds around goal, result and feedback."""
    return {
        f"{name}_SendGoal_Request": ([], [("goal_id", _UUID), ("goal", (Nodetype.NAME, f"{name}_Goal"))]),
        f"{name}_SendGoal_Response": ([], [("accepted", (Nodetype.BASE, ("bool", 0))), ("stamp", _TIME)]),
        f"{name}_GetResult_Request": ([], [("goal_id", _UUID)]),
        f"{name}_GetResult_Response": (
            [],
            [("status", (Nodetype.BASE, ("int8", 0))), ("result", (Nodetype.NAME, f"{name}_Result"))],
        ),
        f"{name}_FeedbackMessage": ([], [("goal_id", _UUID), ("feedback", (Nodetype.NAME, f"{name}_Feedback"))]),
    }
