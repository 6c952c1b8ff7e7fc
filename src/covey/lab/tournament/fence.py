"""`fence`: from here on, a process cannot write, move or remove files, nor end processes that it has not started.

It is Landlock, a part of Linux from 5.13 on; signals are fenced from 6.12 on. It needs no rights, and cannot be undone.

References:
    https://docs.kernel.org/userspace-api/landlock.html
"""

import ctypes
import os
import struct
import sys

_NO_NEW_PRIVILEGES = 38  # of prctl
_CREATE, _ADD, _RESTRICT = 444, 445, 446  # system calls, the same on x86-64 and arm64
_WRITE, _TRUNCATE = 1 << 1, 1 << 14
_CHANGES = _WRITE | sum(1 << k for k in range(4, 13))  # write, remove and make files, folders, links, sockets …
_SINCE = {2: 1 << 13, 3: _TRUNCATE}  # … move into another folder, shorten: by the version of Landlock
_OTHERS = 1 << 0 | 1 << 1  # abstract sockets, such as that of the process that starts others; signals
OTHERS_SINCE = 6
"""Version of Landlock from which on other processes are fenced."""


def landlock() -> int:
    """Return the version of Landlock that this system has; 0: none."""
    if sys.platform != "linux":
        return 0
    return max(0, ctypes.CDLL(None).syscall(_CREATE, None, ctypes.c_size_t(0), 1))


def fence() -> int:
    """Fence this process, and all that it starts; reading, and writing into ``/dev/null``, stay allowed.

    Returns:
        the version of Landlock: from `OTHERS_SINCE` on other processes are fenced, too; 0: nothing is fenced.
    """
    version = landlock()
    if sys.platform != "linux" or not version:
        return 0
    library = ctypes.CDLL(None)
    call = library.syscall
    changes = _CHANGES | sum(bit for since, bit in _SINCE.items() if version >= since)
    scopes = _OTHERS if version >= OTHERS_SINCE else 0
    rules = struct.pack("QQQ" if scopes else "Q", *((changes, 0, scopes) if scopes else (changes,)))
    ruleset = call(_CREATE, rules, ctypes.c_size_t(len(rules)), 0)
    nothing = os.open(os.devnull, os.O_PATH | os.O_CLOEXEC)
    try:
        may = struct.pack("=Qi", changes & (_WRITE | _TRUNCATE), nothing)
        done = (
            ruleset >= 0
            and call(_ADD, ruleset, 1, may, 0) == 0
            and library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
            and call(_RESTRICT, ruleset, 0) == 0
        )
    finally:
        os.close(nothing)
        if ruleset >= 0:
            os.close(ruleset)
    return version if done else 0
