"""Archives of arrays, ``.npz`` files: written at once, or block by block."""

import io
import os
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np

from covey.results.checked import read_arrays
from covey.results.folder import new_part, part

_LEVEL = 1  # compression level: takes a third of the time of 6, and gives files of up to twice the size
_BLOCK = 1 << 20  # bytes that wait until they are written


def npz_bytes(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return the content of an ``.npz`` file of arrays; equal arrays give equal bytes."""
    buffer = io.BytesIO()
    with _opened(buffer) as file:
        for name, array in arrays.items():
            _write(file, name, array)
    return buffer.getvalue()


class Archive:
    """An ``.npz`` file to which arrays are added row by row; it gets its final name when it is complete.

    It holds the rows of the array ``NAME`` in blocks, ``NAME/0``, ``NAME/1`` …, which `read_blocks` joins. Equal rows
    give equal bytes.
    """

    def __init__(self, path: Path):
        self.path = path
        self._file = _opened(new_part(path))
        self._waiting: dict[str, list[np.ndarray]] = {}
        self._bytes = self._block = 0

    def add(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Append rows, the first axis of each array; it must not change any more."""
        for name, rows in arrays.items():
            self._waiting.setdefault(name, []).append(rows)
            self._bytes += rows.nbytes
        if self._bytes >= _BLOCK:
            self._flush()

    def finish(self) -> None:
        """Write the rest, and give the file its final name."""
        self._flush()
        self._file.close()
        os.replace(part(self.path), self.path)

    def abandon(self) -> None:
        """Remove the unfinished file."""
        with suppress(OSError):  # the disk is still full: the file goes anyway
            self._file.close()
        part(self.path).unlink(missing_ok=True)

    def _flush(self) -> None:
        waiting, self._waiting, self._bytes = self._waiting, {}, 0
        for name, rows in waiting.items():
            _write(self._file, f"{name}/{self._block}", np.concatenate(rows))
        self._block += 1


def read_blocks(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of an `Archive`.

    Raises:
        ValueError: it is not an archive of arrays; other errors if it is damaged (see `covey.results.checked.reading`).
    """
    blocks: dict[str, list[np.ndarray]] = {}
    for name, rows in read_arrays(path).items():
        blocks.setdefault(name.rpartition("/")[0], []).append(rows)
    return {name: np.concatenate(rows) for name, rows in blocks.items()}


def _opened(file: Path | io.BytesIO) -> zipfile.ZipFile:
    return zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)


def _write(file: zipfile.ZipFile, name: str, array: np.ndarray) -> None:
    """Write an array as `np.savez_compressed` does it, without a copy of it."""
    array = np.asarray(array, order="C")
    with file.open(f"{name}.npy", "w") as entry:
        np.lib.format.write_array_header_1_0(entry, np.lib.format.header_data_from_array_1_0(array))
        entry.write(array.reshape(-1).data)
