"""One game: a simulation whose laws run in processes of their own, with limits."""

import hashlib
import math
import multiprocessing
import os
import secrets
import signal
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

import numpy as np

from covey.errors import ControllerError, CoveyError, MachineError
from covey.lab.tournament.apart import KILLED, can_step_apart, step_apart
from covey.lab.tournament.fence import OTHERS_SINCE, fence, landlock
from covey.lab.tournament.files import program_of_file
from covey.lab.tournament.game import Game, GameError, Played
from covey.lab.tournament.games import error_of_game, game_of, is_of_game
from covey.onboard.controller import Program
from covey.runtime.execution import Execution, Processes
from covey.runtime.remote.launch import KEY_VARIABLE
from covey.runtime.remote.serving import serve_over
from covey.runtime.transport.transport import connect, plain_letters

_END_S = 0.5  # within which a process of which the connection is gone has ended


class VoidGameError(CoveyError):
    """A game counts for nobody, and is played again next time: no law of it is known to have broken it."""


class LawLimits(NamedTuple):
    """What a law may take.

    Attributes:
        step_s: time for one step [s of wall time].
        memory_mib: memory besides what it has when loaded [MiB].
        game_s: time for all steps of a game together [s of wall time]; None: see `for_game`.
    """

    step_s: float = 1.0
    memory_mib: float = 256.0
    game_s: float | None = None

    def for_game(self, stop_s: float) -> float:
        """Return the time for all steps of a game that may last for ``stop_s`` of simulated time [s of wall time].

        By default half of this time, and no less than ten of the longest steps.
        """
        return max(0.5 * stop_s, 10.0 * self.step_s) if self.game_s is None else self.game_s


class GameOutcome(NamedTuple):
    """How a game ended.

    Attributes:
        score: see `Game.score`; NaN if the law failed, or never got there.
        ended: in words.
        time_s: when it ended [s].
        failed: why a law lost without playing to the end, by side.
        ways: x, y [m] of the robots by side, at most 200 times, float (t, n, 2) as lists, for a small picture.
    """

    score: float
    ended: str
    time_s: float
    failed: dict[str, str]
    ways: dict[str, Any]


def play_match(
    game_name: str,
    files: Mapping[str, Path],
    start: int,
    limits: LawLimits,
    folder: Path,
    hashes: Mapping[str, str] | None = None,
) -> GameOutcome:
    """Play one game, and record it in a folder.

    Args:
        game_name: see `game_of`.
        files: the law file of each side.
        start: number of the start, from 0.
        limits: what each law may take.
        folder: for the run.
        hashes: of the file of each side, see `hash_of`, before the game and after it; None: as they are.

    Raises:
        GameError: the game is wrong; the folder is removed.
        VoidGameError: a file has changed, or a process was ended and it is not known by whom; the folder is removed.
    """
    try:
        _check_hashes(files, hashes or {})
        outcome = _outcome(game_name, files, start, limits, folder)
        _check_hashes(files, hashes or {})
    except VoidGameError:
        rmtree(folder, ignore_errors=True)
        raise
    return outcome


def hash_of(file: Path) -> str:
    """Return the hash of what a file holds; empty if it cannot be read, or is none."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
    except OSError:
        return ""


def _check_hashes(files: Mapping[str, Path], hashes: Mapping[str, str]) -> None:
    for side, known in hashes.items():
        if hash_of(files[side]) != known:
            raise VoidGameError(f"{files[side].name} has changed since the tournament began")


def _outcome(game_name: str, files: Mapping[str, Path], start: int, limits: LawLimits, folder: Path) -> GameOutcome:
    game, programs = game_of(game_name), {}
    for side, file in files.items():
        try:
            programs[side] = program_of_file(file, game.scope, game.sees, limits.for_game(game.stop_s))
        except CoveyError as error:
            return GameOutcome(_lost(game, {side: str(error)}), "failed", 0.0, {side: str(error)}, {})
    try:
        return _played(game, game_name, programs, start, limits, folder)
    except VoidGameError:
        raise
    except MachineError as error:
        if folder.exists():
            raise
        raise VoidGameError(f"its folder was removed while it was played: {error}") from error
    except Exception as error:
        if isinstance(error, GameError) or is_of_game(error, game_name):
            rmtree(folder, ignore_errors=True)
            raise error if isinstance(error, GameError) else error_of_game(error, game_name) from None
        # what a process of a law sent has broken the game; the others go on
        why = f"the game broke: {type(error).__name__}: {error}"
        if len(files) > 1:
            raise VoidGameError(f"{why}, and nobody knows by which law") from error
        return GameOutcome(_lost(game, dict.fromkeys(files, why)), "failed", 0.0, dict.fromkeys(files, why), {})


def _played(
    game: Game, name: str, programs: Mapping[str, Program], start: int, limits: LawLimits, folder: Path
) -> GameOutcome:
    address = f"127.0.0.1:{_free_port()}"
    os.environ[KEY_VARIABLE] = secrets.token_hex(32)
    execution = Execution(
        controllers="processes",
        processes=Processes(nodes="join", address=address, memory_mib=limits.memory_mib),
        step_budget_s=limits.step_s,
        on_controller_error="end_run",
    )
    try:
        sim, ended = game.simulation(programs, start, execution, folder)
    except MachineError:
        raise
    except Exception as error:  # no law has been called yet
        raise error_of_game(error, name) from None
    of_teams = game.scope == "group"  # then a law has one process, else each robot has one
    sides = [group.name for group in sim.groups for _ in group.start] if of_teams else [game.sides[0]] * len(sim.names)
    try:
        with plain_letters(), _joined(address, list(programs) if of_teams else sim.names) as processes:
            run, failed = sim.run(until_s=game.stop_s), {}
            events = run.events.filter(run.events["kind"] == "controller_failed")
            for robot, text in events.select("robot", "text").iter_rows():
                side = sides[sim.names.index(robot)]
                signal_number = _ended_by(processes[side if of_teams else robot])
                failed[side] = _blame(str(text), signal_number, side)
    except ControllerError as error:  # a law that cannot even be started
        return GameOutcome(math.nan, "failed", 0.0, dict.fromkeys(programs, str(error)), {})
    starts = np.concatenate([group.start for group in sim.groups])
    poses = np.concatenate((starts[None], run.poses))
    at = {side: poses[:, [i for i in range(len(sim.names)) if sides[i] == side]] for side in programs}
    every = max(1, math.ceil((len(poses) - 1) / 200))
    ways = {side: np.round(part[::every, :, :2], 2).tolist() for side, part in at.items()}
    if failed:
        return GameOutcome(_lost(game, failed), "failed", sim.time, failed, ways)
    score = _number(game.score(Played(run, at, ended(), sim.time)), game, name)
    return GameOutcome(score, ended() or "time is up", sim.time, {}, ways)


def _blame(why: str, number: int, side: str) -> str:
    """Return why a law loses: in the words of its failure, or by the signal that has ended its process.

    Args:
        why: the words.
        number: of the signal; 0: none.
        side: of the law.

    Raises:
        VoidGameError: on this system another law may have sent the signal.
    """
    if not number:
        return why.strip().partition("\n")[0]
    said = f"its process was killed by signal {number} ({signal.strsignal(number)})"
    if landlock() < OTHERS_SINCE and not can_step_apart():
        raise VoidGameError(f"{side}: {said}, on this system perhaps by another law")
    return said


def _number(score: Any, game: Game, name: str) -> float:
    """Return a score as a number."""
    if not isinstance(score, (int, float, np.number)):
        raise GameError(f"score of the game {name} returned {score!r:.60}; return a number, such as played.time_s")
    if len(game.sides) == 2 and not 0.0 <= score <= 1.0:
        raise GameError(
            f"score of the game {name} returned {score}; with two sides return the share of the first side in the "
            "win: 1, 0, or 0.5 for a draw"
        )
    return float(score)


def _lost(game: Game, failed: Mapping[str, str]) -> float:
    """Return the score of a game in which laws have failed: the other side wins; NaN: there is none."""
    if len(game.sides) == 1:
        return math.nan
    first, second = (side in failed for side in game.sides)
    return 0.5 if first and second else 0.0 if first else 1.0


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def _joined(address: str, names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Run processes by name, and end them all; they are forks of one process that has loaded what they need."""
    if sys.platform == "win32":
        raise CoveyError("the laws of a tournament are forked processes, which Windows has not; use WSL there")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["covey.lab.tournament.warm"])
    host, port = address.split(":")
    key = os.environ[KEY_VARIABLE]
    processes = [context.Process(target=_serve, args=((host, int(port)), key, name), daemon=True) for name in names]
    for process in processes:
        process.start()
    try:
        yield dict(zip(names, processes, strict=True))
    finally:
        for process in processes:
            process.kill()
            with suppress(ProcessLookupError, PermissionError):  # it had ended, or has not begun
                os.killpg(process.pid or 0, signal.SIGKILL)
        for process in processes:
            process.join()


def _ended_by(process: Any) -> int:
    """Return the number of the signal that has ended a process of `_serve`; 0: none has."""
    process.join(_END_S)
    code = process.exitcode or 0
    return -code if code < 0 else max(0, code - KILLED)


def _serve(address: tuple[str, int], key: str, name: str) -> None:
    """Be the process of a law: what it prints goes nowhere, and it has no other way to the referee than its answers."""
    assert sys.platform != "win32"
    os.setsid()  # so that what it starts ends with it
    for number in (0, 1, 2):
        os.dup2(os.open(os.devnull, os.O_RDWR), number)
    with suppress(BaseException):
        wire = connect(address, bytes.fromhex(key))
        wire.plain = True
        step_apart()
        fence()  # the games, their files and the other laws are out of its reach
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        serve_over(wire, name)
    os._exit(0)
