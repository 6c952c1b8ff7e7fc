"""A recorded run in one file for others: a page that plays offline, MCAP for Foxglove, .rrd for Rerun."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from covey.errors import CoveyError
from covey.results.folder import part, unwritable
from covey.results.run import Run

Format = Literal["html", "mcap", "rrd"]


def export(run: Run, form: Format, path: Path) -> None:
    """Write a run into one file, whole or not at all.

    Args:
        run: the run.
        form: ``html``, ``mcap`` or ``rrd``.
        path: the file; one that exists is replaced.

    Raises:
        RunFolderError: the file cannot be written.
        CoveyError: the library for this format is not installed.
    """
    writer: Callable[[Run, Path], None] = importlib.import_module(f"covey.viewer.exports.{form}").write
    try:
        writer(run, part(path))
        part(path).replace(path)
    except OSError as error:
        raise unwritable(repr(str(path)), error) from error
    finally:
        part(path).unlink(missing_ok=True)


def library(name: str, extra: str) -> Any:
    """Return a library that only an extra of Covey installs.

    Raises:
        CoveyError: it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise CoveyError(f"this format needs {name}; install it with: pip install 'covey[{extra}]'") from error
