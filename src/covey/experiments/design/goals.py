"""Common parameters of a design: what a goal is for every strategy that goes to frontiers, and how often it chooses."""

from typing import Any, Literal

from pydantic import Field

from covey.errors import CoveyError
from covey.onboard.controller import parameters_of
from covey.records import Record
from covey.robots.parameters import Count, Definition, Metres, Seconds
from covey.scenario.records import RobotGroup, Scenario


class StrategyGoals(Record):
    """Parameters that strategies share: each strategy that has one gets it, unless the design gives it another."""

    replan_s: Seconds | None = Field(
        default=5.0, description="Time between two choices while driving [s]; null: that of each strategy."
    )
    piece_m: Metres | Literal["sensor"] | None = Field(
        default="sensor",
        description="A longer frontier is cut into goals, one per this length [m]; sensor: the range of the robot's "
        "sensor that maps (Faigl, Kulich 2013); null: that of each strategy.",
    )
    min_cells: Count | None = Field(
        default=None, description="Smallest frontier that counts, in cells; null: that of each strategy."
    )
    definition: Definition | None = Field(
        default=None, description="Which cells are frontier cells; null: those of each strategy."
    )
    forget_s: Seconds | None = Field(
        default=None, description="Time after which a silent robot is forgotten [s]; null: that of each strategy."
    )


def with_goals(scenario: Scenario, goals: StrategyGoals | None) -> Scenario:
    """Return a scenario whose controllers have the common parameters, where they have such and do not say otherwise."""
    if goals is None:
        return scenario
    robots = tuple(_given(group, goals) for group in scenario.robots)
    changed = scenario.model_copy(update={"robots": robots})
    changed._folder, changed._document = scenario._folder, scenario._document
    return changed


def _given(group: RobotGroup, goals: StrategyGoals) -> RobotGroup:
    values = goals.model_dump(exclude_none=True)
    if values.get("piece_m") == "sensor":
        values |= {"piece_m": range_m} if (range_m := group.robot.mapping_range_m) else {}
    values = {name: value for name, value in values.items() if value != "sensor"}
    controller, known = group.controller, _names(group.controller.target)
    given = {name: value for name, value in values.items() if name in known and name not in controller.parameters}
    if not given:
        return group
    changed = controller.model_copy(update={"parameters": {**controller.parameters, **given}})
    return group.model_copy(update={"controller": changed})


def _names(target: Any) -> set[str]:
    try:
        return set(parameters_of(target) or {})
    except (CoveyError, TypeError, ValueError):  # code that is not run
        return set()
