"""`ground.npz`: it comes back as it was written, and knows how the ground was before."""

import numpy as np

from covey.results.landscape import Believed, Change, Landscape


def landscape():
    end = np.arange(20.0).reshape(4, 5)
    first = Change(3, 1, 2, np.array([[70.0, 80.0]]), np.array([[1.0, 2.0]]))
    second = Change(9, 1, 3, np.array([[2.0]]), end[1:2, 3:4].copy())
    shape = (4, 5)
    believed = Believed(
        np.full(shape, np.nan, np.float32),
        np.ones(shape, np.float32),
        np.zeros(shape, np.uint8),
        np.zeros(shape, np.uint16),
    )
    return Landscape(end, np.array([-1.0, -2.0, 0.5]), [first, second], {"scout0": believed}, 0.5)


def test_it_comes_back_as_it_was(tmp_path):
    before = landscape()
    (tmp_path / "ground.npz").write_bytes(before.to_bytes())
    after = Landscape.load(tmp_path / "ground.npz")
    assert np.array_equal(after.altitude, before.altitude)
    assert after.spacing_m == 0.5
    assert [c[:3] for c in after.changes] == [(3, 1, 2), (9, 1, 3)]
    for mine, read in zip(before.beliefs["scout0"], after.beliefs["scout0"], strict=True):
        assert np.array_equal(mine, read, equal_nan=mine.dtype.kind == "f")
    assert after.to_bytes() == before.to_bytes()


def test_the_ground_as_it_was_at_a_step():
    ground = landscape()
    assert ground.at(9)[1].tolist() == ground.altitude[1].tolist()
    assert ground.at(8)[1].tolist() == [5, 6, 7, 2, 9]
    assert ground.at(2)[1].tolist() == [5, 6, 70, 80, 9]


def test_the_truth_on_finer_vertices_lies_on_the_triangles_between():
    ground = landscape()
    ground.beliefs["scout0"] = ground.beliefs["scout0"]._replace(marks=np.zeros((7, 9), np.uint8))
    ground.spacing_m = 0.25
    row, column = np.mgrid[0:7, 0:9] / 2  # a plane: 5 per row, 1 per column
    assert np.allclose(ground.truth, 5 * row + column)
