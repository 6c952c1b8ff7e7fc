"""`Server`: serves the page and its messages, in a thread of its own.

It listens on this machine only, unless told otherwise. A request needs a known Host, and a page of this server as its
Origin. A viewer shows a random token in its subprotocols; the token stands in the fragment of the address, which
browsers do not send. A second token only lets watch.
"""

import asyncio
import base64
import contextlib
import errno
import functools
import gzip
import hashlib
import http
import importlib.resources
import logging
import math
import re
import secrets
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any, Protocol

import psutil
from websockets.asyncio.server import Server as _WebSockets
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from covey.errors import CoveyError, InvalidValueError
from covey.viewer.hub import RELOAD_S, Hub, PageClient
from covey.viewer.messages import MOST_BYTES, PROTOCOL, VIEWING, Ack, Message, read

LOG = logging.getLogger("covey")
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_INTERNET = (socket.AF_INET, socket.AF_INET6)
_MARKS_OF_CONTAINERS = Path("/.dockerenv"), Path("/run/.containerenv")
MOST_VIEWERS = 100
"""Largest number of viewers at a time: each gets a copy of the past."""
MOST_STRANGERS = 32
"""Largest number of connections that have not shown a token: a further one ends the oldest, so that the run keeps its
files. There are fewer where a process may open few."""
_KEPT_FILES = 150
"""Files that a run may have open beside its viewers."""
_LEAST_FILES = 60
"""Files that the smallest run has open."""
_NO_MORE = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_BAD_MESSAGES = 20
"""After so many messages that are none, a viewer is sent away."""
_OF_THIS_MACHINE = "".join(
    f" {scheme}://{name}:*" for scheme in ("http", "https") for name in ("localhost", "127.0.0.1")
)
"""Origins of notebooks, for the end of a content security policy: those that may frame the page."""
_BETWEEN_S = 0.02
"""Time between two messages of a viewer that only watches [s]: each may make the simulation's thread work."""


class _Strangers:
    """The connections that have not shown a token, the oldest first.

    Args:
        most: how many there may be.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: dict[_Connection, None] = {}

    def add(self, connection: "_Connection") -> None:
        self._waiting[connection] = None
        if len(self._waiting) > self._most:
            self.end_oldest()

    def end_oldest(self) -> None:
        """End the oldest one, if there is any."""
        if self._waiting:
            oldest = next(iter(self._waiting))
            self.drop(oldest)
            oldest.transport.abort()

    def drop(self, connection: "_Connection") -> None:
        self._waiting.pop(connection, None)


class _Connection(ServerConnection):
    """A connection that is counted until it shows a token, or ends."""

    strangers: _Strangers

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.strangers.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.strangers.drop(self)
        super().connection_lost(exc)


class Source(Protocol):
    """What a server shows: its viewers, and what to do with their messages."""

    hub: Hub

    def handle(self, client: PageClient, message: Message) -> None:
        """Do what a viewer asks for; called in the server's thread."""
        ...


class Server:
    """Shows a source in a page.

    Args:
        source: what is shown.
        host: the address to listen on.
        port: the port; 0: any that is free.
        second: what is shown beside it, in the same page.
        framed: whether pages of other servers of this machine, such as notebooks, may show it in a frame.

    Attributes:
        url: address of the page for somebody who may change the run.
        view_url: the same for somebody who may only watch.

    Raises:
        InvalidValueError: it cannot listen there.

    Examples:
        >>> from covey.viewer.live import Live
        >>> with Server(Live()) as server:
        ...     server.url.startswith("http://127.0.0.1:")
        True
    """

    def __init__(
        self,
        source: Source,
        host: str = "127.0.0.1",
        port: int = 0,
        second: Source | None = None,
        *,
        framed: bool = False,
    ):
        self.source, self.host, self.port, self.second = source, host, port, second
        self._tokens = {secrets.token_urlsafe(24): edits for edits in (True, False)}
        self._page = page()
        self._policy = policy_of(self._page) + (_OF_THIS_MACHINE if framed else "")
        self._loop = asyncio.new_event_loop()
        self._stop: asyncio.Event | None = None
        self._began = threading.Event()
        self._error: Exception | None = None
        self._served = -math.inf
        files = _files()
        self._strangers = _Strangers(min(MOST_STRANGERS, max((files - _LEAST_FILES) // 4, 4)))
        self._most_viewers = min(MOST_VIEWERS, max(files - MOST_STRANGERS - _KEPT_FILES, 5))
        self._is_short = False  # whether all files that this process may open have been in use
        self._thread = threading.Thread(target=self._run, name="covey-viewer", daemon=True)

    def __enter__(self) -> "Server":
        self._thread.start()
        self._began.wait()
        if self._error is not None:
            self._thread.join()
            why = getattr(self._error, "strerror", "") or self._error
            raise InvalidValueError(
                f"cannot show the page on {self.host}:{self.port}: {why}; choose another --host or --port, or leave "
                "both out"
            )
        return self

    def __exit__(self, *_: object) -> None:
        stop = self._stop
        if stop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(stop.set)
        self._thread.join()

    @property
    def loading(self) -> bool:
        """Whether a page has been given out just now that has not connected yet."""
        return time.monotonic() - self._served < RELOAD_S

    @property
    def url(self) -> str:
        """Address of the page; whoever has it may change the run."""
        return self._url(edits=True)

    @property
    def view_url(self) -> str:
        """Address of the page; whoever has it may only watch."""
        return self._url(edits=False)

    def _url(self, *, edits: bool) -> str:
        token = next(token for token, may in self._tokens.items() if may == edits)
        near = any(mark.exists() for mark in _MARKS_OF_CONTAINERS)  # where only a published port leads in
        name = next((name for name in self._names if (name in LOOPBACK) == near), self._names[0])
        return f"http://{name}:{self.port}/#token={token}{'&pair' if self.second is not None else ''}"

    # -- the server's thread -------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        except (OSError, OverflowError) as error:  # a port above 65535 overflows
            self._error = error
        finally:
            self._began.set()
            self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        self._loop.set_exception_handler(self._failed)
        deflate = ServerPerMessageDeflateFactory(
            server_no_context_takeover=True,
            client_no_context_takeover=True,
            compress_settings={"level": 1, "memLevel": 9},
        )
        async with serve(
            self._viewer,
            self.host,
            self.port,
            process_request=self._request,
            select_subprotocol=lambda connection, offered: Subprotocol(PROTOCOL),
            compression=None,
            extensions=[deflate] if self.source.hub.repeats or self.host not in LOOPBACK else [],
            max_size=MOST_BYTES,
            open_timeout=5,
            create_connection=type("_Counted", (_Connection,), {"strangers": self._strangers}),
            backlog=16,
            close_timeout=1,
            ping_interval=20,
            server_header=None,
        ) as server:
            self.port = _port_of(server)
            self._began.set()
            await self._stop.wait()

    def _failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """End the oldest stranger if no file is left for a further connection, which waits; say so once."""
        error = context.get("exception")
        if not (isinstance(error, OSError) and error.errno in _NO_MORE):
            loop.default_exception_handler(context)
            return
        self._strangers.end_oldest()
        if not self._is_short:
            self._is_short = True
            LOG.warning("no file is left for new viewers of the page, who wait: ulimit -n allows %d", _files())

    def _request(self, connection: ServerConnection, request: Request) -> Response | None:
        """Serve the page, and refuse what does not come from it."""
        if request.headers.get("Host", "") not in self._hosts:
            return _refusal(http.HTTPStatus.MISDIRECTED_REQUEST, "this server does not have that name\n")
        path = request.path.partition("?")[0]
        if request.headers.get("Upgrade", "").lower() != "websocket":
            if path != "/":
                return _refusal(http.HTTPStatus.NOT_FOUND, "there is only one page, /\n")
            self._served = time.monotonic()
            packed = "gzip" in request.headers.get("Accept-Encoding", "")
            body = zipped(self._page) if packed else self._page
            return _response(http.HTTPStatus.OK, body, "text/html; charset=utf-8", self._policy, packed=packed)
        if path != "/ws":
            return _refusal(http.HTTPStatus.NOT_FOUND, "messages go to /ws\n")
        if request.headers.get("Origin") not in {f"http://{host}" for host in self._hosts}:
            return _refusal(http.HTTPStatus.FORBIDDEN, "this page comes from elsewhere\n")
        offered = [one.strip() for one in request.headers.get("Sec-WebSocket-Protocol", "").split(",")]
        if PROTOCOL not in offered:
            return _refusal(http.HTTPStatus.BAD_REQUEST, f"this server speaks {PROTOCOL}\n")
        if self._may_edit(offered) is None:
            return _refusal(http.HTTPStatus.UNAUTHORIZED, "the token is missing or wrong\n")
        viewers = sum(len(source.hub.clients) for source in (self.source, self.second) if source is not None)
        if viewers >= self._most_viewers:
            return _refusal(http.HTTPStatus.SERVICE_UNAVAILABLE, f"{viewers} viewers are here already\n")
        if isinstance(connection, _Connection):
            self._strangers.drop(connection)
        return None

    @property
    def _names(self) -> list[str]:
        """The names under which a page may ask; those of all interfaces if it listens on all of them."""
        if self.host in ("0.0.0.0", "::"):
            found = [
                one.address for all_of in psutil.net_if_addrs().values() for one in all_of if one.family in _INTERNET
            ]
            return [*(f"[{one.partition('%')[0]}]" if ":" in one else one for one in sorted(found)), *LOOPBACK]
        if self.host in (*LOOPBACK, "::1"):
            return list(LOOPBACK)
        return [f"[{self.host}]" if ":" in self.host else self.host]

    @property
    def _hosts(self) -> set[str]:
        return {f"{name}:{self.port}" for name in self._names}

    def _may_edit(self, offered: list[str]) -> bool | None:
        """Return whether a token lets edit; None if none of the offered ones is known."""
        for one in offered:
            for token, edits in self._tokens.items():
                if secrets.compare_digest(one.encode(), f"token.{token}".encode()):
                    return edits
        return None

    async def _viewer(self, connection: ServerConnection) -> None:
        """Talk to a viewer until it leaves."""
        request = connection.request
        assert request is not None
        beside = self.second is not None and request.path.endswith("?second")
        source = self.second if beside and self.second is not None else self.source
        hub = source.hub
        offered = [one.strip() for one in request.headers["Sec-WebSocket-Protocol"].split(",")]
        hub.begin(self._loop)
        client = PageClient(edits=bool(self._may_edit(offered)))
        hub.join(client)
        self._served = -math.inf
        sender = asyncio.ensure_future(send_to(connection, hub, client))
        bad = 0
        try:
            client.wanted.set()
            async for text in connection:
                try:
                    self._take(source, client, text)
                except CoveyError as error:
                    bad += 1
                    hub.say({"type": "refused", "id": None, "text": str(error)[:1000]}, client)
                    if bad > _BAD_MESSAGES:
                        await connection.close(1008, "too many messages that are none")
                if not client.edits:
                    await asyncio.sleep(_BETWEEN_S)
        except ConnectionClosed:
            pass
        finally:
            hub.leave(client)
            sender.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionClosed):
                await sender

    def _take(self, source: Source, client: PageClient, text: str | bytes) -> None:
        hub = source.hub
        message = read(text)
        if isinstance(message, Ack):
            hub.acknowledge(client, message.frame)
        elif client.edits or isinstance(message, VIEWING):
            source.handle(client, message)
        else:
            hub.say({"type": "refused", "id": message.id, "text": "this address only lets you watch"}, client)


async def send_to(connection: ServerConnection, hub: Hub, client: PageClient) -> None:
    """Send a viewer what it has still to get, one message after the other, until this is cancelled."""
    delay: float | None = None
    while True:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(delay):  # unlike `wait_for`, it loses no cancellation that comes with the event
                await client.wanted.wait()
        client.wanted.clear()
        begun = time.thread_time()
        messages, delay = hub.next_for(client)
        for message in messages:
            await connection.send(message)
        if messages:
            client.cost_s = time.thread_time() - begun


def _files() -> int:
    """Return how many files this process may have open."""
    if sys.platform == "win32":
        return 1 << 16
    import resource

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 1 << 16 if limit == resource.RLIM_INFINITY else limit


def page() -> bytes:
    """Return the page: one HTML file that loads nothing else."""
    return (importlib.resources.files("covey.viewer") / "page" / "index.html").read_bytes()


@functools.lru_cache(maxsize=2)
def zipped(html: bytes) -> bytes:
    """Return a page as gzip has it, a third of its size."""
    return gzip.compress(html, 9, mtime=0)


def policy_of(html: bytes) -> str:
    """Return the content security policy of a page: only its own scripts and styles, by their hashes."""

    def hashes(tag: str) -> str:
        found = re.findall(rb"<%b(?: type=\"module\")?>(.*?)</%b>" % (tag.encode(), tag.encode()), html, re.DOTALL)
        return " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(one).digest()).decode()}'" for one in found)

    return (
        f"default-src 'none'; script-src {hashes('script')}; style-src {hashes('style')}; connect-src 'self'; "
        "img-src 'self' data: blob:; media-src blob:; frame-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'self'"
    )


def _port_of(server: _WebSockets) -> int:
    return next(iter(server.sockets)).getsockname()[1]


def _refusal(status: http.HTTPStatus, text: str) -> Response:
    return _response(status, text.encode(), "text/plain; charset=utf-8", "default-src 'none'")


def _response(status: http.HTTPStatus, body: bytes, kind: str, policy: str, *, packed: bool = False) -> Response:
    headers = Headers(
        {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": policy,
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Connection": "close",
            "Vary": "Accept-Encoding",
        }
    )
    if packed:
        headers["Content-Encoding"] = "gzip"
    return Response(status.value, status.phrase, headers, body)
