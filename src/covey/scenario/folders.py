"""The default folder of a run."""

import contextlib
import datetime
import re
from collections.abc import Iterator
from pathlib import Path

from covey.errors import RunFolderError
from covey.results.folder import held_by, link_latest, unlink_latest, unwritable
from covey.results.lock import refuse_locked


@contextlib.contextmanager
def fresh_folder(name: str, root: Path | str = "runs") -> Iterator[Path]:
    """Yield a new folder ``root/<name>/<id>``, with the local date and time as id; ``root/<name>/latest`` links to it.

    It is removed at the end of the block if it is empty; then the link is to the one before.

    Raises:
        RunFolderError: the folder cannot be made.
    """
    parent = Path(root) / folder_name(name)
    folder = _made(parent)
    link_latest(folder)
    try:
        yield folder
    finally:
        if not folder.is_dir() or not any(folder.iterdir()):
            unlink_latest(folder)
        for empty in (folder, parent, Path(root)):
            with contextlib.suppress(OSError):  # it is not empty
                empty.rmdir()


def _made(parent: Path) -> Path:
    """Return a new folder that no other process gets, even if several try at the same time."""
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    number = 1
    while True:
        folder = parent / (stamp if number == 1 else f"{stamp}-{number}")
        try:
            parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir()
        except FileExistsError:
            if not parent.is_dir():
                raise RunFolderError(f"cannot write into {str(parent)!r}: a file is in the way") from None
            number += 1
        except FileNotFoundError:  # another process has just removed its empty parent
            continue
        except OSError as error:
            raise unwritable(f"the run folder {str(folder)!r}", error) from error
        else:
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
        RunFolderError: it is being written, holds other files, is a file, or holds a finished run and ``overwrite`` is
            not set.
    """
    try:
        refuse_locked(folder)
        held_by(folder, overwrite)
    except OSError as error:
        raise unwritable(f"the run folder {str(folder)!r}", error) from error
