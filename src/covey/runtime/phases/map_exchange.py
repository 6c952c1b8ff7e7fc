"""Map sharing by radio: the exchanges of a team, and the network that carries their messages."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from covey.clock import Clock
from covey.comms.message import OWN_KINDS
from covey.comms.network import Network
from covey.geometry.se2 import Pose
from covey.mapping.exchange.share_maps import ShareMaps
from covey.mapping.occupancy.belief import Beliefs
from covey.onboard.map_alignment import Attempt, MapAlignment
from covey.onboard.map_exchange import Arrived, Exchange
from covey.results.event_data import Aligned
from covey.robots.team import TeamState
from covey.runtime.phases.localization_and_mapping import MappedTeam
from covey.runtime.phases.team_slam import TeamSlam
from covey.world.state import AnyWorld

DIGEST, TILES, *SLAM_KINDS = OWN_KINDS[:4]
"""Kinds of messages."""


class NetworkPost:
    """The messages of an exchange over the simulated network; see `covey.onboard.map_exchange.Post`.

    Args:
        members: team indices of the robots that exchange.
        network: of the team.
        kinds: kinds of the messages that ask, and of those that answer.

    Attributes:
        around: the world, whose walls weaken the radio, true poses (n, 3), and robots whose radio works, bool (n,).
    """

    around: tuple[AnyWorld, np.ndarray, np.ndarray]

    def __init__(self, members: np.ndarray, network: Network, kinds: Sequence[str]):
        self.members, self._network, self._kinds = members, network, kinds
        self._claims = [network.claim(kind) for kind in kinds]
        self._row = np.full(len(network.mailboxes), -1)
        self._row[members] = np.arange(len(members))

    def waits(self, kind: int) -> bool:
        return bool(self._claims[kind].receptions)

    def pop(self, kind: int) -> Arrived:
        receiver, sender, payloads, sent_s = self._claims[kind].pop()
        receiver, sender = self._row[receiver], self._row[sender]
        ours = np.flatnonzero(receiver >= 0)  # all that hear a broadcast get it
        return Arrived(receiver[ours], sender[ours], [payloads[k] for k in ours.tolist()], sent_s[ours])

    def send(self, rows: np.ndarray, to: np.ndarray, kind: int, payloads: list, sizes: list[int]) -> None:
        tos = np.where(to < 0, -1, self.members[to])
        self._network.send_many(self.members[rows], tos, np.array(sizes), self._kinds[kind], payloads)

    def busy(self) -> np.ndarray:
        busy, kind = np.zeros(len(self.members), bool), self._network.traffic.kind(self._kinds[1])
        for radio_channel in self._network.radio_channels:
            if len(waiting := radio_channel.pending):
                busy[self._row[waiting.source[waiting.kind == kind]]] = True
        return busy

    def hears(self) -> np.ndarray:
        return self._network.links(*self.around)[np.ix_(self.members, self.members)]

    def knows(self, row: int, clock: np.ndarray, published_s: Sequence[Sequence[float]]) -> None:
        known_s = np.array([times[k] for times, k in zip(published_s, clock.tolist(), strict=True)])
        self._network.hears_of(int(self.members[row]), self.members, known_s)


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
        self.slam, self.exchanges, self._posts = slam, list[Exchange](), list[NetworkPost]()
        self._news: tuple[Exchange, NetworkPost] | None = None
        if len(slam.robots):
            post = NetworkPost(slam.robots, network, SLAM_KINDS)
            self._news = Exchange(slam.news, shares[slam.robots], post, record, clock), post
        self.aligning: list[MapAlignment] = []
        for number, team in enumerate(teams):
            members = team.members
            if np.count_nonzero(shares[members]) > 1:
                told = team.beliefs
                if frames is not None:
                    assert isinstance(told, Beliefs)
                    by = slam if np.isin(members, slam.robots).all() else None
                    aligning = MapAlignment(members, told, record.align_every_s, clock, by, frames[members])
                    self.aligning.append(aligning)
                    told = aligning.by_origin
                kinds = [kind + (f" {number + 1}" if number else "") for kind in (DIGEST, TILES)]
                self._posts.append(NetworkPost(members, network, kinds))
                self.exchanges.append(Exchange(told, shares[members], self._posts[-1], record, clock))

    def is_idle(self, wishes: dict[int, set[str]]) -> bool:
        """Return whether nothing is due if no message arrives; ``wishes`` as in `exchange`."""
        return self._news is None and not self.aligning and not any(one.is_due(bool(wishes)) for one in self.exchanges)

    def exchange(self, world: AnyWorld, state: TeamState, alive: np.ndarray, wishes: dict[int, set[str]]) -> None:
        """Process what has arrived, and send what is due.

        Args:
            world: its walls weaken the radio.
            state: the true poses.
            alive: robots whose radio works, bool (n,).
            wishes: requests of controllers, by team index, see `covey.onboard.step.Requests`; the dict is emptied.
        """
        around = world, state.pose, alive
        if self._news is not None:
            self.slam.meet(state, alive)
            _step(*self._news, around, dict(wishes))
        for exchange, post in zip(self.exchanges, self._posts, strict=True):
            _step(exchange, post, around, wishes)
        for exchange, post, aligning in zip(self.exchanges, self._posts, self.aligning, strict=False):
            aligning.step(exchange.shares & alive[post.members])

    def leave(self, robot: int) -> None:
        """Let a robot, by team index, take no part from now on: it exchanges its map by other means."""
        for exchange, post in zip(self.exchanges, self._posts, strict=True):
            exchange.shares[post.members == robot] = False

    def frames_of(self, robot: int, name: str) -> Mapping[str, Pose]:
        """Return the poses of the frames of others that a robot has found, by name; updated as it finds more."""
        for aligning in self.aligning:
            for k in np.flatnonzero(aligning.members == robot):
                return aligning.T_own_other[k]
        return {name: Pose(0.0, 0.0, 0.0)}


def _step(
    exchange: Exchange,
    post: NetworkPost,
    around: tuple[AnyWorld, np.ndarray, np.ndarray],
    wishes: dict[int, set[str]],
) -> None:
    """Step one exchange; it takes the ``wishes`` of its robots, by team index."""
    post.around = around
    own = {row: words for row, i in enumerate(post.members.tolist()) if (words := wishes.pop(i, None)) is not None}
    exchange.step(around[2][post.members], own)


def said_of(attempt: Attempt) -> Aligned:
    """Return what the event of an attempt says."""
    T, numbers = attempt.T_found, {}
    if T is not None:
        numbers = {"dx_m": T.x, "dy_m": T.y, "heading_deg": math.degrees(T.heading), "confidence": attempt.confidence}
        if attempt.T_true is not None:
            off = attempt.T_true.inverse() @ T
            numbers |= {"error_m": math.hypot(off.x, off.y), "error_deg": abs(math.degrees(off.heading))}
    rounded = {name: None if value is None else round(value, 4) for name, value in numbers.items()}
    return Aligned(attempt.verdict, **rounded, refused=attempt.refused or None)
