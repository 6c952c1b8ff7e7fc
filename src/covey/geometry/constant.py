"""`constant`: arrays that many hold and nobody can change."""

from typing import Any

import numpy as np


def constant(values: Any) -> np.ndarray:
    """Return a copy of an array that nobody can write: its memory is that of immutable bytes.

    An array that is merely marked as read-only can be unmarked by everybody who holds it.

    Args:
        values: numbers of any shape.

    Examples:
        >>> angles = constant([0.0, 1.5])
        >>> angles.flags.writeable = True
        Traceback (most recent call last):
        ValueError: cannot set WRITEABLE flag to True of this array
    """
    array = np.asarray(values)
    return np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape)
