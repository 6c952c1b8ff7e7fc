"""The wire between the simulator and the process of a robot: framed letters, every byte counted by traffic class.

A letter has a kind and up to three parts, one for each class of traffic (Yan et al. 2017, section 3.1): what goes
between simulator and controller (readings, commands), between monitor and controller (maps, notes), and between
controllers (messages, tiles of maps). Each part is pickled by itself.
"""

import os
import pickle
import queue
import selectors
import socket
import stat
import struct
import threading
import time
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, answer_challenge, deliver_challenge
from typing import Any, NamedTuple

import numpy as np

from covey.errors import ControllerError

CLASSES = ("simulator", "monitor", "team")
"""Who is at the other end of a controller's traffic."""
SIMULATOR, MONITOR, TEAM = range(3)

HELLO, SET_UP, READY, MAP, DECIDE, END, BUSY, USE, REFUSED = range(9)
"""Kinds of letters: the first from a process, what it is, that it is ready; what it is to do; and of its own accord,
that it compiles, what it takes of its machine, and that it gives up."""

CLOSED = 90
"""With what exit code a process ends whose controller has closed its wire."""

Parts = tuple[Any, Any, Any]
NOTHING: Parts = (None, None, None)
_ASKED = 100  # so many are asked for the key at a time
_HEAD = struct.Struct("<BdIII")  # kind, processor seconds, length of each part
_UNCOUNTED = (BUSY, USE)
_OVERHEAD = _HEAD.size + 4  # the connection puts the length of a letter before it


LARGEST_BYTES = 256 * 2**20
"""How large a letter of a process may be [bytes]: messages have at most 16 MiB, the tiles of one scan less."""


class LetterError(ControllerError):
    """A letter cannot be sent; nothing of it was."""


class TransportError(ConnectionError):
    """The other end is gone, or does not speak the same language."""


class Letter(NamedTuple):
    """What came: its kind, the processor time that went into it [s], and its parts by class of traffic."""

    kind: int
    cpu_s: float
    parts: Parts


class Transport:
    """One end of a wire.

    Attributes:
        sent, received: bytes so far by class of traffic, int64 (3,); the heads of letters are the simulator's.
            Letters of the kinds ``BUSY`` and ``USE`` do not count: when they come depends on the machine.
        letters_sent, letters_received: how many, with a part of that class, int64 (3,).
        largest: of letters that are sent [bytes]; None for any.
    """

    largest: int | None = None

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
            LetterError: a part cannot be pickled, or the letter is larger than `largest`.
        """
        try:
            data = [b"" if part is None else pickle.dumps(part, 5) for part in parts]
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
        """Return the next letter; None when there is none within the time [s].

        Raises:
            TransportError: the other end is gone, or what comes is no letter.
        """
        if timeout_s is not None and not self._selector.select(max(timeout_s, 0.0)):
            return None
        try:
            data = self._connection.recv_bytes()
        except (OSError, EOFError) as error:
            raise TransportError("the other end is gone") from error
        try:
            kind, cpu_s, *lengths = _HEAD.unpack_from(data)
            parts, at = [], _HEAD.size
            for length in lengths:
                parts.append(pickle.loads(memoryview(data)[at : at + length]) if length else None)
                at += length
        except Exception as error:
            raise TransportError(f"the data received cannot be read: {type(error).__name__}: {error}") from error
        if kind not in _UNCOUNTED:
            _count(self.received, self.letters_received, lengths)
        return Letter(kind, cpu_s, (parts[0], parts[1], parts[2]))

    def has_ended(self) -> bool:
        """Return whether the other end is gone, without taking anything."""
        try:
            with _socket_of(self._connection) as end:
                return end.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    @property
    def is_open(self) -> bool:
        """Whether the connection is still this end's: nobody has closed it, or opened something else in its place."""
        try:
            return stat.S_ISSOCK(os.fstat(self._connection.fileno()).st_mode)
        except OSError:
            return False

    def close(self) -> None:
        """Close this end."""
        self._selector.close()
        self._connection.close()


class Door:
    """Where the processes of robots come in: a listening socket.

    Args:
        host, port: where to listen; port 0 takes a free one.
        authkey: what the others must know.
    """

    def __init__(self, host: str, port: int, authkey: bytes):
        self._authkey = authkey
        self._socket = socket.create_server((host, port), backlog=128)
        self.address: tuple[str, int] = (host, self._socket.getsockname()[1])
        self._let_in: queue.SimpleQueue[Transport] = queue.SimpleQueue()
        self._asked = threading.BoundedSemaphore(_ASKED)
        threading.Thread(target=self._listen, daemon=True).start()

    def welcome(self, timeout_s: float) -> Transport | None:
        """Return the wire of who comes in within a time [s] and knows the key; None when nobody does."""
        try:
            return self._let_in.get(timeout=timeout_s)
        except queue.Empty:
            return None

    def _listen(self) -> None:
        """Ask all who come for the key, each in a thread, so that nobody waits for one who says nothing."""
        while True:
            self._asked.acquire()
            try:
                end, _ = self._socket.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._ask, args=(end,), daemon=True).start()

    def _ask(self, end: socket.socket) -> None:
        end.settimeout(None)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 5, 0))  # who comes in must know the key
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
        """Let nobody in any more."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # it wakes who listens
        self._socket.close()


def connect(address: tuple[str, int], authkey: bytes, timeout_s: float = 10.0) -> Transport:
    """Return a wire to the simulator that listens at an address; it is tried again until the time [s] is over.

    Raises:
        WireError: nobody listens there, or the key is another one.
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
    """Return the socket of a connection, duplicated; to be closed."""
    return socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM)
