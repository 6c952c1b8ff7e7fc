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


def is_constant(array: np.ndarray) -> bool:
    """Return whether nobody can write an array, whoever holds it.

    Examples:
        >>> is_constant(constant([0.0, 1.5])), is_constant(np.zeros(2))
        (True, False)
    """
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base, bytes)
