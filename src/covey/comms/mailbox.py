"""The mailbox of one robot: its outgoing and received messages."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from covey.comms.message import HEADER_BYTES, OWN_KINDS, Message
from covey.errors import InvalidValueError, did_you_mean
from covey.plain import LARGEST_BYTES, copied

INBOX_MESSAGES = 1000
"""Largest number of messages in an inbox; a full inbox loses the oldest."""


@dataclass(frozen=True, slots=True, eq=False)
class Outgoing:
    """A message to be sent; see `Message`. ``ttl_s``: it is dropped after this time [s]."""

    to: str | None
    kind: str
    payload: Any
    size_bytes: int
    ttl_s: float
    radio: str | None


@dataclass(eq=False)
class Mailbox:
    """The queues between a robot and its radios.

    Attributes:
        owner: name of the robot.
        team: names of all robots.
        radios: names of its radios.
        outbox: messages to be sent, oldest first; the network empties it.
        inbox: received messages that were not read yet, oldest first.
        overflowed: number of messages that a full inbox has lost.
        writers: mailboxes of the team with a non-empty outbox; one list shared by all.
    """

    owner: str
    team: Sequence[str]
    radios: Sequence[str] = ()
    outbox: list[Outgoing] = field(default_factory=list)
    inbox: deque[Message] = field(default_factory=deque)
    overflowed: int = 0
    writers: list["Mailbox"] = field(default_factory=list, repr=False)
    _queued: int = 0  # bytes in the outbox

    def send(self, payload: Any, to: str | None, kind: str, ttl_s: float | None, radio: str | None = None) -> None:
        """Copy a payload and queue it.

        Raises:
            InvalidValueError: no robot has that name, it is the robot's own, there is no such radio, Covey itself sends
                messages of that kind, or the payload is not plain data, or is too large, alone or together with the
                other messages of this step.
        """
        self._check(to, kind, radio)
        copy, size = copied(payload, LARGEST_BYTES - (self._queued if self.outbox else 0))
        ttl_s = float("inf") if ttl_s is None else float(ttl_s)
        self._queue(Outgoing(to, kind, copy, size + HEADER_BYTES, ttl_s, radio))

    def post(self, message: Outgoing) -> None:
        """Queue a message that was copied and weighed before.

        Raises:
            InvalidValueError: see `send`.
        """
        self._check(message.to, message.kind, message.radio)
        if (self._queued if self.outbox else 0) + message.size_bytes > LARGEST_BYTES + HEADER_BYTES:
            raise InvalidValueError(f"the messages of one step are larger than {LARGEST_BYTES >> 20} MiB; send less")
        self._queue(message)

    def _check(self, to: str | None, kind: str, radio: str | None) -> None:
        if str(kind).rstrip("0123456789 ") in OWN_KINDS:
            raise InvalidValueError(f"kind={kind!r} is for the messages of Covey itself; give yours another name")
        if to is not None and to not in self.team:
            raise InvalidValueError(f"no robot is called {to!r}{did_you_mean(to, self.team)}")
        if to == self.owner:
            raise InvalidValueError(f"{to} sends a message to itself; name another robot, or None for all")
        if radio is not None and radio not in self.radios:
            raise InvalidValueError(f"the robots have no radio {radio!r}{did_you_mean(radio, self.radios)}")

    def _queue(self, message: Outgoing) -> None:
        if not self.outbox:
            self.writers.append(self)
            self._queued = 0
        self._queued += message.size_bytes
        self.outbox.append(message)

    def put(self, message: Message) -> Message | None:
        """Add a received message; return the one that a full inbox loses, if any."""
        lost = None
        if len(self.inbox) == INBOX_MESSAGES:
            lost = self.inbox.popleft()
            self.overflowed += 1
        self.inbox.append(message)
        return lost

    def pop(self, kind: str | None) -> list[Message]:
        """Remove and return the messages of a kind (None: all), oldest first."""
        if kind is None:
            taken = list(self.inbox)
            self.inbox.clear()
            return taken
        taken = [m for m in self.inbox if m.kind == kind]
        if taken:
            self.inbox = deque(m for m in self.inbox if m.kind != kind)
        return taken

    def pop_one(self, kind: str | None) -> Message | None:
        """Remove and return the oldest message of a kind (None: any), or None if there is none."""
        for message in self.inbox:
            if kind is None or message.kind == kind:
                self.inbox.remove(message)
                return message
        return None
