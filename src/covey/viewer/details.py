"""What viewers see of robots beside their poses: estimates, routes, readings, the handle."""

from typing import Any

import numpy as np

from covey.results.frame import Frame
from covey.runtime.simulation import Simulation


def details_of(
    sim: Simulation, frame: Frame | None, wanted: set[str], robots: set[int]
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return arrays and plain data for a frame.

    Args:
        frame: the newest frame; None before the first step.
        wanted: names of details.
        robots: the selected robots.
    """
    arrays: dict[str, np.ndarray] = {}
    plain: dict[str, Any] = {}
    if "estimates" in wanted and frame is not None:
        arrays["estimate"] = frame.estimate.astype(np.float32)
    return arrays, plain
