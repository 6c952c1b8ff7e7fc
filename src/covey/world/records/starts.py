"""Starts of robots as users declare them: one record per kind, selected by its key."""

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Discriminator, Field, Tag

from covey.named import ByKey
from covey.records import Record
from covey.registry import Registry

Point = tuple[float, float]


starts: Registry[type["StartRecord"]] = Registry("start", shelf="covey.world.records.starts")
"""Kinds of starts by the key that selects them; packages add theirs under the entry-point group ``covey.start``."""


class StartRecord(ByKey):
    """Base of the starts. A subclass from elsewhere overrides `poses`."""

    registry = starts
    choices: ClassVar[str] = "a start is a list of [x, y, heading_deg], or one of"

    def poses(self, world: Any, radii: np.ndarray, random: np.random.Generator) -> Any:
        """Return where the robots are to start, (n, 3): x, y [m], heading [deg]; whether they fit is checked later.

        Args:
            world: the truth, a `covey.world.world.World`.
            radii: of the bodies [m], (n,).
            random: its random numbers, the same in every run with this seed.
        """
        raise NotImplementedError(f"{type(self).__name__} lacks poses: write def poses(self, world, radii, random)")


class Line(Record):
    """A row of poses."""

    from_: Point = Field(alias="from", description="x, y of the first robot [m].")
    step: Point = Field(description="x, y of the step from each robot to the next [m].")
    heading_deg: float = Field(default=0.0, description="Heading of all robots [deg], 0 is east, counter-clockwise.")

    model_config = Record.model_config | {"populate_by_name": True, "serialize_by_alias": True}


@starts.register("line")
class LineStart(StartRecord):
    """Robots in a row."""

    form: ClassVar[str] = "{line: {from, step}}"
    line: Line = Field(description="A row of robots.")

    def poses(self, world: Any, radii: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Return the row, see `StartRecord.poses`."""
        line, n = self.line, len(radii)
        steps = np.arange(n)[:, None] * np.array(line.step)
        return np.column_stack((np.array(line.from_) + steps, np.full(n, line.heading_deg)))


class Together(Record):
    """A flock around a point."""

    around: Point | Literal["random"] | None = Field(
        default=None, description="x, y [m], or random: anywhere; null: the most open place of the world."
    )
    gap_m: float = Field(default=0.1, ge=0, le=100, description="Free space between two robots [m].")
    heading_deg: float = Field(default=0.0, description="Heading of all robots [deg], 0 is east, counter-clockwise.")


@starts.register("together")
class TogetherStart(StartRecord):
    """Robots side by side, filling the free cells around a point outwards."""

    form: ClassVar[str] = "{together: {around}}"
    together: Together = Field(description="Robots side by side.")


@starts.register("room")
class RoomStart(StartRecord):
    """Robots side by side in a room."""

    form: ClassVar[str] = "{room: largest}"
    room: Annotated[str, Field(pattern="^largest$")] = Field(description="The room: largest.")
    order: Literal["outwards", "x_then_y"] = Field(
        default="outwards",
        description="outwards from its most open place, or x_then_y: from its west side, northwards.",
    )
    gap_m: float = Field(default=0.1, ge=0, le=100, description="Free space between two robots [m].")
    heading_deg: float = Field(default=0.0, description="Heading of all robots [deg], 0 is east, counter-clockwise.")


class Spread(Record):
    """Far from each other."""

    gap_m: float = Field(default=0.1, ge=0, le=100, description="Free space between two robots [m].")
    heading_deg: float | None = Field(default=None, description="Heading of all robots [deg]; null: random headings.")


@starts.register("spread")
class SpreadStart(StartRecord):
    """Robots as far from each other as the world allows, from a random first one."""

    form: ClassVar[str] = "{spread: {}}"
    spread: Spread = Field(description="Robots as far apart as possible.")


class Apart(Record):
    """Anywhere."""

    gap_m: float = Field(default=0.1, ge=0, le=100, description="Smallest free space between two robots [m].")
    heading_deg: float | None = Field(default=None, description="Heading of all robots [deg]; null: random headings.")


@starts.register("apart")
class ApartStart(StartRecord):
    """Robots at random places, each as likely as any other."""

    form: ClassVar[str] = "{apart: {}}"
    apart: Apart = Field(description="The places.")


class HallwayEnds(Record):
    """Where halls end."""

    gap_m: float = Field(default=0.1, ge=0, le=100, description="Free space between two robots [m].")
    heading_deg: float = Field(default=0.0, description="Heading of all robots [deg], 0 is east, counter-clockwise.")


@starts.register("hallway_ends")
class HallwayEndsStart(StartRecord):
    """Robots in the halls of a generated building, those places first that are nearest to the edge of the world."""

    form: ClassVar[str] = "{hallway_ends: {}}"
    hallway_ends: HallwayEnds = Field(description="The places.")


Poses = list[tuple[float, float, float]]


def _kind(value: Any) -> str:
    return "poses" if isinstance(value, list | tuple) else "start of a kind"


Start = Annotated[
    Annotated[Poses, Tag("poses")] | Annotated[StartRecord, Tag("start of a kind")],
    Discriminator(_kind),
]
"""Any start that a scenario can declare."""
