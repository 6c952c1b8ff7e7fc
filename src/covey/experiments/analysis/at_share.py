"""Comparison at an equal explored share: what every team had driven, sent and mapped when it had seen as much."""

from collections.abc import Sequence
from dataclasses import dataclass

from covey.lazy import pl
from covey.results.labels import label
from covey.results.maps import SHARES
from covey.results.metrics.registry import metric_at

MOST = 0.9
"""Share of the runs that explored the share at which they are compared."""


@dataclass(frozen=True)
class AtShare:
    """A comparison at an equal explored share.

    Attributes:
        percent: the share [%].
        explored: number of runs that explored it.
        runs: number of all runs.
        metrics: the metrics that are compared, columns.
        missing: a sentence about each metric that is not.
    """

    percent: int
    explored: int
    runs: int
    metrics: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def title(self) -> str:
        """Return what is compared, with the number of runs."""
        return f"At {self.percent} % explored ({self.explored} of {self.runs} runs)"

    @property
    def rule(self) -> str:
        """Return why this is compared, and how the share was chosen."""
        chosen = "the largest of 50, 80 and 90 % that at least nine of ten runs explored"
        if self.explored < MOST * self.runs:
            chosen = "the smallest share that is measured; fewer than nine of ten runs explored even that"
        return (
            "Some runs did not reach the goal, so what they would have needed until then is unknown. Here runs are "
            f"compared when the team had explored {self.percent} %: {chosen}. A run that did not explore it counts as "
            "worse than every run that did. Exploratory."
        )


def at_share(table: "pl.DataFrame", shown: Sequence[str], goal: float | None) -> AtShare | None:
    """Return what is compared at an equal explored share; None if all runs reached the goal, or too few explored it.

    The share is the largest of 50, 80 and 90 % below the goal that at least nine of ten runs explored, else 50 % if at
    least half of them did. All runs count together, so the choice favours no strategy.

    Args:
        table: one row per run, as it was measured.
        shown: the metrics of the report; those that grow until the goal are compared, and the time.
        goal: the explored share at which a run ends; None without such a goal.
    """
    if goal is None or (table["status"] == "reached").all():
        return None
    names = {percent: f"t{percent}_s" for percent in SHARES if percent < 100 * goal}
    counts = {p: len(table) - table[name].null_count() for p, name in names.items() if name in table.columns}
    enough = [percent for percent, count in counts.items() if count >= MOST * len(table)]
    percent = max(enough, default=min(counts, default=None))
    if percent is None or counts[percent] < len(table) / 2:
        return None
    found, missing = [], []
    for of in shown:
        name = names[percent] if of == "exploration_time_s" else metric_at(of, percent)
        if name is None or name in shown or of not in table.columns:
            continue
        lacking = _lacking(table, of, name, names[percent])
        if lacking:
            missing.append(
                f"Not compared: {label(name)}, because {lacking} of {len(table)} runs were made before it was "
                "measured. A new run of the design measures it."
            )
        elif table[name].drop_nulls().len():
            found.append(name)
    return AtShare(percent, counts[percent], len(table), tuple(found), tuple(missing)) if found else None


def _lacking(table: "pl.DataFrame", of: str, name: str, time: str) -> int:
    """Return the number of runs that explored the share, have the metric at their end, and lack it at the share."""
    value = pl.col(name).is_null() if name in table.columns else pl.lit(True)
    return len(table.filter(pl.col(time).is_not_null() & pl.col(of).is_not_null() & value)) if name != time else 0
