"""A mission as users write it in a file: ``exploration``, ``coverage``, ``{patrolling: {...}}`` and so on."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from covey.missions.formation import Formation
from covey.missions.patrolling import Patrolling
from covey.missions.shares import Coverage, Exploration
from covey.records import Record


class PatrollingMission(Record):
    """Come back to every waypoint as often as possible."""

    patrolling: Patrolling = Field(description="The graph to patrol.")


class FormationMission(Record):
    """Come to an objective and stand around it as ordered."""

    formation: Formation = Field(description="Order that is on the notice board from the start.")


def _form(value: Any) -> str | None:
    if isinstance(value, str):
        return "word"
    keys = value if isinstance(value, dict) else vars(value) if isinstance(value, Record) else ()
    return next((name for name in ("patrolling", "formation") if name in keys), None)


def _spelled_out(value: Any) -> Any:
    return {value.kind: value} if isinstance(value, Patrolling | Formation) else value


MissionRecord = Annotated[
    Annotated[Literal["exploration", "coverage", "patrolling"], Tag("word")]
    | Annotated[PatrollingMission, Tag("patrolling")]
    | Annotated[FormationMission, Tag("formation")],
    Discriminator(
        _form,
        custom_error_type="mission_kind",
        custom_error_message="a mission is exploration, coverage, {patrolling: {...}}, or "
        "{formation: {objective_m: [x, y], formation: hexagon, ...}}",
    ),
    BeforeValidator(_spelled_out),
]
"""Any mission that a scenario can declare."""


def mission_of(record: Any) -> Coverage | Exploration | Patrolling | Formation:
    """Return the mission that a scenario declares."""
    if isinstance(record, PatrollingMission):
        return record.patrolling
    if isinstance(record, FormationMission):
        return record.formation
    return {"exploration": Exploration, "coverage": Coverage, "patrolling": Patrolling}[record]()
