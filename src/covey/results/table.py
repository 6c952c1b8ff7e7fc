"""A parquet file that is written block by block and gets its final name when it is complete."""

import math
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from covey.results.folder import new_part, part
from covey.results.footer import MAGIC, closed, group_of, joined, split


class Table:
    """A parquet file that is written one row group at a time and gets its final name when it is complete.

    The writer's settings are fixed and only the rows are written: equal rows in equal blocks give equal bytes.
    A parquet file can be read only with the footer at its end, which says where the blocks are. So each block is made
    alone, with a footer of its own, and `end` returns that of all blocks up to now.
    """

    def __init__(self, path: Path, schema: pa.Schema):
        self.path, self.schema = path, schema
        dictionaries: Any = [f.name for f in schema if pa.types.is_dictionary(f.type)]
        self._how: dict[str, Any] = {
            "version": "2.6",
            "compression": "lz4",  # motion takes 5 % more space than with zstd, in less than half of the time
            "use_dictionary": dictionaries,
            "write_statistics": ["step"],
            "write_batch_size": 65536,
        }
        self._file = pa.OSFile(str(new_part(path)), "wb")
        self._footer = b""  # of a file of the first block
        self._groups: list[tuple[bytes, int]] = []  # the entries of all in the footer
        self._write(MAGIC)

    def write(self, columns: dict[str, Any]) -> None:
        """Append one row group: a NumPy array, arrow array or list for each column; NaN becomes null."""
        block, footer = self._made(columns)
        self._footer = self._footer or footer
        self._groups.append(group_of(footer, self._file.tell(), len(self._groups)))
        self._write(block)

    def end(self, columns: dict[str, Any] | None = None) -> "FileEnd":
        """Return what makes a whole file of the blocks that are written, with some rows more.

        Args:
            columns: the rows, as for `write`; None: none.
        """
        size, block, groups, first = self._file.tell(), b"", self._groups, self._footer
        if columns is not None or not groups:
            block, footer = self._made(columns)
            groups, first = [*groups, group_of(footer, size, len(groups))], first or footer
        return FileEnd(size, block + closed(first if len(groups) == 1 else joined(first, groups)))

    def finish(self) -> None:
        """Write the end of the file and give it its final name."""
        self._write(self.end().data)
        self._file.close()
        os.replace(part(self.path), self.path)

    def abandon(self) -> None:
        """Remove the unfinished file."""
        with suppress(OSError):  # the disk is still full: the file goes anyway
            self._file.close()
        part(self.path).unlink(missing_ok=True)

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._file.flush()

    def _made(self, columns: dict[str, Any] | None) -> tuple[bytes, bytes]:
        """Return rows as a block, and the footer of a file that has only this block; None: no rows."""
        file = pa.BufferOutputStream()
        with pq.ParquetWriter(file, self.schema, **self._how) as writer:
            if columns is not None:
                arrays = [
                    c if isinstance(c, pa.Array) else pa.array(c, type=f.type, from_pandas=_has_nan(c))
                    for f, c in ((f, columns[f.name]) for f in self.schema)
                ]
                writer.write_table(pa.Table.from_arrays(arrays, schema=self.schema))
        return split(file.getvalue().to_pybytes())


class FileEnd(NamedTuple):
    """The end of a file.

    Attributes:
        size: number of bytes that come before it.
        data: its bytes.
    """

    size: int
    data: bytes


def read_columns(path: Path, names: Iterable[str] | None = None) -> pa.Table:
    """Return columns of a parquet file (None: all); for small files faster than `pyarrow.parquet.read_table`."""
    with pq.ParquetFile(path) as file:
        return file.read(columns=None if names is None else list(names), use_threads=False)


def _has_nan(column: Any) -> bool:
    """Return whether a column has NaNs; without any, arrow takes an array as it is."""
    return not isinstance(column, np.ndarray) or (column.dtype.kind == "f" and math.isnan(column.min(initial=0.0)))
