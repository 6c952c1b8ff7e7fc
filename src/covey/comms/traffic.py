"""Traffic: counts of sent, received and dropped messages, by robot, kind and cause."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from covey.comms.packets import Packets
from covey.kernel import kernel

if TYPE_CHECKING:
    from covey.comms.radio_channel import Receptions

CAUSES = ("", "out_of_range", "walls", "loss", "collision", "queue_full", "ttl", "dead", "inbox_full", "protocol")
"""Causes for which packets and messages are dropped. ``walls``: a model that uses walls; ``protocol``: it gave up."""

_NONE, OUT_OF_RANGE, WALLS, LOSS, COLLISION, QUEUE_FULL, TTL, DEAD, INBOX_FULL, GAVE_UP = range(len(CAUSES))

COUNTERS = (
    "messages_sent",
    "messages_wanted",
    "messages_received",
    "delay_s",
    "packets_sent",
    "bytes_sent",
    "packets_received",
    "bytes_received",
)
"""The counters of each robot and kind.

messages_sent: messages written by it. messages_wanted: their intended receivers; messages_received: messages that
reached it, each once; delay_s: the sum of their delays. packets and bytes: transmitted, including those that a
protocol adds and repeats; sent by it, and received by it.
"""

_SENT = COUNTERS.index("messages_sent")

LOG_COLUMNS = ("number", "author", "sender", "receiver", "kind", "size_bytes", "sent_s", "arrived_s", "cause")
"""Columns recorded of a single packet: its message, the message's author, and the packet's transmitter and receiver."""

Log = Literal["none", "drops", "all"]


class Traffic:
    """Counts since the start of a run.

    Args:
        robots: number of robots.
        log: which single packets are recorded: ``none``, ``drops`` or ``all``.

    Attributes:
        logged: single packets, see `LOG_COLUMNS`; the recorder empties it.
        tap: called with the arguments of `log_packets` if somebody watches single packets.
        kinds: kinds of messages, in the order of their first appearance.
        counts: float64 (robots, kinds, counters), see `COUNTERS`.
        dropped: int64 (robots, kinds, causes): packets of each sender, by cause; a packet counts once for each robot
            that does not get it.
    """

    def __init__(self, robots: int, log: Log = "none"):
        self.log: Log = log
        self.logged: list[tuple[Any, ...]] = []
        self.tap: Callable[..., object] | None = None
        self.kinds: list[str] = []
        self._index: dict[str, int] = {}
        self.counts = np.zeros((robots, 0, len(COUNTERS)))
        self.dropped = np.zeros((robots, 0, len(CAUSES)), np.int64)
        self._shown = np.zeros((robots, 0, len(COUNTERS) + len(CAUSES)))

    def kind(self, name: str) -> int:
        """Return the index of a kind; a new kind gets the next one."""
        if name not in self._index:
            self._index[name] = len(self.kinds)
            self.kinds.append(name)
            self.counts = _wider(self.counts)
            self.dropped = _wider(self.dropped)
            self._shown = _wider(self._shown)
        return self._index[name]

    def add(self, counter: str, robots: np.ndarray, kinds: np.ndarray, amounts: np.ndarray) -> None:
        """Add 1 to a counter and an amount to the next one, for each robot and kind; a pair may come several times."""
        _add(self.counts, COUNTERS.index(counter), robots, kinds, amounts)

    def add_written(self, packets: Packets, alive: np.ndarray) -> int:
        """Count messages and their intended receivers; return how many of them robots without a radio wrote.

        ``alive``: robots whose radio works, bool (n,).
        """
        return _add_written(self.counts, packets.origin, packets.final, packets.kind, alive)

    def drop(self, robots: np.ndarray, kinds: np.ndarray, causes: np.ndarray | int) -> None:
        """Count drops of packets of these senders."""
        np.add.at(self.dropped, (robots, kinds, np.broadcast_to(causes, robots.shape)), 1)

    def log_packets(
        self,
        packets: "Packets | Receptions",
        receiver: np.ndarray,
        cause: np.ndarray | int,
        arrived_s: np.ndarray | float,
    ):
        """Record single packets if the log wants them; the cause of those that arrived is 0."""
        if self.tap is not None:
            self.tap(packets, receiver, cause, arrived_s)
        if self.log == "none" or not len(packets) or (self.log == "drops" and np.ndim(cause) == 0 and cause == _NONE):
            return
        causes, arrived = (np.broadcast_to(np.asarray(v), len(packets)) for v in (cause, arrived_s))
        rows = zip(
            packets.number.tolist(),
            packets.origin.tolist(),
            packets.source.tolist(),
            receiver.tolist(),
            [self.kinds[k] for k in packets.kind.tolist()],
            packets.size.tolist(),
            packets.sent_s.tolist(),
            arrived.tolist(),
            [CAUSES[c] for c in causes.tolist()],
            strict=True,
        )
        self.logged += rows

    def total(self, counter: str) -> np.ndarray:
        """Return a counter of each robot over all kinds, (robots,)."""
        return self.counts[..., COUNTERS.index(counter)].sum(axis=1)

    def changed(self) -> Iterator[tuple[int, str, np.ndarray]]:
        """Yield robot, kind, and counters then causes, of each robot and kind whose numbers have changed."""
        now = np.concatenate((self.counts, self.dropped), axis=2)
        for robot, kind in np.argwhere((now != self._shown).any(axis=2)).tolist():
            yield robot, self.kinds[kind], now[robot, kind]
        self._shown = now


@kernel
def _add(counts, counter, robots, kinds, amounts):
    for k in range(robots.size):
        at = counts[robots[k], kinds[k]]
        at[counter], at[counter + 1] = at[counter] + 1.0, at[counter + 1] + amounts[k]


@kernel
def _add_written(counts, origin, final, kinds, alive):
    dead, everybody = 0, 0
    for i in range(alive.size):
        everybody += alive[i]
    for k in range(origin.size):
        at, speaks = counts[origin[k], kinds[k]], alive[origin[k]]
        at[_SENT] += 1.0
        at[_SENT + 1] += everybody - speaks if final[k] < 0 else 1
        dead += not speaks
    return dead


def _wider(table: np.ndarray) -> np.ndarray:
    return np.concatenate((table, np.zeros((len(table), 1, table.shape[2]), table.dtype)), axis=1)
