"""One robot alone: what a strategy does without a team, beside the runs of the team."""

from collections.abc import Sequence
from dataclasses import replace

from covey.errors import ScenarioError
from covey.experiments.design.parameters import Choice
from covey.experiments.design.records import Design
from covey.experiments.design.vectors import Vector, key_of
from covey.scenario.records import Scenario

_PLACE = ("alone",)


def with_alone(design: Design, listed: Sequence[Vector], base: Scenario) -> list[Vector]:
    """Return the vectors of a design that asks for it, and after them each with one robot, which is marked.

    The number of robots is a parameter of all of them, so that tables show it. A vector with one robot that the design
    has itself is not repeated.

    Args:
        design: the design.
        listed: its vectors.
        base: its scenario before any parameter.

    Raises:
        ScenarioError: the scenario has several groups.
    """
    if not design.alone:
        return list(listed)
    if len(base.robots) != 1:
        message = f"alone: the scenario has {len(base.robots)} groups of robots; this is for scenarios with one"
        raise ScenarioError([design.document.problem(message, _PLACE)])
    path, count = f"robots.{base.robots[0].name}.count", base.robots[0].count
    teams = [
        one if path in one.choices else Vector({**one.choices, path: Choice(one.changes.get(path, count), {}, _PLACE)})
        for one in listed
    ]
    known = {key_of(one.values) for one in teams}
    single = {}
    for one in teams:
        twin = replace(one, choices={**one.choices, path: Choice(1, {path: 1}, _PLACE)}, alone=True)
        if key_of(twin.values) not in known:
            single.setdefault(key_of(twin.values), twin)
    return [*teams, *single.values()]
