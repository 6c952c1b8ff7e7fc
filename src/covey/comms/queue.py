"""Transmit queues: each radio transmits one packet after another, at its bandwidth."""

import math
from collections import deque

import numpy as np

from covey.comms.packets import Packets


class TransmitQueues:
    """The queues of the radios of a team, first in, first out.

    Args:
        robots: number of robots.
        bytes_per_s: bandwidth; infinite: everything is transmitted at once.
        most_bytes: size of the queue without the packet in transmission; packets that do not fit are dropped.

    Attributes:
        free_s: time at which each transmitter has finished its queue [s], float64 (robots,).
    """

    def __init__(self, robots: int, bytes_per_s: float, most_bytes: float):
        self.bytes_per_s, self.most_bytes = bytes_per_s, most_bytes
        self.free_s = np.zeros(robots)
        self._waiting: list[deque[tuple[float, int]]] = [deque() for _ in range(robots)]
        self._bytes = [0] * robots

    def done_s(self, robot: int, size: int, now_s: float) -> float:
        """Return the time at which a robot will have transmitted its queue and ``size`` more bytes [s]."""
        return max(now_s, float(self.free_s[robot])) + size / self.bytes_per_s

    def submit(self, packets: Packets) -> tuple[Packets, np.ndarray, np.ndarray]:
        """Queue packets, each at its ``start_s`` at the earliest.

        Returns:
            the packets with their transmission times; and which did not fit, and which expired before their turn, bool
            (m,).
        """
        m = len(packets)
        full = np.zeros(m, bool)
        if math.isinf(self.bytes_per_s):
            return packets.replace(end_s=packets.start_s), full, packets.start_s > packets.expires_s
        late, start, end = np.zeros(m, bool), packets.start_s.copy(), packets.end_s.copy()
        for i in range(m):
            robot, size, now = int(packets.source[i]), int(packets.size[i]), float(start[i])
            line = self._waiting[robot]
            while line and line[0][0] <= now:
                self._bytes[robot] -= line.popleft()[1]
            begin = max(now, self.free_s[robot])
            full[i] = begin > now and self._bytes[robot] + size > self.most_bytes
            late[i] = begin > packets.expires_s[i]
            if full[i] or late[i]:
                continue
            if begin > now:
                line.append((begin, size))
                self._bytes[robot] += size
            start[i], end[i] = begin, begin + size / self.bytes_per_s
            self.free_s[robot] = end[i]
        return packets.replace(start_s=start, end_s=end), full, late & ~full
