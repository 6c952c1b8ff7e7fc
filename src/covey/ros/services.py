"""Services, as ``rmw_cyclonedds_cpp`` speaks them: 16 bytes before each body say which client asked, and which time.

``rmw_fastrtps_cpp``, the default of ROS 2, keeps these numbers outside of the body, where this library cannot reach.
Its clients see a service in ``ros2 service list``, but a call hangs: set ``RMW_IMPLEMENTATION=rmw_cyclonedds_cpp``.
"""

import itertools
import logging
import struct
from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

from covey.ros.dds import Node
from covey.ros.libraries import Policy, Qos
from covey.ros.qos import SERVICE
from covey.ros.types import MessageError

LOG = logging.getLogger("covey")
_HEADER = struct.Struct("<Qq")  # client, number of its request
_WAITING = 64  # replies to clients that are not matched yet


class Request(NamedTuple):
    """A request.

    Attributes:
        data: its bytes, such as of ``std_srvs/srv/SetBool_Request``.
        client: number of the client.
        number: the client's number of this request.
        sender: handle of the writer that sent it.
    """

    data: bytes
    client: int
    number: int
    sender: int


class Service:
    """Answers requests. A reply may come in any later step and in any order.

    ::

        pause = Service(node, "pause", "std_srvs/srv/SetBool")
        for request, message in pause.asked():
            pause.answer(request, {"success": message.data})

    Attributes:
        requests: the reader of its requests.
    """

    def __init__(self, node: Node, name: str, kind: str):
        """Offer a service.

        Args:
            node: the node that it belongs to.
            name: such as ``pause`` (in the namespace of the node) or ``/pause``.
            kind: type, such as ``std_srvs/srv/SetBool``.

        Raises:
            UnknownNameError: the type is not known.
        """
        self.requests, self._replies = _ends(node, name, kind, of_service=True)
        self._name, self._kind, self._types = node.topic_name(name), kind, node.participant.types
        self._delayed = node.participant.delayed
        self._known: set[int] = set()  # senders whose reader of replies is matched
        self._waiting: deque[tuple[Request, bytes]] = deque(maxlen=_WAITING)

    def take(self) -> list[Request]:
        """Return the requests that came since the last time."""
        if self._waiting:
            self._delayed.discard(self._name)
            for _ in range(len(self._waiting)):
                self.reply(*self._waiting.popleft())
        return [
            Request(_without_header(data), *_numbers_of(data), about.publication_handle)
            for data, about in self.requests.samples()
        ]

    def asked(self) -> list[tuple[Request, Any]]:
        """Return the same, each with its decoded message; bytes that are no message are said, and get no answer."""
        found = []
        for request in self.take():
            try:
                found.append((request, self._types.decode(f"{self._kind}_Request", request.data)))
            except MessageError as error:
                LOG.warning("%s: a request is left out: %s", self._name, error)
        return found

    def answer(self, request: Request, values: Mapping[str, Any]) -> None:
        """Answer a request with the values of a message; see `reply`."""
        self.reply(request, self._types.encode(f"{self._kind}_Response", values))

    def reply(self, request: Request, data: bytes) -> None:
        """Answer a request.

        A client that asks at once may not be ready for the reply: then it is sent at a later ``take``. A reply to a
        client that has gone is dropped.
        """
        if request.sender not in self._known:
            ready = self._ready(request.sender)
            if ready is None:
                return
            if not ready:
                self._waiting.append((request, data))
                self._delayed.add(self._name)
                return
            self._known.add(request.sender)
        self._replies.write(_with_header(data, request.client, request.number))

    def _ready(self, sender: int) -> bool | None:
        """Return whether the reader of a client's replies is matched; None: the client has gone."""
        asker = self.requests.end.get_matched_publication_data(sender)
        if asker is None:
            return None
        client = _client_id(asker.qos)
        if client is None:  # it does not say which reader is its own
            return True
        readers = self._replies.end.get_matched_subscriptions()
        found = (self._replies.end.get_matched_subscription_data(reader) for reader in readers)
        return any(one is not None and _client_id(one.qos) == client for one in found)


class ServiceClient:
    """Asks a service.

    ::

        client = Client(node, "/pause", "std_srvs/srv/SetBool")
        if client.ready:
            number = client.call(types.encode("std_srvs/srv/SetBool_Request", {"data": True}))
        for number, data in client.take():
            ...
    """

    def __init__(self, node: Node, name: str, kind: str):
        """Ask a service; see ``Service``."""
        self._replies, self._requests = _ends(node, name, kind, of_service=False)
        self._client = self._requests.end.instance_handle & (2**64 - 1)
        self._numbers = itertools.count(1)

    @property
    def ready(self) -> bool:
        """Whether a server is there."""
        return bool(self._requests.matched and self._replies.matched)

    def call(self, data: bytes) -> int:
        """Send a request; return its number."""
        number = next(self._numbers)
        self._requests.write(_with_header(data, self._client, number))
        return number

    def take(self) -> list[tuple[int, bytes]]:
        """Return the replies that came since the last time: numbers of the requests, and bytes."""
        replies = [(*_numbers_of(data), _without_header(data)) for data in self._replies.take()]
        return [(number, data) for client, number, data in replies if client == self._client]


def _ends(node: Node, name: str, kind: str, of_service: bool):
    """Return what a service or client reads and what it writes, which tell that they belong together."""
    participant, full = node.participant, node.topic_name(name)
    guid, number = participant.guid, next(_numbers)
    mine = guid[:12] + number.to_bytes(4, "big")
    pair = "service" if of_service else "client"
    text = f"{pair}id={mine[0]:2x}{''.join(f'.{byte:x}' for byte in mine[1:])};".encode()
    request = f"rq{full}Request", f"{kind}_Request"
    reply = f"rr{full}Reply", f"{kind}_Response"
    read, written = (request, reply) if of_service else (reply, request)
    return (
        node.add_reader(*read, SERVICE, text + participant.user_data(read[1])),
        node.add_writer(*written, SERVICE, text + participant.user_data(written[1])),
    )


_numbers = itertools.count(1)  # of the services and clients of this process


def _client_id(qos: Qos) -> bytes | None:
    told = qos[Policy.Userdata]
    return next((part for part in told.data.split(b";") if part.startswith(b"clientid=")), None) if told else None


def _numbers_of(data: bytes) -> tuple[int, int]:
    """Return the number of the client, and its number of the request."""
    client, request = _HEADER.unpack_from(data, 4)
    return client, request


def _with_header(data: bytes, client: int, number: int) -> bytes:
    return data[:4] + _HEADER.pack(client, number) + data[4:]


def _without_header(data: bytes) -> bytes:
    return data[:4] + data[20:]
