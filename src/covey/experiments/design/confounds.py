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
from covey.onboard.controller import parameters_of
from covey.scenario.build import set_up

ONLY_NOISE = (
    "a seed changes only noise and chance during the run: all iterations of a vector have the same world and start at "
    "the same poses, so they say nothing about other starts. Let the teams start at random "
    "({together: {around: random}}, {apart: {}}), or leave out the seed of a generated world"
)


def changes_only_noise(design: Design) -> bool:
    """Return whether the seeds of the first two iterations give the same world, starts and targets."""
    if design.iterations < 2:
        return False
    try:
        _, scenario = scenarios(design)[0]
        one, other = (set_up(scenario.replace("seed", seed)) for seed in iteration_seeds(design.seed, 2))
    except (CoveyError, OSError):  # a file is no longer there
        return False
    return alike(one, other)


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
            yield f"{parameter} differs together with the controller ({said})"


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
