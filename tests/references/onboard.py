"""Plain references of compiled code of `covey.onboard`: loops and NumPy, to compare with."""

import numpy as np


def blocks_reference(cells: np.ndarray, block: int, choose: np.ufunc) -> np.ndarray:
    """NumPy reference of `_blocks`: one of its results, the least or the greatest values."""
    rows = choose.reduceat(cells, np.arange(0, cells.shape[0], block), axis=0)
    return choose.reduceat(rows, np.arange(0, cells.shape[1], block), axis=1)
