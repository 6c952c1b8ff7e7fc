"""Estimate of the time that the runs of a design will take, from two of them."""

import time
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from covey.experiments.design.plan import iteration_seeds, scenarios
from covey.experiments.design.records import Design
from covey.scenario.records import Scenario

PROBE_S = 20.0
"""A probe is stopped after this wall time [s] and extrapolated by the explored share, or else to its timeout."""


@dataclass(frozen=True)
class TrialRun:
    """One trial run.

    Attributes:
        vector: its number.
        values: its parameters.
        robots: size of its team.
        wall_s: wall time of the whole run [s].
        simulated_s: simulated time of the whole run [s].
        status: how it ended; empty if it was stopped and the times are extrapolated.
    """

    vector: int
    values: dict[str, Any]
    robots: int
    wall_s: float
    simulated_s: float
    status: str


@dataclass(frozen=True)
class TimeEstimate:
    """The estimated time of a design.

    Attributes:
        vectors, runs: their numbers.
        probes: runs of the vector with the fewest and of the one with the most robots.
        total_s: wall time of all runs, one at a time [s]; interpolated linearly by the number of robots.
    """

    vectors: int
    runs: int
    probes: tuple[TrialRun, TrialRun]
    total_s: float

    def wall_s(self, jobs: int) -> float:
        """Return the wall time with ``jobs`` runs at a time [s]."""
        return self.total_s / min(jobs, self.runs)


def estimate(design: Design, probe_s: float = PROBE_S) -> TimeEstimate:
    """Run the smallest and the largest vector of a design, and return the estimated time of all its runs.

    Args:
        design: a design.
        probe_s: wall time after which a probe is stopped [s].

    Raises:
        CoveyError: the design is invalid, or the world or the start poses of one of the two vectors.
    """
    found = scenarios(design)
    sizes = [sum(group.count for group in scenario.robots) for _, scenario in found]
    seed = iteration_seeds(design.seed, 1)[0]
    small, large = sizes.index(min(sizes)), len(sizes) - 1 - sizes[::-1].index(max(sizes))
    _warm(found[small][1])
    probes: list[TrialRun] = []
    for number in (small, large):
        vector, scenario = found[number]
        probes.append(_probe(number, vector.values, sizes[number], scenario.replace("seed", seed), probe_s))
    low, high = probes
    slope = (high.wall_s - low.wall_s) / (high.robots - low.robots) if high.robots > low.robots else 0.0
    middle = low.wall_s if slope else (low.wall_s + high.wall_s) / 2
    each = [middle + slope * (size - low.robots) for size in sizes]
    return TimeEstimate(len(found), len(found) * design.iterations, (low, high), design.iterations * sum(each))


def _probe(number: int, values: dict[str, Any], robots: int, scenario: Scenario, probe_s: float) -> TrialRun:
    began = time.perf_counter()
    sim = scenario.build()
    with closing(sim):
        ready = time.perf_counter()
        while not sim.done and time.perf_counter() - ready < probe_s:
            sim.step()
        took, simulated, ended = time.perf_counter() - ready, sim.time, sim.done
    if ended:
        return TrialRun(number, values, robots, time.perf_counter() - began, simulated, sim.status or "")
    share, goal = sim.scoring.exploration.share_union, scenario.stop.explored
    end_s = min(scenario.stop.timeout_s, simulated * goal / share) if goal and share > 0 else scenario.stop.timeout_s
    return TrialRun(number, values, robots, (ready - began) + took * end_s / max(simulated, 1e-9), end_s, "")


def _warm(scenario: Scenario) -> None:
    """Compile or load the code of the runs, so that the probes do not include it."""
    from covey.scenario.build import set_up
    from covey.scenario.warmup import compile_all, is_cold

    set_up(scenario)
    if is_cold():
        compile_all()
    with closing(scenario.build()) as sim:
        for _ in range(50):
            if not sim.done:
                sim.step()
