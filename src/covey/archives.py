"""Archives of arrays, ``.npz`` files, that others may have written: nothing is unpacked before its size is known."""

import zipfile
import zlib
from pathlib import Path

import numpy as np

from covey.plain_files import check_plain

MAX_BYTES = 4_000_000_000
"""Largest total size of the arrays of an archive."""
DAMAGED = (
    *(OSError, ValueError, LookupError, TypeError, EOFError, NotImplementedError, RecursionError, MemoryError),
    *(zipfile.BadZipFile, zlib.error),
)
"""Errors that a damaged archive causes."""


class TooLarge(ValueError):
    """The arrays of an archive take more than `MAX_BYTES`; the text says how much."""


def unpacked(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of an ``.npz`` file.

    Raises:
        TooLarge: they take more than `MAX_BYTES`; nothing has been unpacked.
        ValueError: it is not an ``.npz`` file; other errors if it is damaged (see `DAMAGED`).
    """
    check_plain(path)
    with path.open("rb") as stream:
        if not zipfile.is_zipfile(stream):
            raise ValueError("it is not an archive of arrays")
        with zipfile.ZipFile(stream) as archive:
            if any(member.flag_bits & 1 for member in archive.infolist()):
                raise ValueError("it is encrypted")
            size = sum(member.file_size for member in archive.infolist())
        if size > MAX_BYTES:
            raise TooLarge(f"takes {size / 1e9:.1f} GB when unpacked; at most {MAX_BYTES / 1e9:g} GB are allowed")
        stream.seek(0)
        with np.load(stream, allow_pickle=False) as file:
            arrays = dict(file)
    if not all(isinstance(array, np.ndarray) for array in arrays.values()):
        raise ValueError("it is not an archive of arrays")
    return arrays
