"""`FolderLock`: the lock of a writer on a folder; the system releases it when the process ends."""

import contextlib
import datetime
import json
import os
import socket
import sys
import weakref
from pathlib import Path

from covey.errors import RunFolderError

if sys.platform == "win32":  # folders are still made by one process only
    fcntl = None
else:
    import fcntl

LOCK = ".lock"
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # the lock names its holder: not in a file elsewhere


class FolderLock:
    """Holds the lock on a folder until `release`, or until the process ends in any way.

    The file ``.lock`` in the folder names the holder; the last holder removes it. On a file system without locks
    nothing is locked.

    Args:
        folder: an existing folder.
        shared: share the lock with other shared holders.

    Raises:
        RunFolderError: another process, or another run of this one, holds it.
        OSError: the folder cannot be written.
    """

    def __init__(self, folder: Path, *, shared: bool = False):
        self.path = folder / LOCK
        descriptor = _opened(self.path, shared)
        self._descriptor = descriptor
        self.release = weakref.finalize(self, _release, self.path, descriptor, os.getpid())
        owner = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "since": datetime.datetime.now().isoformat(" ", "seconds"),
        }
        with contextlib.suppress(OSError):  # on a full disk, let the write of the data fail instead
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.write(descriptor, json.dumps(owner).encode())

    def share(self) -> bool:
        """Let others share the folder; return False if another process took it meanwhile, and the lock is lost."""
        return _lock(self._descriptor, shared=True)

    @property
    def is_closed(self) -> bool:
        """Whether other code has closed the file."""
        try:
            return not _is_file(self._descriptor, self.path)
        except OSError:
            return True


def refuse_locked(folder: Path) -> None:
    """Raise `RunFolderError` if a process is writing into a folder; change nothing."""
    if writer_of(folder):
        raise _held(folder / LOCK)


def writer_of(folder: Path) -> str:
    """Return the process that is writing into a folder, in words; empty if there is none."""
    try:
        descriptor = os.open(folder / LOCK, os.O_RDONLY | _NO_LINK)
    except OSError:
        return ""
    try:
        return "" if _lock(descriptor, shared=True) else _owner(folder / LOCK)
    finally:
        os.close(descriptor)


def _opened(path: Path, shared: bool) -> int:
    """Return the descriptor of the locked file."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o644)
        if not _lock(descriptor, shared):
            os.close(descriptor)
            raise _held(path)
        if _is_file(descriptor, path):
            return descriptor
        os.close(descriptor)  # its last holder has just removed it


def _lock(descriptor: int, shared: bool) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # this file system has no locks
        return True
    return True


def _is_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _release(path: Path, descriptor: int, process: int) -> None:
    if os.getpid() != process:  # a forked child shares the lock, which is its parent's
        return
    with contextlib.suppress(OSError):
        if _lock(descriptor, shared=False) and _is_file(descriptor, path):
            path.unlink()
    with contextlib.suppress(OSError):  # a controller may have closed it
        os.close(descriptor)


def _owner(path: Path) -> str:
    try:
        owner = json.loads(path.read_text(encoding="utf-8"))
        return f"process {owner['pid']} on {owner['host']}, since {owner['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


def _held(path: Path) -> RunFolderError:
    return RunFolderError(
        f"{str(path.parent)!r} is being written by {_owner(path)}; wait until it has ended, or choose another folder "
        "with --out"
    )
