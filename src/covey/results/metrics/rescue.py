"""Targets found, reports and meetings of a rescue; None in other missions.

Sources: course DAT160, Western Norway University of Applied Sciences (the score); M. Kulich, J. J. Miranda-Bront,
L. Preucil: A meta-heuristic based goal-selection strategy for mobile robot search in an unknown environment. Computers
and Operations Research 84, 2017 (the time at which targets are found).
"""

from typing import TYPE_CHECKING

import numpy as np

from covey.results.metrics.registry import metrics, time_to_goal

if TYPE_CHECKING:
    from covey.results.run import Run

COURSE_KINDS = ("victim", "small_fire", "big_fire")
"""The kinds of targets with a metric of their own."""


def _is_rescue(run: "Run") -> bool:
    return run.mission["kind"] == "rescue"


def _last(run: "Run", column: str) -> float | None:
    return float(run.series(column)[-1]) if _is_rescue(run) else None


def found_s(run: "Run", kind: str | None = None) -> list[float]:
    """Return the times of the accepted reports [s], in order; of targets of a kind, or of all."""
    if run.reports is None:
        return []
    rows = run.reports.filter(run.reports["answer"] == "accepted")
    return rows["time_s"].to_list() if kind is None else rows.filter(rows["kind"] == kind)["time_s"].to_list()


def _all_found_s(run: "Run", kind: str | None = None) -> float | None:
    """Return the time at which all targets of a kind, or all, had been found [s]."""
    if not _is_rescue(run):
        return None
    counts = run.mission["targets"]
    there = sum(counts.values()) if kind is None else counts.get(kind, 0)
    times = found_s(run, kind)
    return times[-1] if there and len(times) == there else None


@metrics.register("rescue_score")
def rescue_score(run: "Run") -> float | None:
    """Points for reports and meetings; if all was done, also the bonus for the time that was left.

    A run that ends before, such as when its controllers have ended, scores as if its time had run out.
    """
    is_done = rescue_done_s(run) is not None
    return _last(run, "score" if is_done else "points")


@metrics.register("targets_found")
def targets_found(run: "Run") -> int | None:
    """Number of targets whose report was accepted."""
    found = _last(run, "targets_found")
    return None if found is None else int(found)


@metrics.register("targets_found_share")
def targets_found_share(run: "Run") -> float | None:
    """Share of all targets whose report was accepted."""
    return float(len(found_s(run)) / sum(run.mission["targets"].values())) if _is_rescue(run) else None


@metrics.register("first_target_s")
@time_to_goal
def first_target_s(run: "Run") -> float | None:
    """Time of the first accepted report [s]."""
    return next(iter(found_s(run)), None) if _is_rescue(run) else None


@metrics.register("all_targets_s")
@time_to_goal
def all_targets_s(run: "Run") -> float | None:
    """Time at which all targets had been found [s]."""
    return _all_found_s(run)


@metrics.register("victims_s")
@time_to_goal
def victims_s(run: "Run") -> float | None:
    """Time at which all targets of the kind ``victim`` had been found [s]."""
    return _all_found_s(run, "victim")


@metrics.register("small_fires_s")
@time_to_goal
def small_fires_s(run: "Run") -> float | None:
    """Time at which all targets of the kind ``small_fire`` had been found [s]."""
    return _all_found_s(run, "small_fire")


@metrics.register("big_fires_s")
@time_to_goal
def big_fires_s(run: "Run") -> float | None:
    """Time at which all targets of the kind ``big_fire`` had been found [s]."""
    return _all_found_s(run, "big_fire")


@metrics.register("kind_found_s")
def kind_found_s(run: "Run") -> dict[str, float | None] | None:
    """Time at which all targets of each kind had been found [s]."""
    return {kind: _all_found_s(run, kind) for kind in run.mission["targets"]} if _is_rescue(run) else None


@metrics.register("meeting_s")
@time_to_goal
def meeting_s(run: "Run") -> float | None:
    """Time at which the last of all meetings was held [s]."""
    if not _is_rescue(run) or not run.mission["meetings"]:
        return None
    held = run.series("meetings_held")
    return float(run.times[int(np.argmax(held == held[-1]))]) if held[-1] == run.mission["meetings"] else None


@metrics.register("rescue_done_s")
@time_to_goal
def rescue_done_s(run: "Run") -> float | None:
    """Time at which all targets had been found and all meetings held [s]."""
    found, met = all_targets_s(run), meeting_s(run)
    if found is None or (met is None and run.mission["meetings"]):
        return None
    return found if met is None else max(found, met)


@metrics.register("found_auc")
def found_auc(run: "Run") -> float | None:
    """Area under V(t), the share of targets found by t, from 0 to the time limit, over the time limit."""
    if not _is_rescue(run):
        return None
    limit_s = run.mission["time_limit_s"]
    left = sum(max(limit_s - time_s, 0.0) for time_s in found_s(run))
    return float(left / (limit_s * sum(run.mission["targets"].values())))


@metrics.register("false_reports")
def false_reports(run: "Run") -> int | None:
    """Number of reports with an unknown identity or a wrong place."""
    false = _last(run, "false_reports")
    return None if false is None else int(false)


@metrics.register("refused_reports")
def refused_reports(run: "Run") -> int | None:
    """Number of reports that were not accepted, whatever the reason."""
    refused = _last(run, "refused_reports")
    return None if refused is None else int(refused)


@metrics.register("report_precision")
def report_precision(run: "Run") -> float | None:
    """Accepted reports as a share of the accepted and the false ones."""
    if not _is_rescue(run):
        return None
    found, false = _last(run, "targets_found") or 0.0, _last(run, "false_reports") or 0.0
    return found / (found + false) if found + false else None
