"""A parquet file that is written block by block and gets its final name when it is complete."""

import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from covey.results.folder import part


class Table:
    """A parquet file that is written one row group at a time and gets its final name when it is complete.

    The writer's settings are fixed and only the rows are written: equal rows in equal blocks give equal bytes.
    """

    def __init__(self, path: Path, schema: pa.Schema):
        self.path, self.schema = path, schema
        dictionaries: Any = [f.name for f in schema if pa.types.is_dictionary(f.type)]
        counted: Any = ["step"]
        self._writer = pq.ParquetWriter(
            part(path),
            schema,
            version="2.6",
            compression="lz4",  # motion takes 5 % more space than with zstd, in less than half of the time
            use_dictionary=dictionaries,
            write_statistics=counted,
            write_batch_size=65536,
        )

    def write(self, columns: dict[str, Any]) -> None:
        """Append one row group: a NumPy array, arrow array or list for each column; NaN becomes null."""
        arrays = [
            c if isinstance(c, pa.Array) else pa.array(c, type=f.type, from_pandas=_has_nan(c))
            for f, c in ((f, columns[f.name]) for f in self.schema)
        ]
        self._writer.write_table(pa.Table.from_arrays(arrays, schema=self.schema))

    def finish(self) -> None:
        """Write the end of the file and give it its final name."""
        self._writer.close()
        os.replace(part(self.path), self.path)

    def abandon(self) -> None:
        """Remove the unfinished file."""
        try:
            self._writer.close()
        except OSError:  # the disk is still full: the file goes anyway
            self._writer.is_open = False
        part(self.path).unlink(missing_ok=True)


def read_columns(path: Path, names: Iterable[str] | None = None) -> pa.Table:
    """Return columns of a parquet file (None: all); for small files faster than `pyarrow.parquet.read_table`."""
    with pq.ParquetFile(path) as file:
        return file.read(columns=None if names is None else list(names), use_threads=False)


def _has_nan(column: Any) -> bool:
    """Return whether a column has NaNs; without any, arrow takes an array as it is."""
    return not isinstance(column, np.ndarray) or (column.dtype.kind == "f" and math.isnan(column.min(initial=0.0)))
