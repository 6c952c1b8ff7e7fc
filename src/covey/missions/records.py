"""A mission as users write it in a file: ``exploration``, ``coverage``, or ``{patrolling: {...}}``."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from covey.missions.patrolling import Patrolling
from covey.missions.shares import Coverage, Exploration
from covey.records import Record


class PatrollingMission(Record):
    """Come back to every waypoint as often as possible."""

    patrolling: Patrolling = Field(default=Patrolling(), description="The graph to patrol.")


def _form(value: Any) -> str | None:
    if isinstance(value, str):
        return "word"
    keys = value if isinstance(value, dict) else vars(value) if isinstance(value, Record) else ()
    return "patrolling" if "patrolling" in keys else None


def _spelled_out(value: Any) -> Any:
    return {"patrolling": value} if isinstance(value, Patrolling) else value


MissionRecord = Annotated[
    Annotated[Literal["exploration", "coverage", "patrolling"], Tag("word")]
    | Annotated[PatrollingMission, Tag("patrolling")],
    Discriminator(
        _form,
        custom_error_type="mission_kind",
        custom_error_message="a mission is exploration, coverage, or {patrolling: {...}}",
    ),
    BeforeValidator(_spelled_out),
]
"""Any mission that a scenario can declare."""


def mission_of(record: Any) -> Coverage | Exploration | Patrolling:
    """Return the mission that a scenario declares."""
    if isinstance(record, PatrollingMission):
        return record.patrolling
    return {"exploration": Exploration, "coverage": Coverage, "patrolling": Patrolling}[record]()
