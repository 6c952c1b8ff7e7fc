import numpy as np
import pytest
from scipy.ndimage import distance_transform_edt

from covey.world.clearance import clearance, update_clearance


def reference(solid, resolution):
    """Distance transform on a grid of half the spacing, where squares have corners and borders."""
    rows, columns = solid.shape
    free = np.ones((2 * rows + 1, 2 * columns + 1), bool)
    for i in range(3):
        for j in range(3):
            free[i : i + 2 * rows : 2, j : j + 2 * columns : 2] &= ~solid
    return distance_transform_edt(free)[1::2, 1::2] * resolution / 2


@pytest.mark.parametrize("density", [0.002, 0.05, 0.5])
def test_distance_to_the_nearest_square(density):
    random = np.random.default_rng(0)
    for shape in ((1, 40), (40, 1), (37, 53)):
        solid = random.random(shape) < density
        solid[random.integers(shape[0]), random.integers(shape[1])] = True
        np.testing.assert_allclose(clearance(solid, 0.1), reference(solid, 0.1), rtol=1e-6)


def test_one_square_by_hand():
    solid = np.zeros((4, 4), bool)
    solid[0, 0] = True
    distance = clearance(solid, 2.0)
    assert distance[0, 0] == 0
    assert distance[0, 3] == pytest.approx(5.0)
    assert distance[2, 2] == pytest.approx(3.0 * np.sqrt(2))


def test_nothing_solid_is_infinitely_far():
    assert np.isinf(clearance(np.zeros((3, 4), bool), 0.1)).all()


def test_an_update_reads_nothing_beyond_the_next_walls():
    solid = np.zeros((600, 600), bool)
    solid[::20] = solid[:, ::20] = True
    field = clearance(solid, 0.1)
    solid[309:312, 307] = True
    expected = clearance(solid, 0.1)
    near = np.zeros(solid.shape, bool)
    near[220:401, 220:401] = True
    field[~near] = np.nan  # whoever reads one gets another answer, or a warning
    update_clearance(field, np.where(near, solid, True), 0.1, (309, 312, 307, 308))
    np.testing.assert_array_equal(field[near], expected[near])
    assert np.isnan(field[~near]).all()
