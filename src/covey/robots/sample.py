"""`Sample`: a reading and when it was taken."""

from typing import Any, NamedTuple


class Sample(NamedTuple):
    """A reading of a sensor and when it was taken, in simulated time [s]."""

    time: float
    reading: Any
