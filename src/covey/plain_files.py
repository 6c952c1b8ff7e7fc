"""Files that people name: plain ones, of a bounded size. A pipe or a device never ends, or waits for ever."""

import gzip
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath

MAX_TEXT_BYTES = 1_000_000_000
"""Longest text that is read line by line, unpacked."""
MAX_LINE_BYTES = 100_000_000
"""Longest line."""
MAX_LINES = 10_000_000
"""Most lines: the largest recorded logs and pose graphs have a tenth of it, and empty lines pack endlessly."""


class NotPlainError(OSError):
    """A path is a pipe, a device, a socket or a folder, or a text is too long; the text says which."""


def check_plain(path: str | os.PathLike[str]) -> None:
    """Refuse to open a path that is no plain file; one that does not exist passes, and fails when it is opened.

    Raises:
        NotPlainError: it is a pipe, a device, a socket or a folder.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return
    if stat.S_ISREG(mode):
        return
    kinds = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFDIR: "a folder"}
    what = kinds.get(stat.S_IFMT(mode), "a device")
    more = "" if stat.S_ISDIR(mode) else "; write what comes from it into a file first"
    raise NotPlainError(f"it is {what}, not a file{more}")


def beside(folder: Path, name: str) -> Path:
    """Return the file that a text in a folder names, such as the image of a map.

    A name with the backslashes of Windows means the same with slashes. An absolute path of another computer means the
    file of this name in the folder.

    Examples:
        >>> beside(Path("maps"), "plans\\\\hall.png").as_posix()  # there is none
        'maps/plans/hall.png'
    """
    path = folder / name
    try:
        if path.is_file():
            return path
        windows = PureWindowsPath(name)
        if Path(name).is_absolute() or windows.drive or windows.root:
            near = folder / windows.name
            return near if near.is_file() else path
    except (OSError, ValueError):
        return path
    return folder / name.replace("\\", "/")


def text_lines(path: Path, *, errors: str = "strict", most_bytes: float = MAX_TEXT_BYTES) -> Iterator[str]:
    """Yield the lines of a text in UTF-8, packed with gzip if the name ends with ``.gz``.

    Raises:
        NotPlainError: it is no plain file, or longer than ``most_bytes`` unpacked, or a line is longer than
            `MAX_LINE_BYTES`, or it has more than `MAX_LINES` lines.
        OSError, EOFError, zlib.error, UnicodeDecodeError: it cannot be read, or is damaged.
    """
    check_plain(path)
    packed, total, lines = path.suffix == ".gz", 0, 0
    with (gzip.open if packed else open)(path, "rt", encoding="utf-8", errors=errors) as file:
        while line := file.readline(MAX_LINE_BYTES + 1):
            total += len(line)
            lines += 1
            if len(line) > MAX_LINE_BYTES:
                raise NotPlainError(f"a line is longer than {MAX_LINE_BYTES / 1e6:g} million characters")
            if total > most_bytes:
                unpacked = " when unpacked" if packed else ""
                raise NotPlainError(f"it is longer than {most_bytes / 1e9:g} GB{unpacked}; cut it into parts")
            if lines > MAX_LINES:
                raise NotPlainError(f"it has more than {MAX_LINES / 1e6:g} million lines; cut it into parts")
            yield line
