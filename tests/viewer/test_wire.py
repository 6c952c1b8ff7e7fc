"""Binary messages: the layout that the page reads, checked by hand."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from covey.viewer.wire import dumps, pack, unpack

TYPES = [np.uint8, np.int8, np.uint16, np.int16, np.int32, np.uint32, np.float32, np.float64]


def test_a_message_is_a_length_a_header_and_arrays_at_multiples_of_eight():
    message = pack({"type": "frame"}, {"a": np.array([1, 2, 3], np.uint8), "b": np.array([[1.5]], np.float32)})
    length = int.from_bytes(message[:4], "little")
    header = json.loads(message[4 : 4 + length])
    assert (4 + length) % 8 == 0
    assert header["arrays"] == [
        {"name": "a", "type": "u1", "shape": [3], "offset": 0},
        {"name": "b", "type": "f4", "shape": [1, 1], "offset": 8},
    ]
    assert message[4 + length :] == bytes([1, 2, 3, 0, 0, 0, 0, 0]) + bytes.fromhex("0000c03f") + bytes(4)


@pytest.mark.slow
@given(
    st.lists(
        st.sampled_from(TYPES).flatmap(
            lambda kind: arrays_of.arrays(kind, arrays_of.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5))
        ),
        max_size=4,
    )
)
def test_arrays_come_back_as_they_were(sent):
    _, back = unpack(pack({}, {str(k): array for k, array in enumerate(sent)}))
    for k, array in enumerate(sent):
        assert back[str(k)].dtype == array.dtype
        np.testing.assert_array_equal(back[str(k)], array)


def test_what_is_not_a_number_becomes_null():
    text = dumps({"a": [float("nan"), float("inf"), 1.0], "b": {"c": np.float64("nan")}, "d": np.array([1.0, np.nan])})
    assert json.loads(text) == {"a": [None, None, 1.0], "b": {"c": None}, "d": [1.0, None]}


def test_types_that_the_page_cannot_read_are_refused():
    with pytest.raises(TypeError, match="int64"):
        pack({}, {"a": np.zeros(2, np.int64)})
