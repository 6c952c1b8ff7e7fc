"""`NodeTeam`: how a controller that is a node of ROS 2 talks with its team, and exchanges its map.

Each node runs the exchange of maps for its one robot, with the same rules as in a simulation. Digests and tiles travel
as messages beside those of the controller.
"""

import logging
import sys
import zlib
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from covey.comms.blackboard import GONE
from covey.comms.mailbox import Outgoing
from covey.comms.message import LARGEST_BYTES, Message
from covey.errors import CoveyError, InvalidValueError
from covey.mapping.exchange.share_maps import ShareMaps
from covey.mapping.occupancy.apart import OwnBelief
from covey.mapping.occupancy.tiles import TILE_CELLS
from covey.onboard.step import Requests, TeamUpdate
from covey.physics.clock import Clock
from covey.ros.dds import Node
from covey.ros.node_setup import NodeSetup
from covey.ros.plain import PlainError, decode
from covey.ros.team_letters import KIND, LETTERS, RADIO, Heard, Letter, encoded, letter_bytes, read_letter
from covey.ros.types import MessageError
from covey.runtime.phases.map_exchange import Digest, Exchange

LOG = logging.getLogger("covey")
TEAM_TOPIC = "/covey/team"
"""Where nodes write to each other without a simulated radio."""
MAP_KINDS = ("map digest of a node", "map tiles of a node")
"""Kinds of messages."""


class NodeTeam:
    """The team as the node of one robot hears it, and talks to it.

    Args:
        node: of the controller, in the namespace of the robot.
        setup: the robot.
        direct: there is no simulated radio: the nodes of the team write to each other on `TEAM_TOPIC`.

    Attributes:
        bad: number of letters and messages that could not be read.
    """

    def __init__(self, node: Node, setup: NodeSetup, direct: bool):
        self._types, self._setup, self._direct = node.participant.types, setup, direct
        self._name, self._names = setup.spawn.spec.name, frozenset(setup.spawn.team)
        said, heard = (TEAM_TOPIC, TEAM_TOPIC) if direct else (f"radio/{RADIO}", f"heard/{RADIO}")
        self._said = node.writer(said, KIND, LETTERS)
        self._heard = node.reader(heard, KIND, LETTERS)
        self._module = sys.modules.get(setup.spawn.program.factory.__module__)
        self._exchange: NodeExchange | None = None
        self.bad, self._warned = 0, False
        self.begin()

    def begin(self) -> None:
        """Forget the team: time begins anew."""
        self._number, self._at_ns = 0, -1
        self._wishes: set[str] = set()
        self._maps: list[Outgoing] = []
        self._exchange = None
        self._heard.take()

    def share(self, belief: OwnBelief | None, clock: Clock) -> None:
        """Exchange a map with the others from now on, if the robot does."""
        sharing = self._setup.sharing
        self._exchange = None if sharing is None or belief is None else NodeExchange(belief, sharing, clock)

    def hear(self, clock: Clock) -> TeamUpdate | None:
        """Take what has come, and exchange maps; return what the controller is to hear."""
        messages: list[Message] = []
        entries: dict[str, Any] = {}
        for letter in self._letters(clock.time_s):
            messages += filter(None, map(self._message, letter.messages))
            for key, value in letter.entries.items():
                entries[key] = GONE if value is None else self._value(value)
        if self._exchange is not None:
            self._maps = self._exchange.run(self._wishes)
            self._wishes = set()
        return TeamUpdate(tuple(messages), tuple(entries.items())) if messages or entries else None

    def write(self, asked: Requests | None, now_ns: int) -> None:
        """Send what the robot and its controller want to say.

        Raises:
            InvalidValueError: a message cannot be sent to other nodes.
        """
        asked = asked or Requests()
        self._wishes.update(asked.maps)
        messages = [*self._maps, *asked.messages]
        entries = {key: None if value is GONE else encoded(value) for key, value in asked.entries}
        self._maps = []
        if not messages and not entries:
            return
        data = letter_bytes(self._types, Letter(self._name, now_ns, messages, entries))
        self._said.write(data)
        self._said.settle(data)
        if not self._warned and not self._said.matched:
            self._warned = True
            hint = "no other node of its team is there yet"
            if not self._direct:
                hint = (
                    "nobody carries its messages to the team: covey ros run would. Nodes of robots without a simulated "
                    "radio need --direct, all of a team alike"
                )
            LOG.warning("%s: %s", self._name, hint)

    def _letters(self, time_s: float) -> list[Letter]:
        """Return the letters with what was heard since the last call."""
        found: list[Letter] = []
        for data in self._heard.take():
            try:
                letter = read_letter(self._types, data, heard=not self._direct)
            except MessageError as error:
                self._refuse(str(error))
                continue
            if not self._direct and letter.owner == self._name and letter.at_ns > self._at_ns:
                self._at_ns = letter.at_ns  # it may come twice
                found.append(letter)
            elif self._direct and letter.owner in self._names and letter.owner != self._name:
                own = [m for m in letter.messages if m.to in (None, self._name)]
                heard = [Heard(letter.owner, m.to, m.kind, m.payload, m.size_bytes, time_s, time_s, 1) for m in own]
                found.append(Letter(letter.owner, letter.at_ns, heard, letter.entries))
        return found

    def _message(self, heard: Heard) -> Message | None:
        """Return a message for the controller; None if it is about maps, or cannot be read."""
        if heard.sender not in self._names:
            return None
        try:
            if heard.kind in MAP_KINDS:
                if self._exchange is not None:
                    self._exchange.take(heard, decode(heard.payload))
                return None
            payload = decode(heard.payload, self._module)
        except CoveyError as error:
            self._refuse(f"{heard.kind or 'a message'} from {heard.sender}: {error}")
            return None
        self._number += 1
        return Message(
            heard.sender,
            heard.to,
            heard.kind,
            payload,
            heard.size_bytes,
            heard.sent_s,
            heard.received_s,
            heard.hops,
            self._number,
        )

    def _value(self, value: Any) -> Any:
        try:
            return decode(value, self._module)
        except PlainError as error:
            self._refuse(str(error))
            return None

    def _refuse(self, why: str) -> None:
        """Leave out what has come; the first is said."""
        if not self.bad:
            LOG.warning("%s: something from the team is left out: %s", self._name, why)
        self.bad += 1


@dataclass
class _Come:
    """Messages about maps that were heard, as `covey.comms.network.Claim` has them."""

    robot: int
    receptions: list[tuple[int, Any, float]] = field(default_factory=list)

    def pop(self) -> tuple[np.ndarray, np.ndarray, list[Any], np.ndarray]:
        taken, self.receptions = self.receptions, []
        senders = np.array([sender for sender, _, _ in taken], np.int64)
        sent_s = np.array([sent_s for _, _, sent_s in taken], float)
        return np.full(len(taken), self.robot), senders, [payload for _, payload, _ in taken], sent_s


class NodeExchange(Exchange):
    """The exchange of maps for the robot of a node; indices are those of its belief.

    Args:
        belief: of the robot.
        record: when to exchange.
        clock: of the node.
    """

    def __init__(self, belief: OwnBelief, record: ShareMaps, clock: Clock):
        n = self._n = len(belief)
        self._belief, self._come = belief, [_Come(belief.robot), _Come(belief.robot)]
        self._wish = np.arange(n) == belief.robot
        claims = dict(zip(MAP_KINDS, self._come, strict=True))
        network: Any = SimpleNamespace(claim=claims.get, mailboxes=range(n))
        super().__init__(np.arange(n), belief, self._wish, network, record, clock, MAP_KINDS)
        self._out: list[Outgoing] = []
        self._interval = -1

    def run(self, wishes: set[str]) -> list[Outgoing]:
        """Process what has come; return what to send.

        Args:
            wishes: of the controller, see `covey.onboard.step.Requests`.
        """
        nobody: Any = None
        self.step(nobody, np.zeros(0), np.ones(self._n, bool), {self._belief.robot: wishes} if wishes else {})
        out, self._out = self._out, []
        return out

    def take(self, heard: Heard, plain: Any) -> None:
        """Take a message about maps.

        Raises:
            InvalidValueError: it is none.
        """
        if heard.sender not in self._belief.names or heard.sender == self._belief.names[self._belief.robot]:
            return
        sender, kind = self._belief.names.index(heard.sender), MAP_KINDS.index(heard.kind)
        payload = self._digest(plain) if kind == 0 else self._belief.update_of(_unpacked(plain))
        self._come[kind].receptions.append((sender, payload, heard.sent_s))

    def _digest(self, plain: Any) -> Digest:
        match plain:
            case (
                np.ndarray(dtype=np.int64, shape=(n,)) as clock,
                np.ndarray(dtype=np.bool_, shape=(k,)) as reach,
                bool(asks),
                bool(offers),
            ) if n == k == self._n and (clock >= 0).all():
                return Digest(clock, reach, asks, offers)
        raise InvalidValueError("what another robot sent is no digest of a map of this team")

    def _is_due(self) -> bool:
        """As in a simulation, and when the step in which an interval begins was missed."""
        before, self._interval = self._interval, self.clock.step // self._every
        return self._interval != before

    def _tell_news(self, rows: np.ndarray) -> None:
        """Tell nobody: when others published is not known here."""

    def _busy(self) -> np.ndarray:
        """None is: how far the radio of the robot has come is not known here."""
        return np.zeros(self._n, bool)

    def _send(self, rows: np.ndarray, to: np.ndarray, kind: int, payloads: list[Any], sizes: list[int]) -> None:
        for receiver, payload, size in zip(to.tolist(), payloads, sizes, strict=True):
            if kind == 0:
                plain: Any = payload.clock, payload.reach, payload.asks, payload.offers
            else:
                plain = _packed(self._belief.plain(payload))
            name = None if receiver < 0 else self._belief.names[receiver]
            self._out.append(Outgoing(name, MAP_KINDS[kind], encoded(plain), size, float("inf"), None))


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
