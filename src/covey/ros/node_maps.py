"""`NodeExchange`: how a controller that is a node of ROS 2 exchanges its map with those of other nodes.

Each node runs the exchange for its one robot, with the same rules as in a simulation. Digests and tiles travel as
messages beside those of the controller. Robots that do not know each other's starts search for them from what they get.
"""

import logging
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from covey.clock import Clock
from covey.comms.mailbox import Outgoing
from covey.errors import InvalidValueError
from covey.geometry.se2 import Pose
from covey.mapping.elevation.apart import OwnElevation, received
from covey.mapping.exchange.map_updates import MapUpdate
from covey.mapping.exchange.share_maps import ShareMaps
from covey.mapping.occupancy.apart import OwnBelief, plain_of, update_of
from covey.mapping.occupancy.tiles import TILE_CELLS
from covey.onboard.map_alignment import MapAlignment
from covey.onboard.map_exchange import ANSWERS, ASKS, Arrived, Digest, Exchange
from covey.plain import LARGEST_BYTES, decode
from covey.ros.team_letters import ReceivedMessage, encoded

LOG = logging.getLogger("covey")
MAP_KINDS = ("map digest of a node", "map tiles of a node")
"""Kinds of messages."""
_HELLO_S = 1.0  # with on_meeting, how often a robot lets itself be heard


class _Come(NamedTuple):
    """A digest or an update that was heard."""

    sender: int
    payload: Any
    sent_s: float


class NodeExchange:
    """The exchange of maps for the robot of a node; indices are those of its belief.

    Args:
        belief: of the robot.
        record: when to exchange, and whether the robots know each other's starts.
        clock: of the node.
    """

    def __init__(self, belief: OwnBelief | OwnElevation, record: ShareMaps, clock: Clock):
        self._post, self._clock = _Letters(belief), clock
        self._own = np.arange(len(belief)) == belief.robot
        self._robot, self._names = belief.robot, belief.names
        self._aligning, told = None, belief
        if record.start_poses == "unknown" and isinstance(belief, OwnBelief):
            self._aligning = MapAlignment(np.arange(len(belief)), belief, record.align_every_s, clock)
            told = self._aligning.by_origin
        self._post.beliefs = told
        apart = record.model_copy(update={"apart_s": max(record.apart_s, 2.0 * _HELLO_S)})  # a hello may be lost
        self._exchange = Exchange(told, self._own, self._post, apart, clock)
        self._says_hello, self._hello_s = record.policy == "on_meeting", -np.inf

    def run(self, wishes: set[str]) -> list[Outgoing]:
        """Process what has come; return what to send.

        Args:
            wishes: of the controller, see `covey.onboard.step.Requests`.
        """
        self._exchange.step(np.ones(len(self._own), bool), {self._robot: wishes} if wishes else {})
        if self._says_hello and self._clock.time_s - self._hello_s >= _HELLO_S - 1e-9:
            self._hello_s = self._clock.time_s
            clock = self._exchange.beliefs.clock[self._robot].copy()
            self._post.send_digest(Digest(clock, np.zeros(len(self._own), bool), False, False))
        if self._aligning is not None:
            self._aligning.step(self._own)
            for found in self._aligning.attempts:
                if found.verdict != "refused":
                    here, there = self._names[self._robot], self._names[found.other]
                    LOG.info("%s: start of %s: %s %s", here, there, found.verdict, found.T_found)
        out, self._post.out = self._post.out, []
        return out

    @property
    def frames(self) -> Mapping[str, Pose] | None:
        """Poses of the starts of robots in that of this one, as far as they are found; None: all share one frame."""
        return None if self._aligning is None else self._aligning.T_own_other[self._robot]

    def hears(self, name: str) -> None:
        """Note that something has come from another robot."""
        if name in self._names:
            self._post.heard[self._names.index(name)] = True

    def receive(self, heard: ReceivedMessage) -> None:
        """Take a message about maps.

        Raises:
            InvalidValueError: it is none.
        """
        if heard.sender in self._names and heard.sender != self._names[self._robot]:
            self._post.take(self._names.index(heard.sender), heard)


class _Letters:
    """The messages of one robot's exchange; see `covey.onboard.map_exchange.Post`.

    Attributes:
        out: what to send.
        heard: the robots of which something has come since the last step, bool (n,).
        beliefs: what is exchanged.
    """

    beliefs: Any

    def __init__(self, belief: OwnBelief | OwnElevation):
        self._robot = belief.robot
        self.out: list[Outgoing] = []
        self.heard = np.zeros(len(belief), bool)
        self._come: tuple[list[_Come], list[_Come]] = ([], [])

    def take(self, sender: int, heard: ReceivedMessage) -> None:
        plain, kind = decode(heard.payload), MAP_KINDS.index(heard.kind)
        payload = self._update(plain) if kind == ANSWERS else self._digest(plain)
        self._come[kind].append(_Come(sender, payload, heard.sent_s))

    def _update(self, plain: Any) -> MapUpdate:
        if isinstance(self.beliefs, OwnElevation):
            return received(self.beliefs, self._robot, plain)
        return update_of(self.beliefs, self._robot, _unpacked(plain))

    def _plain(self, update: MapUpdate) -> Any:
        """Return an update as the plain data that `_update` reads."""
        if isinstance(self.beliefs, OwnElevation):
            return self.beliefs.encode(update)
        return _packed(plain_of(self.beliefs, update))

    def _digest(self, plain: Any) -> Digest:
        match plain:
            case (
                np.ndarray(dtype=np.int64, shape=(n,)) as clock,
                np.ndarray(dtype=np.bool_, shape=(k,)) as reach,
                bool(asks),
                bool(offers),
            ) if n == k == len(self.heard) and (clock >= 0).all():
                return Digest(clock, reach, asks, offers)
        raise InvalidValueError("what another robot sent is no digest of a map of this team")

    def waits(self, kind: int) -> bool:
        return bool(self._come[kind])

    def pop(self, kind: int) -> Arrived:
        taken = [*self._come[kind]]
        self._come[kind].clear()
        senders, sent_s = np.array([one.sender for one in taken], np.int64), np.array([one.sent_s for one in taken])
        return Arrived(np.full(len(taken), self._robot), senders, [one.payload for one in taken], sent_s)

    def send(self, rows: np.ndarray, to: np.ndarray, kind: int, payloads: list[Any], sizes: list[int]) -> None:
        for receiver, payload, size in zip(to.tolist(), payloads, sizes, strict=True):
            if kind == ASKS:
                self.send_digest(payload)
                continue
            name = None if receiver < 0 else self.beliefs.names[receiver]
            self.out.append(Outgoing(name, MAP_KINDS[ANSWERS], encoded(self._plain(payload)), size, float("inf"), None))

    def send_digest(self, digest: Digest) -> None:
        """Broadcast a digest."""
        plain = encoded((digest.clock, digest.reach, digest.asks, digest.offers))
        self.out.append(Outgoing(None, MAP_KINDS[ASKS], plain, digest.size_bytes, float("inf"), None))

    def busy(self) -> np.ndarray:
        """None is: how far the radio of the robot has come is not known here."""
        return np.zeros(len(self.heard), bool)

    def hears(self) -> np.ndarray:
        """Return whom the robot has heard since the last call: nothing else tells who is in reach."""
        heard = np.zeros((len(self.heard), len(self.heard)), bool)
        heard[self._robot], self.heard[:] = self.heard, False
        return heard

    def knows(self, row: int, clock: np.ndarray, published_s: Sequence[Sequence[float]]) -> None:
        """Nobody here asks how old what a robot knows is."""


def _packed(plain: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the plain data of an update with its cells compressed."""
    giver, tiles, cells, *rest = plain
    return giver, tiles, zlib.compress(cells.tobytes(), 1), *rest


def _unpacked(packed: Any) -> Any:
    """Return the plain data of an update.

    Raises:
        InvalidValueError: the cells are none.
    """
    match packed:
        case (giver, np.ndarray() as tiles, bytes(data), *rest) if TILE_CELLS * len(tiles) <= 4 * LARGEST_BYTES:
            size, unpacker = TILE_CELLS * len(tiles), zlib.decompressobj()
            try:
                cells = unpacker.decompress(data, size + 1)  # a small message may hold much
            except zlib.error as error:
                raise InvalidValueError(f"tiles of another robot cannot be unpacked: {error}") from None
            if len(cells) == size:
                return giver, tiles, np.frombuffer(cells, np.int8).reshape(-1, TILE_CELLS), *rest
    raise InvalidValueError("what another robot sent are no tiles of a map")
