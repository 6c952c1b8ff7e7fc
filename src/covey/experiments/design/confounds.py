"""What else differs, or does not, in a design: what a seed changes, and parameters that controllers share unequally."""

from collections.abc import Iterator
from typing import Any

from covey.comms.radio import radios_of
from covey.errors import CoveyError
from covey.events.checks import deaf
from covey.experiments.design.describe import short
from covey.experiments.design.plan import iteration_seeds, scenarios
from covey.experiments.design.records import Design
from covey.experiments.design.starts import alike
from covey.experiments.design.vectors import Vector
from covey.onboard.controller import parameters_of
from covey.scenario.build import set_up
from covey.scenario.records import Scenario

_ONLY_NOISE = (
    "a seed changes only noise and chance during the run: all iterations of a vector have the same world and start at "
    "the same poses, so they say nothing about other starts. Let the teams start at random "
    "({together: {around: random}}, {apart: {}}), or leave out the seed of a generated world"
)
_MOST_PLACES = 8
"""Places that are looked at, each built twice."""


def only_noise(design: Design) -> str:
    """Return a sentence if seeds change neither world nor starts nor targets, in all places or in some; else nothing.

    The first two iterations are compared, in up to eight places: worlds and starts that differ by the parameters.
    """
    if design.iterations < 2:
        return ""
    try:
        found = scenarios(design)
    except (CoveyError, OSError):  # a file is no longer there
        return ""
    places: dict[str, tuple[Vector, Scenario]] = {}
    for vector, one in found:
        parts = (one.world, one.damage, one.doors, one.targets, [group.start for group in one.robots])
        places.setdefault(repr(parts), (vector, one))
    looked = list(places.values())[:_MOST_PLACES]
    fixed = [vector for vector, one in looked if _is_fixed(one, design)]
    if len(fixed) in (0, len(looked)):
        return _ONLY_NOISE if fixed else ""
    values = ", ".join(f"{name} {short(value)}" for name, value in fixed[0].values.items())
    return f"in {len(fixed)} of {len(looked)} places, first with {values}, {_ONLY_NOISE}"


def _is_fixed(scenario: Scenario, design: Design) -> bool:
    try:
        return alike(*(set_up(scenario.replace("seed", seed)) for seed in iteration_seeds(design.seed, 2)))
    except (CoveyError, OSError):  # a file is no longer there
        return False


def unequal_parameters(design: Design) -> Iterator[str]:
    """Yield a sentence about each parameter that several controllers of a design have, but with different values.

    Such a parameter differs together with the controller, so the runs cannot tell which of the two made the difference.
    """
    values: dict[str, dict[str, list[str]]] = {}
    seen: set[tuple[str, str]] = set()
    for _, scenario in scenarios(design):
        for group in scenario.robots:
            controller = group.controller
            name = controller.reference or getattr(controller.target, "__name__", "a controller")
            if (key := (name, repr(controller.parameters))) in seen:
                continue
            seen.add(key)
            for parameter, default in _defaults(controller.target).items():
                value = short(controller.parameters.get(parameter, default))
                values.setdefault(parameter, {}).setdefault(value, []).append(name)
    for parameter, by_value in values.items():
        names = {name for those in by_value.values() for name in those}
        if len(by_value) > 1 and len(names) > 1:
            said = "; ".join(f"{value}: {', '.join(dict.fromkeys(those))}" for value, those in by_value.items())
            hint = "; write goals: {}" if design.goals is None and parameter in ("replan_s", "piece_m") else ""
            yield f"{parameter} differs together with the controller ({said}){hint}"


def without_one_alone(design: Design) -> Iterator[str]:
    """Yield a sentence if a design compares controllers of teams and never runs one robot alone."""
    found = [scenario for _, scenario in scenarios(design)]
    names = {group.controller.reference for scenario in found for group in scenario.robots}
    is_of_teams = all(len(one.robots) == 1 and one.robots[0].count > 1 for one in found)
    if len(names) > 1 and is_of_teams and {one.mission.kind for one in found} == {"exploration"}:
        yield (
            "no run has one robot alone, so the runs cannot tell how well robots share the work from how well each one "
            "chooses; write alone: true"
        )


def deaf_controllers(design: Design) -> Iterator[str]:
    """Yield a sentence about each controller that believes robots hear each other farther than their radio reaches."""
    found = (deaf([g.controller.program for g in one.robots], radios_of(one.radio)) for _, one in scenarios(design))
    yield from dict.fromkeys(filter(None, found))


def _defaults(target: Any) -> dict[str, object]:
    try:
        known = parameters_of(target) or {}
    except (CoveyError, TypeError, ValueError):
        return {}
    return {name: one.default for name, one in known.items() if one.default is not one.empty}
