"""`Fleet`: the processes of a team: starts, connects, initializes and ends them."""

import os
import secrets
import time
import weakref
from collections.abc import Callable, Sequence
from tempfile import TemporaryFile
from typing import Any

from covey.errors import ControllerError
from covey.kernel import is_compiled
from covey.planning.dynamic_window import dynamic_window
from covey.runtime.execution import Processes
from covey.runtime.phases.sensing import SensorBank
from covey.runtime.remote.launch import end_forks, given_key, start_process
from covey.runtime.remote.proxy import TransportProxy
from covey.runtime.remote.spawn_spec import pickled, refuse_within_import
from covey.runtime.transport.channel import Channel
from covey.runtime.transport.transport import HELLO, READY, SET_UP, ListeningSocket, Transport, TransportError

START_S = 120.0
"""Time that the simulator waits for a started process to connect [s of wall time]."""
_FAREWELL_S = 2.0
_LOOK_S = 0.2


class Fleet:
    """The processes of a team.

    Args:
        record: where they run.
        channels: one for each process.

    Attributes:
        channels: channels by name.
        address: host and port to which the processes connect.
        authkey: the key that they must present.
    """

    def __init__(self, record: Processes, channels: list[Channel]):
        refuse_within_import()
        self.record, self.channels = record, {channel.name: channel for channel in channels}
        host, _, port = record.address.rpartition(":")
        self.authkey = secrets.token_bytes(32) if record.nodes != "join" else given_key()
        self._door = ListeningSocket(host, int(port), self.authkey)
        self.address = self._door.address
        self._is_open = False
        self._end = weakref.finalize(self, _end, self._door, channels, os.getpid())  # even if nobody closes it
        try:
            self._start(channels)
        except BaseException:
            self._end()
            raise

    def _start(self, channels: list[Channel]) -> None:
        record = self.record
        if record.nodes == "local":
            for channel in channels:
                channel.trace = TemporaryFile()  # noqa: SIM115
                channel.process = start_process(self.address, self.authkey, channel.name, channel.trace)
        elif record.nodes != "join":
            from covey.runtime.remote.placement import start_on_cluster

            start_on_cluster(record.nodes, list(self.channels), record.robots_per_node, self.address, self.authkey)

    def proxy(self, channel: Channel, banks: Sequence[SensorBank]) -> TransportProxy:
        """Return the proxy to the process of a channel; ``banks``: the sensors that it reads."""
        return TransportProxy(channel, banks)

    def open(self, spawn_of: Callable[[Channel], Any]) -> bool:
        """Wait until all processes have connected, and send each its specification.

        Args:
            spawn_of: returns what a process is told.

        Returns:
            False if the fleet is open already.

        Raises:
            ControllerError: a process did not connect, or cannot load its controller.
        """
        if self._is_open:
            return False
        self._is_open = True
        spawns = {name: pickled(spawn_of(channel)) for name, channel in self.channels.items()}
        try:
            self._let_in()
            self._door.close()
            channels = list(self.channels.values())
            alone = 0 if is_compiled(dynamic_window) else 1  # one process compiles for all
            for some in (channels[:alone], channels[alone:]):
                for channel in some:
                    _wire(channel).send(SET_UP, (None, spawns[channel.name], None))
                for channel in some:
                    _wait_until_ready(channel)
        except TransportError as error:
            raise ControllerError(f"a process of a robot ended before the run began: {error}") from error
        return True

    def close(self) -> None:
        """End all processes."""
        self._end()

    def _let_in(self) -> None:
        until, missing = time.monotonic() + START_S, set(self.channels)
        while missing:
            wire = self._door.welcome(_LOOK_S)
            if wire is not None:
                missing.discard(self._seated(wire))
            for name in sorted(missing):
                process = self.channels[name].process
                if process is not None and process.poll() is not None:
                    code = process.returncode
                    raise ControllerError(f"the process of {name} ended with exit code {code} before the run began")
            if missing and time.monotonic() > until:
                raise ControllerError(
                    f"no process of {', '.join(sorted(missing))} has connected within {START_S:g} s to "
                    f"{self.address[0]}:{self.address[1]}"
                )

    def _seated(self, wire: Transport) -> str:
        """Give who has come; return its name, empty for one that has none, or comes twice."""
        letter = wire.receive(START_S)
        who: Any = letter.parts[1] if letter is not None and letter.kind == HELLO else {"name": ""}
        channel = self.channels.get(who["name"])
        if channel is None or channel.wire is not None:
            wire.close()
            return ""
        channel.wire, channel.pid, channel.host = wire, who["pid"], who["host"]
        return channel.name


def _wire(channel: Channel) -> Transport:
    assert channel.wire is not None
    return channel.wire


def _wait_until_ready(channel: Channel) -> None:
    letter = _wire(channel).receive(START_S)
    if letter is None or letter.kind != READY:
        raise ControllerError(f"{channel.name}: {letter.parts[1] if letter else 'its process does not answer'}")
    channel.memory = letter.parts[1]["memory"]


def _end(door: ListeningSocket, channels: list[Channel], process: int) -> None:
    """Stop listening, and end all processes; a forked child leaves them to its parent."""
    if os.getpid() != process:
        return
    door.close()
    for channel in channels:
        channel.farewell()
    for channel in channels:
        channel.end(_FAREWELL_S)
    if any(channel.process for channel in channels):
        end_forks(door.address)
