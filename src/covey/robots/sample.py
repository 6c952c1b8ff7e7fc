"""`Sample`: a reading and its time."""

from typing import Any, NamedTuple


class Sample(NamedTuple):
    """A reading of a sensor and its time, in simulated time [s]."""

    time: float
    reading: Any
