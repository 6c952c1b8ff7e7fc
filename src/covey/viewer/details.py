"""What viewers see of robots beside their poses: estimates, routes, readings, the handle."""

from typing import Any

import numpy as np

from covey.results.snapshot import Snapshot
from covey.runtime.simulation import Simulation


def details_of(
    sim: Simulation, snapshot: Snapshot | None, wanted: set[str], robots: set[int]
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return arrays and plain data for a snapshot.

    Args:
        snapshot: the newest snapshot; None before the first step.
        wanted: names of details.
        robots: the selected robots.
    """
    arrays: dict[str, np.ndarray] = {}
    plain: dict[str, Any] = {}
    if "estimates" in wanted and snapshot is not None:
        arrays["estimate"] = snapshot.estimate.astype(np.float32)
    return arrays, plain
