"""What the tests of floors for rescue share."""

import numpy as np
import pytest
from scipy import ndimage


@pytest.fixture
def all_can_be_seen():
    """Return a function that checks targets: a place that a disc from the origin can reach sees each, over free cells."""

    def check(world, targets, radius):
        labels, _ = ndimage.label(world.free & (world.clearance >= radius), np.ones((3, 3)))
        reached = labels == labels[tuple(world.grid.to_cells([0.0, 1.0]))]
        centres = world.grid.to_world(np.argwhere(reached & (labels > 0)))
        assert len(centres)
        for place in targets.positions[:, :2]:
            nearest = centres[np.argpartition(np.hypot(*(centres - place).T), 50)[:50]]
            ways = place + np.linspace(0, 0.98, 80)[:, None, None] * (nearest - place)[None]
            free = world.free[tuple(np.moveaxis(world.grid.to_cells(ways), -1, 0))]
            assert free.all(axis=0).any()

    return check
