"""Resources of controllers in processes of their own. Every metric is None without such processes.

Source: Z. Yan, L. Fabresse, J. Laval, N. Bouraqadi: Building a ROS-based testbed for realistic multi-robot simulation.
Robotics 6(3), 2017, section 3.2: each is sampled every 5 s, averaged for each robot, and then over the robots.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from covey.results.metrics.registry import metrics
from covey.results.processes import HOST, TRAFFIC

if TYPE_CHECKING:
    from covey.results.run import Run

_MEANS = {
    "controller_cpu_percent": ("cpu_percent", "Processor time over wall time [%], 100 = one processor."),
    "controller_ram_percent": ("ram_percent", "Memory over that of the robot's computer, or else of the machine [%]."),
    "controller_rss_mib": ("rss_mib", "Resident memory of the process [MiB]."),
    "controller_kbytes_received": ("kbytes_received", "Data received from the simulator [KB/s]."),
    "controller_kbytes_sent": ("kbytes_sent", "Data sent to the simulator [KB/s]."),
}
_SUMS = {
    "missed_deadlines": "Steps that ended without a command, summed over all controllers.",
    "late_commands": "Commands that came after their step.",
    "dropped_readings": "Readings that controllers did not get because they were busy.",
}


def _mean_of(column: str, text: str) -> Callable[["Run"], float | None]:
    def mean(run: "Run") -> float | None:
        if not run.has(HOST):
            return None
        robots, values = run.process_host["robot"].to_numpy(), run.process_host[column].to_numpy()
        return float(np.mean([values[robots == robot].mean() for robot in sorted(set(robots))]))

    mean.__doc__ = f"{text} Mean over the samples of each robot, and of these over the robots (Yan et al. 2017)."
    return mean


def _sum_of(column: str, text: str) -> Callable[["Run"], int | None]:
    def total(run: "Run") -> int | None:
        if not run.has(HOST):
            return None
        robots, values = run.process_host["robot"].to_numpy(), run.process_host[column].to_numpy()
        return int(sum(values[robots == robot].max() for robot in sorted(set(robots))))

    total.__doc__ = f"{text} Zero in lock-step."
    return total


for _name, (_column, _text) in _MEANS.items():
    metrics.register(_name)(_mean_of(_column, _text))
for _name, _text in _SUMS.items():
    metrics.register(_name)(_sum_of(_name, _text))


@metrics.register("controller_bytes_by_traffic")
def controller_bytes_by_traffic(run: "Run") -> dict[str, int] | None:
    """Bytes from and to controllers, by the other end: simulator, monitor, controllers (Yan 2017)."""
    if not run.has(TRAFFIC):
        return None
    last: dict[tuple[str, str], dict[str, Any]] = {}
    for row in run.process_traffic.iter_rows(named=True):
        last[row["robot"], row["traffic"]] = row
    total: dict[str, int] = {}
    for (_, traffic), row in last.items():
        total[traffic] = total.get(traffic, 0) + row["bytes_to_controller"] + row["bytes_from_controller"]
    return total
