"""`step_apart`: from here on, a process sees no other processes and no network, and all that it starts ends with it.

It goes on in namespaces of its own (Linux): of processes, network, mounts, shared memory and, unless it is root, users.

References:
    https://man7.org/linux/man-pages/man7/namespaces.7.html
"""

import ctypes
import os
import signal
import sys
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path

from covey.lab.tournament.fence import landlock

_MOUNTS, _MEMORY, _USERS, _PROCESSES, _NETWORK = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_RECURSIVE, _PRIVATE, _NO_FILES = 0x4000, 0x40000, 0xE  # of mount; no set-id files, devices or programs
_DIES_WITH_PARENT, _NO_NEW_PRIVILEGES = 1, 38  # of prctl
_CAPABILITIES, _READS_ALL = 0x20080522, 1 << 2  # of capset: its version, and what lets root read the files of others
_MOUNT_SETATTR, _HERE, _ALL_BELOW, _READ_ONLY = 442, -100, 0x8000, 1  # a system call from 5.12 on
KILLED = 100
"""Exit code of the process that waits for one that a signal has ended; the number of the signal is added."""
_FAILED = 99


def step_apart() -> bool:
    """Go on in a process in namespaces of its own, if the system lets.

    The caller's process only waits for it. Its exit code is that of the new process, or `KILLED` and the number of the
    signal. When it ends, the new process ends, too, with all that this has started.

    Returns:
        whether the system lets; otherwise nothing has changed.
    """
    if sys.platform != "linux" or not can_step_apart():
        return False
    with suppress(OSError):
        _unshare()
        first = os.fork()
        if first:
            os._exit(_ended(first))
        _be_first()
        return True
    return False


@cache
def can_step_apart() -> bool:
    """Return whether the system lets a process step apart: a child tries."""
    if sys.platform != "linux":
        return False
    with warnings.catch_warnings():  # of threads, which a child that loads nothing need not fear
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child:
        return _ended(child) == 0
    code = 1
    try:
        _unshare()
        inner = os.fork()
        if inner:
            os._exit(_ended(inner))
        _mount()
        code = 0
    finally:
        os._exit(code)


def _unshare() -> None:
    """Let the children of this process begin in new namespaces.

    Raises:
        OSError: the system does not let; nothing has changed.
    """
    assert sys.platform == "linux"
    user, group = os.geteuid(), os.getegid()
    own = _PROCESSES | _NETWORK | _MOUNTS | _MEMORY
    _check(_library().unshare(own | (_USERS if user else 0)))
    if user:  # root reads the files of others, which it could not with the rights of a namespace
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def _be_first() -> None:
    """Be the first process of the namespace, with which all others end; return in its child, which cannot end it."""
    assert sys.platform == "linux"
    library = _library()
    library.prctl(_DIES_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    try:
        _mount()
        second = os.fork()
    except OSError:
        os._exit(_FAILED)
    if second:
        for name in os.listdir("/proc/self/fd"):  # what the other has is closed when it ends
            if int(name) > 2:
                with suppress(OSError):
                    os.close(int(name))
        os._exit(_ended(second, most=_FAILED, orphans=True))
    library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    library.capset((ctypes.c_uint32 * 2)(_CAPABILITIES, 0), (ctypes.c_uint32 * 6)(_READS_ALL, _READS_ALL))


def _mount() -> None:
    """Show the processes of this namespace in ``/proc``; without Landlock, make all files read-only."""
    library = _library()
    _check(library.mount(None, b"/", None, _RECURSIVE | _PRIVATE, None))
    _check(library.mount(b"proc", b"/proc", b"proc", _NO_FILES, None))
    if not landlock():
        size = ctypes.c_size_t(32)
        _check(library.syscall(_MOUNT_SETATTR, _HERE, b"/", _ALL_BELOW, (ctypes.c_uint64 * 4)(_READ_ONLY), size))


def _ended(child: int, *, most: int = 255, orphans: bool = False) -> int:
    """Wait for a child; return its exit code, or `KILLED` and the number of the signal that ended it.

    Args:
        child: its number.
        most: largest exit code that it can say itself.
        orphans: wait also for those of others, which the first process of a namespace gets.
    """
    while True:
        ended, status = os.waitpid(-1 if orphans else child, 0)
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            return KILLED - code if code < 0 else min(code, most)


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(answer: int) -> None:
    if answer:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
