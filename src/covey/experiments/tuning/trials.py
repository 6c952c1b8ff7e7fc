"""`Tried`: runs settings seed by seed, each in every condition of a design, and stops those that promise nothing."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.experiments.design.plan import plan
from covey.experiments.design.records import Design, Listed, ReportSection
from covey.experiments.design.vectors import key_of
from covey.experiments.run import run_design
from covey.experiments.workers.row import FAILURES, Row
from covey.experiments.workers.rows import read_rows
from covey.results.metrics.registry import is_time_to_goal, is_until_goal, metrics, share_of

_STARTUP = 5
"""Number of finished trials before others are stopped early."""


@dataclass(frozen=True)
class Trial:
    """One setting that was tried.

    Attributes:
        number: from 0.
        values: by dotted path.
        means: mean of the metric over the first seed, the first two, and so on; shape (seeds,).
        is_finished: whether it had all seeds; others were stopped early.
    """

    number: int
    values: Mapping[str, Any]
    means: tuple[float, ...]
    is_finished: bool

    @property
    def value(self) -> float:
        """The mean of the metric over all seeds that it had."""
        return self.means[-1]


class Tried:
    """The trials so far, and how another setting is tried.

    Attributes:
        trials: all that have ended.
    """

    def __init__(
        self,
        design: Design,
        conditions: list[dict[str, Any]],
        metric: str,
        larger: bool,
        folder: Path,
        running: Executor,
    ):
        self.trials: list[Trial] = []
        self.larger = larger
        self._design, self._conditions, self._metric = design, conditions, metric
        self._folder, self._running = folder, running
        self._before = read_rows(folder)
        self._values: dict[str, float] = {}

    @property
    def seed(self) -> int:
        """The seed of everything."""
        return self._design.seed

    @property
    def seeds(self) -> int:
        """Number of seeds of a trial that is not stopped early."""
        return self._design.iterations

    @property
    def stopped(self) -> int:
        """Number of trials that were stopped early."""
        return sum(not one.is_finished for one in self.trials)

    @property
    def best(self) -> Trial | None:
        """The finished trial with the best mean."""
        finished = [one for one in self.trials if one.is_finished]
        return min(finished, key=lambda one: -one.value if self.larger else one.value, default=None)

    def together(self, settings: Sequence[Mapping[str, Any]]) -> list[Trial]:
        """Try settings beside each other, and return their trials; those that promise nothing are stopped early."""
        first = len(self.trials)
        means: list[list[float]] = [[] for _ in settings]
        finished = [one.means for one in self.trials if one.is_finished]
        going = list(range(len(settings)))
        for step in range(self.seeds):
            found = self._run([settings[k] for k in going], step + 1)
            for k, values in zip(going, found, strict=True):
                means[k].append(float(np.mean(values)))
            if step + 1 < self.seeds and len(finished) >= _STARTUP:
                limit = median(one[step] for one in finished)
                going = [k for k in going if not self._is_worse(means[k][-1], limit)]
        made = [
            Trial(first + k, values, tuple(means[k]), len(means[k]) == self.seeds) for k, values in enumerate(settings)
        ]
        self.trials += made
        return made

    def publish(self) -> None:
        """Leave the finished trials as the study of the folder, with its table."""
        settings = [one.values for one in self.trials if one.is_finished]
        run_design(self._of(settings, self.seeds), self._folder, executor=self._running)

    def _number(self, row: Row) -> float:
        return number_of(row, self._metric, larger=self.larger)

    def _is_worse(self, value: float, limit: float) -> bool:
        return value < limit if self.larger else value > limit

    def _run(self, settings: Sequence[Mapping[str, Any]], seeds: int) -> list[list[float]]:
        """Return the metric of each setting with its first seeds, each the mean over the conditions."""
        if not settings:
            return []
        design = self._of(settings, seeds)
        planned = plan(design)
        new = [one.run_id for one in planned if one.run_id not in self._values]
        self._values |= {run_id: self._number(self._before[run_id]) for run_id in new if run_id in self._before.places}
        if any(run_id not in self._values for run_id in new):
            results = run_design(design, self._folder, executor=self._running)
            self._values |= {row["run_id"]: self._number(row) for row in results.rows}
        ends: dict[str, list[list[float]]] = {}
        for one in planned:
            key = key_of({path: one.values[path] for path in settings[0]})
            by_seed = ends.setdefault(key, [[] for _ in range(seeds)])
            by_seed[one.iteration].append(self._values[one.run_id])
        return [[float(np.mean(values)) for values in ends[key_of(dict(one))]] for one in settings]

    def _of(self, settings: Sequence[Mapping[str, Any]], seeds: int) -> Design:
        """Return the design of some settings in all conditions."""
        each = {key_of(dict(one)): one for one in settings}.values()
        rows = tuple({**condition, **one} for one in each for condition in self._conditions)
        return self._design.model_copy(
            update={
                "design": f"{self._design.design} trials",
                "vectors": Listed.model_validate({"list": rows}),
                "iterations": seeds,
                "keep": "rows",
                "measurements": (),
                "report": ReportSection(primary=self._metric if self._metric in metrics.names() else None),
            }
        )


def number_of(row: Row, name: str, *, larger: bool) -> float:
    """Return a metric of a run as a number that can be averaged, infinite on its worse side if the run has no result.

    A time to a goal that was not reached is the timeout.

    Args:
        row: the run.
        name: the metric.
        larger: whether larger values are better.

    Raises:
        InvalidValueError: the metric is not a number, or nothing of the scenario measures it.
    """
    worst = -np.inf if larger else np.inf
    value = row["metrics"].get(name)
    if row["status"] in FAILURES:
        return worst
    if isinstance(value, (dict, list, str)):
        raise InvalidValueError(f"metric {name!r} is not one number of a run: it is {value!r:.60}")
    ends = is_until_goal(name) or is_time_to_goal(name) or share_of(name) is not None
    if value is None and not ends:
        has = [key for key, one in row["metrics"].items() if isinstance(one, (int, float))]
        raise InvalidValueError(
            f"metric {name!r} has no value in this scenario, so nothing can be tuned by it; choose one that has, "
            f"such as {', '.join(has[:8])}"
        )
    if is_time_to_goal(name):
        return float(row["timeout_s"] if value is None else value)
    if value is None or (is_until_goal(name) and row["status"] == "timeout"):
        return worst
    return float(value)
