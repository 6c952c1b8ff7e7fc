"""Where the wall time of a run went."""

import time


class Stopwatch:
    """Adds up wall time by phase; the phases together are the time since it was made."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._first = self._last = time.perf_counter()

    @property
    def elapsed_s(self) -> float:
        """Wall time from when it was made to the last lap [s]."""
        return self._last - self._first

    def lap(self, phase: str) -> None:
        """Book the time since the last lap under ``phase``."""
        now = time.perf_counter()
        self.seconds[phase] = self.seconds.get(phase, 0.0) + now - self._last
        self._last = now
