import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from covey.mapping.occupancy.tile_code import decode_tile, encode_tile, tile_size

few = arrays.arrays(np.int8, 1024, elements=st.sampled_from([-40, -8, 0, 17, 70]))
any_ = arrays.arrays(np.int8, 1024)


@st.composite
def rooms(draw):
    cells = np.zeros((32, 32), np.int8)
    for _ in range(draw(st.integers(0, 6))):
        a, b, c, d = (draw(st.integers(0, 32)) for _ in range(4))
        cells[min(a, b) : max(a, b), min(c, d) : max(c, d)] = draw(st.integers(-128, 127))
    return cells.ravel()


@given(st.one_of(few, any_, rooms()))
def test_a_tile_survives_its_code_and_the_size_is_that_of_the_code(cells):
    code = encode_tile(cells)
    back, used = decode_tile(code + b"what follows")
    np.testing.assert_array_equal(back, cells)
    assert used == len(code) == tile_size(cells)


def test_a_wall_along_either_axis_is_shorter_than_zlib_makes_it():
    cells = np.full((32, 32), -40, np.int8)
    cells[:, 20] = 70
    cells[:, 21:] = 0
    for each in (cells, cells.T):
        code = encode_tile(np.ascontiguousarray(each).ravel())
        assert len(code) <= 12 < len(zlib.compress(each.tobytes(), 9))


@pytest.mark.parametrize(("cells", "bits"), [((), 1 + 0 + 21), (((0, 5),), 1 + 1 + 1 + 19)])
def test_sizes_by_hand(cells, bits):
    # One value: a direction bit, no index, gamma(1024) = 21 bits. Cell 0 differs: two values, a bit for the first,
    # none for the other, gamma(1) = 1 and gamma(1023) = 19 bits.
    tile = np.zeros(1024, np.int8)
    for k, value in cells:
        tile[k] = value
    assert tile_size(tile) == 1 + len(np.unique(tile)) + -(-bits // 8)
