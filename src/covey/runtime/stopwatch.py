"""The wall time of a run, by phase."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from time import perf_counter


class Stopwatch:
    """Adds up wall time by phase; the sum of the phases is the time since its creation.

    Args:
        phases: phases that are listed from the start.
    """

    def __init__(self, phases: Iterable[str] = ()) -> None:
        self.seconds: dict[str, float] = defaultdict(float, dict.fromkeys(phases, 0.0))
        self._first = self._last = perf_counter()

    @property
    def elapsed_s(self) -> float:
        """Wall time from its creation to the last lap [s]."""
        return self._last - self._first

    def time(self, phases: Iterable[tuple[str, Callable[[], None]]], before: str) -> None:
        """Go through phases, and add the time that each takes; that since the last lap is added to ``before``."""
        seconds, last = self.seconds, perf_counter()
        seconds[before] += last - self._last
        for name, phase in phases:
            phase()
            now = perf_counter()
            seconds[name] += now - last
            last = now
        self._last = last
