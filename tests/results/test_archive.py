import zipfile

import numpy as np
import pytest

from covey.results import archive
from covey.results.archive import Archive, read_blocks


@pytest.mark.parametrize("block", [1, 100, 1 << 20])
def test_rows_are_joined_whatever_the_blocks(block, tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "_BLOCK", block)
    rows = [np.arange(3 * k, dtype=np.int32).reshape(-1, 3) for k in range(6)]
    for name in ("a.npz", "b.npz"):
        file = Archive(tmp_path / name)
        for k, some in enumerate(rows):
            file.add({"rows": some, "sometimes/k": np.array([k])} if k % 2 else {"rows": some})
        assert not (tmp_path / name).exists()
        file.finish()
    found = read_blocks(tmp_path / "a.npz")
    np.testing.assert_array_equal(found["rows"], np.concatenate(rows))
    assert found["rows"].dtype == np.int32
    assert found["sometimes/k"].tolist() == [1, 3, 5]
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert len(zipfile.ZipFile(tmp_path / "a.npz").namelist()) == {1: 8, 100: 4, 1 << 20: 2}[block]


def test_an_abandoned_file_leaves_nothing(tmp_path):
    file = Archive(tmp_path / "a.npz")
    file.add({"rows": np.zeros(3)})
    file.abandon()
    assert not list(tmp_path.iterdir())
