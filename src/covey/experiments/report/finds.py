"""When the runs of a rescue found their targets, from the folders of a study."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from covey.experiments.workers.row import RUNS
from covey.results import statistics
from covey.results.labels import written
from covey.results.metrics.rescue import found_s
from covey.results.run import Run

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Finds:
    """When a run found its targets.

    Attributes:
        times_s: times of the accepted reports by kind [s].
        targets: number of targets by kind.
        until_s: time until which it searched [s]: its end, if its time was up or somebody stopped it, as for times to
            a goal (`covey.results.statistics.sample`); else the end of its time. Its time is the time limit of its
            mission, or its timeout if that is earlier.
    """

    times_s: Mapping[str, Sequence[float]]
    targets: Mapping[str, int]
    until_s: float

    @staticmethod
    def of(run: Run) -> "Finds | None":
        """Return the finds of a run, none if nobody reported; None if it is no rescue, or its reports were not kept."""
        if run.mission["kind"] != "rescue" or (run.reports is None and run.metrics["targets_found"]):
            return None
        targets, timeout_s = run.mission["targets"], run.goal["timeout_s"]
        until_s = min(run.mission["time_limit_s"], math.inf if timeout_s is None else timeout_s)
        if run.status in ("timeout", "stopped", "interrupted"):
            until_s = min(until_s, float(run.times[-1]))
        return Finds({kind: found_s(run, kind) for kind in targets}, targets, until_s)

    def share(self, times: np.ndarray) -> np.ndarray:
        """Return the share of all targets that was found by each time, float64 (t,)."""
        found = np.sort(np.concatenate([np.asarray(times_s, float) for times_s in self.times_s.values()]))
        return np.searchsorted(found, times, "right") / sum(self.targets.values())


def finds(table: "pl.DataFrame", folder: Path, by: Sequence[str]) -> dict[str, list[Finds]]:
    """Return the finds of the runs of a table by setting, the values of the columns ``by``."""
    found = {}
    for key, part in statistics.groups(table, by):
        runs = [one for _, alike in statistics.groups(part, "vector") for one in _of_vector(folder, alike["run_id"])]
        if runs:
            found[", ".join(map(written, key)) if key else "all runs"] = runs
    return found


def _of_vector(folder: Path, ids: Iterable[str]) -> Iterator[Finds]:
    """Yield the finds of the runs of a vector; runs of equal parameters have equal missions."""
    for path in (folder / RUNS / run_id for run_id in ids):
        if (path / "manifest.json").is_file():
            run = Run(path)
            if run.mission["kind"] != "rescue":
                return
            if (one := Finds.of(run)) is not None:
                yield one


def shares(found: Mapping[str, Sequence[Finds]]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return V(t) of all runs by setting, at equal times, for `covey.results.figures.found_curves`."""
    end = max((run.until_s for runs in found.values() for run in runs), default=0.0)
    times = np.linspace(0.0, end, 301)
    return {name: (times, np.array([run.share(times) for run in runs])) for name, runs in found.items()}


def left(found: Mapping[str, Sequence[Finds]], kind: str) -> dict[str, tuple[list[float], list[bool], list[int]]]:
    """Return the targets of a kind by setting, for `covey.results.figures.targets_left`.

    A target that was not found is censored at the end of the search.
    """
    curves = {}
    for name, runs in found.items():
        rows = []
        for k, run in enumerate(runs):
            times = run.times_s.get(kind, ())
            rows += [(time, True, k) for time in times]
            rows += [(run.until_s, False, k)] * (run.targets.get(kind, 0) - len(times))
        if rows:
            curves[name] = tuple(map(list, zip(*rows, strict=True)))
    return curves
