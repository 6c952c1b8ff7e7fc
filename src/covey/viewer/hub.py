"""`Hub`: what each viewer has still to get.

A slow viewer slows neither the run nor the others. At most two frames are on their way to it. Meanwhile newer poses
replace older ones; changed tiles and events add up, and it gets their union with the next frame.
"""

import asyncio
import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from covey.plain import dumps, pack
from covey.viewer.messages import Watch
from covey.viewer.past import News, Past, rows_of

if TYPE_CHECKING:  # it needs the whole simulation
    from covey.viewer.layers import Layer

ON_THEIR_WAY = 2
"""Largest number of frames that a viewer has not acknowledged."""
MOST_TEXTS = 1000
"""Largest number of texts that wait for a viewer; one that reads nothing misses the others."""

SHARES = {True: 0.3, False: 0.1}
"""Share of the time that all viewers who may change the run take together at most, and all who only watch."""

RELOAD_S = 2.0
"""A viewer that comes back within this time has not left [s]."""


def wait_until_left(last_look: Callable[[], float], first_s: float = 0.0) -> None:
    """Wait until nobody looks any more.

    Args:
        last_look: when somebody looked last, or that is now; -inf if nobody has yet [s of ``time.monotonic``].
        first_s: time within which somebody must have begun to look [s].
    """
    begun, last = time.monotonic(), -math.inf
    while True:
        last = max(last, last_look())
        until = begun + max(first_s, RELOAD_S) if last == -math.inf else max(last, begun) + RELOAD_S
        if time.monotonic() >= until:
            return
        time.sleep(0.2)


class PageClient:
    """A viewer.

    Args:
        edits: whether it may change the run; otherwise it only watches.

    Attributes:
        number: number of the viewer, from 1 on; one that comes back has the number that it had.
        watch: what it shows.
        wanted: set when there may be something to send.
        cost_s: processor time that its last frame took to send [s].
    """

    def __init__(self, edits: bool):
        self.edits, self.watch, self.number = edits, Watch(type="watch"), 0
        self.wanted = asyncio.Event()
        self.texts: list[str | bytes] = []
        self.dirty: dict[str, np.ndarray] = {}
        self.whole: set[str] = set()  # layers of which it has nothing yet
        self.forget()
        self.frame = self.acknowledged = 0
        self.newest = -1
        self.due = self.cost_s = 0.0

    def forget(self) -> None:
        """Note that it knows nothing of the past."""
        self.events = self.links = self.changes = -1  # how many of all it has got
        self.step, self.sampled_s = -1, -1.0  # of the newest pose and sample that it has got

    def know(self, past: Past) -> None:
        """Note that it has got all of the past."""
        self.events, self.links, self.changes = past.events.end, past.links.end, past.changes.end
        self.step, self.sampled_s = past.newest, past.sampled_s


class Hub:
    """The newest state of a run, and its viewers. All methods may be called from any thread.

    Args:
        repeats: whether its messages go on and mostly repeat earlier ones. These are deflated even within a machine;
            others only take time.

    Attributes:
        hello: description of the run; empty before it is known.
        waiting: what viewers get in its place.
        make: the layers by name, see `covey.viewer.layers.layers_of`.
        past: what the run has been so far; None: nothing is kept.
        clients: the viewers.
        layers: the layers that somebody has watched.
        number: number of the newest state.
    """

    def __init__(self, repeats: bool = False) -> None:
        self.repeats = repeats
        self.hello: dict[str, Any] = {}
        self.waiting: dict[str, Any] = {"type": "waiting", "text": "Getting ready …"}
        self.make: dict[str, Callable[[], Layer]] = {}
        self.layers: dict[str, Layer] = {}
        self.clients: list[PageClient] = []
        self._left_s = -math.inf
        self.past: Past | None = None
        self.number = 0
        self._states: dict[bool, tuple[int, dict[str, Any], dict[str, np.ndarray]]] = dict.fromkeys(SHARES, (0, {}, {}))
        self._viewers, self._known = 0, dict[str, int]()
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Say which loop sends."""
        self._loop = loop

    def describe(
        self, hello: Mapping[str, Any], make: "Mapping[str, Callable[[], Layer]]", past: Past | None = None
    ) -> None:
        """Set what never changes in the run; a run that begins anew is another one."""
        with self._lock:
            self.hello, self.make = dict(hello), dict(make)
            self.layers, self.past, self.number = {}, past, 0
            self._states = dict.fromkeys(SHARES, (0, {}, {}))
            for client in self.clients:
                client.dirty, client.whole, client.newest = {}, set(), -1
                client.forget()
                self._greet(client)
        self.wake()

    def finish(self, result: Mapping[str, Any]) -> None:
        """Tell viewers, also those who join later, the result of the run."""
        with self._lock:
            self.hello["result"] = dict(result)
        self.say({"type": "result", **result})

    def join(self, client: PageClient) -> None:
        """Add a viewer."""
        with self._lock:
            self.clients.append(client)
            self._viewers += 1
            client.number = self._viewers
            self._greet(client)

    def recognize(self, client: PageClient, key: str) -> None:
        """Give a viewer that says who it is the number that it had before."""
        with self._lock:
            client.number = self._known.setdefault(key, client.number)

    def _greet(self, client: PageClient) -> None:
        client.texts.append(dumps({"edits": client.edits, **self.hello} if self.hello else self.waiting))

    def leave(self, client: PageClient) -> None:
        """Remove a viewer."""
        with self._lock:
            if client in self.clients:
                self.clients.remove(client)
                self._left_s = time.monotonic()
            if not any(one.edits == client.edits for one in self.clients):
                self._states[client.edits] = (0, {}, {})  # whoever joins next waits for the next state

    def last_look(self) -> float:
        """Return when somebody looked last, which may be now; -inf if nobody has yet [s of ``time.monotonic``]."""
        return time.monotonic() if self.clients else self._left_s

    def watching(self, client: PageClient, watch: Watch) -> None:
        """Change what a viewer shows."""
        with self._lock:
            names = [name for name in watch.layers if name in self.make]
            for name in set(names).difference(*(one.dirty for one in self.clients)):
                self.layers.pop(name, None)  # nobody has watched it: it is as it was when somebody did
            client.whole |= {name for name in names if name not in client.dirty}
            client.dirty = {name: client.dirty.get(name, np.zeros(0, np.bool_)) for name in names}
            client.whole &= set(names)
            client.watch = watch
            client.due = min(client.due, time.perf_counter() + 1.0 / watch.rate_hz)
            client.newest = -1

    def acknowledge(self, client: PageClient, frame: int) -> None:
        """Note that a viewer has drawn a frame."""
        client.acknowledged = min(max(client.acknowledged, frame), client.frame)
        client.wanted.set()

    def wishes(self, edits: bool) -> tuple[set[str], set[str], set[int], float]:
        """Return what those watch who may change the run, or who only watch.

        Returns:
            layers, details, robots, and the highest rate [Hz]; the rate is 0 without such viewers.
        """
        with self._lock:
            watches = [client.watch for client in self.clients if client.edits == edits]
        return (
            {name for watch in watches for name in watch.layers if name in self.make},
            {name for watch in watches for name in watch.details},
            {robot for watch in watches for robot in watch.robots},
            max((watch.rate_hz for watch in watches), default=0.0),
        )

    @property
    def behind(self) -> bool:
        """Whether a viewer has not got the newest state, or has not drawn it."""
        with self._lock:
            newest = {edits: number for edits, (number, _, _) in self._states.items()}
            return any(one.newest != newest[one.edits] or one.acknowledged < one.frame for one in self.clients)

    def publish(
        self,
        header: Mapping[str, Any],
        arrays: Mapping[str, np.ndarray],
        wanted: set[str],
        news: News,
        *,
        complete: bool = False,
        to: Iterable[bool] = tuple(SHARES),
    ) -> None:
        """Take in a new state; called by the simulation's thread.

        Args:
            header: plain data of the frame.
            arrays: its arrays; they must not change any more.
            wanted: the layers that somebody watches.
            news: what has happened since the last call.
            complete: bring all watched layers up to date, because no state follows soon.
            to: who gets it: viewers who may change the run (True), those who only watch (False).
        """
        now = time.perf_counter()
        with self._lock:
            for name in sorted(wanted):
                if name not in self.layers:
                    self.layers[name] = self.make[name]()
                tiles = self.layers[name].changed(now, complete)
                count = int(np.prod(self.layers[name].tiles))
                for client in self.clients:
                    if name in client.dirty:
                        if len(client.dirty[name]) != count:
                            client.dirty[name] = np.zeros(count, np.bool_)
                        client.dirty[name][tiles] = True
            self.number += 1
            if self.past is not None:
                self.past.add(news)
            self._states |= dict.fromkeys(to, (self.number, dict(header), dict(arrays)))
        self.wake()

    def add(self, news: News) -> None:
        """Take in what has happened, without showing it."""
        with self._lock:
            if self.past is not None:
                self.past.add(news)

    def say(self, message: Mapping[str, Any], client: PageClient | None = None) -> None:
        """Send a text to a viewer, or to all."""
        text = dumps(message)
        with self._lock:
            for one in self.clients if client is None else [client]:
                if len(one.texts) < MOST_TEXTS:
                    one.texts.append(text)
        self.wake()

    def wake(self) -> None:
        """Let the viewers' senders look for something to send."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for client in list(self.clients):
            client.wanted.set()

    def next_for(self, client: PageClient) -> tuple[list[str | bytes], float | None]:
        """Return the messages to send to a viewer now, and the time [s] after which to look again; None: when woken."""
        now = time.perf_counter()
        with self._lock:
            out: list[str | bytes] = [*client.texts]
            client.texts.clear()
            number = self._states[client.edits][0]
            if client.newest == number and not self._waiting(client):
                return out, None
            if client.frame - client.acknowledged >= ON_THEIR_WAY or not number:
                return out, None
            if now < client.due:
                return out, client.due - now
            alike = sum(one.edits == client.edits for one in self.clients)
            client.due = now + max(1.0 / client.watch.rate_hz, alike * client.cost_s / SHARES[client.edits])
            out += [*self._missed(client), *self._whole_layers(client)]
            out.append(self._frame(client))
        return out, None

    def _waiting(self, client: PageClient) -> bool:
        return any(name in self.layers for name in client.whole)

    def _missed(self, client: PageClient) -> list[bytes]:
        """Return the past for a viewer who does not know it, or has missed too much of it."""
        past = self.past
        if past is None or all(
            getattr(client, name) >= getattr(past, name).whole_from for name in ("events", "links", "changes")
        ):
            return []
        client.know(past)
        return [past.message()]

    def _whole_layers(self, client: PageClient) -> list[bytes]:
        messages = []
        for name in sorted(client.whole & set(self.layers)):
            layer = self.layers[name]
            messages.append(pack({"type": "layer", "name": name, **layer.area}, {"cells": layer.seen}))
            client.whole.discard(name)
            client.dirty[name] = np.zeros(int(np.prod(layer.tiles)), np.bool_)
        return messages

    def _frame(self, client: PageClient) -> bytes:
        client.frame += 1
        client.newest, header, arrays = self._states[client.edits]
        arrays = dict(arrays)
        for name, dirty in client.dirty.items():
            if name in client.whole:
                continue
            tiles = np.flatnonzero(dirty)
            if len(tiles):
                arrays[f"tiles:{name}"] = tiles.astype(np.int32)
                arrays[f"cells:{name}"] = self.layers[name].cut(tiles)
                dirty[:] = False
        new: dict[str, Any] = {}
        if (past := self.past) is not None:
            new = {"events": past.events.since(client.events), "links": past.links.since(client.links)}
            new["measures_then"], samples = past.samples(client.sampled_s)
            arrays |= past.trail(client.step) | samples
            if client.changes < past.changes.end:
                arrays["changed"] = rows_of(past.changes.since(client.changes))
            client.know(past)
        return pack({**header, **new, "type": "frame", "frame": client.frame}, arrays)
