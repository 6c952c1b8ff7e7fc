"""The checkpoint of a run that is being recorded: what makes whole tables of those that a killed process leaves.

Rows are written in large blocks, and a table gets its end when the run ends. The checkpoint holds, for each table, how
many bytes of the unfinished file count, and what comes behind them: the rows that wait for their block, and the end of
the file. It is replaced as a whole, so all tables are of one time.
"""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from covey.errors import RunFolderError
from covey.results.folder import CHECKPOINT, new_part, part
from covey.results.lock import FolderLock
from covey.results.table import FileEnd


def write_checkpoint(folder: Path, ends: Mapping[str, FileEnd]) -> None:
    """Replace the checkpoint of a run.

    Args:
        folder: of the run.
        ends: by name of the table.

    Raises:
        OSError: the disk is full or cannot be written.
    """
    head = {name: (end.size, len(end.data)) for name, end in ends.items()}
    with new_part(folder / CHECKPOINT).open("xb") as file:  # it need not outlive the machine: the tables do not
        file.write(json.dumps(head).encode() + b"\n")
        for end in ends.values():
            file.write(end.data)
    os.replace(part(folder / CHECKPOINT), folder / CHECKPOINT)


def recover(folder: Path) -> None:
    """Complete the tables that a killed run has left, up to its last checkpoint; nothing if it has none, or still runs.

    Raises:
        RunFolderError: the checkpoint is damaged.
    """
    path = folder / CHECKPOINT
    if path.is_symlink() or not path.is_file():
        return
    try:
        lock = FolderLock(folder)
    except (OSError, RunFolderError):  # it cannot be written, or is being written
        return
    try:
        with path.open("rb") as file:
            head = json.loads(file.readline(1 << 20))
            for name, (size, length) in head.items():
                if not re.fullmatch("[a-z_]+", name) or not (0 < size < 1 << 50 and 0 < length < 1 << 40):
                    raise ValueError("it names no table")
                _complete(folder / f"{name}.parquet", size, file.read(length))
        path.unlink()
    except (OSError, ValueError, TypeError, AttributeError, MemoryError) as error:
        raise RunFolderError(f"{str(path)!r} is damaged: {error}; what it says about a killed run is lost") from error
    finally:
        lock.release()


def _complete(path: Path, size: int, end: bytes) -> None:
    """Make a table of the first bytes of its unfinished file, and its end."""
    if path.exists():
        return
    descriptor = os.open(part(path), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(descriptor, "rb") as file:
        if os.fstat(descriptor).st_size < size:
            raise ValueError(f"{part(path).name} is shorter than {size} bytes")
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as whole:
            try:
                shutil.copyfileobj(file, whole)
                whole.truncate(size)
                whole.seek(size)
                whole.write(end)
                os.chmod(whole.name, 0o644)
                os.replace(whole.name, path)
            except BaseException:
                with suppress(OSError):
                    os.unlink(whole.name)
                raise
    part(path).unlink()
