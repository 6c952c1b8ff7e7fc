"""The events that can happen to a world during a run, as users declare them, and their times.

A key selects the record: ``door``, ``wall``, ``obstacle``, ``remove``, ``restore``, ``place``, ``drive``, ``jam``,
``order``, ``save_ground``, or a change of the ground, such as ``crater``.
"""

import re
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from covey.errors import did_you_mean
from covey.named import ByKey
from covey.planning.orders import Order
from covey.records import Record, given
from covey.registry import Registry
from covey.world.editing.obstacles import Repeat
from covey.world.records.ground_edits import GROUND_EDITS, Bank, Crater, Mound, SetAltitude, ShiftAltitude, Trench
from covey.world.records.walls import Point, SimplePolygon

_TRIGGERS = ("at_s", "at_step", "at_explored", "every_s", "rate_per_min")
Metres = Annotated[float, Field(gt=0, le=100_000)]


class When(Record):
    """When an event happens; by default at once."""

    at_s: float | None = Field(default=None, ge=0, description="When: the first step at or after this time [s].")
    at_step: int | None = Field(default=None, ge=0, description="When: this control step; the first is 0.")
    at_explored: float | None = Field(
        default=None, gt=0, le=1, description="When: the team has explored this share of what can be explored."
    )
    every_s: float | None = Field(default=None, gt=0, description="When: repeatedly, with this period [s].")
    rate_per_min: float | None = Field(
        default=None,
        gt=0,
        le=1e5,
        description="When: at random times (a Poisson process), this many per minute on average.",
    )
    probability: float = Field(default=1.0, gt=0, le=1, description="With every_s: probability each time.")
    max_count: int | None = Field(
        default=None, ge=1, description="With every_s and rate_per_min: largest number of times."
    )

    model_config = Record.model_config | {"populate_by_name": True, "serialize_by_alias": True}

    @model_validator(mode="after")
    def _one_time(self) -> "When":
        given = [name for name in _TRIGGERS if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} are given; choose one of {', '.join(_TRIGGERS)}")
        if self.probability < 1 and self.every_s is None:
            raise ValueError("probability needs every_s: it is tried once in each period")
        if self.max_count is not None and self.every_s is None and self.rate_per_min is None:
            raise ValueError("max_count needs every_s or rate_per_min")
        return self

    def plain(self) -> dict[str, Any]:
        """Return the event as plain data, without its time."""
        data = self.model_dump(mode="json", exclude_none=True)
        return {k: value for k, value in data.items() if k not in When.model_fields and (k, value) != ("name", "")}


events: Registry[type["Event"]] = Registry("event", shelf="covey.events.records")
"""Kinds of events by the key that selects them; packages add theirs under the entry-point group ``covey.event``."""
faults: Registry[Any] = Registry("fault", shelf="covey.events.fault_records")
"""Kinds of faults by name; packages add theirs under the entry-point group ``covey.fault``."""


class Event(When, ByKey):
    """Base of the events. A subclass overrides `apply`, and `problems` if it can be wrong in a world."""

    registry = events
    choices: ClassVar[str] = "an event is one of"
    others: ClassVar[str] = f", with {', '.join(_TRIGGERS[:-1])} or {_TRIGGERS[-1]}"

    def apply(self, at: Any) -> bool | None:
        """Let it happen, see `covey.events.port.Happening`; return False if it could not."""
        raise NotImplementedError(f"{type(self).__name__} lacks apply: write def apply(self, at)")

    def problems(self, world: Any, groups: Any) -> Iterable[tuple[tuple[str, ...], str]]:
        """Return its problems in a world and with a team, each with the keys that lead to it."""
        return ()

    def plain(self) -> dict[str, Any]:
        """Return the event as plain data, without its time."""
        return self.selector | super().plain()


class Nameable(Event):
    """An event with a name, by which another one ends it or takes it back."""

    name: str = Field(default="", max_length=50, description="Name, for `remove` or `restore`.")

    @property
    def thing(self) -> str:
        """What the event adds or changes: a name that it gets begins so; empty: it needs no name."""
        return ""


@events.register("door")
class DoorEvent(Event):
    """A door opens or closes."""

    form: ClassVar[str] = "{door: …, to: open or closed}"

    door: str = Field(min_length=1, description="Name of the door, or any: a random door.")
    to: Literal["open", "closed", "toggle"] = Field(description="open, closed, or toggle.")


class Segment(Record):
    """A straight wall."""

    from_: Point = Field(alias="from", description="x, y of one end [m].")
    to: Point = Field(description="x, y of the other end [m].")
    thickness_m: Metres = Field(default=0.2, description="Thickness [m]. The wall extends half of it beyond both ends.")
    material: str | None = Field(
        default=None, min_length=1, description="Material of the wall; null: that of the cells it fills."
    )

    model_config = When.model_config

    def shape(self) -> Any:
        """Return the wall as a shapely polygon [m]."""
        from covey.world.editing.shapes import wall

        return wall((self.from_, self.to), self.thickness_m)


class Outline(Record):
    """A wall of any shape, for example a rectangle."""

    polygon_m: SimplePolygon = Field(description="Vertices [x, y] [m].")
    material: str | None = Field(
        default=None, min_length=1, description="Material of the wall; null: that of the cells it fills."
    )

    def shape(self) -> Any:
        """Return the wall as a shapely polygon [m]."""
        from covey.world.editing.shapes import polygon

        return polygon(self.polygon_m)


def _wall_kind(value: Any) -> str:
    return "outline" if "polygon_m" in given(value) else "segment"


@events.register("wall")
class WallEvent(Nameable):
    """A wall is added."""

    form: ClassVar[str] = "{wall: {from, to}}"

    wall: Annotated[
        Annotated[Segment, Tag("segment")] | Annotated[Outline, Tag("outline")], Discriminator(_wall_kind)
    ] = Field(description="Wall: {from, to, thickness_m} or {polygon_m}.")

    @property
    def thing(self) -> str:
        return "wall"


class ObstaclePath(Record):
    """The motion of an obstacle along a path: it has a constant speed and waits for robots on its path."""

    path_m: list[Point] = Field(min_length=1, description="Points [x, y] of the path of its centre [m].")
    speed_m_s: float = Field(default=0.5, ge=0, le=100, description="Speed [m/s].")
    gap_m: float = Field(default=0.3, ge=0, le=100, description="Distance at which it stops in front of a robot [m].")
    repeat: Repeat = Field(
        default="back_and_forth",
        description="At the end of the path: loop (on to the first point), back_and_forth, or once.",
    )
    radius_m: Metres | None = Field(default=None, description="Radius of a round obstacle [m].")
    size_m: tuple[Metres, Metres] | None = Field(
        default=None, description="Length along the path and width of a rectangular obstacle [m]."
    )

    @model_validator(mode="after")
    def _one_shape(self) -> "ObstaclePath":
        if (self.radius_m is None) == (self.size_m is None):
            raise ValueError("an obstacle is round or rectangular; give one of radius_m and size_m")
        return self


@events.register("obstacle")
class ObstacleEvent(Nameable):
    """An obstacle appears and moves."""

    form: ClassVar[str] = "{obstacle: {path_m, radius_m}}"

    obstacle: ObstaclePath = Field(description="Shape and motion of the obstacle.")

    @property
    def thing(self) -> str:
        return "obstacle"


class Region(Record):
    """A part of the world."""

    polygon_m: SimplePolygon = Field(description="Vertices [x, y] [m].")


class RoundArea(Record):
    """A round part of the world."""

    centre_m: Point = Field(description="x, y of its centre [m].")
    radius_m: Metres = Field(description="Radius [m].")


@events.register("remove")
class RemoveEvent(Nameable):
    """Walls or an obstacle are removed."""

    form: ClassVar[str] = "{remove: …}"

    remove: str | Region = Field(
        description="Name of an added wall, obstacle or jam, or a region in which the world's own walls are removed."
    )

    @property
    def thing(self) -> str:
        return "" if isinstance(self.remove, str) else "gap"


@events.register("restore")
class RestoreEvent(Event):
    """What an event removed stands again, or a change of the ground is taken back."""

    form: ClassVar[str] = "{restore: NAME}"

    restore: str = Field(
        min_length=1, description="Name of a removed wall or obstacle, of a removal, or of a change of the ground."
    )


@events.register("place")
class PlaceEvent(Event):
    """A robot is carried to a pose, where it stands at rest. Its wheels do not turn, so odometry does not notice.

    A robot that has vanished comes back there, without faults.
    """

    form: ClassVar[str] = "{place: ROBOT, pose}"

    place: str = Field(min_length=1, description="Name of the robot.")
    pose: tuple[float, float, float] = Field(description="x, y [m] and heading [deg].")


@events.register("drive")
class DriveEvent(Event):
    """A robot is driven by hand, or sent to a place, instead of following its controller, which goes on deciding."""

    form: ClassVar[str] = "{drive: ROBOT, twist}"

    drive: str = Field(min_length=1, description="Name of the robot.")
    twist: tuple[float, float] | None = Field(
        default=None, description="Speed [m/s] and turn rate [rad/s]; null: it follows its controller again."
    )
    to: tuple[float, float] | None = Field(
        default=None, description="Place to which it goes, x, y [m], over free ground; it waits there until let go."
    )
    for_s: float | None = Field(
        default=None, gt=0, description="Duration [s]; null: until the next `drive` of this robot."
    )

    @model_validator(mode="after")
    def _for_a_twist(self) -> "DriveEvent":
        if self.twist is None and self.for_s is not None:
            raise ValueError("for_s needs a twist: [speed, turn rate]")
        if self.twist is not None and self.to is not None:
            raise ValueError("give a twist or a place (to), not both")
        return self


def _area_kind(value: Any) -> str:
    return "polygon" if "polygon_m" in given(value) else "disc"


@events.register("jam")
class JamEvent(Nameable):
    """No radio works in an area: robots in it neither send nor hear."""

    form: ClassVar[str] = "{jam: {centre_m, radius_m}}"

    jam: Annotated[Annotated[RoundArea, Tag("disc")] | Annotated[Region, Tag("polygon")], Discriminator(_area_kind)] = (
        Field(description="The area: {centre_m, radius_m} or {polygon_m}.")
    )
    for_s: float | None = Field(default=None, gt=0, description="Duration [s]; null: to the end of the run.")

    @property
    def thing(self) -> str:
        return "jam"


class GroundEvent(Nameable):
    """The ground changes."""

    form: ClassVar[str] = "{crater: {centre_m}} or another change of the ground"

    altitude: SetAltitude | None = Field(default=None, description="Sets the altitude of vertices: {box_m, to_m}.")
    shift: ShiftAltitude | None = Field(default=None, description="Raises or lowers vertices: {polygon_m, by_m}.")
    crater: Crater | None = Field(default=None, description="A bowl: {centre_m, depth_m, radius_m}.")
    mound: Mound | None = Field(default=None, description="A heap of earth: {centre_m, height_m, radius_m}.")
    trench: Trench | None = Field(default=None, description="A ditch: {from, to, width_m, depth_m}.")
    bank: Bank | None = Field(default=None, description="A wall of earth: {from, to, width_m, height_m}.")

    @model_validator(mode="after")
    def _one_change(self) -> "GroundEvent":
        given = [kind for kind in GROUND_EDITS if getattr(self, kind) is not None]
        if len(given) != 1:
            raise ValueError(f"{' and '.join(given)} are given; one event changes the ground in one way")
        return self

    @property
    def change(self) -> tuple[str, Any]:
        """The key of the change, such as ``crater``, and its record."""
        return next((kind, given) for kind in GROUND_EDITS if (given := getattr(self, kind)) is not None)

    @property
    def thing(self) -> str:
        return self.change[0]


for _key in GROUND_EDITS:
    events.register(_key)(GroundEvent)


@events.register("save_ground")
class SaveGroundEvent(Event):
    """The present ground is written into the folder of the run."""

    form: ClassVar[str] = "{save_ground: NAME}"

    save_ground: str = Field(
        description="Name of the file in the folder `grounds` of the run: letters, digits, _ and -, and .npz, "
        ".npy, .png, .pgm, .asc or .tif."
    )

    @field_validator("save_ground")
    @classmethod
    def _plain_name(cls, name: str) -> str:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}\.(npz|npy|png|pgm|asc|tif)", name):
            raise ValueError(
                f"{name!r} cannot be the file name of a ground; use up to 60 letters, digits, _ and -, then .npz, "
                ".npy, .png, .pgm, .asc or .tif, for example after.npz"
            )
        return name


@events.register("order")
class OrderEvent(Event):
    """The team gets a new order: another objective or formation."""

    form: ClassVar[str] = "{order: {objective_m}}"

    order: Order = Field(description="New order on the blackboard: {objective_m, formation, …}.")


@events.register("repair")
class RepairEvent(Event):
    """A robot recovers from a fault before its time is over, or from one that would have lasted to the end."""

    form: ClassVar[str] = "{repair: ROBOT}"

    repair: str = Field(min_length=1, description="Name of the robot.")
    fault: str | None = Field(
        default=None, description="Kind of the fault, of several the newest one; null: all faults of the robot."
    )
    sensor: str | None = Field(default=None, description="With fault: sensor, the sensor as the fault names it.")

    @field_validator("fault")
    @classmethod
    def _is_known(cls, fault: str | None) -> str | None:
        if fault is not None and ".py:" not in fault and fault not in faults.names():
            raise ValueError(f"unknown fault {fault!r}{did_you_mean(fault, faults.names())}")
        return fault
