"""The end of the run, and the machine resources it used."""

from typing import TYPE_CHECKING

import numpy as np

from covey.results.metrics.registry import metrics

if TYPE_CHECKING:
    from covey.results.run import Run


@metrics.register("status")
def status(run: "Run") -> str | None:
    """How the run ended: ``reached``, ``timeout``, ``exhausted``, ``stopped`` or ``failed``."""
    return run.status


@metrics.register("controllers_failed")
def controllers_failed(run: "Run") -> int:
    """Number of robots whose controller failed (exception, invalid command, or no return) and that then stood still."""
    return run.count("controller_failed")


@metrics.register("simulated_time_s")
def simulated_time_s(run: "Run") -> float:
    """Simulated time at the end of the run [s]."""
    return float(run.times[-1])


@metrics.register("wall_time_s")
def wall_time_s(run: "Run") -> float:
    """Wall time from the opening of the run folder to the end of the last step [s]."""
    return _host(run, "wall_time_s")[-1]


@metrics.register("real_time_factor")
def real_time_factor(run: "Run") -> float | None:
    """Simulated time over wall time: 2 = twice as fast as real time."""
    wall = wall_time_s(run)
    return simulated_time_s(run) / wall if wall > 0 else None


@metrics.register("cpu_percent")
def cpu_percent(run: "Run") -> float:
    """User and system processor time of the process over wall time [%], 100 = one core (Yan et al. 2017)."""
    wall, percent = np.array(_host(run, "wall_time_s")), np.array(_host(run, "cpu_percent"))
    return float((np.diff(wall, prepend=0.0) * percent).sum() / wall[-1]) if wall[-1] > 0 else float("nan")


@metrics.register("peak_rss_mib")
def peak_rss_mib(run: "Run") -> float:
    """Largest resident memory of the process among the samples of every 5 s [MiB] (Yan et al. 2017)."""
    return max(_host(run, "rss_mib"))


def _host(run: "Run", name: str) -> list[float]:
    return run.column("host", name).tolist()
