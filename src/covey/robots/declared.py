"""A robot as a controller sees it that has declared what it looks at: everything else is refused."""

from typing import Any

from covey.errors import InvalidValueError, did_you_mean

WORDS: dict[str, tuple[str, ...]] = {
    "pose": ("pose", "home", "goto", "follow"),
    "map": ("map", "frontiers", "travel_cost", "travel_from", "nearest"),
    "shared_map": ("request_maps", "share_map"),
    "radio": ("send", "messages", "receive"),
    "tags": ("tags", "leave_tag"),
    "board": ("board",),
    "collided": ("collided",),
    "waypoints": ("waypoints",),
    "shared_frame": (),
}
"""What a controller of one robot can declare, and the names of the handle that it opens; sensors go by their names.

``shared_frame`` opens nothing: positions mean the same to all its robots, so all must know where they started.
"""

_ALWAYS = ("history", "readings")


class Declared:
    """Stands before a `Robot`, and lets through what the controller's ``sees`` names.

    Attributes:
        robot: the handle behind it.
    """

    def __init__(self, robot: Any, controller: str, sees: tuple[str, ...]):
        sensors = tuple(s.name for s in robot.model.sensors)
        for word in sees:
            if word not in WORDS and word not in sensors and word not in _SENSORS:
                known = (*WORDS, *sensors, *_SENSORS)
                raise InvalidValueError(f"controller {controller!r} sees {word!r}{did_you_mean(word, known)}")
        denied = {name: word for word, names in WORDS.items() if word not in sees for name in names}
        denied |= {name: name for name in sensors if name not in sees}
        self._robot, self._controller, self._sees, self._denied = robot, controller, sees, denied

    def __repr__(self) -> str:
        return repr(self._robot)

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


_SENSORS = ("lidar", "proximity", "bumper", "odometry", "neighbours", "wedge", "lidar3d", "depth_camera")
