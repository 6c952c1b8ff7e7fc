"""A radio channel: one radio of all robots, from the transmit queues through the air to the receivers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from covey.comms.links.geometry import Pairs
from covey.comms.packets import COLUMNS, NONE, Packets
from covey.comms.propagation import Propagation
from covey.comms.queue import TransmitQueues
from covey.comms.radio import Radio
from covey.comms.traffic import COLLISION, DEAD, LOSS, QUEUE_FULL, TTL, Traffic
from covey.kernel import kernel
from covey.random import stream_key
from covey.world.state import AnyWorld

_SAME_S = 1e-9
_FEW, _DENSE = 64, 4096  # robots


@dataclass(eq=False, slots=True)
class Receptions:
    """Packets that reached receivers, one in each row.

    Attributes:
        packets: the received packets.
        row: packet of each reception, int64 (m,).
        receiver: index into the team, int64 (m,).
        arrived_s: time of arrival [s], float64 (m,).
    """

    packets: Packets
    row: np.ndarray
    receiver: np.ndarray
    arrived_s: np.ndarray

    def __len__(self) -> int:
        return len(self.row)

    def __getattr__(self, name: str) -> np.ndarray:
        if name not in COLUMNS:
            raise AttributeError(name)
        return getattr(self.packets, name)[self.row]

    def select(self, rows: np.ndarray) -> "Receptions":
        """Return the chosen rows."""
        return Receptions(self.packets, self.row[rows], self.receiver[rows], self.arrived_s[rows])

    def each(self) -> Packets:
        """Return one packet for each row."""
        return self.packets.select(self.row)

    @staticmethod
    def join(parts: "Sequence[Receptions]") -> "Receptions":
        """Return the rows of several, one after another."""
        if len(parts) == 1:
            return parts[0]
        first = np.cumsum([0, *(len(part.packets) for part in parts)])
        return Receptions(
            Packets.join([part.packets for part in parts]),
            np.concatenate([part.row + start for part, start in zip(parts, first[:-1], strict=True)]),
            np.concatenate([part.receiver for part in parts]),
            np.concatenate([part.arrived_s for part in parts]),
        )


NOTHING = Receptions(NONE, np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


class RadioChannel:
    """One radio of all robots.

    Attributes:
        pending: packets that wait for their turn, or are in transmission.
        flying: receptions that have not arrived yet.
    """

    def __init__(self, radio: Radio, robots: int, seed: int, traffic: Traffic):
        self.radio, self.robots, self.traffic = radio, robots, traffic
        self.propagation = Propagation(radio, seed, f"radio/{radio.name}")
        bandwidth = np.inf if radio.bandwidth_kbit_s is None else 125.0 * radio.bandwidth_kbit_s
        most = np.inf if radio.queue_bytes is None else radio.queue_bytes
        self.queues = TransmitQueues(robots, bandwidth, most)
        self.pending = NONE
        self.flying = NOTHING
        self.past = NONE
        self._key = stream_key(seed, f"radio/{radio.name}/chance")
        self._serial = 0

    @property
    def idle(self) -> bool:
        """True if nothing is in transit."""
        return not len(self.pending) and not len(self.flying)

    def transmit(self, packets: Packets) -> None:
        """Queue packets for transmission, at their ``start_s`` at the earliest."""
        packets, full, late = self.queues.submit(packets)
        if np.count_nonzero(full) or np.count_nonzero(late):
            self._drop(packets.select(full), QUEUE_FULL)
            self._drop(packets.select(late), TTL)
            packets = packets.select(~(full | late))
        if len(packets):
            self.pending = Packets.join([self.pending, packets]) if len(self.pending) else packets

    def cross(
        self, world: AnyWorld, xy: np.ndarray, alive: np.ndarray, now_s: float, others: "list[RadioChannel]"
    ) -> None:
        """Decide which robots receive the packets whose transmission has ended.

        Args:
            world: the world with its walls.
            xy: true positions [m], (n, 2).
            alive: robots whose radio works, bool (n,).
            now_s: the present time [s].
            others: other radios on the same channel.
        """
        done = self.pending.end_s <= now_s + _SAME_S
        if not (ended := np.count_nonzero(done)):
            return
        packets, self.pending = (
            (self.pending, NONE) if ended == len(done) else (self.pending.select(done), self.pending.select(~done))
        )
        if self.radio.interference or others:
            self.past = Packets.join([self.past, packets])
        each = np.arange(len(packets))
        any_dead, _, in_order = _look(each, packets.source, packets.end_s, packets.number, packets.expires_s, alive)
        if any_dead:
            dead = ~alive[packets.source]
            self._drop(packets.select(dead), DEAD)
            packets = packets.select(~dead)
            if not len(packets):
                return
        if not in_order:
            packets = packets.select(np.lexsort((packets.number, packets.end_s)))
        self.traffic.add("packets_sent", packets.source, packets.kind, packets.size)
        serial = self._serial + np.arange(len(packets))
        self._serial += len(packets)
        self._receive(packets, serial, world, xy, alive, others)

    def forget(self, before_s: float) -> None:
        """Forget packets whose transmission ended before a time [s]; no later packet can overlap with them."""
        if len(self.past):
            first = self.pending.start_s.min() if len(self.pending) else np.inf
            self.past = self.past.select(self.past.end_s > min(first, before_s))

    def arrived(self, now_s: float, alive: np.ndarray) -> Receptions:
        """Remove and return what has arrived, in the order of arrival."""
        rows = self.flying.arrived_s <= now_s + _SAME_S
        if not (n := np.count_nonzero(rows)):
            return NOTHING
        come, self.flying = (
            (self.flying, NOTHING) if n == len(rows) else (self.flying.select(rows), self.flying.select(~rows))
        )
        packets = come.packets
        any_dead, any_late, in_order = _look(
            come.row, come.receiver, come.arrived_s, packets.number, packets.expires_s, alive
        )
        if any_dead or any_late:
            dead, late = ~alive[come.receiver], come.arrived_s > come.expires_s + _SAME_S
            self._drop(come.select(dead).each(), DEAD, come.receiver[dead])
            self._drop(come.select(late & ~dead).each(), TTL, come.receiver[late & ~dead])
            come = come.select(~dead & ~late)
        if not in_order:
            come = come.select(np.lexsort((come.receiver, come.number, come.arrived_s)))
        self.traffic.log_packets(come, come.receiver, 0, come.arrived_s)
        self.traffic.add("packets_received", come.receiver, come.kind, come.size)
        return come

    def _receive(
        self, packets: Packets, serial: np.ndarray, world: AnyWorld, xy, alive, others: "list[RadioChannel]"
    ) -> None:
        row, receiver, any_dead = _expand(packets.source, packets.to, alive)
        if any_dead:
            dead = ~alive[receiver]
            self._drop(packets.select(row[dead]), DEAD, receiver[dead])
            row, receiver = row[~dead], receiver[~dead]
        if not len(row):
            return
        source = packets.source[row]
        pairs, which = _pairs(world, xy, source, receiver, self.robots)
        links = self.propagation.links(pairs)
        transmission = packets.transmission[row]
        chance, power = self.propagation.success(links, which, packets.size[row], packets.start_s[row], transmission)
        unheard = links.cause[which]
        got, delay, jammed = chance >= 1.0, self.radio.latency_s, None
        sure = np.count_nonzero(got)
        if self.radio.jitter_s > 0.0 or self.radio.interference or np.count_nonzero(chance > 0.0) > sure:
            draws = self._draws(serial[row], receiver)
            got = (got | (draws[:, 0] < chance)) & (chance > 0.0)
            if self.radio.interference:
                from covey.comms.interference import disturbed

                jammed = got & disturbed(self, others, packets, row, receiver, power, draws[:, 0], world, xy)
                got &= ~jammed
            delay = delay + self.radio.jitter_s * draws[got, 1]
        if np.count_nonzero(got) < len(got):
            cause = np.where(unheard > 0, unheard, LOSS)
            if jammed is not None:
                cause[jammed] = COLLISION
            lost = packets.select(row[~got])
            self.traffic.drop(lost.source, lost.kind, cause[~got])
            self.traffic.log_packets(lost, receiver[~got], cause[~got], np.nan)
        arrived_s = packets.end_s[row[got]] + delay
        come = Receptions(packets.replace(hops=packets.hops + 1), row[got], receiver[got], arrived_s)
        self.flying = Receptions.join([self.flying, come]) if len(self.flying) else come

    def _draws(self, serial: np.ndarray, receiver: np.ndarray) -> np.ndarray:
        from covey.comms.draws import uniforms

        return uniforms(self._key, serial, receiver)

    def _drop(self, packets: Packets, cause: int, receiver: np.ndarray | None = None) -> None:
        if len(packets):
            self.traffic.drop(packets.source, packets.kind, cause)
            self.traffic.log_packets(packets, packets.to if receiver is None else receiver, cause, np.nan)


@kernel
def _look(row, receiver, arrived_s, number, expires_s, alive):
    """Return whether any receiver has no radio, whether any packet is late, and whether rows are in order of arrival.

    Args:
        row, receiver, arrived_s: see `Receptions`.
        number, expires_s: of the packets. alive: robots whose radio works, bool (n,).
    """
    any_dead, any_late, in_order = False, False, True
    for k in range(row.size):
        any_dead |= not alive[receiver[k]]
        any_late |= arrived_s[k] > expires_s[row[k]] + _SAME_S
        if k > 0:
            first, second = number[row[k - 1]], number[row[k]]
            if arrived_s[k - 1] != arrived_s[k]:
                in_order &= arrived_s[k - 1] < arrived_s[k]
            else:
                in_order &= first < second or (first == second and receiver[k - 1] <= receiver[k])
    return any_dead, any_late, in_order


@kernel
def _expand(source, to, alive):
    """Return one row for each packet and receiver: index of the packet, and robot, int64 (m,).

    And whether any of these robots has no radio; ``alive``: those whose radio works, bool (n,).
    """
    rows, robots, any_dead = 0, alive.size, False
    for k in range(to.size):
        rows += robots - 1 if to[k] < 0 else 1
    row, receiver, m = np.empty(rows, np.int64), np.empty(rows, np.int64), 0
    for k in range(to.size):
        for robot in range(robots) if to[k] < 0 else range(to[k], to[k] + 1):
            if robot != source[k] or to[k] >= 0:
                row[m], receiver[m], m = k, robot, m + 1
                any_dead |= not alive[robot]
    return row, receiver, any_dead


def _pairs(world: AnyWorld, xy: np.ndarray, source: np.ndarray, receiver: np.ndarray, robots: int):
    """Return the distinct pairs of the rows, in order, and the index of each row's pair, int64 (m,)."""
    if robots <= _FEW or (robots <= _DENSE and len(source) > robots):
        a, b, distance_m, which = _distinct(source, receiver, robots, xy)
        return Pairs(world, xy, a, b, distance_m), which
    key = np.minimum(source, receiver) * robots + np.maximum(source, receiver)
    once, which = np.unique(key, return_inverse=True)
    return Pairs.of(world, xy, once // robots, once % robots), which


@kernel
def _distinct(source, receiver, robots, xy):
    """Return the distinct pairs of the rows, int64 (k,) each, their distances, and the index of each row's pair.

    ``xy``: positions [m], float64 (n, 2).
    """
    number, which, k = np.full(robots * robots, -1, np.int64), np.empty(source.size, np.int64), 0
    for m in range(source.size):
        which[m] = min(source[m], receiver[m]) * robots + max(source[m], receiver[m])
        k += number[which[m]] < 0
        number[which[m]] = 0
    a, b, distance_m, k = np.empty(k, np.int64), np.empty(k, np.int64), np.empty(k), 0
    for pair in range(number.size):
        if number[pair] == 0:
            i, j = pair // robots, pair % robots
            dx, dy = xy[i, 0] - xy[j, 0], xy[i, 1] - xy[j, 1]
            a[k], b[k], distance_m[k], number[pair], k = i, j, math.sqrt(dx * dx + dy * dy), k, k + 1
    for m in range(source.size):
        which[m] = number[which[m]]
    return a, b, distance_m, which
