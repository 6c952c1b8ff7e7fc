"""The wall time of a run, by phase."""

from collections import defaultdict
from time import perf_counter


class Stopwatch:
    """Adds up wall time by phase; the sum of the phases is the time since its creation."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._first = self._last = perf_counter()

    @property
    def elapsed_s(self) -> float:
        """Wall time from its creation to the last lap [s]."""
        return self._last - self._first

    def lap(self, phase: str) -> None:
        """Add the time since the last lap to ``phase``."""
        now = perf_counter()
        self.seconds[phase] += now - self._last
        self._last = now
