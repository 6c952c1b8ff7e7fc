"""The connection between the simulator and the process of a robot: framed letters, with bytes counted by traffic class.

A letter has a kind and up to three parts, one for each class of traffic (Yan et al. 2017, section 3.1): between
simulator and controller (readings, commands), between monitor and controller (maps, notes), and between controllers
(messages, tiles of maps). Each part is pickled separately; of processes that nobody trusts it is plain data, see
`plain_letters`.
"""

import os
import pickle
import queue
import selectors
import socket
import stat
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, answer_challenge, deliver_challenge, wait
from typing import Any, NamedTuple

import numpy as np

from covey.comms import mailbox
from covey.errors import ControllerError
from covey.plain import decode, encode

CLASSES = ("simulator", "monitor", "team")
"""The classes of traffic of a controller, by the other end."""
SIMULATOR, MONITOR, TEAM = range(3)

HELLO, SET_UP, READY, LOCALIZE, MAP, DECIDE, END, BUSY, USE, REFUSED = range(10)
"""Kinds of letters: a process says hello, gets its specification, and is ready; the requests; and its own reports: that
it compiles, its use of resources, and that it gives up."""

CLOSED = 90
"""Exit code of a process whose controller has closed its connection."""

Parts = tuple[Any, Any, Any]
NOTHING: Parts = (None, None, None)
_ASKED = 100  # largest number of connections that are asked for the key at a time
_HEAD = struct.Struct("<BdIII")  # kind, processor seconds, length of each part
_UNCOUNTED = (BUSY, USE)
_OVERHEAD = _HEAD.size + 4  # the connection sends the length before each letter


LARGEST_BYTES = 256 * 2**20
"""Largest letter of a process [bytes]: messages have at most 16 MiB, the tiles of one scan less."""


_loads: Callable[[memoryview], Any] = pickle.loads


@contextmanager
def plain_letters() -> Iterator[None]:
    """Let this process read only plain data in the block, see `Transport.plain`: no letter makes it run anything."""
    global _loads
    before, _loads = _loads, lambda data: decode(bytes(data), mailbox)
    try:
        yield
    finally:
        _loads = before


class LetterError(ControllerError):
    """A letter cannot be sent; no part of it was sent."""


class TransportError(ConnectionError):
    """The other end is gone, or sends data that cannot be read."""


class Letter(NamedTuple):
    """A received letter: its kind, the processor time spent on it [s], and its parts by class of traffic."""

    kind: int
    cpu_s: float
    parts: Parts


class Transport:
    """One end of a connection.

    Attributes:
        sent, received: bytes so far by class of traffic, int64 (3,); headers count for the simulator. Letters of the
            kinds ``BUSY`` and ``USE`` do not count, because their times depend on the machine.
        letters_sent, letters_received: number of letters with a part of each class, int64 (3,).
        largest: largest letter that may be sent [bytes]; None: unlimited.
        plain: whether letters are sent as plain data, for a process that reads nothing else.
    """

    largest: int | None = None
    plain = False

    def __init__(self, connection: Connection):
        self._connection = connection
        self._lock = threading.Lock()
        self._selector = selectors.DefaultSelector()
        self._selector.register(connection.fileno(), selectors.EVENT_READ)
        self.sent, self.received = np.zeros(3, np.int64), np.zeros(3, np.int64)
        self.letters_sent, self.letters_received = np.zeros(3, np.int64), np.zeros(3, np.int64)
        with _socket_of(connection) as end:
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, kind: int, parts: Parts = NOTHING, cpu_s: float = 0.0) -> None:
        """Send a letter.

        Raises:
            TransportError: the other end is gone.
            LetterError: a part cannot be pickled, or is no plain data, or the letter is larger than `largest`.
        """
        try:
            data = [b"" if part is None else encode(part) if self.plain else pickle.dumps(part, 5) for part in parts]
        except Exception as error:
            raise LetterError(f"its answer cannot be sent from its process: {type(error).__name__}: {error}") from None
        size = sum(map(len, data))
        if self.largest is not None and size > self.largest:
            raise LetterError(f"its answer in one step is larger than {self.largest >> 20} MiB: {size:.3g} bytes")
        with self._lock:
            try:
                self._connection.send_bytes(b"".join((_HEAD.pack(kind, cpu_s, *map(len, data)), *data)))
            except (OSError, ValueError) as error:
                raise TransportError(f"the other end is gone: {error}") from error
        if kind not in _UNCOUNTED:
            _count(self.sent, self.letters_sent, [len(part) for part in data])

    def receive(self, timeout_s: float | None = None) -> Letter | None:
        """Return the next letter; None if there is none within the time [s].

        Raises:
            TransportError: the other end is gone, or the data are not a letter.
        """
        if timeout_s is not None and not self._selector.select(max(timeout_s, 0.0)):
            return None
        try:
            data = self._connection.recv_bytes()
        except (OSError, EOFError) as error:
            raise TransportError("the other end is gone") from error
        except (OverflowError, MemoryError) as error:  # of the length that whoever sends nonsense announces
            raise TransportError(f"the data received cannot be read: {type(error).__name__}") from error
        try:
            kind, cpu_s, *lengths = _HEAD.unpack_from(data)
            parts, at = [], _HEAD.size
            for length in lengths:
                parts.append(_loads(memoryview(data)[at : at + length]) if length else None)
                at += length
        except Exception as error:
            raise TransportError(f"the data received cannot be read: {type(error).__name__}: {error}") from error
        if kind not in _UNCOUNTED:
            _count(self.received, self.letters_received, lengths)
        return Letter(kind, cpu_s, (parts[0], parts[1], parts[2]))

    def has_ended(self) -> bool:
        """Return whether the other end is gone, without reading anything."""
        try:
            with _socket_of(self._connection) as end:
                if sys.platform == "win32":  # every call waits there
                    return bool(wait([end], 0)) and end.recv(1, socket.MSG_PEEK) == b""
                return end.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    @property
    def is_open(self) -> bool:
        """Whether the connection is intact: nobody has closed it or reused its file descriptor."""
        try:
            return stat.S_ISSOCK(os.fstat(self._connection.fileno()).st_mode)
        except OSError:
            return False

    def close(self) -> None:
        """Close this end."""
        self._selector.close()
        self._connection.close()


class ListeningSocket:
    """The listening socket to which the processes of robots connect.

    Args:
        host, port: where to listen; port 0: any free port.
        authkey: the key that the others must present.
    """

    def __init__(self, host: str, port: int, authkey: bytes):
        self._authkey = authkey
        self._socket = socket.create_server((host, port), backlog=128)
        self.address: tuple[str, int] = (host, self._socket.getsockname()[1])
        self._let_in: queue.SimpleQueue[Transport] = queue.SimpleQueue()
        self._asked = threading.BoundedSemaphore(_ASKED)
        threading.Thread(target=self._listen, daemon=True).start()

    def welcome(self, timeout_s: float) -> Transport | None:
        """Return the next connection with the right key; None if there is none within the time [s]."""
        try:
            return self._let_in.get(timeout=timeout_s)
        except queue.Empty:
            return None

    def _listen(self) -> None:
        """Ask each new connection for the key in its own thread, so that a silent one does not block others."""
        while True:
            self._asked.acquire()
            try:
                end, _ = self._socket.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._ask, args=(end,), daemon=True).start()

    def _ask(self, end: socket.socket) -> None:
        end.settimeout(None)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 5, 0))  # others must present the key
        connection = Connection(end.detach())
        try:
            if _challenge(connection, self._authkey):
                with _socket_of(connection) as end:
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 0))
                self._let_in.put(Transport(connection))
            else:
                connection.close()
        finally:
            self._asked.release()

    def close(self) -> None:
        """Stop listening."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the listening thread
        self._socket.close()


def connect(address: tuple[str, int], authkey: bytes, timeout_s: float = 10.0) -> Transport:
    """Return a connection to the simulator at an address; retries until the time [s] is over.

    Raises:
        TransportError: no simulator listens there, or the key is wrong.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            return Transport(Client(address, authkey=authkey))  # pyright: ignore[reportArgumentType]
        except AuthenticationError as error:
            raise TransportError(f"{address[0]}:{address[1]} refuses the key") from error
        except (OSError, EOFError) as error:
            if time.monotonic() > deadline:
                raise TransportError(
                    f"cannot connect to the simulator at {address[0]}:{address[1]}: {error}"
                ) from error
            time.sleep(0.1)


def _challenge(connection: Connection, authkey: bytes) -> bool:
    try:
        deliver_challenge(connection, authkey)
        answer_challenge(connection, authkey)
    except (AuthenticationError, AssertionError, OSError, EOFError):  # an assertion looks at what comes first
        return False
    return True


def _count(counts: np.ndarray, letters: np.ndarray, lengths: list[int]) -> None:
    for k, length in enumerate(lengths):
        counts[k] += length
        letters[k] += length > 0
    counts[SIMULATOR] += _OVERHEAD


def _socket_of(connection: Connection) -> socket.socket:
    """Return a duplicate of the socket of a connection; the caller closes it."""
    return socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM)
