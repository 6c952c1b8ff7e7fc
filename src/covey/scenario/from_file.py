"""`FromFile`: base of scenario and design: a record that knows the file from which it was read."""

import os
import shlex
from pathlib import Path
from typing import Any

from pydantic import PrivateAttr

from covey.errors import Problem, ScenarioError
from covey.records import Record
from covey.scenario.yaml12 import MAX_BYTES, Document


class FromFile(Record):
    """A record that a whole file describes; paths in it are relative to the file."""

    _folder: Path = PrivateAttr(default_factory=Path.cwd)
    _document: Document = PrivateAttr(default_factory=lambda: Document(None))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and dict(self) == dict(other)

    def model_post_init(self, context: Any) -> None:
        """Remember the file that it was read from."""
        if isinstance(context, dict):
            self._folder = Path(context.get("folder", self._folder))
            self._document = context.get("document", self._document)

    @property
    def folder(self) -> Path:
        """The base folder of relative paths in it."""
        return self._folder

    @property
    def document(self) -> Document:
        """The file with the places of its keys; without places if the record was made in Python."""
        return self._document


def read_file(path: Path, source: str | os.PathLike[str]) -> tuple[bytes, str]:
    """Return the content of a file, and its name for error messages.

    Args:
        path: path of the file.
        source: the requested path, or the name of something that ships.

    Raises:
        ScenarioError: the file cannot be read.
    """
    file = str(source) if path == Path(source) else path.name
    typed = shlex.quote(file)
    try:
        if (path / "manifest.json").is_file():
            raise ScenarioError([Problem(f"is the folder of a run; to repeat it: covey run --inputs {typed}", file)])
        if not path.is_file():
            raise ScenarioError([Problem("is not a file", file)])
        if path.suffix == ".py":
            how = f"a scenario names what is in it, controller: ./{path.name}:NAME; covey play {typed} runs a law"
            raise ScenarioError([Problem(f"is Python, not a scenario or a design; {how}", file)])
        with path.open("rb") as stream:
            return stream.read(MAX_BYTES + 1), file
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ScenarioError([Problem(f"cannot be read: {reason}", file)]) from None
