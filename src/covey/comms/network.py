"""The network: takes messages from the mailboxes of a team, and delivers them over the radios."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import numpy as np

from covey.comms.link_layer import post_of
from covey.comms.mailbox import Mailbox, Outgoing
from covey.comms.message import Message
from covey.comms.packets import Packets, objects
from covey.comms.radio import Radio
from covey.comms.radio_channel import RadioChannel, Receptions
from covey.comms.samples import RadioSample, sample_links
from covey.comms.traffic import DEAD, INBOX_FULL, Log, Traffic
from covey.errors import InvalidValueError, did_you_mean
from covey.plain import again
from covey.world.state import AnyWorld


@dataclass(eq=False)
class Claim:
    """Messages of a kind that go to software of the simulation instead of the mailboxes.

    Attributes:
        receptions: received messages that were not read yet.
    """

    receptions: list[Receptions] = field(default_factory=list)

    def pop(self) -> tuple[np.ndarray, np.ndarray, list[Any], np.ndarray]:
        """Remove and return messages: receivers and origins, int64 (m,), payloads, and times of writing [s], (m,)."""
        taken, self.receptions = self.receptions, []
        if not taken:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), [], np.zeros(0)
        come = Receptions.join(taken)
        return come.receiver, come.origin, list(come.payload), come.sent_s


class Network:
    """Delivers the messages of one step in the next step at the earliest.

    Args:
        mailboxes: one for each robot, in the order of the team.
        radios: the radios; messages use the first one unless they name another.
        seed: root of the random streams.
        log: which single packets `Traffic` records.

    Attributes:
        traffic: counts of sent, received and dropped messages.
        news_s: time of the newest message or map of robot j that robot i has, directly or through others [s], float64
            (n, n); 0 at the start.
        used: whether anything has been sent.
    """

    def __init__(self, mailboxes: list[Mailbox], radios: Sequence[Radio], seed: int, log: Log = "none"):
        n = len(mailboxes)
        self.mailboxes = mailboxes
        self.index = {box.owner: i for i, box in enumerate(mailboxes)}
        self.traffic = Traffic(n, log)
        self.radio_channels = [RadioChannel(radio, n, seed, self.traffic) for radio in radios]
        self._others = [
            [o for o in self.radio_channels if o is not one and o.radio.channel == one.radio.channel]
            for one in self.radio_channels
        ]
        self.posts = [post_of(radio_channel, seed, self._hand_over) for radio_channel in self.radio_channels]
        self.names = [radio.name for radio in radios]
        self.news_s = np.zeros((n, n))
        self._writers: list[Mailbox] = []
        for box in mailboxes:
            box.radios, box.writers = self.names, self._writers
        self.used = False
        self.now_s = 0.0
        self._is_idle = True
        self._heard = np.zeros((n, n), bool)
        self._number = 0
        self._batches: list[tuple[int, Packets]] = []
        self._claims: dict[int, Claim] = {}

    @property
    def sent_bytes(self) -> np.ndarray:
        """Bytes that each robot has transmitted since the start, int64 (n,)."""
        return self.traffic.total("bytes_sent").astype(np.int64)

    @property
    def received_bytes(self) -> np.ndarray:
        """Bytes that each robot has received since the start, int64 (n,)."""
        return self.traffic.total("bytes_received").astype(np.int64)

    def claim(self, kind: str) -> Claim:
        """Return a `Claim` that gets the messages of a kind from now on, instead of the mailboxes."""
        return self._claims.setdefault(self.traffic.kind(kind), Claim())

    def send_many(
        self,
        senders: np.ndarray,
        tos: np.ndarray,
        sizes: np.ndarray,
        kind: str,
        payloads: Sequence[Any],
        *,
        ttl_s: float = np.inf,
        radio: str | None = None,
    ) -> None:
        """Send many messages at once, as if their senders had written them in this step; payloads are not copied.

        Args:
            senders: indices into the team, int64 (m,).
            tos: receivers, int64 (m,); -1 for all robots in reach.
            sizes: transmitted sizes [bytes], int64 (m,).
            kind: their topic.
            payloads: the m contents.
            ttl_s: they are dropped if they have not arrived after this time [s].
            radio: name of the radio; None: the first.
        """
        m = len(payloads)
        if not m:
            return
        numbers = self._number + 1 + np.arange(m)
        self._number += m
        kinds, sent = np.full(m, self.traffic.kind(kind)), np.full(m, self.now_s)
        origin, final, size = (np.asarray(column, np.int64) for column in (senders, tos, sizes))
        packets = Packets.written(numbers, origin, final, kinds, size, sent, sent + ttl_s, objects(payloads))
        self._batches.append((self._radio_channel(radio), packets))

    def links(self, world: AnyWorld, pose: np.ndarray, alive: np.ndarray, radio: str | None = None) -> np.ndarray:
        """Return the links of a radio, bool (n, n); row i: the robots that robot i hears, never itself."""
        return self.radio_channels[self._radio_channel(radio)].propagation.hears(world, pose, alive)

    def sample(self, world: AnyWorld, pose: np.ndarray, alive: np.ndarray, time_s: float) -> RadioSample:
        """Return the record of links and traffic at a time [s], since the last call."""
        hears = np.zeros((len(pose), len(pose)), bool)
        for radio_channel in self.radio_channels:
            hears |= radio_channel.propagation.hears(world, pose, alive)
        sample = sample_links(hears, self._heard, alive, self.news_s, time_s)
        self._heard = hears
        logged, self.traffic.logged = self.traffic.logged, []
        return dataclasses.replace(sample, traffic=list(self.traffic.changed()), packets=logged)

    def is_idle(self, time_s: float) -> bool:
        """Return whether nothing is in transit, and nothing is about to be sent; advance to a time [s] then."""
        if not self._is_idle or self._batches or self._writers:
            return False
        self.now_s = time_s
        return True

    def deliver(self, world: AnyWorld, pose: np.ndarray, alive: np.ndarray, time_s: float) -> None:
        """Advance to a time [s], and put arriving messages into the mailboxes.

        Args:
            world: its walls weaken the radio.
            pose: true poses, float64 (n, 3).
            alive: robots whose radio works, bool (n,); the others neither send nor receive.
            time_s: the present time [s].
        """
        batches = self._collect()
        if not batches and self._is_idle:
            self.now_s = time_s
            return
        self.used = True
        before_s, self.now_s = self.now_s, time_s
        for post in self.posts:
            post.begin(world, pose, alive, before_s, time_s)
        for radio_channel, packets in batches:
            if self.traffic.add_written(packets, alive):
                dead = ~alive[packets.origin]
                self.traffic.drop(packets.origin[dead], packets.kind[dead], DEAD)
                packets = packets.select(~dead)
            self.posts[radio_channel].send(packets)
        for radio_channel, others in zip(self.radio_channels, self._others, strict=True):
            radio_channel.cross(world, pose[:, :2], alive, time_s, others)
        for post in self.posts:
            post.radio_channel.forget(before_s)
            post.hear(post.radio_channel.arrived(time_s, alive))
        self._is_idle = all(post.idle for post in self.posts)

    def _radio_channel(self, radio: str | None) -> int:
        if radio is None:
            return 0
        if radio not in self.names:
            raise InvalidValueError(f"the robots have no radio {radio!r}{did_you_mean(radio, self.names)}")
        return self.names.index(radio)

    def _collect(self) -> list[tuple[int, Packets]]:
        """Collect the messages written since the last step, by radio."""
        batches, self._batches = self._batches, []
        if not self._writers:
            return batches
        written: dict[int, list[tuple[int, Outgoing]]] = {}
        for i, box in sorted(((self.index[box.owner], box) for box in self._writers), key=itemgetter(0)):
            for outgoing in box.outbox:
                written.setdefault(self._radio_channel(outgoing.radio), []).append((i, outgoing))
            box.outbox.clear()
        self._writers.clear()
        for radio_channel, messages in written.items():
            m = len(messages)
            numbers = self._number + 1 + np.arange(m)
            self._number += m
            final = [-1 if outgoing.to is None else self.index[outgoing.to] for _, outgoing in messages]
            sent = np.full(m, self.now_s)
            packets = Packets.written(
                numbers,
                np.array([i for i, _ in messages], np.int64),
                np.array(final, np.int64),
                np.array([self.traffic.kind(outgoing.kind) for _, outgoing in messages], np.int64),
                np.array([outgoing.size_bytes for _, outgoing in messages], np.int64),
                sent,
                sent + np.array([outgoing.ttl_s for _, outgoing in messages]),
                objects([outgoing.payload for _, outgoing in messages]),
            )
            batches.append((radio_channel, packets))
        return batches

    def hears_of(self, receiver: int, origins: np.ndarray, written_s: np.ndarray) -> None:
        """Record when the newest data of ``receiver`` about others, int64 (k,), was written, float64 (k,) [s]."""
        self.news_s[receiver, origins] = np.maximum(self.news_s[receiver, origins], written_s)

    def _hand_over(self, come: Receptions) -> None:
        """Give received messages to their receivers."""
        if not len(come):
            return
        receiver, kind, origin, sent_s = come.receiver, come.kind, come.origin, come.sent_s
        self.traffic.add("messages_received", receiver, kind, come.arrived_s - sent_s)
        np.maximum.at(self.news_s, (receiver, origin), sent_s)
        mine, kinds = np.arange(len(come)), np.bincount(kind).tolist()
        for claimed, claim in self._claims.items():
            if count := kinds[claimed] if claimed < len(kinds) else 0:
                claim.receptions.append(come if count == len(come) else come.select(kind == claimed))
                mine = mine[kind[mine] != claimed]
        packets = come.packets
        for k, row in zip(mine.tolist(), come.row[mine].tolist(), strict=True):
            number, final = int(packets.number[row]), int(packets.final[row])
            message = Message(
                self.mailboxes[origin[k]].owner,
                None if final < 0 else self.mailboxes[final].owner,
                self.traffic.kinds[kind[k]],
                again(packets.payload[row]),
                int(packets.size[row]),
                float(sent_s[k]),
                float(come.arrived_s[k]),
                int(packets.hops[row]),
                number,
            )
            lost = self.mailboxes[receiver[k]].put(message)
            if lost is not None:
                at = self.index[lost.sender], self.traffic.kind(lost.kind), INBOX_FULL
                self.traffic.dropped[at] += 1
