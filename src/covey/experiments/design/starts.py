"""Whether the robots of a design have places to start, before anything runs: in each vector, with its seeds."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from covey.errors import CoveyError, Problem, ScenarioError
from covey.experiments.design.describe import short
from covey.experiments.design.plan import iteration_seeds, scenarios
from covey.experiments.design.records import Design
from covey.scenario.build import SetUp, check_memory, set_up
from covey.scenario.dump import plain
from covey.scenario.records import Scenario

MOST = 200
"""Worlds that are built for one design; with more vectors than that, one for each."""
_SETS_UP = ("world", "doors", "damage", "targets", "events", "faults", "mission", "robots")
_NAMED = 3  # vectors with one problem; more are counted


class Looked(NamedTuple):
    """What was looked at: the number of vectors, and of the first iterations of each, and of all iterations."""

    vectors: int
    seeds: int
    of: int

    def __str__(self) -> str:
        who = "the vector" if self.vectors == 1 else f"all {self.vectors} vectors"
        which = f"all {self.of}" if self.seeds == self.of else f"the first {self.seeds} of {self.of}"
        return f"the robots of {who} have room to start" + (f" with {which} seeds" if self.of > 1 else "")


@dataclass
class _Place:
    """Vectors that differ in nothing that decides where robots start.

    Attributes:
        scenario: one of them.
        vectors: all of them, in words.
        failed: the problems by iteration.
        first: what the first seed gave.
        varies: whether another seed gives something else.
    """

    scenario: Scenario
    vectors: list[str] = field(default_factory=list)
    failed: dict[int, list[Problem]] = field(default_factory=dict)
    first: SetUp | None = None
    varies: bool = True


def check_starts(design: Design, observer: Callable[[int, int], object] = lambda done, of: None) -> Looked:
    """Build the worlds of each vector and place its robots, with the seeds of as many iterations as `MOST` allows.

    Where the first two seeds give the same world, starts and targets, nothing is drawn, and the others give them, too.

    Args:
        design: a design.
        observer: called with the number of worlds that are done, and with that of all.

    Returns:
        What was looked at.

    Raises:
        ScenarioError: all problems, each with its place in the design, the vectors that have it, and the iterations.
    """
    found = scenarios(design)
    places: dict[str, _Place] = {}
    for number, (vector, scenario) in enumerate(found):
        data = plain(scenario)
        key = json.dumps([data.get(name) for name in _SETS_UP], default=str)
        values = ", ".join(f"{name} {short(value)}" for name, value in vector.values.items())
        said = f"vector {number} ({values})" if values else f"vector {number}"
        places.setdefault(key, _Place(scenario)).vectors.append(said)
    looks = min(design.iterations, max(1, MOST // len(places)))
    seeds, done, of = iteration_seeds(design.seed, looks), 0, looks * len(places)
    for iteration, seed in enumerate(seeds):
        for place in places.values():
            if place.varies:
                _look(place, iteration, seed, design)
            observer(done := done + 1, of)
    told: dict[tuple[Problem, str], list[str]] = {}
    for place in (place for place in places.values() if place.failed):
        for problem in place.failed[min(place.failed)]:
            told.setdefault((problem, _when(place, looks, seeds)), []).extend(place.vectors)
    if told:
        raise ScenarioError([_told(*which, vectors) for which, vectors in told.items()])
    is_all = looks == design.iterations or not any(place.varies for place in places.values())
    return Looked(len(found), design.iterations if is_all else looks, design.iterations)


def _look(place: _Place, iteration: int, seed: int, design: Design) -> None:
    """Set up the scenario of a place with the seed of an iteration."""
    try:
        scenario = place.scenario.replace("seed", seed)
        ready = set_up(scenario)
        if not iteration:
            check_memory(scenario, ready)
            place.first = ready
        elif iteration == 1 and place.first is not None:
            place.varies = not alike(place.first, ready)
    except ScenarioError as error:
        place.failed[iteration] = error.problems
    except CoveyError as error:
        place.failed[iteration] = [design.document.problem(str(error), ("scenario",))]
    if iteration == 1 and place.failed.get(0) == place.failed.get(1) is not None:
        place.varies = False


def alike(one: SetUp, other: SetUp) -> bool:
    """Return whether two seeds gave the same: then nothing is drawn."""
    same = one.world.grid.shape == other.world.grid.shape and np.array_equal(one.world.solid, other.world.solid)
    ground = one.world.ground, other.world.ground
    if ground[0] is not None and ground[1] is not None:
        same = same and np.array_equal(ground[0].altitude, ground[1].altitude)
    poses = all(np.array_equal(a, b) for a, b in zip(one.poses, other.poses, strict=True))
    return same and poses and np.array_equal(one.targets.positions, other.targets.positions)


def _when(place: _Place, looks: int, seeds: Sequence[int]) -> str:
    """Return with which of the seeds that were tried a place fails, in words; empty: whatever the seed is."""
    first, many = min(place.failed), len(place.failed)
    if looks == 1 or not place.varies:
        return ""
    which = f"each of the {looks}" if many == looks else f"{many} of the {looks}"
    return f", with {which} seeds that were tried, first in iteration {first}, seed {seeds[first]}"


def _told(problem: Problem, when: str, vectors: list[str]) -> Problem:
    rest = len(vectors) - _NAMED
    where = ", ".join(vectors[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
    return Problem(f"{problem.message} [{where}{when}]", problem.file, problem.line, problem.column)
