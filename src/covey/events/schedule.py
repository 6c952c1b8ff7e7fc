"""The schedule of declared events and faults."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from covey.clock import Clock, exact
from covey.events.records import When
from covey.random import generator


class ScheduledRecord:
    """One declared record: its next time, and how often it has happened.

    Attributes:
        record: the event or fault.
        stream: name of its random streams.
        count: how often it has happened.
    """

    def __init__(self, record: When, stream: str, clock: Clock, seed: int):
        self.record, self.stream, self.count = record, stream, 0
        self._step = exact(clock.step_s)
        self._at = record.at_step or 0 if record.at_s is None else math.ceil(exact(record.at_s) / self._step)
        self._over = False
        self._tries, self._time = 0, 0.0
        self._random = generator(seed, f"{stream}/times")
        if record.rate_per_min is not None:
            self._wait()

    @property
    def over(self) -> bool:
        """Whether it will not happen again."""
        most = self.record.max_count
        return self._over or (most is not None and self.count >= most)

    def due(self, step: int, explored: float) -> Iterator["ScheduledRecord"]:
        """Yield the entry once for each time that it is due at the beginning of a step; count it before the next."""
        when = self.record
        if when.every_s is not None:
            while not self.over and (self._tries + 1) * exact(when.every_s) <= step * self._step:
                self._tries += 1
                if when.probability >= 1 or self._random.random() < when.probability:
                    yield self
        elif when.rate_per_min is not None:
            while not self.over and self._time <= step * float(self._step):
                self._wait()
                yield self
        elif self._is_time(step, explored):
            self._over = True
            yield self

    def _is_time(self, step: int, explored: float) -> bool:
        when = self.record
        return step >= self._at if when.at_explored is None else explored >= when.at_explored

    def _wait(self) -> None:
        self._time += -math.log(1.0 - self._random.random()) * 60.0 / (self.record.rate_per_min or math.inf)


class Schedule:
    """The declared records of a run that can still happen."""

    def __init__(self, records: Sequence[tuple[str, When]], clock: Clock, seed: int):
        self.entries = [ScheduledRecord(record, stream, clock, seed) for stream, record in records]

    def due(self, step: int, explored: float) -> Iterator[Any]:
        """Yield the entries that are due, in the order of their declaration."""
        for entry in self.entries:
            yield from entry.due(step, explored)
        if any(entry.over for entry in self.entries):
            self.entries = [entry for entry in self.entries if not entry.over]
