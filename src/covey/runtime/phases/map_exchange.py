"""Map sharing by radio: a robot broadcasts what it holds (a digest), and robots that hold newer tiles send them.

A digest is small: for each robot the newest publication that the asking robot holds completely, and the robots that it
hears. Tiles that several robots lack are broadcast once. Nothing is repeated before the answer can have arrived; the
next digest asks again for what was lost.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from covey.clock import Clock, exact
from covey.comms.message import HEADER_BYTES, OWN_KINDS
from covey.comms.network import Network
from covey.geometry.se2 import Pose
from covey.mapping.elevation.belief import Elevations
from covey.mapping.exchange.providers import providers
from covey.mapping.exchange.share_maps import ShareMaps
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.slam.team_exchange import TeamNews
from covey.robots.team import TeamState
from covey.runtime.phases.localization_and_mapping import MappedTeam
from covey.runtime.phases.map_alignment import MapAlignment
from covey.runtime.phases.team_slam import TeamSlam
from covey.world.state import AnyWorld

DIGEST, TILES, *SLAM_KINDS = OWN_KINDS[:4]
"""Kinds of messages."""
HEARD_S = 2.0
"""A robot hears the robots from which it received something within this time and two periods of the policy [s]."""


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


class MapExchange:
    """The exchange of maps of a team.

    Args:
        teams: the robots with equal mapping; only these can merge their maps.
        shares: which robots take part, bool (n,).
        network: carries the messages.
        record: when to exchange.
        clock: clock of the simulation.
        slam: the SLAM of the team; its robots exchange its news in the same way, and know start poses by it.
        frames: the true start poses, float64 (n, 3), if the robots do not know those of the others; else None.

    Attributes:
        aligning: the search for start poses, one for each of the teams; empty if they are known.
    """

    def __init__(
        self,
        teams: list[MappedTeam],
        shares: np.ndarray,
        network: Network,
        record: ShareMaps,
        clock: Clock,
        slam: TeamSlam,
        frames: np.ndarray | None = None,
    ):
        self.slam, self.exchanges = slam, list[Exchange]()
        self._news: Exchange | None = None
        if len(slam.robots):
            self._news = Exchange(slam.robots, slam.news, shares[slam.robots], network, record, clock, SLAM_KINDS)
        self.aligning: list[MapAlignment] = []
        for number, team in enumerate(teams):
            members = team.members
            if np.count_nonzero(shares[members]) > 1:
                if frames is not None:
                    assert isinstance(team.beliefs, Beliefs)
                    by = slam if np.isin(members, slam.robots).all() else None
                    aligning = MapAlignment(members, team.beliefs, frames[members], record.align_every_s, clock, by)
                    self.aligning.append(aligning)
                    team = MappedTeam(members, aligning.by_origin)
                kinds = [kind + (f" {number + 1}" if number else "") for kind in (DIGEST, TILES)]
                self.exchanges.append(Exchange(members, team.beliefs, shares[members], network, record, clock, kinds))

    def rests(self, wishes: dict[int, set[str]]) -> bool:
        """Return whether nothing is due if no message arrives; ``wishes`` as in `exchange`."""
        return self._news is None and not self.aligning and not any(one.is_due(wishes) for one in self.exchanges)

    def exchange(self, world: AnyWorld, state: TeamState, alive: np.ndarray, wishes: dict[int, set[str]]) -> None:
        """Process what has arrived, and send what is due.

        Args:
            world: its walls weaken the radio.
            state: the true poses.
            alive: robots whose radio works, bool (n,).
            wishes: requests of controllers, by team index, see `covey.onboard.step.Requests`; the dict is emptied.
        """
        if self._news is not None:
            self.slam.meet(state, alive)
            self._news.step(world, state.pose, alive, dict(wishes))
        for exchange in self.exchanges:
            exchange.step(world, state.pose, alive, wishes)
        for exchange, aligning in zip(self.exchanges, self.aligning, strict=False):
            aligning.step(exchange.shares & alive[exchange.members])

    def leave(self, robot: int) -> None:
        """Let a robot, by team index, take no part from now on: it exchanges its map by other means."""
        for exchange in self.exchanges:
            exchange.shares[exchange.members == robot] = False

    def frames_of(self, robot: int, name: str) -> Mapping[str, Pose]:
        """Return the poses of the frames of others that a robot has found, by name; updated as it finds more."""
        for aligning in self.aligning:
            for k in np.flatnonzero(aligning.members == robot):
                return aligning.T_own_other[k]
        return {name: Pose(0.0, 0.0, 0.0)}


class Exchange:
    """The exchange among robots with equal mapping, or of the news of a team; indices are those of their beliefs.

    Args:
        members: team indices of the robots.
        beliefs: what they exchange.
        shares: which of them take part, bool (n,).
        network, record, clock: see `MapExchange`.
        kinds: kinds of the messages that ask, and of those that answer.
    """

    def __init__(
        self,
        members: np.ndarray,
        beliefs: Beliefs | Elevations | TeamNews,
        shares: np.ndarray,
        network: Network,
        record: ShareMaps,
        clock: Clock,
        kinds: Sequence[str],
    ):
        n = len(members)
        self.beliefs: Any = beliefs
        self.members, self.network, self.record, self.clock = members, network, record, clock
        self.shares, self._kinds = shares, kinds
        self._claims = [network.claim(kind) for kind in self._kinds]
        self._row = np.full(len(network.mailboxes), -1)
        self._row[members] = np.arange(n)
        self._every = max(1, round(exact(record.every_s) / exact(clock.step_s)))
        self._patience_s = HEARD_S if record.policy != "every" else max(HEARD_S, 2.0 * record.every_s)
        self._heard_s = np.full((n, n), -np.inf)  # time at which row last heard column
        self._linked_s = np.full((n, n), -np.inf)
        self._answered_s = np.full((n, n), -np.inf)  # time at which row last answered column
        self._asked_s = np.full(n, -np.inf)
        self._said = np.zeros((n, n), np.int64)  # the clock of the last digest of each robot
        self._published_s = [[0.0] for _ in range(n)]  # time of each publication of each robot

    def step(self, world: AnyWorld, pose: np.ndarray, alive: np.ndarray, wishes: dict[int, set[str]]) -> None:
        """Process what has arrived, answer, and ask."""
        if not self.is_due(wishes):
            return
        able = self.shares & alive[self.members]
        asks, offers = self._wishes(wishes)
        digests, tiles = self._claims
        if tiles.receptions:
            self._take_tiles(able)
        if digests.receptions:
            asks |= self._answer(able)
        if self.record.policy == "every":
            asks |= self.clock.step % self._every == 0
        elif self.record.policy == "continuous":
            self._publish(np.flatnonzero(able))
            changed = (self.beliefs.clock != self._said).any(axis=1)
            asks, offers = asks | changed, offers | changed
        elif self.record.policy == "on_meeting":
            asks |= self._meetings(world, pose, alive)
        self._say(asks & able, offers & able)

    def is_due(self, wishes: dict[int, set[str]]) -> bool:
        """Return whether there is something to process; arguments as in `step`."""
        if wishes or self.record.policy != "every" or self.clock.step % self._every == 0:
            return True
        return any(claim.receptions for claim in self._claims)

    def _publish(self, rows: np.ndarray) -> None:
        """Publish the changes of robots."""
        self.beliefs.publish(rows)
        for row in rows.tolist():
            while self.beliefs.clock[row, row] >= len(times := self._published_s[row]):
                times.append(self.clock.time_s)

    def _wishes(self, wishes: dict[int, set[str]]) -> tuple[np.ndarray, np.ndarray]:
        """Return the robots whose controllers asked for maps, and whose controllers offered them, bool (n,) each."""
        if not wishes:
            return np.zeros(len(self.members), bool), np.zeros(len(self.members), bool)
        own = [wishes.pop(i, ()) for i in self.members.tolist()]
        return np.array(["request" in words for words in own]), np.array(["share" in words for words in own])

    def _meetings(self, world: AnyWorld, pose: np.ndarray, alive: np.ndarray) -> np.ndarray:
        """Return the robots that have come into reach of one that they did not hear for long, bool (n,)."""
        hears = self.network.links(world, pose, alive)[np.ix_(self.members, self.members)]
        now = self.clock.time_s
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
        self._send(rows, np.full(len(rows), -1), 0, digests, [d.size_bytes for d in digests])

    def _take_tiles(self, able: np.ndarray) -> None:
        """Merge the tiles that have arrived."""
        receiver, sender, payloads, _ = self._arrived(1, able)
        if len(payloads):
            which, updates = _distinct(payloads)
            received = np.zeros((len(self.members), len(updates)), bool)
            received[receiver, which] = True
            self.beliefs.merge_updates(received, updates)
            self._tell_news(self._ascending(receiver))
            self._heard_s[receiver, sender] = self.clock.time_s

    def _tell_news(self, rows: np.ndarray) -> None:
        """Tell the network how new what robots know of others is."""
        for row in rows.tolist():
            known = zip(self._published_s, self.beliefs.clock[row].tolist(), strict=True)
            self.network.hears_of(int(self.members[row]), self.members, np.array([times[k] for times, k in known]))

    def _answer(self, able: np.ndarray) -> np.ndarray:
        """Answer the digests that have arrived; return the robots that should ask for new tiles, bool (n,)."""
        n, now, beliefs = len(self.members), self.clock.time_s, self.beliefs
        receiver, sender, payloads, sent_s = self._arrived(0, able)
        if not len(payloads):
            return np.zeros(n, bool)
        which, digests = _distinct(payloads)
        self._heard_s[receiver, sender] = now
        clocks, reach = (np.array([getattr(d, name) for d in digests]) for name in ("clock", "reach"))
        asks, offers = (np.array([getattr(d, name) for d in digests])[which] for name in ("asks", "offers"))
        newer = (clocks[which] > beliefs.clock[receiver]).any(axis=1)
        delay = now - sent_s
        lacks = np.zeros(n, bool)
        lacks[receiver[offers & newer & (self._asked_s[receiver] < now - 2.0 * delay - 1e-9)]] = True

        answers = asks & (sent_s >= self._answered_s[receiver, sender] + delay - 1e-9)
        answers &= ~self._busy()[receiver]
        receiver, sender, which = receiver[answers], sender[answers], which[answers]
        self._publish(self._ascending(receiver))
        heard = np.full((n, n), -1)
        heard[receiver, sender] = which
        since, to = providers(heard, clocks, reach, beliefs.clock)
        givers = np.flatnonzero(to > -2)
        updates = [beliefs.update_since(i, since[i]) for i in givers.tolist()]
        self._send(givers, to[givers], 1, updates, [one.size_bytes + HEADER_BYTES for one in updates])
        tells = to[receiver] > -2
        self._answered_s[receiver[tells], sender[tells]] = now
        return lacks

    def _busy(self) -> np.ndarray:
        """Return the robots whose last tiles are still waiting for transmission, bool (n,)."""
        busy, kind = np.zeros(len(self.members), bool), self.network.traffic.kind(self._kinds[1])
        for radio_channel in self.network.radio_channels:
            if len(waiting := radio_channel.pending):
                busy[self._row[waiting.source[waiting.kind == kind]]] = True
        return busy

    def _ascending(self, rows: np.ndarray) -> np.ndarray:
        """Return the distinct ones of some rows, int64 (m,), in ascending order."""
        return np.flatnonzero(np.bincount(rows, minlength=len(self.members)))

    def _arrived(self, kind: int, able: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[Any], np.ndarray]:
        """Return the messages that able robots received: receivers, senders, payloads, and times of sending [s]."""
        receiver, sender, payloads, sent_s = self._claims[kind].pop()
        if not len(payloads):
            return receiver, sender, [], sent_s
        receiver, sender = self._row[receiver], self._row[sender]
        ours = np.flatnonzero((receiver >= 0) & able[receiver])
        return receiver[ours], sender[ours], [payloads[k] for k in ours.tolist()], sent_s[ours]

    def _send(self, rows: np.ndarray, to: np.ndarray, kind: int, payloads: list[Any], sizes: list[int]) -> None:
        tos = np.where(to < 0, -1, self.members[to])
        self.network.send_many(self.members[rows], tos, np.array(sizes), self._kinds[kind], payloads)


def _distinct(payloads: list[Any]) -> tuple[np.ndarray, list[Any]]:
    """Return the index of each payload among the distinct ones, int64 (m,), and the distinct payloads."""
    index: dict[Any, int] = {}
    which = [index.setdefault(payload, len(index)) for payload in payloads]
    return np.array(which, np.int64), list(index)
