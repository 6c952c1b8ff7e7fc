"""How robots exchange maps: a robot broadcasts what it holds (a digest), and robots that hold newer tiles send them.

A digest is small: for each robot the newest publication that the asking robot holds completely, and the robots that it
hears. Tiles that several robots lack are broadcast once. Nothing is repeated before the answer can have arrived; the
next digest asks again for what was lost.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from covey.clock import Clock, exact
from covey.comms.message import HEADER_BYTES
from covey.mapping.elevation.belief import Elevations
from covey.mapping.exchange.providers import hold_newer, providers
from covey.mapping.exchange.share_maps import ShareMaps
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.slam.team_exchange import TeamNews

HEARD_S = 2.0
"""A robot hears the robots from which it received something within this time and two periods of the policy [s]."""
ASKS, ANSWERS = 0, 1
"""Which of the two kinds of messages: those with a digest, those with tiles."""


@dataclass(frozen=True, eq=False)
class Digest:
    """What a robot holds.

    Attributes:
        clock: int64 (n,), for each robot the newest publication that it holds completely.
        reach: bool (n,), the robots that it hears.
        asks: whether robots that hold newer tiles are to send them.
        offers: whether robots that lack tiles are to ask for them.
    """

    clock: np.ndarray
    reach: np.ndarray
    asks: bool
    offers: bool

    @property
    def size_bytes(self) -> int:
        """Size of the message [bytes]: a robot's number takes 2 bytes, a publication 4."""
        return HEADER_BYTES + 5 + 6 * int(np.count_nonzero(self.clock)) + 2 * int(np.count_nonzero(self.reach))


class Arrived(NamedTuple):
    """Messages that have arrived.

    Attributes:
        receiver, sender: int64 (m,), indices of the robots in the exchange.
        payloads: the digests or updates.
        sent_s: times of sending [s], (m,).
    """

    receiver: np.ndarray
    sender: np.ndarray
    payloads: list[Any]
    sent_s: np.ndarray


class Post(Protocol):
    """Carries the messages of an exchange: a simulated network, or the letters of a node. Robots go by their index."""

    def waits(self, kind: int) -> bool:
        """Return whether a message of a kind (`ASKS`, `ANSWERS`) has arrived."""
        ...

    def pop(self, kind: int) -> Arrived:
        """Remove and return the messages of a kind that have arrived."""
        ...

    def send(self, rows: np.ndarray, to: np.ndarray, kind: int, payloads: list[Any], sizes: list[int]) -> None:
        """Send messages of robots ``rows``, each to a robot or, at -1, to all that hear it; ``sizes`` in bytes."""
        ...

    def busy(self) -> np.ndarray:
        """Return the robots whose last tiles still wait for transmission, bool (n,)."""
        ...

    def hears(self) -> np.ndarray:
        """Return which robot (row) hears which other now, bool (n, n)."""
        ...

    def knows(self, row: int, clock: np.ndarray, published_s: Sequence[Sequence[float]]) -> None:
        """Take note of how old what a robot knows of each other is.

        Args:
            row: the robot.
            clock: the newest publication of each robot that it holds, int64 (n,).
            published_s: times [s] of the publications of each robot, as far as they are known here.
        """
        ...


class Period:
    """Says when a period begins: also if the step in which it begins was missed, as a node may."""

    def __init__(self, every_s: float, clock: Clock):
        self._clock, self._every = clock, max(1, round(exact(every_s) / exact(clock.step_s)))
        self._last = -1

    def is_new(self) -> bool:
        """Return whether a period has begun that `begins` has not told yet."""
        return self._clock.step // self._every != self._last

    def begins(self) -> bool:
        """Return, once, whether a period has begun."""
        new, self._last = self.is_new(), self._clock.step // self._every
        return new


class Exchange:
    """The exchange among robots with equal mapping, or of the news of a team; indices are those of their beliefs.

    Args:
        beliefs: what they exchange.
        shares: which of them take part, bool (n,).
        post: carries the messages.
        record: when to exchange.
        clock: of the simulation, or of a node.
    """

    def __init__(
        self,
        beliefs: Beliefs | Elevations | TeamNews,
        shares: np.ndarray,
        post: Post,
        record: ShareMaps,
        clock: Clock,
    ):
        n = len(shares)
        self.beliefs: Any = beliefs
        self.shares, self.post, self.record, self.clock = shares, post, record, clock
        self._period = Period(record.every_s, clock)
        self._patience_s = HEARD_S if record.policy != "every" else max(HEARD_S, 2.0 * record.every_s)
        self._heard_s = np.full((n, n), -np.inf)  # time at which row last heard column
        self._linked_s = np.full((n, n), -np.inf)
        self._answered_s = np.full((n, n), -np.inf)  # time at which row last answered column
        self._asked_s = np.full(n, -np.inf)
        self._said = np.zeros((n, n), np.int64)  # the clock of the last digest of each robot
        self._published_s = [[0.0] for _ in range(n)]  # time of each publication of each robot

    def step(self, alive: np.ndarray, wishes: Mapping[int, Collection[str]]) -> None:
        """Process what has arrived, answer, and ask.

        Args:
            alive: robots whose radio works, bool (n,).
            wishes: requests of controllers, see `covey.onboard.step.Requests`.
        """
        if not self.is_due(bool(wishes)):
            return
        able = self.shares & alive
        asks, offers = (np.zeros(len(able), bool) for _ in range(2))
        for row, words in wishes.items():
            asks[row], offers[row] = "request" in words, "share" in words
        if self.post.waits(ANSWERS):
            self._take_tiles(able)
        if self.post.waits(ASKS):
            asks |= self._answer(able)
        if self.record.policy == "every":
            asks |= self._period.begins()
        elif self.record.policy == "continuous":
            self._publish(np.flatnonzero(able))
            changed = (self.beliefs.clock != self._said).any(axis=1)
            asks, offers = asks | changed, offers | changed
        elif self.record.policy == "on_meeting":
            asks |= self._meetings()
        self._say(asks & able, offers & able)

    def is_due(self, wished: bool) -> bool:
        """Return whether there is something to process; ``wished``: a controller requests something."""
        if wished or self.record.policy != "every" or self._period.is_new():
            return True
        return self.post.waits(ASKS) or self.post.waits(ANSWERS)

    def _publish(self, rows: np.ndarray) -> None:
        """Publish the changes of robots."""
        self.beliefs.publish(rows)
        for row in rows.tolist():
            while self.beliefs.clock[row, row] >= len(times := self._published_s[row]):
                times.append(self.clock.time_s)

    def _meetings(self) -> np.ndarray:
        """Return the robots that have come into reach of one that they did not hear for long, bool (n,)."""
        hears, now = self.post.hears(), self.clock.time_s
        met = hears & (now - self._linked_s >= self.record.apart_s)
        self._linked_s[hears] = self._heard_s[hears] = now
        return np.any(met, axis=1)

    def _say(self, asks: np.ndarray, offers: np.ndarray) -> None:
        """Broadcast the digests of robots that ask or offer, bool (n,) each."""
        rows = np.flatnonzero(asks | offers)
        if not len(rows):
            return
        now = self.clock.time_s
        if np.count_nonzero(offers):
            self._publish(np.flatnonzero(offers))
        self._asked_s[asks] = now
        self._said[rows] = self.beliefs.clock[rows]
        reach = now - self._heard_s[rows] <= self._patience_s + 1e-9
        said = zip(self._said[rows], reach, asks[rows].tolist(), offers[rows].tolist(), strict=True)
        digests = [Digest(*one) for one in said]
        self.post.send(rows, np.full(len(rows), -1), ASKS, digests, [d.size_bytes for d in digests])

    def _take_tiles(self, able: np.ndarray) -> None:
        """Merge the tiles that have arrived."""
        receiver, sender, payloads, _ = self._arrived(ANSWERS, able)
        if len(payloads):
            which, updates = _distinct(payloads)
            received = np.zeros((len(able), len(updates)), bool)
            received[receiver, which] = True
            self.beliefs.merge_updates(received, updates)
            self._tell_news(self._ascending(receiver))
            self._heard_s[receiver, sender] = self.clock.time_s

    def _tell_news(self, rows: np.ndarray) -> None:
        """Say how new what robots know of others is."""
        for row in rows.tolist():
            self.post.knows(row, self.beliefs.clock[row], self._published_s)

    def _answer(self, able: np.ndarray) -> np.ndarray:
        """Answer the digests that have arrived; return the robots that should ask for new tiles, bool (n,)."""
        n, now, beliefs = len(able), self.clock.time_s, self.beliefs
        receiver, sender, payloads, sent_s = self._arrived(ASKS, able)
        if not len(payloads):
            return np.zeros(n, bool)
        which, digests = _distinct(payloads)
        self._heard_s[receiver, sender] = now
        clocks, reach = (np.array([getattr(d, name) for d in digests]) for name in ("clock", "reach"))
        asks, offers = (np.array([getattr(d, name) for d in digests])[which] for name in ("asks", "offers"))
        delay, lacks = now - sent_s, np.zeros(n, bool)
        offers &= self._asked_s[receiver] < now - 2.0 * delay - 1e-9
        lacks[receiver[offers][hold_newer(clocks, which[offers], beliefs.clock, receiver[offers])]] = True

        answers = asks & (sent_s >= self._answered_s[receiver, sender] + delay - 1e-9)
        answers &= ~self.post.busy()[receiver]
        receiver, sender, which = receiver[answers], sender[answers], which[answers]
        self._publish(self._ascending(receiver))
        heard = np.full((n, n), -1)
        heard[receiver, sender] = which
        since, to = providers(heard, clocks, reach, beliefs.clock)
        givers = np.flatnonzero(to > -2)
        updates = [beliefs.update_since(i, since[i]) for i in givers.tolist()]
        self.post.send(givers, to[givers], ANSWERS, updates, [one.size_bytes + HEADER_BYTES for one in updates])
        tells = to[receiver] > -2
        self._answered_s[receiver[tells], sender[tells]] = now
        return lacks

    def _ascending(self, rows: np.ndarray) -> np.ndarray:
        """Return the distinct ones of some rows, int64 (m,), in ascending order."""
        return np.flatnonzero(np.bincount(rows, minlength=len(self.shares)))

    def _arrived(self, kind: int, able: np.ndarray) -> Arrived:
        """Return the messages of a kind that able robots received."""
        come = self.post.pop(kind)
        ours = np.flatnonzero(able[come.receiver])
        payloads = [come.payloads[k] for k in ours.tolist()]
        return Arrived(come.receiver[ours], come.sender[ours], payloads, come.sent_s[ours])


def _distinct(payloads: list[Any]) -> tuple[np.ndarray, list[Any]]:
    """Return the index of each payload among the distinct ones, int64 (m,), and the distinct payloads."""
    index: dict[Any, int] = {}
    which = [index.setdefault(payload, len(index)) for payload in payloads]
    return np.array(which, np.int64), list(index)
