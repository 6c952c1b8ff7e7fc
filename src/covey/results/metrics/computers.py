"""Load of the robots' computers; None if no robot has one.

Source: Z. Yan, L. Fabresse, J. Laval, N. Bouraqadi: Building a ROS-based testbed for realistic multi-robot
simulation: taking the exploration as an example. Robotics 6(3):21, 2017, section 3.
"""

from typing import TYPE_CHECKING

import numpy as np

from covey.results.metrics.registry import metrics

if TYPE_CHECKING:
    from covey.results.run import Run


def _by_robot(run: "Run", name: str) -> list[np.ndarray] | None:
    """Return the samples of a column for each robot that has a computer."""
    if not run.has("computers"):
        return None
    values, first = run.column("computers", name), run.column("computers", "step")
    each = np.flatnonzero(np.diff(first, append=np.inf))[0] + 1  # the robots of one sample follow one another
    return list(values.reshape(-1, each).T)


def _mean(run: "Run", name: str) -> float | None:
    samples = _by_robot(run, name)
    return None if samples is None else float(np.mean([s.mean() for s in samples]))


@metrics.register("robot_cpu_percent")
def robot_cpu_percent(run: "Run") -> float | None:
    """Processor time over that of all processors [%]: mean over robots of the mean over their samples (Yan 2017)."""
    return _mean(run, "cpu_percent")


@metrics.register("robot_ram_percent")
def robot_ram_percent(run: "Run") -> float | None:
    """Used memory over available memory [%]: mean over robots of the mean over their samples (Yan et al. 2017)."""
    return _mean(run, "ram_percent")


@metrics.register("command_delay_s")
def command_delay_s(run: "Run") -> float | None:
    """Mean time from the beginning of a decision to its command, over all decisions of all robots [s]."""
    delays, decisions = _by_robot(run, "delay_s"), _by_robot(run, "decisions")
    if delays is None or decisions is None:
        return None
    weight = np.concatenate(decisions)
    return float((np.nan_to_num(np.concatenate(delays)) * weight).sum() / weight.sum()) if weight.any() else None


@metrics.register("scans_dropped_share")
def scans_dropped_share(run: "Run") -> float | None:
    """Share of the usable scans that came while the computer was busy."""
    used, dropped = _by_robot(run, "scans"), _by_robot(run, "scans_dropped")
    if used is None or dropped is None:
        return None
    lost, all_scans = sum(s.sum() for s in dropped), sum(s.sum() for s in used) + sum(s.sum() for s in dropped)
    return float(lost / all_scans) if all_scans else None
