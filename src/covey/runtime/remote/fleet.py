"""`Fleet`: the processes of a team: started, let in, told who they are, and ended."""

import secrets
import time
import weakref
from collections.abc import Callable, Sequence
from tempfile import TemporaryFile
from typing import Any

from covey.errors import ControllerError
from covey.kernel import is_compiled
from covey.planning.dynamic_window import dynamic_window
from covey.runtime.phases.sensing import SensorBank
from covey.runtime.remote.launch import end_forks, given_key, start_process
from covey.runtime.remote.line import WireLine
from covey.runtime.remote.record import Processes
from covey.runtime.remote.spawn_spec import packed, refuse_within_import
from covey.runtime.transport.channel import Seat
from covey.runtime.transport.transport import HELLO, READY, SET_UP, Door, Wire, WireError

START_S = 120.0
"""How long the simulator waits for a process that it has started to come in [s of wall time]."""
_FAREWELL_S = 2.0
_LOOK_S = 0.2


class Fleet:
    """The processes of a team.

    Args:
        record: where they run.
        seats: one for each process.

    Attributes:
        seats: by name.
        address: where the processes come in: host and port.
        authkey: what they must know.
    """

    def __init__(self, record: Processes, seats: list[Seat]):
        refuse_within_import()
        self.record, self.seats = record, {seat.name: seat for seat in seats}
        host, _, port = record.address.rpartition(":")
        self.authkey = secrets.token_bytes(32) if record.nodes != "join" else given_key()
        self._door = Door(host, int(port), self.authkey)
        self.address = self._door.address
        self._is_open = False
        self._end = weakref.finalize(self, _end, self._door, seats)  # also when nobody closes it
        try:
            self._start(seats)
        except BaseException:
            self._end()
            raise

    def _start(self, seats: list[Seat]) -> None:
        record = self.record
        if record.nodes == "local":
            for seat in seats:
                seat.trace = TemporaryFile()  # noqa: SIM115
                seat.process = start_process(self.address, self.authkey, seat.name, seat.trace)
        elif record.nodes != "join":
            from covey.runtime.remote.placement import start_on_cluster

            start_on_cluster(record.nodes, list(self.seats), record.robots_per_node, self.address, self.authkey)

    def line(self, seat: Seat, banks: Sequence[SensorBank]) -> WireLine:
        """Return the line to the process of a seat; ``banks``: of the sensors that it reads."""
        return WireLine(seat, banks)

    def open(self, birth_of: Callable[[Seat], Any]) -> bool:
        """Wait until all processes have come in, and tell each who it is.

        Args:
            birth_of: returns what a process is told.

        Returns:
            False when that has been done before.

        Raises:
            ControllerError: a process did not come in, or cannot load its controller.
        """
        if self._is_open:
            return False
        self._is_open = True
        births = {name: packed(birth_of(seat)) for name, seat in self.seats.items()}
        try:
            self._let_in()
            self._door.close()
            seats = list(self.seats.values())
            alone = 0 if is_compiled(dynamic_window) else 1  # one compiles what all need
            for some in (seats[:alone], seats[alone:]):
                for seat in some:
                    _wire(seat).send(SET_UP, (None, births[seat.name], None))
                for seat in some:
                    _wait_until_ready(seat)
        except WireError as error:
            raise ControllerError(f"a process of a robot ended before the run began: {error}") from error
        return True

    def close(self) -> None:
        """End all processes."""
        self._end()

    def _let_in(self) -> None:
        until, missing = time.monotonic() + START_S, set(self.seats)
        while missing:
            wire = self._door.welcome(_LOOK_S)
            if wire is not None:
                missing.discard(self._seated(wire))
            for name in sorted(missing):
                process = self.seats[name].process
                if process is not None and process.poll() is not None:
                    code = process.returncode
                    raise ControllerError(f"the process of {name} ended with exit code {code} before the run began")
            if missing and time.monotonic() > until:
                raise ControllerError(
                    f"no process of {', '.join(sorted(missing))} has come in within {START_S:g} s at "
                    f"{self.address[0]}:{self.address[1]}"
                )

    def _seated(self, wire: Wire) -> str:
        """Give who has come in its seat; return its name, empty for one that has none, or comes twice."""
        letter = wire.receive(START_S)
        who: Any = letter.parts[1] if letter is not None and letter.kind == HELLO else {"name": ""}
        seat = self.seats.get(who["name"])
        if seat is None or seat.wire is not None:
            wire.close()
            return ""
        seat.wire, seat.pid, seat.host = wire, who["pid"], who["host"]
        return seat.name


def _wire(seat: Seat) -> Wire:
    assert seat.wire is not None
    return seat.wire


def _wait_until_ready(seat: Seat) -> None:
    letter = _wire(seat).receive(START_S)
    if letter is None or letter.kind != READY:
        raise ControllerError(f"{seat.name}: {letter.parts[1] if letter else 'its process hangs'}")
    seat.memory = letter.parts[1]["memory"]


def _end(door: Door, seats: list[Seat]) -> None:
    """Let nobody in any more, and end all processes."""
    door.close()
    for seat in seats:
        seat.farewell()
    for seat in seats:
        seat.end(_FAREWELL_S)
    if any(seat.process for seat in seats):
        end_forks(door.address)
