"""`serve`: the life of one process of a robot: it comes in, is told who it is, and answers letters until the end."""

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from covey.runtime.local.watchdog import Watchdog
from covey.runtime.remote.agent import GroupAgent, RobotAgent, rehearse
from covey.runtime.remote.launch import given_key
from covey.runtime.remote.spawn_spec import RobotBirth, unpacked
from covey.runtime.remote.use import EVERY_S, OwnUse
from covey.runtime.transport import codec
from covey.runtime.transport.codec import RobotEnd
from covey.runtime.transport.transport import (
    BUSY,
    DECIDE,
    END,
    HELLO,
    MAP,
    NOTHING,
    READY,
    REFUSED,
    USE,
    Parts,
    Wire,
    WireError,
    connect,
)

Answers = dict[int, Callable[[Parts], Any]]
"""What answers letters, by their kind."""

_LOOK_S = 0.5


def serve(address: tuple[str, int], authkey: bytes, name: str) -> None:
    """Be the process of a robot, or of a controller of several, until the simulator ends the run.

    Args:
        address: host and port where the simulator listens.
        authkey: the key that it and this process share.
        name: of the robot, or of the group.

    Raises:
        WireError: nobody listens there, the key is another one, or the simulator died.
    """
    wire = connect(address, authkey)
    try:
        wire.send(HELLO, (None, {"name": name, "pid": os.getpid(), "host": os.uname().nodename}, None))
        first = wire.receive()
        assert first is not None
        answers, watchdog, use = _born(wire, first.parts[1])
        lookout = _Lookout(wire, watchdog, use)
        lookout.start()
        try:
            _answer(wire, answers)
        finally:
            lookout.stop()
            watchdog.close()
        _tell(wire, use.look(0.0))
        wire.send(END)
    finally:
        wire.close()


def _born(wire: Wire, data: dict[str, Any]) -> tuple[Answers, Watchdog, OwnUse]:
    """Return what answers letters, the watchdog over it, and what tells what it takes."""
    try:
        birth = unpacked(data)
        computer = None
        if isinstance(birth, RobotBirth):
            rehearse(birth)
            computer = birth.spec.model.computer
        use = OwnUse(wire, computer)
        memory = use.limit() if birth.limits_memory else ""
        watchdog = Watchdog(birth.step_budget_s)
        if isinstance(birth, RobotBirth):
            answers = _of_robot(RobotAgent(birth, watchdog), birth.spec.sensors)
        else:
            answers = _of_group(GroupAgent(birth, watchdog))
    except Exception as error:
        wire.send(REFUSED, (None, f"{type(error).__name__}: {error}", None))
        raise
    wire.send(READY, (None, {"memory": memory}, None))
    return answers, watchdog, use


def _of_robot(agent: RobotAgent, sensors: Sequence[str]) -> Answers:
    """Return what answers letters to a robot."""
    end = RobotEnd(sensors)
    return {
        MAP: lambda parts: codec.encoded_own(agent.map(codec.decoded_scan(parts))),
        DECIDE: lambda parts: end.encode(agent.step(end.decode(parts))),
        END: lambda _: agent.close(),
    }


def _of_group(agent: GroupAgent) -> Answers:
    """Return what answers letters to a controller of several robots."""
    return {
        DECIDE: lambda parts: codec.encoded_twists(agent.step(codec.decoded_groups(parts))),
        END: lambda _: agent.close(),
    }


def _answer(wire: Wire, answers: Answers) -> None:
    """Answer letters until the end."""
    process = os.getpid()
    while True:
        letter = wire.receive()
        assert letter is not None
        if letter.kind == END:
            answers[END](letter.parts)
            return
        before = time.process_time()
        try:
            answer = answers[letter.kind](letter.parts)
            if os.getpid() != process:  # a controller that forked goes on in one process only
                os._exit(0)
            wire.send(letter.kind, answer, time.process_time() - before)
        except WireError:
            raise
        except Exception:
            wire.send(REFUSED, (None, traceback.format_exc(), None))
            raise


def _tell(wire: Wire, use: Any) -> None:
    if use is not None:
        wire.send(USE, (None, tuple(use), None))


class _Lookout(threading.Thread):
    """Tells that a long silence is a compilation, and what the process takes; ends it when the simulator has died."""

    def __init__(self, wire: Wire, watchdog: Watchdog, use: OwnUse):
        super().__init__(name="covey-lookout", daemon=True)
        self._wire, self._watchdog, self._use, self._over = wire, watchdog, use, threading.Event()

    def run(self) -> None:
        was_over = False
        while not self._over.wait(_LOOK_S):
            if self._wire.has_ended():
                os._exit(1)
            try:
                if self._watchdog.is_compiling:
                    self._wire.send(BUSY, NOTHING)
                is_over = self._use.is_over
                _tell(self._wire, self._use.look(0.0 if is_over and not was_over else EVERY_S))
                was_over = is_over
            except WireError:
                os._exit(1)

    def stop(self) -> None:
        """Look no more."""
        self._over.set()
        self.join()


def be_robot(address: tuple[str, int], name: str) -> None:
    """Be the process of a robot that nothing else runs in; the key is in the environment.

    Raises:
        InvalidValueError: it is not.
        WireError: see `serve`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the simulator ends the run, and with it this process
    serve(address, given_key(), name)


def main() -> None:
    """Be the process of a robot; arguments: host, port, name."""
    host, port, name = sys.argv[1:4]
    sys.argv = ["covey robot"]
    try:
        be_robot((host, int(port)), name)
    except WireError as error:
        raise SystemExit(f"{name}: {error}") from None
    except Exception:
        raise SystemExit(1) from None  # it has been told, and the simulator tells it
