"""Services and actions, which ``rosbags`` does not know: their fields, as ``ros2 interface show`` prints them."""

from typing import Any

from covey.ros.libraries import Nodetype, get_types_from_msg

Fields = dict[str, tuple[list[Any], list[tuple[str, Any]]]]
"""By the name of a type: constants, and names and kinds of fields, as ``rosbags`` describes them."""

SERVICES = {
    "std_srvs/srv/Empty": "---",
    "std_srvs/srv/SetBool": "bool data\n---\nbool success\nstring message",
    "std_srvs/srv/Trigger": "---\nbool success\nstring message",
    "nav_msgs/srv/GetMap": "---\nnav_msgs/OccupancyGrid map",
    "action_msgs/srv/CancelGoal": "action_msgs/GoalInfo goal_info\n---\n"
    "int8 return_code\naction_msgs/GoalInfo[] goals_canceling",
}
ACTIONS = {
    "example_interfaces/action/Fibonacci": "int32 order\n---\nint32[] sequence\n---\nint32[] sequence",
}

_UUID, _TIME = (Nodetype.NAME, "unique_identifier_msgs/msg/UUID"), (Nodetype.NAME, "builtin_interfaces/msg/Time")


def all_definitions() -> Fields:
    """Return the fields of all parts of the services and actions."""
    found: Fields = {}
    for name, text in SERVICES.items():
        found |= _parts(name, text, ("_Request", "_Response"))
    for name, text in ACTIONS.items():
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
