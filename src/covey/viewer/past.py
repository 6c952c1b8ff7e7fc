"""`Past`: what a run has been so far, within bounds, for viewers who join late or come back."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from covey.plain import pack

_POSE_BYTES = 8_000_000
_MOST_POSES = 24_000
_SERIES_BYTES = 8_000_000
_MOST_SAMPLES = 1000
_EVERY_S = 1.0
"""Time between two samples of measurements [s], until there are too many."""
_NEWEST_EVENTS, _NEWEST_LINKS, _NEWEST_CHANGES = 2000, 20_000, 20_000
_TRAIL_BYTES = 100_000
_MOST_TRAIL = 512
_MEASURES = 9
"""Number of measurements of each robot, about."""

T = TypeVar("T")
Link = tuple[int, ...]


class State(NamedTuple):
    """Where the robots were after a step, float32 (n, 3), and the measurements of the mission then, see `team_of`."""

    step: int
    pose: np.ndarray
    team: Mapping[str, Any]


@dataclass
class PastSample:
    """Measurements at one time [s] by name: of the team, and of the robots, float32 (n,)."""

    time_s: float
    team_measures: dict[str, float]
    measures: dict[str, np.ndarray]


@dataclass
class News:
    """What has happened since the last time; of an edit of the world the cells, see `covey.world.state.Edit`."""

    states: list[State] = field(default_factory=list)
    samples: list[PastSample] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    changes: list[np.ndarray] = field(default_factory=list)


class BoundedList(Generic[T]):
    """A list of bounded length: what is old is summed up.

    Args:
        newest: number of the newest items that always stay.
        shorten: returns a list with fewer items and the same newest ones.

    Attributes:
        items: the items.
        end: number of all items that there have been.
        whole_from: all items from this number on are still there.
    """

    def __init__(self, newest: int, shorten: Callable[[list[T]], list[T]]):
        self.items: list[T] = []
        self.end = self.whole_from = 0
        self._newest, self._most, self._shorten = newest, 2 * newest, shorten

    def add(self, items: list[T]) -> None:
        """Add items."""
        self.items += items
        self.end += len(items)
        if len(self.items) > self._most:
            self.items = self._shorten(self.items)
            self.whole_from = self.end - self._newest
            self._most = len(self.items) + self._newest

    def since(self, number: int) -> list[T]:
        """Return the items from a number on, which is at least ``whole_from``."""
        return self.items[len(self.items) - (self.end - number) :]


class Past:
    """Poses, measurements, events, changes of links and of the world of a run, within bounds.

    The newest poses, and measurements of the mission at their steps, are kept of each step, older ones the more seldom
    the older they are: with a quarter of the room for the newest steps, one of 2 for the next as many, one of 4 for
    twice as many, and so on. The times between
    samples of measurements double when there are too many. Of each kind of event there are the newest 2000.

    Args:
        robots: number of robots.
        step_s: length of a step [s].

    Attributes:
        events, links, changes: the logs; of the changes of the world those of the newest 20 000 edits.
    """

    def __init__(self, robots: int, step_s: float):
        room = int(np.clip(_POSE_BYTES // (12 * max(robots, 1)), 256, _MOST_POSES))
        self._step, self._pose = np.empty(room, np.int64), np.empty((room, robots, 3), np.float32)
        self._team: dict[str, np.ndarray] = {}
        self._count, self._fine = 0, room // 4
        self._trail = int(np.clip(_TRAIL_BYTES // (12 * max(robots, 1)), 4, _MOST_TRAIL))
        self._samples: list[PastSample] = []
        self._most = int(np.clip(_SERIES_BYTES // (4 * _MEASURES * max(robots, 1)), 200, _MOST_SAMPLES))
        self._every, self._due = max(1, round(_EVERY_S / step_s)), 0
        self.events: BoundedList[dict[str, Any]] = BoundedList(_NEWEST_EVENTS, newest_of_each_kind)
        self.links: BoundedList[Link] = BoundedList(_NEWEST_LINKS, summed_up)
        self.changes: BoundedList[np.ndarray] = BoundedList(_NEWEST_CHANGES, lambda edits: edits[-_NEWEST_CHANGES:])

    @property
    def newest(self) -> int:
        """Step of the newest poses; -1: there are none."""
        return int(self._step[self._count - 1]) if self._count else -1

    @property
    def sampled_s(self) -> float:
        """Time of the newest sample [s]; -1: there is none."""
        return self._samples[-1].time_s if self._samples else -1.0

    def wants(self, step: int) -> bool:
        """Return whether there should be a sample of the measurements at this step, and count on it."""
        if step < self._due:
            return False
        self._due = step + self._every
        return True

    def add(self, news: News) -> None:
        """Take in what has happened."""
        states = news.states
        while states:
            if self._count == len(self._step):
                self._thin_poses()
            now, states = states[: len(self._step) - self._count], states[len(self._step) - self._count :]
            self._add(now)
        self._samples += news.samples
        if len(self._samples) > self._most:
            self._samples, self._every = self._samples[::2], 2 * self._every
        self.events.add(news.events)
        self.links.add(news.links)
        self.changes.add(news.changes)

    def _add(self, states: list[State]) -> None:
        """Add states for which there is room."""
        part = slice(self._count, self._count + len(states))
        self._step[part] = [state.step for state in states]
        self._pose[part] = [state.pose for state in states]
        for name in dict.fromkeys(name for state in (states[0], states[-1]) for name in team_of(state.team)):
            self._team.setdefault(name, np.full(len(self._step), np.nan))
        for name, values in self._team.items():
            values[part] = [state.team.get(name, np.nan) for state in states]
        self._count = part.stop

    def _thin_poses(self) -> None:
        steps = self._step[: self._count]
        age = steps[-1] - steps
        divisor = np.where(steps == 0, np.int64(1) << 40, steps & -steps)  # the largest power of 2
        while np.count_nonzero(kept := age <= self._fine * divisor) > 0.75 * len(self._step):
            self._fine //= 2
        self._count = int(np.count_nonzero(kept))
        self._pose[: self._count] = self._pose[: len(kept)][kept]
        for values in self._team.values():
            values[: self._count] = values[: len(kept)][kept]
        self._step[: self._count] = steps[kept]

    def trail(self, step: int) -> dict[str, np.ndarray]:
        """Return what came after a step, as arrays of a frame.

        They are ``trail_step`` (k,), ``trail_pose`` (k, n, 3) and ``trail_team:NAME`` (k,). If there are too many, they
        are of each second step, of each fourth …
        """
        steps = self._step[: self._count]
        first = int(np.searchsorted(steps, step, "right"))
        rows = np.arange(first, self._count)
        divisor = 1
        while len(rows) > self._trail:
            divisor *= 2
            rows = rows[steps[rows] % divisor == 0]
        if not len(rows):
            return {}
        team = {f"trail_team:{name}": values[rows] for name, values in sorted(self._team.items())}
        return {"trail_step": steps[rows].astype(np.int32), "trail_pose": self._pose[rows], **team}

    def samples(self, after_s: float) -> tuple[list[str], dict[str, np.ndarray]]:
        """Return the samples after a time [s]: the names of the robots' measurements, and arrays; none without samples.

        The arrays are ``time_s`` (t,), ``measures_then`` float32 (t, names, n) and ``team_measure:NAME`` (t,).
        """
        rows = [row for row in self._samples if row.time_s > after_s]
        if not rows:
            return [], {}
        names = [*dict.fromkeys(name for row in rows for name in row.measures)]
        unknown = np.full(self._pose.shape[1], np.nan, np.float32)
        measures = [[row.measures.get(name, unknown) for name in names] for row in rows]
        arrays = {
            "time_s": np.array([row.time_s for row in rows], float),
            "measures_then": np.array(measures, np.float32).reshape(len(rows), len(names), self._pose.shape[1]),
        }
        for name in dict.fromkeys(name for row in rows for name in row.team_measures):
            arrays[f"team_measure:{name}"] = np.array([row.team_measures.get(name, np.nan) for row in rows], float)
        return names, arrays

    def message(self) -> bytes:
        """Return the message with all of it.

        Its arrays: ``step`` int32 (k,), ``pose`` float32 (k, n, 3) and ``team:NAME`` (k,); ``links`` int32 (m, 4),
        changes of links: step, robot, other, 1 or 0; ``changed`` int32 (c, 4), changes of the world; and the samples,
        see `samples`, with the names ``measures_then`` of the header.
        """
        names, samples = self.samples(-1.0)
        arrays = {
            "step": self._step[: self._count].astype(np.int32),
            "pose": self._pose[: self._count],
            "links": np.array(self.links.items, np.int32).reshape(-1, 4),
            "changed": rows_of(self.changes.items),
            **{f"team:{name}": values[: self._count] for name, values in sorted(self._team.items())},
            **samples,
        }
        events = self.events.items
        left_out = self.events.end - len(events)
        return pack({"type": "past", "events": events, "left_out": left_out, "measures_then": names}, arrays)


def team_of(mission: Mapping[str, Any]) -> dict[str, float]:
    """Return the measurements of a mission that are numbers, by name."""
    return {name: float(value) for name, value in mission.items() if isinstance(value, float) or not np.ndim(value)}


def rows_of(edits: list[np.ndarray]) -> np.ndarray:
    """Return the changed cells of all edits, int32 (c, 4)."""
    return np.concatenate([np.empty((0, 4), np.int32), *edits])


def newest_of_each_kind(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return events without the older ones of kinds of which there are more than 2000."""
    seen: Counter[str] = Counter()
    kept = []
    for event in reversed(events):
        seen[event["kind"]] += 1
        if seen[event["kind"]] <= _NEWEST_EVENTS:
            kept.append(event)
    return kept[::-1]


def summed_up(changes: list[Link]) -> list[Link]:
    """Return changes of links in which one change for each link that was up stands for all but the newest 20 000."""
    old, new = changes[:-_NEWEST_LINKS], changes[-_NEWEST_LINKS:]
    up = {(a, b): bool(on) for _, a, b, on in old}
    return [(old[-1][0], a, b, 1) for (a, b), on in up.items() if on] + new
