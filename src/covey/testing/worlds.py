"""Checks of world records."""

from pathlib import Path
from typing import Any

import numpy as np

from covey.world.world import FREE, OPEN, UNKNOWN, WALL


def check_world(record: Any, *, seed: int = 5) -> None:
    """Check a world record: the same seed gives the same world, cells are valid, and a closed border is closed."""
    world, again = (record.build(Path(), seed) for _ in range(2))
    cells = world.grid.cells
    assert np.array_equal(cells, again.grid.cells), (
        f"{record!r} builds different worlds from one seed; use covey.random"
    )
    assert (again.doors, again.halls) == (world.doors, world.halls), (
        f"{record!r} builds different doors or halls from one seed; use covey.random"
    )
    assert (world.materials is None) == (again.materials is None), f"{record!r} builds materials only sometimes"
    if world.materials is not None and again.materials is not None:
        assert np.array_equal(world.materials, again.materials), (
            f"{record!r} builds different materials from one seed; use covey.random"
        )
    assert (world.ground is None) == (again.ground is None), f"{record!r} builds a ground only sometimes"
    if world.ground is not None and again.ground is not None:
        assert np.array_equal(world.ground.altitude, again.ground.altitude), (
            f"{record!r} builds different grounds from one seed; use covey.random"
        )
    for door in world.doors:
        corners = world.grid.to_cells([(door.x0_m, door.y0_m), (door.x1_m, door.y1_m)])
        assert world.grid.inside(corners).all(), f"{door} lies outside the world"
    assert cells.dtype == np.uint8, f"cells are {cells.dtype}; they must be uint8"
    assert np.isin(cells, (FREE, WALL, UNKNOWN, OPEN)).all(), (
        "cells hold other values than FREE, WALL, UNKNOWN and OPEN"
    )
    assert world.free_area_m2 > 0, "there is no free cell for a robot to stand on"
    if world.border == "wall":
        ring = np.concatenate((cells[0], cells[-1], cells[:, 0], cells[:, -1]))
        assert np.isin(ring, (WALL, UNKNOWN)).all(), "the border has holes: the outermost cells must be solid"
