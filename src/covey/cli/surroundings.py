"""What the terminal and the environment of a command may be: text that it cannot show, no width, odd settings."""

import errno
import os
import shutil
import sys
import traceback
import warnings
from typing import Any

_NARROWEST = 40
"""Columns that help and tables need at least; a narrower terminal breaks their lines."""
_SETTINGS = {"numba": "NUMBA_", "matplotlib": "MPL", "polars": "POLARS_"}
"""Libraries, and how the names of their settings in the environment begin."""


_EPOCH, _LAST_S = "SOURCE_DATE_EPOCH", 253_402_300_799
"""The time of files that are built [s since 1970], which libraries read as a number; the end of the year 9999."""


def make_fit() -> None:
    """Let text that the terminal cannot show become ``?``, and give help a width that it ends with.

    A `SOURCE_DATE_EPOCH` that is no time, with which libraries could not be loaded, is ignored, and told.
    """
    epoch = os.environ.get(_EPOCH)
    if epoch is not None and not (epoch.isascii() and epoch.isdecimal() and int(epoch[:20]) <= _LAST_S):
        del os.environ[_EPOCH]
        print(f"{_EPOCH}={epoch[:40]!a} is no number of seconds since 1970: it is ignored", file=sys.stderr)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # it would read the files of all packages to find some
    streams: list[Any] = [sys.stdout, sys.stderr]
    for stream in streams:
        if getattr(stream, "errors", "") == "strict" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    warnings.filterwarnings("error", "Environment variable", RuntimeWarning, r"numba\.core\.config")  # see below
    if shutil.get_terminal_size((_NARROWEST, 0)).columns < _NARROWEST or os.environ.get("COLUMNS") in ("0", "00"):
        os.environ["COLUMNS"] = str(_NARROWEST)


def full_disk(error: BaseException) -> str:
    """Return what to say of an error that a full disk has caused; empty if it is another error.

    Examples:
        >>> full_disk(OSError(errno.ENOSPC, "No space left on device"))
        'cannot write: No space left on device; make room, or write to another disk with --out'
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT):
            where = "" if cause.filename is None else f" {str(cause.filename)!r}"
            return f"cannot write{where}: {cause.strerror}; make room, or write to another disk with --out"
        cause = cause.__cause__ or cause.__context__
    return ""


def refused_settings(error: BaseException) -> str:
    """Return what to say of an error with which a library refused to load, or to begin; empty if it is another error.

    Examples:
        >>> refused_settings(ValueError("another"))
        ''
    """
    called = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    loading = [code for code in called if code.co_name == "<module>"]
    for library, prefix in _SETTINGS.items():
        given = [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(prefix)]
        inside = f"{os.sep}site-packages{os.sep}{library}{os.sep}"
        panics = type(error).__name__ == "PanicException"  # polars looks at its settings when it is used first
        if given and any(inside in code.co_filename for code in (called[-1:] if panics else loading[-1:])):
            said = " ".join(str(error).partition("The parse failed")[0].split())[:300].rstrip(".")
            return f"{library} refuses a setting of the environment, {', '.join(given)}: {said}; change it, or unset it"
    return ""
