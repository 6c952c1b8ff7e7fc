"""Messages in flight: those that are being transmitted now, and those that have ended since somebody looked."""

from collections import deque
from typing import Any

import numpy as np

from covey.comms.traffic import CAUSES
from covey.runtime.simulation import Simulation

MOST = 500
"""Largest number of messages in a frame; the newest ones."""
_FAR = tuple(CAUSES.index(cause) for cause in ("out_of_range", "walls"))


class Ended:
    """Transmissions that have ended, since they were taken last. It only reads."""

    def __init__(self) -> None:
        self._parts: deque[np.ndarray] = deque([np.zeros((0, 5), np.int64)], maxlen=MOST)

    def __call__(self, packets: Any, receiver: np.ndarray, cause: Any, arrived_s: Any) -> None:
        """Take in what `Traffic.log_packets` gets; robots out of the reach of a broadcast have missed nothing."""
        cause = np.broadcast_to(cause, len(packets))
        meant = (packets.to >= 0) | ~np.isin(cause, _FAR)
        rows = np.column_stack((packets.number, packets.source, receiver, packets.size, cause))[meant]
        if len(rows):
            self._parts.append(rows[-MOST:].copy())  # a view would keep all rows

    def pop_newest(self) -> np.ndarray:
        """Remove and return the newest: number, sender, receiver (-1: all), bytes and cause, int64 (m, 5)."""
        rows = np.concatenate(self._parts)[-MOST:]
        self._parts.clear()
        self._parts.append(rows[:0])
        return rows


def flights(sim: Simulation, robots: list[int], arrays: dict[str, np.ndarray], plain: dict[str, Any]) -> None:
    """Give the messages on their way, and those that have ended since the last frame.

    ``message`` int32 (m, 5): number, sender, receiver (-1: all), bytes, cause (0: it arrives). ``message_part`` (m,):
    how much of its way each has behind it, 1 if it has ended. ``messages``: how many the robots have written.
    ``message_causes``: the causes in words.
    """
    network, now_s = sim.communication.network, sim.time
    if not isinstance(network.traffic.tap, Ended):
        network.traffic.tap = Ended()  # `ignored` removes it
    rows, part = [network.traffic.tap.pop_newest()], []
    part.append(np.ones(len(rows[0])))
    for channel in network.radio_channels:
        waiting, flying = channel.pending, channel.flying
        ends = waiting.end_s + channel.radio.latency_s
        for packets, receiver, end_s in ((waiting, waiting.to, ends), (flying, flying.receiver, flying.arrived_s)):
            gone = (now_s - packets.start_s) / np.maximum(end_s - packets.start_s, 1e-9)
            under_way = gone > 0.0  # the others wait for their turn
            on_air = np.column_stack((packets.number, packets.source, receiver, packets.size, 0 * receiver))
            rows.append(on_air[under_way][-MOST:])
            part.append(np.minimum(gone[under_way][-MOST:], 1.0 - 1e-6))
    arrays["message"] = np.concatenate(rows).astype(np.int32)
    arrays["message_part"] = np.concatenate(part).astype(np.float32)
    plain["messages"] = int(network.traffic.total("messages_sent").sum())
    plain["message_causes"] = [cause.replace("_", " ") for cause in CAUSES]


def ignored(sim: Simulation) -> None:
    """Take note that nobody watches messages."""
    sim.communication.network.traffic.tap = None
