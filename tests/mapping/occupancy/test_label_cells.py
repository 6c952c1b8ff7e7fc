import numpy as np
import pytest
from scipy import ndimage

from covey.mapping.occupancy.frontiers import label_cells


@pytest.mark.parametrize("seed", range(30))
def test_cells_are_grouped_as_scipy_labels_a_mask(seed):
    rng = np.random.default_rng(seed)
    mask = rng.random(rng.integers(1, 40, 2)) < rng.uniform(0.05, 0.6)
    expected, count = ndimage.label(mask, np.ones((3, 3)))
    labels, groups = label_cells(np.argwhere(mask), mask.shape[1])
    assert groups == count
    np.testing.assert_array_equal(labels, expected[mask] - 1)
