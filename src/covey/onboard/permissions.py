"""The handle of a controller that declares what it reads: access to everything else is refused."""

from functools import cache
from operator import attrgetter
from typing import Any

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

_ALWAYS = ("history", "readings")
_STATE = ("name", "time", "pose", "twist", "collided", "corrections", "map", "messages", "text")
"""Attributes that change, or are read, at every step."""


class Declared:
    """Wraps a `Robot` and permits only what the controller's ``sees`` names.

    Attributes:
        robot: the wrapped handle.
    """

    def __new__(cls, robot: Any, controller: str, sees: tuple[str, ...]) -> "Declared":
        return super().__new__(_with_state(cls, tuple(n for n in _STATE if n not in _denied(sees))))

    def __init__(self, robot: Any, controller: str, sees: tuple[str, ...]):
        sensors = tuple(s.name for s in robot.model.sensors)
        for word in sees:
            if word not in WORDS and word not in sensors and word not in catalogue.names():
                known = (*WORDS, *sensors, *catalogue.names())
                raise InvalidValueError(f"controller {controller!r} sees {word!r}{did_you_mean(word, known)}")
        denied = _denied(sees) | {name: name for name in sensors if name not in sees}
        self._robot, self._controller, self._sees, self._denied = robot, controller, sees, denied

    def __repr__(self) -> str:
        return repr(self._robot)

    def samples(self, sensor: str) -> list[Any]:
        """Return all readings of a sensor since the last step, see `covey.onboard.handle.Robot.samples`."""
        return self._robot.samples(sensor) if sensor not in self._denied else getattr(self, sensor)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        denied = self._denied.get(name)
        if denied is not None or name in _ALWAYS:
            raise AttributeError(
                f"controller {self._controller!r} declares sees={self._sees} and asked for {name!r}; "
                f"declare it: @covey.controller(..., sees=({denied or name!r}, ...))"
            )
        return getattr(self._robot, name)


def _denied(sees: tuple[str, ...]) -> dict[str, str]:
    return {name: word for word, names in WORDS.items() if word not in sees for name in names}


@cache
def _with_state(cls: type, names: tuple[str, ...]) -> type:
    """Return a class that reads these attributes of its robot directly, in a fifth of the time."""
    return type(cls.__name__, (cls,), {name: property(attrgetter(f"_robot.{name}")) for name in names})
