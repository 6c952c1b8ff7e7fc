"""A file with the steps of one robot: JSON, one line per scan and step, compressed with gzip."""

import gzip
import json
import math
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from covey.errors import RunFolderError
from covey.plain_files import NotPlainError, text_lines
from covey.registry import load_file, loaded_files
from covey.results.manifest import sha256, versions
from covey.runtime.remote.spawn_spec import RobotSpawn
from covey.runtime.replay.plain import decode, encode

FORMAT = "covey steps 4"


class LogWriter:
    """Writes the steps of one robot to a temporary file, and renames it at the end."""

    def __init__(self, path: Path):
        self.path, self.steps = path, 0
        path.parent.mkdir(parents=True, exist_ok=True)
        self._partial = path.with_name(f".{path.name}.partial")
        self._file = gzip.open(self._partial, "wt", compresslevel=3, encoding="utf-8")  # noqa: SIM115

    def begin(self, spawn: RobotSpawn) -> None:
        """Write the robot, its program, and the files of the program."""
        files = {str(path): sha256(path) for path in loaded_files()}
        about = {"format": FORMAT, "covey": versions()["covey"], "robot": spawn.spec.name, "files": files}
        self._write(about | {"spawn": encode(spawn)})

    def add(self, kind: str, shown: Any, answer: Any) -> None:
        """Write an input of a kind, see `LogEntry`, encoded, and the answer."""
        self.steps += kind == "step"
        self._write({kind: shown, "answer": encode(answer)})

    def close(self) -> None:
        """Move the file to its final name."""
        self._file.close()
        self._partial.replace(self.path)

    def abandon(self) -> None:
        """Remove the unfinished file."""
        self._file.close()
        self._partial.unlink(missing_ok=True)

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line, separators=(",", ":")) + "\n")


@dataclass(frozen=True)
class LogEntry:
    """A step, what was sensed, or a scan for the map.

    Attributes:
        kind: ``step``, ``sensed`` or ``scan``.
        shown: `StepInput`, `SenseInput` or `MapInput`.
        answer: the answer, encoded.
    """

    kind: str
    shown: Any
    answer: Any


class StepLog:
    """The recorded steps of one robot, from a file.

    Attributes:
        robot: its name.
        files: files of the controller, with their SHA-256 at the time of the record.

    Raises:
        RunFolderError: the file holds no steps, or is damaged.
    """

    def __init__(self, path: Path):
        self.path = path
        about = next(self._lines(), {})
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise RunFolderError(
                f"{path} holds no steps of a robot that this version of Covey reads; record them with covey "
                "replay-robot RUN ROBOT"
            )
        if about["covey"] != versions()["covey"]:
            raise RunFolderError(
                f"{path} was recorded by covey {about['covey']}, and this is {versions()['covey']}; run the scenario "
                "again, and record its steps again"
            )
        self.robot, self.files = str(about["robot"]), dict[str, str](about["files"])
        self._spawn = about["spawn"]

    @property
    def changed_files(self) -> list[str]:
        """Files of the controller that have changed."""
        return [file for file, digest in self.files.items() if _digest(Path(file)) != digest]

    def spawn(self) -> RobotSpawn:
        """Return the robot and its program; loads the present files of the program."""
        for file in self.files:
            load_file(Path(file))
        return decode(self._spawn)

    def entries(self) -> Iterator[LogEntry]:
        """Yield all inputs in their original order."""
        lines = self._lines()
        next(lines)
        for line in lines:
            kind = next(iter(line))
            yield LogEntry(kind, decode(line[kind]), line["answer"])

    def _lines(self) -> Iterator[dict[str, Any]]:
        try:
            for line in text_lines(self.path, most_bytes=math.inf):
                yield json.loads(line)
        except (NotPlainError, gzip.BadGzipFile, EOFError, zlib.error, ValueError) as error:
            raise RunFolderError(f"{self.path} is damaged, or holds no steps of a robot: {error}") from None


def _digest(path: Path) -> str:
    with suppress(OSError):
        return sha256(path)
    return ""
