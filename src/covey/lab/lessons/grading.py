"""All hand-ins of a folder, graded: each in a process of its own, with a limit of time."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from covey.errors import InvalidValueError
from covey.lab.lessons.course import lessons
from covey.lab.lessons.hand_in import lesson_of
from covey.registry import import_path


class Grade(NamedTuple):
    """What came of a hand-in.

    Attributes:
        file: its path within the folder.
        lesson: the number of its lesson; 0: its name does not say which.
        done: whether the lesson is done.
        reasons: what is still wrong.
    """

    file: str
    lesson: int
    done: bool
    reasons: tuple[str, ...]


def hand_ins_of(folder: Path) -> list[Path]:
    """Return the Python files and notebooks in a folder and below it, by name; not those that begin with _ or a dot.

    Raises:
        InvalidValueError: there is no such folder, or nothing in it.
    """
    if not folder.is_dir():
        raise InvalidValueError(f"{folder} is no folder; give the one that holds what was handed in")
    found = [path for path in sorted(folder.rglob("*")) if path.suffix in (".py", ".ipynb") and path.is_file()]
    found = [path for path in found if not any(part[0] in "_." for part in path.relative_to(folder).parts)]
    if not found:
        raise InvalidValueError(f"{folder} holds no hand-in; it needs .py files or .ipynb notebooks")
    return found


def graded(
    folder: Path,
    lesson: int | None = None,
    seconds: float = 120.0,
    jobs: int = 1,
    told: Callable[[Grade], Any] = lambda grade: None,
) -> list[Grade]:
    """Grade every hand-in of a folder.

    Args:
        folder: see `hand_ins_of`.
        lesson: the number of the lesson, 1 to 10; None: it is in the name of each file, or of its folder.
        seconds: how long one may take [s].
        jobs: number of processes at a time.
        told: called with each grade as soon as it is there.

    Raises:
        InvalidValueError: an argument is wrong.
    """
    if lesson is not None and not 1 <= lesson <= len(lessons()):
        raise InvalidValueError(f"there is no lesson {lesson}; there are 1 to {len(lessons())}")
    if not 0 < seconds < float("inf"):
        raise InvalidValueError(f"seconds is {seconds:g}; give a time above 0 s")
    files = hand_ins_of(folder)

    def one(file: Path) -> Grade:
        grade = _graded(file, folder, lesson, seconds)
        told(grade)
        return grade

    with ThreadPoolExecutor(max(1, min(jobs, len(files)))) as pool:
        return list(pool.map(one, files))


def _graded(file: Path, folder: Path, given: int | None, seconds: float) -> Grade:
    """Grade one hand-in."""
    name, lesson = file.relative_to(folder).as_posix(), lesson_of(file, folder, given)
    if lesson is None:
        why = "which lesson is it? name it, such as 01_first_robot.py, or give --lesson"
        return Grade(name, 0, False, (why,))
    number = int(lesson.name[:2])
    with tempfile.TemporaryDirectory() as place:
        result = Path(place) / "result.json"
        command = [
            sys.executable,
            "-P",
            "-m",
            "covey.lab.lessons.hand_in",
            str(number),
            str(file.resolve()),
            str(result),
        ]
        nothing = subprocess.DEVNULL
        process = subprocess.Popen(
            command,
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            cwd=place,
            env=os.environ | {"PYTHONPATH": import_path()},
            start_new_session=True,
        )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return Grade(name, number, False, (f"it takes longer than {seconds:g} s; does a loop in it never end?",))
        finally:
            _end(process)
        if not result.is_file():
            return Grade(name, number, False, (f"it ended its process (exit code {process.returncode})",))
        reasons = tuple(json.loads(result.read_text(encoding="utf-8")))
    return Grade(name, number, not reasons, reasons)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process, and what it has started."""
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
