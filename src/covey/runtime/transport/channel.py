"""`Channel`: the simulator's view of one process: the connection, the pending answers, and its state."""

import re
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import psutil

from covey.runtime.local.failures import place
from covey.runtime.transport.transport import (
    BUSY,
    CLOSED,
    DECIDE,
    END,
    REFUSED,
    USE,
    Letter,
    Parts,
    Transport,
    TransportError,
)

PATIENCE_S = 2.0
"""Time that the simulator waits for an answer beyond the controller's budget of wall time [s]."""

_FRAMES = re.compile(r'^  File "(.+)", line (\d+) in (.+)$', re.MULTILINE)

Then = Callable[[Parts, float], Any]
"""Function called with an answer: its parts, and its processor time [s]."""


@dataclass
class DeadlineMisses:
    """Counts of late data in real time, since the start.

    Attributes:
        missed_deadlines: steps that ended without a command.
        late_commands: commands that came after their step.
        dropped_readings: readings that a process did not get because it was busy.
    """

    missed_deadlines: int = 0
    late_commands: int = 0
    dropped_readings: int = 0


@dataclass(eq=False)
class Channel:
    """The process of one robot, or of a controller of several.

    Attributes:
        name: name of the robot, or of the group.
        robots: team indices of the robots that it commands.
        budget_s: wall time [s] that a controller may take for one step.
        wire: the connection to the process; None before it has connected, and after it is gone.
        process: the process, if the simulator started it.
        pid, host: of the process; ``memory``: how its memory is limited.
        uses: its reports of resources that were not read yet, see `covey.runtime.remote.use`.
        misses: counts of late data.
        trace: file for its stack, if the simulator started it; see `start_process`.
        gone: why it is gone; empty while it is there.
        last_words: error at the end of its controller.
    """

    name: str
    robots: tuple[int, ...]
    budget_s: float
    wire: Transport | None = None
    process: "subprocess.Popen[bytes] | None" = None
    trace: IO[bytes] | None = None
    pid: int = 0
    host: str = ""
    memory: str = ""
    uses: list[Any] = field(default_factory=list)
    misses: DeadlineMisses = field(default_factory=DeadlineMisses)
    gone: str = ""
    last_words: str = ""
    _pending: deque[tuple[int, Then]] = field(default_factory=deque)
    _quiet_since: float = 0.0

    @property
    def is_deciding(self) -> bool:
        """Whether it has not yet answered an earlier step."""
        return any(kind == DECIDE for kind, _ in self._pending)

    def ask(self, kind: int, parts: Parts, then: Then) -> bool:
        """Send a letter, and set the function for its answer; return whether the process is there."""
        if self.wire is None:
            return False
        try:
            self.wire.send(kind, parts)
        except TransportError as error:
            self.lose(self._cause(str(error)))
            return False
        if not self._pending:
            self._quiet_since = time.monotonic()
        self._pending.append((kind, then))
        return True

    def settle(self, until: float | None = None) -> None:
        """Process its answers.

        Args:
            until: deadline by `time.monotonic`, after which missing answers are left for later; None: wait for all. In
                any case, a process that is silent for too long is given up.
        """
        while self._pending and self.wire is not None:
            silent_until = self._quiet_since + self.budget_s + PATIENCE_S
            latest = silent_until if until is None else min(until, silent_until)
            try:
                letter = self.wire.receive(latest - time.monotonic())
                if letter is not None:
                    self._take(letter)
            except TransportError as error:
                self.lose(self._cause(str(error)))
                return
            if letter is not None:
                continue
            if time.monotonic() >= silent_until:
                wait_s = self.budget_s + PATIENCE_S
                where = self._where(ask=True)
                self.lose(f"{where}its process did not answer within {wait_s:g} s of wall time and was stopped")
            else:
                return

    def lose(self, why: str) -> None:
        """Give the process up."""
        self.gone = why
        self._pending.clear()
        self.end(0.0)

    def farewell(self) -> None:
        """Ask the process to end."""
        if self.wire is not None:
            try:
                self.wire.send(END)
            except TransportError as error:
                self.lose(self._cause(str(error)))

    def end(self, wait_s: float) -> None:
        """End the process: wait for its goodbye, at most ``wait_s``, and kill it if it is still there."""
        if self.wire is not None:
            wire, self.wire = self.wire, None
            self._listen_to_the_end(wire, wait_s)
            wire.close()
        if self.process is not None:
            try:
                self.process.wait(wait_s)
            except subprocess.TimeoutExpired:
                end_children(self.process.pid)
                self.process.kill()
                self.process.wait()
            if self.trace is not None:
                self.trace.close()
            if "/" in self.memory:
                with suppress(OSError):  # it may hold other processes
                    Path(self.memory).rmdir()

    def _take(self, letter: Letter) -> None:
        self._quiet_since = time.monotonic()
        if letter.kind == REFUSED:
            self.lose(f"its process gave up: {letter.parts[1]}")
        elif letter.kind == USE:
            self.uses.append(letter.parts[1])
        elif letter.kind != BUSY:
            _, then = self._pending.popleft()
            then(letter.parts, letter.cpu_s)

    def _listen_to_the_end(self, wire: Transport, wait_s: float) -> None:
        until = time.monotonic() + wait_s
        try:
            while wait_s > 0:
                letter = wire.receive(until - time.monotonic())
                if letter is None:
                    self.last_words = f"it did not end within {wait_s:g} s of wall time"
                    return
                if letter.kind == END:
                    self.last_words = letter.parts[1] or ""
                    return
                if letter.kind == USE:
                    self.uses.append(letter.parts[1])
        except TransportError:
            return

    def _cause(self, otherwise: str) -> str:
        """Return why the other end of the connection is gone."""
        if self.process is None:
            return f"its process on {self.host} is gone: {otherwise}"
        try:
            code = self.process.wait(1.0)
        except subprocess.TimeoutExpired:
            return f"its process cannot read the data: {otherwise}"
        if code < 0:
            limited = f"; its memory is limited by {self.memory}" if "/" in self.memory else ""
            return f"{self._where()}its process was killed by signal {-code} ({signal.Signals(-code).name}){limited}"
        if code == CLOSED:
            return "its process ended: its controller closed the connection; close only what it has opened"
        return f"its process ended with exit code {code}"

    def _where(self, *, ask: bool = False) -> str:
        """Return file, line and function where the process is, or was when a signal ended it, if known.

        Args:
            ask: whether to ask a process that is still there.
        """
        if self.trace is None or self.process is None:
            return ""
        until = time.monotonic() + ask * PATIENCE_S
        if ask and sys.platform != "win32":
            self.process.send_signal(signal.SIGUSR1)
        while True:
            self.trace.seek(0)
            said = self.trace.read().decode(errors="replace")
            if said or time.monotonic() >= until:
                return place([(file, line, name) for file, line, name in _FRAMES.findall(said)][::-1])
            time.sleep(0.01)


def end_children(pid: int) -> None:
    """End the children of a process, and their children."""
    with suppress(psutil.Error):
        for child in psutil.Process(pid).children(recursive=True):
            with suppress(psutil.Error):
                child.kill()
