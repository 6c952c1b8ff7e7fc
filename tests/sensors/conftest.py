"""A truth made of a small world and a few discs."""

from collections.abc import Callable

import numpy as np
import pytest

from covey.geometry import Grid
from covey.geometry.raycast import skip_field
from covey.sensors import Truth


def _make_truth(pose, solid=None, resolution=0.1, radius=0.2, origin=(0.0, 0.0, 0.0), discs=None, **changes) -> Truth:
    """Return a truth with robots of one disc (or ``discs`` (k, 3) each) in a world (an empty one by default)."""
    pose = np.array(pose, float).reshape(-1, 3)
    n = len(pose)
    solid = np.zeros((10, 10), bool) if solid is None else solid
    body = np.array([[0.0, 0.0, radius]]) if discs is None else np.array(discs, float)
    fields = {
        "skip": skip_field(solid),
        "frame": Grid(solid, resolution, origin).frame,
        "pose": pose,
        "pose_before": pose.copy(),
        "twist": np.zeros((n, 3)),
        "discs": np.tile(body, (n, 1, 1)),
        "disc_count": np.full(n, len(body)),
        "felt": np.empty((0, 3)),
        "felt_since": (0, 10),
        "identity": np.arange(n),
        "dt_s": 0.1,
    }
    return Truth(**(fields | changes))


@pytest.fixture(scope="session")
def make_truth() -> Callable[..., Truth]:
    """Return the function that makes a truth."""
    return _make_truth
