"""What an event says, as data by kind, and the text for people, which is made from it.

Programs read the data: `Run.events_of`, the column ``data`` of ``events.parquet``, ``data`` of an event on the page.
Only people read the text: it may be worded anew at any time.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

EVENT_KINDS = (
    *(
        "collision",
        "left_world",
        "controller_failed",
        "fault",
        "recovered",
        "mission",
        "goal",
        "note",
        "tag_left",
    ),
    *("door_opened", "door_closed", "door_waits", "wall_added", "wall_removed"),
    *("obstacle_added", "obstacle_removed", "obstacle_waits", "refused", "input", "order"),
    *("ground_changed", "ground_saved", "change_noticed", "stuck", "freed", "fell", "rolled", "righted"),
    *("maps_aligned", "placed", "driven", "drive_over", "jam", "jam_over", "sighted"),
    *("gave_up", "stands", "stands_over", "frontier_left", "exhausted", "sensor_silent", "sensor_heard"),
    "odometry_contradicted",
)


@dataclass(frozen=True)
class Data(ABC):
    """What an event says; see the classes below, one for each thing that is said."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The same in words."""

    def plain(self) -> dict[str, Any]:
        """The same as plain data; what is None is left out."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Sighted(Data):
    """A camera first reads a marker (``sighted``).

    Attributes:
        target: kind of the target.
        is_true: whether it is there; else the reading is a false alarm.
    """

    target: str
    is_true: bool

    @property
    def text(self) -> str:
        """The kind of target."""
        return self.target if self.is_true else f"false alarm: {self.target}"


@dataclass(frozen=True)
class Reported(Data):
    """A robot reports a target (``mission``).

    Attributes:
        reported: identity of the target.
        x_m, y_m: the reported place in the world frame [m].
        answer: of the referee, see `covey.missions.Judgement`.
    """

    reported: int
    x_m: float
    y_m: float
    answer: str

    @property
    def text(self) -> str:
        """Identity, place and answer."""
        return f"reports target {self.reported} at ({self.x_m:.1f}, {self.y_m:.1f}): {self.answer}"


@dataclass(frozen=True)
class Met(Data):
    """The last robot of a meeting has come (``mission``).

    Attributes:
        meeting: identity of the target at which they meet.
        target: its kind.
    """

    meeting: Hashable
    target: str

    @property
    def text(self) -> str:
        """Kind and identity of the target."""
        return f"completes the meeting at {self.target} {self.meeting}"


@dataclass(frozen=True)
class Settings(Data):
    """What was asked for, or what a fault does: the fields of its record by name (``input``, ``fault``)."""

    fields: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The names and values of the fields; a fault's kind and robot are columns of their own."""
        return ", ".join(f"{name} {value}" for name, value in self.fields.items() if name not in ("kind", "robot"))

    def plain(self) -> dict[str, Any]:
        """The fields."""
        return dict(self.fields)


@dataclass(frozen=True)
class Ordered(Data):
    """The team has an order (``order``): all fields of `covey.planning.orders.Order` by name."""

    order: Mapping[str, Any]

    @property
    def text(self) -> str:
        """Formation and mode."""
        return f"{self.order['formation']}, {self.order['mode']}"

    def plain(self) -> dict[str, Any]:
        """The fields of the order."""
        return dict(self.order)


@dataclass(frozen=True)
class Placed(Data):
    """A robot was carried (``placed``).

    Attributes:
        before: its pose before, x, y [m] and heading [deg] in the world frame.
    """

    before: Sequence[float]

    @property
    def text(self) -> str:
        """From where."""
        x, y, heading = self.before
        return f"from ({x:g}, {y:g}), {heading:g} deg"


@dataclass(frozen=True)
class Driven(Data):
    """A robot is driven by hand or sent to a place, or is there (``driven``).

    Attributes:
        twist: forward speed [m/s] and turn rate [rad/s]; None: it is sent.
        goal_m: the place in the world frame, x, y [m]; None: it is driven.
        is_there: whether it has arrived; None: it is driven.
    """

    twist: Sequence[float] | None = None
    goal_m: Sequence[float] | None = None
    is_there: bool | None = None

    @property
    def text(self) -> str:
        """The twist, or where it goes or is."""
        if self.twist is not None:
            return f"{self.twist[0]:g} m/s, {self.twist[1]:g} rad/s"
        assert self.goal_m is not None
        return f"{'is at' if self.is_there else 'goes to'} ({self.goal_m[0]:g}, {self.goal_m[1]:g})"


@dataclass(frozen=True)
class Jammed(Data):
    """An area without radio (``jam``): a polygon, or a disc.

    Attributes:
        polygon_m: its corners x, y [m].
        centre_m, radius_m: centre x, y and radius [m] of a disc.
    """

    polygon_m: Sequence[tuple[float, float]] | None = None
    centre_m: tuple[float, float] | None = None
    radius_m: float | None = None

    @property
    def text(self) -> str:
        """The area."""
        if self.polygon_m is not None:
            return f"in a polygon of {len(self.polygon_m)} corners"
        assert self.centre_m is not None
        return f"{self.radius_m:g} m around ({self.centre_m[0]:g}, {self.centre_m[1]:g})"


@dataclass(frozen=True)
class Aligned(Data):
    """A robot has searched for the frame of another one (``maps_aligned``).

    Attributes:
        verdict: ``accepted``, ``revised``, ``refused`` or ``withdrawn``.
        dx_m, dy_m, heading_deg: the pose of the other's frame in its own; None: not known.
        confidence: 0 to 1; None: not known.
        error_m, error_deg: distance of that pose from the true one; None: there is none.
        refused: why it was refused; None: it was not.
    """

    verdict: str
    dx_m: float | None = None
    dy_m: float | None = None
    heading_deg: float | None = None
    confidence: float | None = None
    error_m: float | None = None
    error_deg: float | None = None
    refused: str | None = None

    @property
    def text(self) -> str:
        """The verdict, each number as ``name=number``, and after a semicolon the reason for a refusal."""
        numbers = " ".join(f"{k}={v:.4f}" for k, v in self.plain().items() if not isinstance(v, str))
        return f"{self.verdict} {numbers}".strip() + (f"; {self.refused}" if self.refused else "")


@dataclass(frozen=True)
class OdometryContradicted(Data):
    """The scans of a robot contradict its odometry, step after step (``odometry_contradicted``).

    Attributes:
        share: share of the odometry's way that the robot did not drive; below 0: it drove farther.
        way_m: how far the odometry went until this was noticed [m].
    """

    share: float
    way_m: float

    @property
    def text(self) -> str:
        """How much farther or less far the robot drove."""
        less = "less far" if self.share > 0 else "farther"
        return f"it drove {abs(self.share):.0%} {less} than its odometry says, on {self.way_m:.1f} m"


def said(what: str | Data) -> tuple[str, dict[str, Any]]:
    """Return the text and the data of an event that says something in words only, or with data.

    Examples:
        >>> said("waits"), said(Sighted("victim", is_true=False))
        (('waits', {}), ('false alarm: victim', {'target': 'victim', 'is_true': False}))
    """
    return (what, {}) if isinstance(what, str) else (what.text, what.plain())
