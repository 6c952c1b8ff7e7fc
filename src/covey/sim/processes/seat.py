"""`Seat`: what the simulator knows of one process: the wire to it, and whether it is still there."""

import signal
import subprocess
import time
from typing import Any

from covey.sim.processes.wire import BUSY, END, REFUSED, Parts, Wire, WireError

PATIENCE_S = 2.0
"""How much longer than the controller's budget of wall time the simulator waits for an answer [s]."""


class Seat:
    """The process of one robot, or of a controller of several.

    Args:
        name: of the robot, or of the group.
        robots: team indices of those that it steers.
        budget_s: wall time [s] that a controller may take for one step.

    Attributes:
        wire: to the process; None before it has come in, and after it is gone.
        process: where the simulator started it itself.
        pid, host: of the process.
        cpu_s: processor time that its answers have taken since the start [s].
        gone: why it is there no more; empty while it is.
    """

    def __init__(self, name: str, robots: tuple[int, ...], budget_s: float):
        self.name, self.robots, self.budget_s = name, robots, budget_s
        self.wire: Wire | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self.pid, self.host, self.cpu_s, self.gone = 0, "", 0.0, ""
        self.told: set[str] = set()  # sensors of which it has had a whole reading

    def ask(self, kind: int, parts: Parts) -> bool:
        """Send a letter; return whether there is somebody to send it to."""
        if self.wire is None:
            return False
        try:
            self.wire.send(kind, parts)
        except WireError:
            self.lose(self._cause())
            return False
        return True

    def answer(self) -> Parts | None:
        """Wait for the answer to a letter and return it; None when the process is gone, or hangs."""
        wait_s = self.budget_s + PATIENCE_S
        while self.wire is not None:
            try:
                letter = self.wire.receive(wait_s)
            except WireError as error:
                self.lose(self._cause(str(error)))
                return None
            if letter is None:
                self.lose(f"its process has not answered within {wait_s:g} s of wall time, and was ended")
            elif letter.kind == REFUSED:
                self.lose(f"its process gave up: {letter.parts[1]}")
            elif letter.kind != BUSY:
                self.cpu_s += letter.cpu_s
                return letter.parts
        return None

    def lose(self, why: str) -> None:
        """Give the process up."""
        self.gone = why
        self.end(0.0)

    def end(self, wait_s: float) -> None:
        """End the process: ask it, wait for so long [s], and kill it if it is still there."""
        if self.wire is not None:
            wire, self.wire = self.wire, None
            if wait_s > 0:
                _farewell(wire, wait_s)
            wire.close()
        if self.process is not None and self.process.poll() is None:
            try:
                self.process.wait(wait_s)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def _cause(self, otherwise: str = "the connection is lost") -> str:
        """Return why the other end of the wire is gone."""
        if self.process is None:
            return f"its process on {self.host} is gone: {otherwise}"
        try:
            code = self.process.wait(1.0)
        except subprocess.TimeoutExpired:
            return f"its process has closed the connection: {otherwise}"
        if code < 0:
            return f"its process was killed by signal {-code} ({signal.Signals(-code).name})"
        return f"its process ended with exit code {code}"


def _farewell(wire: Wire, wait_s: float) -> None:
    """Let a controller end properly."""
    until = time.monotonic() + wait_s
    try:
        wire.send(END)
        while (left := until - time.monotonic()) > 0:
            letter: Any = wire.receive(left)
            if letter is None or letter.kind == END:
                return
    except WireError:
        return
