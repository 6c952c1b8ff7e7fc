"""When each cell was first covered, from recorded poses."""

from collections.abc import Sequence

import numpy as np

from covey.geometry.grid import Grid
from covey.kernel import kernel
from covey.world.visibility.covered import cover, no_words


def first_covered(
    place: Grid, poses: np.ndarray, steps: np.ndarray, discs: Sequence[Sequence[Sequence[float]]]
) -> np.ndarray:
    """Return the step in which a body was first over each cell, int32 (rows, columns); -1: never.

    It is as exact as the recorded poses: with a pose of every step it has the cells of ``last_covered``.

    Args:
        place: where the cells are.
        poses: x, y [m], heading [rad] at the start and at each recorded step, (k + 1, n, 3).
        steps: the recorded steps, (k,).
        discs: x, y, radius [m] of the discs of each robot.
    """
    each = np.zeros((len(discs), max(map(len, discs)), 3))
    for i, some in enumerate(discs):
        each[i, : len(some)] = some
    first = np.full(place.shape, -1, np.int32)
    goal = np.zeros(place.shape, np.bool_)
    words = np.zeros((len(discs), -(-place.shape[1] // 32), place.shape[0]), np.uint32)
    _cover_backwards(poses, steps, each, np.array(place.frame), goal, first, words, no_words(len(discs)))
    return first


@kernel
def _cover_backwards(poses, steps, discs, frame, goal, first, each, recent):
    """Cover cells from the last step to the first: what is written last is the first step."""
    for k in range(len(steps) - 1, -1, -1):
        cover(poses[k], poses[k + 1], discs, frame, goal, first, each, recent, steps[k])
