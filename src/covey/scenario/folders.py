"""Where a run is written when nobody says where."""

import datetime
import re
from pathlib import Path

from covey.errors import RunFolderError
from covey.results.folder import read_manifest


def run_folder(name: str, root: Path | str = "runs") -> Path:
    """Return a folder ``root/<name>/<id>`` that does not exist yet; the id is the local date and time.

    Examples:
        >>> run_folder("maze exploration").parent.as_posix()
        'runs/maze-exploration'
    """
    parent = Path(root) / folder_name(name)
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    number, folder = 1, parent / stamp
    while folder.exists():
        number, folder = number + 1, parent / f"{stamp}-{number + 1}"
    return folder


def folder_name(title: str) -> str:
    """Return a title as the name of a folder.

    Examples:
        >>> folder_name("fleet size & terrain")
        'fleet-size-terrain'
    """
    return re.sub(r"[^\w.-]+", "-", title).strip("-.")[:80] or "run"


def check_folder(folder: Path, *, overwrite: bool) -> None:
    """Check, without changing anything, that a new run may be written into ``folder``.

    Raises:
        RunFolderError: it holds a finished run (and ``overwrite`` is not set), other files, or is a file.
    """
    if folder.exists() and not folder.is_dir():
        raise RunFolderError(f"{str(folder)!r} is a file; choose a folder")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if read_manifest(folder)["status"] == "finished" and not overwrite:
        raise RunFolderError(f"{str(folder)!r} already holds a finished run; choose another folder, or add --force")
