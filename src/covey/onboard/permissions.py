"""What a controller of one robot can declare that it reads, and the attributes of its handle that this permits."""

from covey.errors import InvalidValueError, did_you_mean
from covey.sensors.sensor import sensors as catalogue

WORDS: dict[str, tuple[str, ...]] = {
    "pose": ("pose", "pose_covariance", "odometry_pose", "corrections", "home", "goto", "jammed", "follow", "dig"),
    "map": ("map", "frontiers", "travel_cost", "reachable", "travel_from", "nearest"),
    "shared_map": ("request_maps", "share_map"),
    "radio": ("send", "messages", "receive"),
    "report": ("report",),
    "searched": ("searched", "share_searched"),
    "tags": ("tags", "leave_tag"),
    "blackboard": ("blackboard",),
    "collided": ("collided",),
    "waypoints": ("waypoints",),
    "shared_frame": (),
}
"""The words that a controller of one robot can declare, and the attributes that each permits; sensors go by name.

``shared_frame`` permits nothing: it states that robots exchange positions, so all must know their start poses.
"""

_NEVER = ("history", "readings")
"""Attributes that no word permits."""


def denied_by(controller: str, sees: tuple[str, ...], sensors: tuple[str, ...]) -> dict[str, str]:
    """Return the attributes of a handle that a declaration does not permit, and what to declare for each.

    Args:
        controller: name of the controller, for the error.
        sees: what it declares.
        sensors: names of the sensors of its robot.

    Raises:
        InvalidValueError: one of the words is neither in `WORDS` nor a sensor.
    """
    known = (*WORDS, *sensors, *catalogue.names())
    for word in sees:
        if word not in known:
            raise InvalidValueError(f"controller {controller!r} sees {word!r}{did_you_mean(word, known)}")
    denied = {name: word for word, names in WORDS.items() if word not in sees for name in names}
    return denied | {name: name for name in (*sensors, *_NEVER) if name not in sees}
