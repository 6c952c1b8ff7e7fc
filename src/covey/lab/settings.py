"""The settings of `covey.play`."""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field, ValidationError

from covey.errors import InvalidValueError, UnknownNameError
from covey.records import R, Record, text_of
from covey.robots.catalogue import robots as catalogue
from covey.robots.model import Kinematics, RobotModel
from covey.sensors.sensor import SensorRecord

SQUARE = ((0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0))


class Robots(Record):
    """Some equal robots of a team: ``covey.play(law, robots=[{"count": 3}, {"kinematics": "holonomic"}])``."""

    name: str = Field(default="robot", min_length=1, description="They are called name0, name1, …")
    count: int = Field(default=1, ge=1, le=100_000, description="How many.")
    starts: Any = Field(
        default=None,
        description="Poses x, y [m], heading [rad], (n, 3); positions (n, 2) get random headings; a mapping as in a "
        "scenario, {'together': {}}; None: random poses.",
    )
    robot: Any = Field(
        default=None,
        description="A RobotModel, or the name of one that ships, such as turtlebot3_burger; None: the disc below.",
    )
    kinematics: Kinematics = Field(
        default="differential",
        description="differential: a unicycle on two wheels; unicycle: speed and turn rate limited apart; holonomic.",
    )
    max_speed_m_s: float = Field(default=1.0, gt=0, description="Largest speed, also of a wheel [m/s].")
    max_turn_rad_s: float | None = Field(
        default=None, gt=0, description="Largest turn rate [rad/s]; None: what the wheels allow, or 10."
    )
    wheel_separation_m: float = Field(default=0.2, gt=0, description="Distance between the two wheels [m].")
    diameter_m: float = Field(default=0.3, gt=0, description="Diameter of the body, a disc [m].")
    centre_to_barycentre_m: float = Field(
        default=0.0,
        description="Distance by which the middle of the body is ahead of the point that the pose is of: the middle of "
        "the axle [m].",
    )
    command_delay_s: float = Field(default=0.0, ge=0, description="Time from a command to its effect [s].")
    sensors: tuple[SensorRecord, ...] = Field(default=(), description="Sensors, as in a scenario.")

    @property
    def model(self) -> RobotModel:
        """The model of the robots.

        Raises:
            InvalidValueError: ``robot`` is no model, or settings of the disc are given beside it.
            UnknownNameError: no robot has this name.
        """
        own = self.model_fields_set - {"name", "count", "starts", "robot", "sensors"}
        if self.robot is not None:
            model = catalogue.get(self.robot)() if isinstance(self.robot, str) else self.robot
            if not isinstance(model, RobotModel):
                raise InvalidValueError(
                    f"robot is {self.robot!r:.60}; give a covey.RobotModel, or the name of one; robots is their number"
                )
            if own:
                raise InvalidValueError(f"robot is given, so leave out {', '.join(sorted(own))}, which it has already")
            return model.model_copy(update={"sensors": (*model.sensors, *self.sensors)})
        turns = self.max_speed_m_s / (0.5 * self.wheel_separation_m) if self.kinematics == "differential" else 10.0
        ahead, radius = self.centre_to_barycentre_m, 0.5 * self.diameter_m
        return RobotModel(
            name="disc",
            kinematics=self.kinematics,
            radius_m=None if ahead else radius,
            discs_m=((ahead, 0.0, radius),) if ahead else None,
            max_speed_m_s=self.max_speed_m_s,
            max_turn_rad_s=self.max_turn_rad_s or turns,
            max_wheel_speed_m_s=self.max_speed_m_s,
            wheel_semi_axis_m=0.5 * self.wheel_separation_m,
            command_delay_s=self.command_delay_s,
            sensors=self.sensors,
        )


class DrawingSettings(Record):
    """What `Out.plot` and `Out.film` draw."""

    title: str | None = Field(default=None, description="Title; None: the name of the law.")
    grid: bool = Field(default=True, description="Whether grid lines are drawn.")
    initial_poses: bool = Field(default=True, description="Whether the starts are drawn, as empty bodies.")
    real_shape: bool = Field(default=True, description="Whether bodies are drawn in their size; false: points.")
    wake: bool = Field(default=True, description="Whether the ways of the robots are drawn.")
    wake_style: Literal["-", "--", "-.", ":"] = Field(
        default="-", description="Line style of the ways: -, --, -. or :."
    )
    sensors: bool | tuple[str, ...] = Field(
        default=True, description="Whether what the sensors measured is drawn; or the names of those that are."
    )


class LabSettings(Record):
    """Everything that a call of `covey.play`, or the file of a law, can set besides the robots' own settings."""

    robots: tuple[Robots, ...] = Field(default=(Robots(),), min_length=1, description="The team.")
    workspace: Any = Field(
        default=SQUARE, description="Vertices of a simple polygon [m], convex or not; or a World, or a map file."
    )
    obstacles: tuple[Any, ...] = Field(default=(), description="Polygons, lists of vertices [m].")
    walls: tuple[Any, ...] = Field(default=(), description="Thin walls, lists of two or more points [m].")
    border: Literal["walls", "open"] = Field(
        default="walls", description="walls: nobody gets out; open: robots may leave, which is an event."
    )
    resolution_m: float = Field(default=0.05, gt=0, description="Side of the cells of walls and obstacles [m].")
    stop_s: float = Field(default=60.0, gt=0, description="Simulated time at which it ends [s].")
    speed: float | Literal["max"] = Field(
        default=1.0, description="Simulated seconds per second; 0: one step per key; max: as fast as possible."
    )
    sampling_s: float = Field(default=0.1, gt=0, le=60, description="Sampling time: the control period [s].")
    seed: int = Field(default=0, description="Root of all random numbers.")
    until: Any = Field(
        default=None,
        description="A function of the team as it truly is, called after each step; the run ends when it returns True, "
        "or a text, which becomes out.message.",
    )
    addons: tuple[Any, ...] = Field(
        default=(), description="Add-ons: names, classes, objects, or './file.py:Name'; see covey.addons."
    )
    radio: Any = Field(default=None, description="Range of the radio [m], or radios; None: everybody hears everybody.")
    draw: DrawingSettings = Field(default=DrawingSettings(), description="What pictures and films show.")
    folder: Path | str | None = Field(default=None, description="Folder of the run; None: a temporary one.")


OF_ROBOTS = tuple(name for name in Robots.model_fields if name not in ("name", "count"))
"""Settings of all robots, if a call gives them beside ``robots``."""
KNOWN = frozenset((*LabSettings.model_fields, *OF_ROBOTS))
"""All settings."""


def settings_of(given: Mapping[str, Any]) -> LabSettings:
    """Return the settings that a call and a file give together.

    Args:
        given: fields of `LabSettings`; ``robots`` may be a number, one record or several; fields of `Robots` count for
            all robots that do not set them.

    Raises:
        UnknownNameError: there is no such setting.
        InvalidValueError: a value is not allowed.
    """
    for name in given:
        if name not in KNOWN:
            raise UnknownNameError("setting", name, KNOWN)
    plain = {name: value for name, value in given.items() if name in LabSettings.model_fields}
    common = {name: value for name, value in given.items() if name in OF_ROBOTS}
    plain["robots"] = _robots(plain.get("robots", 1), common)
    for name in ("obstacles", "walls"):
        plain[name] = tuple(_places(name, part) for part in plain.get(name, ()))
    if isinstance(speed := plain.get("speed", 1.0), str) and speed != "max":
        raise InvalidValueError(
            f"speed is {speed!r:.60}; give 'max', a factor such as 1 or 10, or 0 for a key per step"
        )
    if isinstance(plain.get("draw"), Mapping):
        plain["draw"] = _valid(DrawingSettings, dict(plain["draw"]), "draw")
    return _valid(LabSettings, plain, "")


def _places(name: str, part: Any) -> list[list[float]]:
    given: Any = None
    with contextlib.suppress(ValueError, TypeError):
        given = np.asarray(part, float)
    if given is None or given.ndim != 2 or given.shape[1] != 2:
        raise InvalidValueError(
            f"{name} holds {part!r:.60}; give a list of them, each with its places [m], such as "
            f"{name}=[[(2, 2), (4, 2), (4, 4)]]"
        )
    return given.tolist()


def _robots(value: Any, common: dict[str, Any]) -> tuple[Robots, ...]:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer, Mapping, Robots, list, tuple)):
        raise InvalidValueError(
            f"robots is {value!r:.60}; give their number, such as 6, or a list such as [{{'count': 3}}]"
        )
    if isinstance(value, (int, np.integer)):
        if value < 1:
            raise InvalidValueError(f"robots is {value}; a team has at least one")
        value = {"count": int(value)}
    parts = [value] if isinstance(value, (Mapping, Robots)) else list(value)
    found: list[Robots] = []
    for k, part in enumerate(parts):
        own = part.model_dump(exclude_unset=True) if isinstance(part, Robots) else dict(part)
        if "name" not in own and len(parts) > 1:
            own["name"] = f"robot{'abcdefghijklmnopqrstuvwxyz'[k % 26]}"
        if "starts" in own and "count" not in own and isinstance(own["starts"], (list, tuple, np.ndarray)):
            own["count"] = len(own["starts"])
        for sensor in (common | own).get("sensors") or ():
            if isinstance(sensor, type):
                raise InvalidValueError(f"sensors: {sensor.__name__} is a class; write {sensor.__name__}()")
        found.append(_valid(Robots, common | own, "" if len(parts) == 1 else f"robots {k + 1}"))
    return tuple(found)


def _valid(kind: type[R], values: dict[str, Any], place: str) -> R:
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise InvalidValueError(text_of(error, kind, place)) from None
