"""`serve`: one process of a robot: it connects, gets its specification, and answers letters until the end."""

import faulthandler
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from covey.runtime.local.failures import text_of
from covey.runtime.local.watchdog import Watchdog
from covey.runtime.remote.agent import GroupAgent, RobotAgent, answered_localize, answered_map, warm_up
from covey.runtime.remote.launch import given_key
from covey.runtime.remote.spawn_spec import RobotSpawn, unpickled
from covey.runtime.remote.use import EVERY_S, OwnUse
from covey.runtime.transport import codec
from covey.runtime.transport.channel import end_children
from covey.runtime.transport.codec import RobotEnd
from covey.runtime.transport.transport import (
    BUSY,
    CLOSED,
    DECIDE,
    END,
    HELLO,
    LARGEST_BYTES,
    LOCALIZE,
    MAP,
    NOTHING,
    READY,
    REFUSED,
    USE,
    LetterError,
    Parts,
    Transport,
    TransportError,
    connect,
)

Answers = dict[int, Callable[[Parts], Any]]
"""Functions that answer letters, by kind."""

_LOOK_S = 0.5


def serve(address: tuple[str, int], authkey: bytes, name: str) -> None:
    """Run one robot, or a controller of several robots, in this process until the simulator ends the run.

    Args:
        address: host and port on which the simulator listens.
        authkey: the key that the simulator and this process share.
        name: name of the robot, or of the group.

    Raises:
        TransportError: no simulator listens there, the key is wrong, or the simulator died.
    """
    serve_over(connect(address, authkey), name)


def serve_over(wire: Transport, name: str) -> None:
    """Do as `serve` over a connection, which is closed at the end.

    Raises:
        TransportError: the simulator died.
    """
    try:
        wire.send(HELLO, (None, {"name": name, "pid": os.getpid(), "host": socket.gethostname()}, None))
        first = wire.receive()
        assert first is not None
        answers, watchdog, use = _born(wire, first.parts[1])
        lookout = _Lookout(wire, watchdog, use)
        lookout.start()
        try:
            last_words = _answer(wire, answers)
        finally:
            lookout.stop()
            watchdog.close()
        _tell(wire, use.sample(0.0))
        wire.send(END, (None, last_words, None))
    finally:
        wire.close()


def _born(wire: Transport, data: dict[str, Any]) -> tuple[Answers, Watchdog, OwnUse]:
    """Return the functions that answer letters, their watchdog, and the monitor of resources."""
    try:
        spawn = unpickled(data)
        computer = None
        if isinstance(spawn, RobotSpawn):
            warm_up(spawn)
            computer = spawn.spec.model.computer
        use = OwnUse(wire, computer)
        memory = use.limit() if spawn.limits_memory else ""
        use.bound(spawn.memory_mib)
        wire.largest = LARGEST_BYTES
        watchdog = Watchdog(spawn.step_budget_s)
        if isinstance(spawn, RobotSpawn):
            answers = _of_robot(RobotAgent(spawn, watchdog), spawn.spec.sensors)
        else:
            answers = _of_group(GroupAgent(spawn, watchdog))
    except BaseException as error:
        wire.send(REFUSED, (None, f"{type(error).__name__}: {error}", None))
        raise
    wire.send(READY, (None, {"memory": memory}, None))
    return answers, watchdog, use


def _of_robot(agent: RobotAgent, sensors: Sequence[str]) -> Answers:
    """Return the functions that answer letters to a robot."""
    end = RobotEnd(sensors)
    return {
        LOCALIZE: lambda parts: codec.encoded_located(*answered_localize(agent, codec.decoded_sensed(parts))),
        MAP: lambda parts: codec.encoded_changes(answered_map(agent, codec.decoded_scan(parts))),
        DECIDE: lambda parts: end.encode(agent.step(end.decode(parts))),
        END: lambda _: agent.close(),
    }


def _of_group(agent: GroupAgent) -> Answers:
    """Return the functions that answer letters to a controller of several robots."""
    return {
        DECIDE: lambda parts: codec.encoded_twists(agent.step(codec.decoded_groups(parts))),
        END: lambda _: agent.close(),
    }


def _answer(wire: Transport, answers: Answers) -> str:
    """Answer letters until the end; return the error at the end of the controller, empty if there was none."""
    process = os.getpid()
    while True:
        letter = wire.receive()
        assert letter is not None
        if letter.kind == END:
            return _ended(answers[END], letter.parts)
        before = time.process_time()
        try:
            answer = answers[letter.kind](letter.parts)
            if os.getpid() != process:  # a controller that forked continues in one process only
                os._exit(0)
            if not wire.is_open:
                _leave(CLOSED)
            wire.send(letter.kind, answer, time.process_time() - before)
        except TransportError:
            raise
        except LetterError as error:
            wire.send(REFUSED, (None, str(error), None))
            raise
        except BaseException as error:
            wire.send(REFUSED, (None, text_of(error), None))
            raise


def _ended(close: Callable[[Parts], Any], parts: Parts) -> str:
    try:
        close(parts)
    except BaseException as error:
        return text_of(error)
    return ""


def _leave(code: int) -> NoReturn:
    """End this process with all threads and processes that its controller has started."""
    end_children(os.getpid())
    with suppress(Exception):  # a controller may have closed the streams
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _tell(wire: Transport, use: Any) -> None:
    if use is not None:
        wire.send(USE, (None, tuple(use), None))


class _Lookout(threading.Thread):
    """Reports calls with an excuse and the use of resources; ends the process if the simulator has died."""

    def __init__(self, wire: Transport, watchdog: Watchdog, use: OwnUse):
        super().__init__(name="covey-lookout", daemon=True)
        self._wire, self._watchdog, self._use, self._over = wire, watchdog, use, threading.Event()

    def run(self) -> None:
        was_over = False
        while not self._over.wait(_LOOK_S):
            if self._wire.has_ended():
                _leave(1 if self._wire.is_open else CLOSED)
            try:
                if self._watchdog.is_excused:
                    self._wire.send(BUSY, NOTHING)
                is_over = self._use.is_over
                _tell(self._wire, self._use.sample(0.0 if is_over and not was_over else EVERY_S))
                was_over = is_over
            except TransportError:
                _leave(1 if self._wire.is_open else CLOSED)
            except MemoryError:  # the controller holds all memory, and will get the same error
                continue

    def stop(self) -> None:
        """Stop reporting."""
        self._over.set()
        self.join()


def be_robot(address: tuple[str, int], name: str) -> None:
    """Run one robot in this process, which runs nothing else; the key is in the environment.

    Raises:
        InvalidValueError: the environment holds no key.
        TransportError: see `serve`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the simulator ends the run and this process
    serve(address, given_key(), name)


def main() -> None:
    """Run one robot; arguments: host, port, name, and the trace file, see `start_process`."""
    host, port, name, *files = sys.argv[1:]
    sys.argv = ["covey robot"]
    for file in map(int, files):
        faulthandler.enable(file, all_threads=False)
        if sys.platform != "win32":
            faulthandler.register(signal.SIGUSR1, file, all_threads=False)
    code = 1
    try:
        be_robot((host, int(port)), name)
        code = 0
    except TransportError as error:
        with suppress(OSError, ValueError):
            print(f"{name}: {error}", file=sys.stderr)
    except BaseException:
        pass  # the simulator knows the error and reports it
    _leave(code)
