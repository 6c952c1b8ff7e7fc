"""Formation of a team; None in other missions.

Source: De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. 2007 (the
formations); the measures are Covey's own.
"""

from typing import TYPE_CHECKING

import numpy as np

from covey.results.metrics.registry import metrics, time_to_goal

if TYPE_CHECKING:
    from covey.results.run import Run


def _column(run: "Run", name: str) -> np.ndarray | None:
    return run.series(name) if run.mission["kind"] == "formation" else None


@metrics.register("robots_arrived")
def robots_arrived(run: "Run") -> int | None:
    """Number of robots at a place of the formation, at the end."""
    arrived = _column(run, "robots_arrived")
    return None if arrived is None else int(arrived[-1])


@metrics.register("formation_error_m")
def formation_error_m(run: "Run") -> float | None:
    """Mean distance of the robots from their places, at the end [m]."""
    error = _column(run, "formation_error_m")
    return None if error is None else float(error[-1])


@metrics.register("orders_met")
def orders_met(run: "Run") -> int | None:
    """Number of orders for which all robots that could drive were at their places at some time."""
    met = _column(run, "orders_met")
    return None if met is None else int(met[-1])


@metrics.register("last_order_met_s")
@time_to_goal
def last_order_met_s(run: "Run") -> float | None:
    """Time at which the last order that was met was met [s]."""
    met = _column(run, "orders_met")
    return None if met is None or met[-1] < 1 else float(run.times[int(np.argmax(met == met[-1]))])
