"""Tables written block by block, against files that pyarrow's own writer makes of all blocks."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from covey.results.folder import part
from covey.results.table import Table

SCHEMA = pa.schema(
    [("step", pa.int64()), ("robot", pa.dictionary(pa.int32(), pa.string())), ("x_m", pa.float64()), ("up", pa.bool_())]
)


def block(k, rows):
    draw = np.random.default_rng(k)
    robots = pa.DictionaryArray.from_arrays(draw.integers(0, 2, rows).astype(np.int32), pa.array(["a", "b"]))
    x = np.where(draw.random(rows) < 0.3, np.nan, draw.random(rows))
    return {"step": np.arange(rows) + k, "robot": robots, "x_m": x, "up": (draw.random(rows) < 0.5).tolist()}


def by_one_writer(blocks):
    """Return the file of some blocks, as pyarrow writes it."""
    file = io.BytesIO()
    how = {"version": "2.6", "compression": "lz4", "use_dictionary": ["robot"], "write_statistics": ["step"]}
    with pq.ParquetWriter(file, SCHEMA, write_batch_size=65536, **how) as writer:
        for one in blocks:
            columns = [
                pa.array(c, f.type, from_pandas=True) if f.name != "robot" else c
                for f, c in zip(SCHEMA, one.values(), strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(columns, schema=SCHEMA))
    return file.getvalue()


@pytest.mark.parametrize("sizes", [(), (7,), (7, 0, 3), (200_000, 3), (5,) * 40])
def test_blocks_are_the_file_of_one_writer_and_have_an_end_at_any_time(tmp_path, sizes):
    blocks = [block(k, rows) for k, rows in enumerate(sizes)]
    table = Table(tmp_path / "t.parquet", SCHEMA)
    for k, one in enumerate(blocks):
        size, end = table.end(one)
        until_now = part(table.path).read_bytes()[:size] + end
        assert until_now == by_one_writer(blocks[: k + 1])
        table.write(one)
    size, end = table.end()
    assert part(table.path).read_bytes()[:size] + end == by_one_writer(blocks)
    table.finish()
    assert table.path.read_bytes() == by_one_writer(blocks)
    assert pq.read_table(table.path).num_rows == sum(sizes)
