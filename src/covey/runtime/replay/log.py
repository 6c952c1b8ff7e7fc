"""The steps of one robot in a file: JSON, a line for each scan and each step, compressed by gzip."""

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from covey.errors import RunFolderError
from covey.registry import load_file, loaded_files
from covey.results.manifest import sha256, versions
from covey.runtime.remote.spawn_spec import RobotSpawn
from covey.runtime.replay.plain import decode, encode

FORMAT = "covey steps 1"


class LogWriter:
    """Writes the steps of one robot, and gives them their place when all are there."""

    def __init__(self, path: Path):
        self.path, self.steps = path, 0
        path.parent.mkdir(parents=True, exist_ok=True)
        self._partial = path.with_name(f".{path.name}.partial")
        self._file = gzip.open(self._partial, "wt", compresslevel=3, encoding="utf-8")  # noqa: SIM115

    def begin(self, spawn: RobotSpawn) -> None:
        """Write which robot it is, what it runs, and the files that this is in."""
        files = {str(path): sha256(path) for path in loaded_files()}
        about = {"format": FORMAT, "covey": versions()["covey"], "robot": spawn.spec.name, "files": files}
        self._write(about | {"birth": encode(spawn)})

    def add(self, kind: str, shown: Any, answer: Any) -> None:
        """Write a ``step`` or a ``scan``: what was shown, encoded, and what was answered."""
        self.steps += kind == "step"
        self._write({kind: shown, "answer": encode(answer)})

    def close(self) -> None:
        """Give the file its place."""
        self._file.close()
        self._partial.replace(self.path)

    def abandon(self) -> None:
        """Leave nothing."""
        self._file.close()
        self._partial.unlink(missing_ok=True)

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line, separators=(",", ":")) + "\n")


@dataclass(frozen=True)
class Entry:
    """A step or a scan.

    Attributes:
        kind: ``step`` or ``scan``.
        shown: `StepInput` or `ScanInput`.
        answer: what was answered, encoded.
    """

    kind: str
    shown: Any
    answer: Any


class Log:
    """The steps of one robot, as a file holds them.

    Attributes:
        robot: its name.
        files: of the controller, with their SHA-256 when the steps were recorded.

    Raises:
        RunFolderError: the file is no such file, or damaged.
    """

    def __init__(self, path: Path):
        self.path = path
        about = next(self._lines(), {})
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise RunFolderError(f"{path} holds no steps of a robot; record them with covey replay-robot RUN ROBOT")
        if about["covey"] != versions()["covey"]:
            raise RunFolderError(
                f"{path} was recorded by covey {about['covey']}, and this is {versions()['covey']}; run the scenario "
                "again, and record its steps again"
            )
        self.robot, self.files = str(about["robot"]), dict[str, str](about["files"])
        self._birth = about["birth"]

    @property
    def changed_files(self) -> list[str]:
        """Files of the controller that are others now."""
        return [file for file, digest in self.files.items() if _digest(Path(file)) != digest]

    def spawn(self) -> RobotSpawn:
        """Return which robot it is, and its program; loads the files that this is in, as they are now."""
        for file in self.files:
            load_file(Path(file))
        return decode(self._birth)

    def entries(self) -> Iterator[Entry]:
        """Yield steps and scans, in the order in which they happened."""
        lines = self._lines()
        next(lines)
        for line in lines:
            kind = next(iter(line))
            yield Entry(kind, decode(line[kind]), line["answer"])

    def _lines(self) -> Iterator[dict[str, Any]]:
        try:
            with gzip.open(self.path, "rt", encoding="utf-8") as file:
                for line in file:
                    yield json.loads(line)
        except (gzip.BadGzipFile, EOFError, zlib.error, ValueError) as error:
            raise RunFolderError(f"{self.path} is damaged, or holds no steps of a robot: {error}") from None


def _digest(path: Path) -> str:
    with suppress(OSError):
        return sha256(path)
    return ""
