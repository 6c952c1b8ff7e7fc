"""One view of a whole team whose robots differ, and laws that get it."""

import dataclasses
from collections.abc import Callable, Mapping
from functools import update_wrapper
from typing import Any

import numpy as np

from covey.onboard.controller import Program
from covey.onboard.group_answer import columns_of
from covey.onboard.group_view import GroupFacts, GroupView
from covey.sensors.sensor import Readings


def seen_by_all(law: Callable[..., Any]) -> Callable[..., Any]:
    """Return a law as a group controller that sees everything of everybody."""

    def of_team(team: GroupView, **parameters: Any) -> Any:
        return law(team, **parameters)

    return marked(of_team, law, "group", ("full",))


def of_everybody(program: Program) -> Callable[..., Any]:
    """Return the law of one group as a team controller: it gets one view of the robots of all groups."""
    call = program.bound()

    def of_team(views: Mapping[str, GroupView]) -> dict[str, np.ndarray]:
        parts = list(views.values())
        memory = vars(parts[0].memory)
        if "team" not in memory:
            memory["team"] = GroupView(joined_facts([view.facts for view in parts]))
        team: GroupView = memory["team"]
        fields = [view.fields for view in parts]
        team.at(parts[0].time, _joined(fields))
        rows = columns_of(call, team)
        for _, i, text in team.notes:
            next(view for view in parts if team.names[i] in view.names).note(team.names[i], text)
        if team.finished:
            parts[0].finish()
        ends = np.cumsum([view.count for view in parts])[:-1]
        return dict(zip(views, np.split(rows, ends), strict=True))

    return marked(of_team, program.factory, "team", program.sees or ())


def joined_facts(facts: list[GroupFacts]) -> GroupFacts:
    """Return the facts of several groups together; the model is that of the first."""
    names = tuple(name for one in facts for name in one.names)
    return dataclasses.replace(facts[0], name="team", names=names)


def _joined(fields: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the fields that all groups have, over all robots; of sensors those that are alike.

    The links are left out: a group has only those among its own robots; and the robots of other groups: there are none.
    """
    found: dict[str, Any] = {}
    for name in fields[0]:
        parts = [one[name] for one in fields if name in one]
        if name in ("links", "others") or len(parts) < len(fields) or len({type(part) for part in parts}) > 1:
            continue
        if isinstance(parts[0], Readings):
            joined = _readings(parts)
        else:
            joined = np.concatenate(parts)
        if joined is not None:
            found[name] = joined
    return found


def _readings(parts: list[Readings]) -> Readings | None:
    """Return readings of equal sensors together; None if their arrays differ in width."""
    arrays: dict[str, Any] = {}
    for field in dataclasses.fields(parts[0]):
        if field.name == "truth" or field.name in parts[0].shared:
            continue
        rows = [getattr(part, field.name) for part in parts]
        if len({row.shape[1:] for row in rows}) > 1:
            return None
        arrays[field.name] = np.concatenate(rows)
    return dataclasses.replace(parts[0], **arrays)


def marked(item: Any, law: Any, scope: str, sees: tuple[str, ...]) -> Any:
    """Return ``item`` as a controller that has the name and the place of ``law``."""
    update_wrapper(item, law)
    item.covey_scope, item.covey_sees, item.covey_needs, item.covey_runs = scope, sees, (), ""
    return item
