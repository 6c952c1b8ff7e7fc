"""Idleness of waypoints; None in other missions.

Sources: A. Machado, G. Ramalho, J.-D. Zucker, A. Drogoul: Multi-agent patrolling: an empirical analysis of alternative
architectures. MABS 2002 (instantaneous, average and worst idleness). MAEPS 2025 (graph idleness, cycles).
"""

from typing import TYPE_CHECKING

import numpy as np

from covey.results.metrics.registry import metrics

if TYPE_CHECKING:
    from covey.results.run import Run


def _column(run: "Run", name: str) -> np.ndarray | None:
    return run.series(name) if run.mission["kind"] == "patrolling" else None


@metrics.register("average_graph_idleness_s")
def average_graph_idleness_s(run: "Run") -> float | None:
    """Mean over time of the graph idleness, the mean over the waypoints of (now - last visit) [s]."""
    idle = _column(run, "graph_idleness_s")
    return None if idle is None else float(idle.mean())


@metrics.register("settled_graph_idleness_s")
def settled_graph_idleness_s(run: "Run") -> float | None:
    """Mean of the graph idleness over the second half of the run [s], when the team has spread out."""
    idle = _column(run, "graph_idleness_s")
    return None if idle is None else float(idle[len(idle) // 2 :].mean())


@metrics.register("worst_graph_idleness_s")
def worst_graph_idleness_s(run: "Run") -> float | None:
    """Maximum over time and waypoints of (now - last visit) [s]."""
    idle = _column(run, "worst_graph_idleness_s")
    return None if idle is None else float(idle.max())


@metrics.register("completed_cycles")
def completed_cycles(run: "Run") -> int | None:
    """Number of visits of the least visited waypoint."""
    cycles = _column(run, "completed_cycles")
    return None if cycles is None else int(cycles[-1])


@metrics.register("waypoint_visits")
def waypoint_visits(run: "Run") -> int | None:
    """Number of visits of all waypoints together."""
    visits = _column(run, "visits")
    return None if visits is None else int(visits[-1])
