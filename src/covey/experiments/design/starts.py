"""Whether the robots of every vector of a design have a place to start, before anything runs."""

import json
from collections.abc import Callable

from covey.errors import CoveyError, Problem, ScenarioError
from covey.experiments.design.describe import short
from covey.experiments.design.plan import iteration_seeds, scenarios
from covey.experiments.design.records import Design
from covey.scenario.build import check_memory, set_up
from covey.scenario.dump import plain
from covey.scenario.records import Scenario

_SETS_UP = ("world", "doors", "damage", "targets", "events", "faults", "mission", "robots")
_NAMED = 3  # vectors with one problem; more are counted


def check_starts(design: Design, observer: Callable[[int, int], object] = lambda done, of: None) -> int:
    """Build the world of each vector and place its robots, with the seed of the first iteration.

    Args:
        design: a design.
        observer: called with the number of vectors that are done, and with that of all.

    Returns:
        The number of vectors.

    Raises:
        ScenarioError: all problems, each with its place in the design and the vectors that have it.
    """
    seed = iteration_seeds(design.seed, 1)[0]
    found = scenarios(design)
    known: dict[str, list[Problem]] = {}
    vectors: dict[Problem, list[str]] = {}
    for number, (vector, scenario) in enumerate(found):
        data = plain(scenario)
        key = json.dumps([data.get(name) for name in _SETS_UP], default=str)
        if key not in known:
            known[key] = _problems(scenario.replace("seed", seed), design)
        values = ", ".join(f"{name} {short(value)}" for name, value in vector.values.items())
        for problem in known[key]:
            vectors.setdefault(problem, []).append(f"vector {number} ({values})" if values else f"vector {number}")
        observer(number + 1, len(found))
    if vectors:
        raise ScenarioError([_told(problem, names) for problem, names in vectors.items()])
    return len(found)


def _problems(scenario: Scenario, design: Design) -> list[Problem]:
    try:
        check_memory(scenario, set_up(scenario))
    except ScenarioError as error:
        return error.problems
    except CoveyError as error:
        return [design.document.problem(str(error), ("scenario",))]
    return []


def _told(problem: Problem, vectors: list[str]) -> Problem:
    rest = len(vectors) - _NAMED
    where = ", ".join(vectors[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
    return Problem(f"{problem.message} [{where}]", problem.file, problem.line, problem.column)
