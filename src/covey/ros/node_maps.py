"""`NodeExchange`: how a controller that is a node of ROS 2 exchanges its map with those of other nodes.

Each node runs the exchange for its one robot, with the same rules as in a simulation. Digests and tiles travel as
messages beside those of the controller. Robots that do not know each other's starts search for them from what they get.
"""

import logging
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from covey.clock import Clock
from covey.comms.mailbox import Outgoing
from covey.comms.message import LARGEST_BYTES
from covey.errors import InvalidValueError
from covey.geometry.se2 import Pose
from covey.mapping.exchange.share_maps import ShareMaps
from covey.mapping.occupancy.apart import OwnBelief, plain_of, update_of
from covey.mapping.occupancy.tiles import TILE_CELLS
from covey.ros.plain import decode
from covey.ros.team_letters import Heard, encoded
from covey.runtime.phases.map_alignment import MapAlignment
from covey.runtime.phases.map_exchange import Digest, Exchange

LOG = logging.getLogger("covey")
MAP_KINDS = ("map digest of a node", "map tiles of a node")
"""Kinds of messages."""
_HELLO_S = 1.0  # with on_meeting, how often a robot lets itself be heard


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


class _Intervals:
    """An interval begins as in a simulation, and when the step in which it begins was missed."""

    _every: int
    clock: Clock
    _interval = -1

    def _is_due(self) -> bool:
        before, self._interval = self._interval, self.clock.step // self._every
        return self._interval != before


class _Alignment(_Intervals, MapAlignment):
    """The search of one robot for the starts of the others."""


class NodeExchange(_Intervals, Exchange):
    """The exchange of maps for the robot of a node; indices are those of its belief.

    Args:
        belief: of the robot.
        record: when to exchange, and whether the robots know each other's starts.
        clock: of the node.
    """

    def __init__(self, belief: OwnBelief, record: ShareMaps, clock: Clock):
        n, self._robot = len(belief), belief.robot
        self._come = [_Come(belief.robot), _Come(belief.robot)]
        self._own, self._heard = np.arange(n) == belief.robot, np.zeros(n, bool)
        claims = dict(zip(MAP_KINDS, self._come, strict=True))
        network: Any = SimpleNamespace(claim=claims.get, mailboxes=range(n))
        self._aligning, told = None, belief
        if record.start_poses == "unknown":
            unknown = np.zeros((n, 3))  # only for the error of what is found, which nobody here knows
            self._aligning = _Alignment(np.arange(n), belief, unknown, record.align_every_s, clock, None)
            told = self._aligning.by_origin
        super().__init__(np.arange(n), told, self._own, network, record, clock, MAP_KINDS)
        self._out: list[Outgoing] = []
        self._hello_s = -np.inf

    def run(self, wishes: set[str]) -> list[Outgoing]:
        """Process what has come; return what to send.

        Args:
            wishes: of the controller, see `covey.onboard.step.Requests`.
        """
        nobody: Any = None
        self.step(nobody, np.zeros(0), np.ones(len(self._own), bool), {self._robot: wishes} if wishes else {})
        if self.record.policy == "on_meeting" and self.clock.time_s - self._hello_s >= _HELLO_S - 1e-9:
            self._hello_s = self.clock.time_s
            self._send_digest(
                Digest(self.beliefs.clock[self._robot].copy(), np.zeros(len(self._own), bool), False, False)
            )
        if self._aligning is not None:
            self._aligning.step(self._own)
            for found in self._aligning.attempts:
                if found.verdict != "refused":
                    name = self.beliefs.names[found.other]
                    LOG.info(
                        "%s: start of %s: %s %s", self.beliefs.names[self._robot], name, found.verdict, found.T_found
                    )
        out, self._out = self._out, []
        return out

    @property
    def frames(self) -> Mapping[str, Pose] | None:
        """Poses of the starts of robots in that of this one, as far as they are found; None: all share one frame."""
        return None if self._aligning is None else self._aligning.T_own_other[self._robot]

    def hears(self, name: str) -> None:
        """Note that something has come from another robot."""
        if name in self.beliefs.names:
            self._heard[self.beliefs.names.index(name)] = True

    def take(self, heard: Heard) -> None:
        """Take a message about maps.

        Raises:
            InvalidValueError: it is none.
        """
        names = self.beliefs.names
        if heard.sender not in names or heard.sender == names[self._robot]:
            return
        plain, kind = decode(heard.payload), MAP_KINDS.index(heard.kind)
        payload = self._digest(plain) if kind == 0 else update_of(self.beliefs, self._robot, _unpacked(plain))
        self._come[kind].receptions.append((names.index(heard.sender), payload, heard.sent_s))

    def _digest(self, plain: Any) -> Digest:
        match plain:
            case (
                np.ndarray(dtype=np.int64, shape=(n,)) as clock,
                np.ndarray(dtype=np.bool_, shape=(k,)) as reach,
                bool(asks),
                bool(offers),
            ) if n == k == len(self._own) and (clock >= 0).all():
                return Digest(clock, reach, asks, offers)
        raise InvalidValueError("what another robot sent is no digest of a map of this team")

    def _meetings(self, world: Any, pose: np.ndarray, alive: np.ndarray) -> np.ndarray:
        """Return whether this robot has heard one that was silent for long: nothing else tells who is in reach."""
        now, linked_s = self.clock.time_s, self._linked_s[self._robot]
        met = self._heard & (now - linked_s >= max(self.record.apart_s, 2.0 * _HELLO_S))
        linked_s[self._heard] = self._heard_s[self._robot, self._heard] = now
        self._heard[:] = False
        return self._own & met.any()

    def _tell_news(self, rows: np.ndarray) -> None:
        """Tell nobody: when others published is not known here."""

    def _busy(self) -> np.ndarray:
        """None is: how far the radio of the robot has come is not known here."""
        return np.zeros(len(self._own), bool)

    def _send(self, rows: np.ndarray, to: np.ndarray, kind: int, payloads: list[Any], sizes: list[int]) -> None:
        for receiver, payload, size in zip(to.tolist(), payloads, sizes, strict=True):
            if kind == 0:
                self._send_digest(payload)
                continue
            name, plain = None if receiver < 0 else self.beliefs.names[receiver], plain_of(self.beliefs, payload)
            self._out.append(Outgoing(name, MAP_KINDS[1], encoded(_packed(plain)), size, float("inf"), None))

    def _send_digest(self, digest: Digest) -> None:
        plain = encoded((digest.clock, digest.reach, digest.asks, digest.offers))
        self._out.append(Outgoing(None, MAP_KINDS[0], plain, digest.size_bytes, float("inf"), None))


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
