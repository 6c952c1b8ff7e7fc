import numpy as np
from tests.references.planning import flood_reference

from covey.planning.flood import flood, nearest_by_steps


def test_the_kernel_finds_what_the_reference_finds():
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(60):
        passable, target = rng.random((9, 13)) < 0.65, rng.random((9, 13)) < 0.04
        row, column = int(rng.integers(9)), int(rng.integers(13))
        hit = flood(passable.view(np.uint8), row, column, target.view(np.uint8))
        assert hit == flood_reference(passable, row, column, target)
        found += hit >= 0
    assert 10 < found < 60


def test_steps_count_not_the_bee_line():
    passable = np.ones((5, 5), bool)
    passable[1:, 1] = False  # a wall, open in the south
    target = np.zeros((5, 5), bool)
    target[4, 2] = target[0, 4] = True
    assert nearest_by_steps(passable, (4, 0), target) == (0, 4)  # 8 steps; two cells east of it takes 10
    assert nearest_by_steps(passable, (4, 0), target & ~passable) is None
