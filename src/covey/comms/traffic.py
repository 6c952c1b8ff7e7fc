"""Traffic: what was sent, received and dropped, by robot, kind and cause."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from covey.comms.packets import Packets

if TYPE_CHECKING:
    from covey.comms.radio_channel import Receptions

CAUSES = ("", "out_of_range", "walls", "loss", "collision", "queue_full", "ttl", "dead", "inbox_full", "protocol")
"""Why a packet or a message was dropped. ``walls``: a model that looks at walls; ``protocol``: it gave up."""

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
"""What is counted of each robot and kind.

messages_sent: written by it. messages_wanted: receivers that these were for; messages_received: messages that reached
it, each once; delay_s: the sum of their delays. packets and bytes: on the air, with what a protocol adds and repeats;
sent by it, and received by it.
"""

LOG_COLUMNS = ("number", "author", "sender", "receiver", "kind", "size_bytes", "sent_s", "arrived_s", "cause")
"""What is remembered of a single packet: of which message, who wrote that and who transmitted the packet, to whom."""

Log = Literal["none", "drops", "all"]


class Traffic:
    """Counts since the start of a run.

    Args:
        robots: how many.
        log: which single packets are remembered: ``none``, ``drops`` or ``all``.

    Attributes:
        noted: single packets, see `LOG_COLUMNS`; whoever writes them empties it.
        kinds: kinds of messages, in the order of their first appearance.
        counts: float64 (robots, kinds, counters), see `COUNTERS`.
        dropped: int64 (robots, kinds, causes): packets of each sender, by cause; one that several do not get counts
            for each of them.
    """

    def __init__(self, robots: int, log: Log = "none"):
        self.log: Log = log
        self.noted: list[tuple[Any, ...]] = []
        self.kinds: list[str] = []
        self._index: dict[str, int] = {}
        self.counts = np.zeros((robots, 0, len(COUNTERS)))
        self.dropped = np.zeros((robots, 0, len(CAUSES)), np.int64)
        self._shown = np.zeros((robots, 0, len(COUNTERS) + len(CAUSES)))

    def kind(self, name: str) -> int:
        """Return the index of a kind; a new one gets the next."""
        if name not in self._index:
            self._index[name] = len(self.kinds)
            self.kinds.append(name)
            self.counts = _wider(self.counts)
            self.dropped = _wider(self.dropped)
            self._shown = _wider(self._shown)
        return self._index[name]

    def add(self, counter: str, robots: np.ndarray, kinds: np.ndarray, amount: np.ndarray | float = 1.0) -> None:
        """Add an amount for each robot and kind; the same may come several times."""
        np.add.at(self.counts[..., COUNTERS.index(counter)], (robots, kinds), amount)

    def drop(self, robots: np.ndarray, kinds: np.ndarray, causes: np.ndarray | int) -> None:
        """Count drops of packets of these senders."""
        np.add.at(self.dropped, (robots, kinds, np.broadcast_to(causes, robots.shape)), 1)

    def note(
        self,
        packets: "Packets | Receptions",
        receiver: np.ndarray,
        cause: np.ndarray | int,
        arrived_s: np.ndarray | float,
    ):
        """Remember single packets for the log, when it asks for such: those that arrived have cause 0."""
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
        self.noted += rows

    def total(self, counter: str) -> np.ndarray:
        """Return a counter of each robot over all kinds, (robots,)."""
        return self.counts[..., COUNTERS.index(counter)].sum(axis=1)

    def changed(self) -> Iterator[tuple[int, str, np.ndarray]]:
        """Yield robot, kind, and counters then causes, of each robot and kind with other numbers than last time."""
        now = np.concatenate((self.counts, self.dropped), axis=2)
        for robot, kind in np.argwhere((now != self._shown).any(axis=2)).tolist():
            yield robot, self.kinds[kind], now[robot, kind]
        self._shown = now


def _wider(table: np.ndarray) -> np.ndarray:
    return np.concatenate((table, np.zeros((len(table), 1, table.shape[2]), table.dtype)), axis=1)
