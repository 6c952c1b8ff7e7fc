"""Plain data: what was written is read, copies are weighed, and nothing that strangers write does harm."""

import json
import sys
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from covey.errors import InvalidValueError
from covey.geometry import Pose
from covey.plain import DEEPEST, PlainError, TypedJson, copied, decode, dumps, encode, pack, unpack


@dataclass(frozen=True)
class Plan:
    """A record of a controller's file."""

    at_s: float
    goal: tuple

    def __post_init__(self):
        if self.at_s < 0:
            raise KeyError("no time")


class Sighting(NamedTuple):
    """Another one."""

    name: str
    where: np.ndarray


VALUES = [
    None,
    True,
    -3,
    10**40,
    0.1 + 0.2,
    5e-324,
    -0.0,
    float("inf"),
    "naïve \ud800",
    b"",
    b"\0\1\0",
    (1, [2, {"a": {3, 4}}], frozenset({"b"})),
    {(1, 2): None, "x": ()},
    {"array": "0", "read_only": True},
    Pose(1.0, 2.0, 3.0),
    Plan(1.5, (1.0, 2.0)),
]
ARRAYS = [
    np.arange(6.0).reshape(2, 3),
    np.array([[0.1, np.nan], [np.inf, -0.0]]),
    np.zeros((0, 3), np.int8),
    np.array(3, np.uint16),
    np.array([True, False]),
    np.array(["ab", ""]),
    np.array([b"ab\0c", b""]),
    np.arange(3, dtype=">i2"),
    np.arange(12, dtype=np.float16).reshape(3, 4).T,
    np.array([1 + 2j]),
    np.float32(0.5),
]
HERE = sys.modules[__name__]


def as_bytes(value):
    return decode(encode(value), HERE)


def as_text(value):
    form = TypedJson(HERE)
    return form.value(json.loads(json.dumps(form.of(value))))


BOTH = pytest.mark.parametrize("through", [as_bytes, as_text])


@BOTH
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_what_was_written_is_read(value, through):
    read = through(value)
    assert read == value
    assert (type(read), repr(read)) == (type(value), repr(value))


@BOTH
@pytest.mark.parametrize("array", ARRAYS, ids=repr)
def test_arrays_are_read_as_they_were(array, through):
    read = through(Sighting("a", array)).where
    assert (type(read), read.dtype, read.shape) == (type(array), array.dtype, array.shape)
    assert read.tobytes() == array.tobytes()
    assert read.flags.writeable is array.flags.writeable


NO_DATA = [print, object(), np.array([object()]), range(3), type, [lambda: 0], {1, "a"}, Plan]


@pytest.mark.parametrize("write", [copied, encode])
@pytest.mark.parametrize("value", NO_DATA, ids=range(len(NO_DATA)))
def test_what_is_no_plain_data_is_refused(value, write):
    with pytest.raises(InvalidValueError, match=r"an? .* cannot be sent.*; send (numbers|a list)"):
        write(value)


def nested(depth):
    value = None
    for _ in range(depth):
        value = [value, {}]
    return value


@pytest.mark.parametrize("write", [copied, encode])
def test_what_lies_too_deep_is_refused(write):
    assert as_bytes(nested(DEEPEST - 1)) == copied(nested(DEEPEST - 1))[0] == nested(DEEPEST - 1)
    with pytest.raises(PlainError, match="nested more than 64 deep; send flatter data"):
        write(nested(DEEPEST + 1))


def test_a_payload_is_copied_to_the_last_array():
    cells = np.zeros((3, 4), np.int8)
    payload = {"cells": cells, "more": [cells, (1, "two")]}
    copy, size = copied(payload)
    cells += 1
    assert copy["cells"].sum() == copy["more"][0].sum() == 0
    # dict 2 + keys (2 + 5) + (2 + 4) + array (12 + 8) + list 2 + array 20 + tuple 2 + 8 + (2 + 3)
    assert size == 2 + 7 + 6 + 20 + 2 + 20 + 2 + 8 + 5


def test_copies_of_records_keep_their_types():
    assert copied((Pose(1.0, 2.0, 0.5), Plan(0.0, (3.0,)))) == ((Pose(1.0, 2.0, 0.5), Plan(0.0, (3.0,))), 48)
    assert type(copied(Pose(1.0, 2.0))[0]) is Pose


def message(text, behind=b""):
    text = text.encode() if isinstance(text, str) else text
    return len(text).to_bytes(4, "little") + text + behind


def valued(text):
    return message('{"value":' + text + ',"arrays":[]}')


def listing(**changes):
    one = {"name": "0", "type": "f8", "shape": [1], "offset": 0} | changes
    return json.dumps({"value": {"array": "0"}, "arrays": [one]})


BOMB = 10_000 * "[" + 10_000 * "]"
HOSTILE = [
    b"",
    b"\xff\xff\xff\xff{}",
    message("[]"),
    message("3"),
    message("{}"),
    message(b"\xff"),
    message('{"value":1,"arrays":[]}', b"N"),
    valued(BOMB),
    valued(100 * "[" + 100 * "]"),
    valued("{}"),
    valued('{"tuple":3}'),
    valued('{"set":[[]]}'),
    valued('{"dict":[[1]]}'),
    valued('{"code":"os:system"}'),
    valued(65535 * "9"),
    valued('{"array":"0"}'),
    valued('{"array":{"type":"|O","shape":[1],"values":[1]}}'),
    message(listing(), bytes(7)),
    message(listing(), bytes(9)),
    message(listing(offset=8), bytes(16)),
    message(listing(type="O"), bytes(8)),
    message(listing(type="i3"), bytes(8)),
    message(listing(type="U0"), bytes(8)),
    message(listing(type="U2"), b"\xff" * 8),
    message(listing(shape=[2**62, 2]), bytes(8)),
    message(listing(shape=[1.0]), bytes(8)),
    message(listing(shape=["a"]), bytes(8)),
    message(listing().replace('{"array": "0"}', '[{"array": "0"}, {"array": "0"}]'), bytes(8)),
    valued('{"record":":print","fields":{}}'),
    valued('{"record":"os:system","fields":{"command":"true"}}'),
    valued('{"record":3,"fields":{}}'),
    encode(Plan(1.0, ())).replace(b":Plan", b":Nope"),
    encode(Plan(1.0, ())).replace(b"1.0", b"-1."),
    encode(Plan(1.0, ())).replace(b"1.0", b"-1 "),
    encode(Plan(1.0, ())).replace(b"goal", b"gaol"),
]


@pytest.mark.parametrize("data", HOSTILE, ids=range(len(HOSTILE)))
def test_bytes_that_are_no_plain_data_are_refused(data):
    with pytest.raises(PlainError):
        decode(data, HERE)


def test_records_of_other_modules_and_classes_that_are_no_records_are_not_made():
    for name in ("covey.lab.play:play", "covey.world.world:World", "subprocess:Popen", ":pytest.Item", ":VALUES"):
        with pytest.raises(PlainError, match="there is no record"):
            decode(valued(json.dumps({"record": name, "fields": {"a": "true"}})), HERE)


def test_a_message_is_a_length_a_header_and_arrays_at_multiples_of_eight():
    sent = pack({"type": "frame"}, {"a": np.array([1, 2, 3], np.uint8), "b": np.array([[1.5]], np.float32)})
    length = int.from_bytes(sent[:4], "little")
    header = json.loads(sent[4 : 4 + length])
    assert (4 + length) % 8 == 0
    assert header["arrays"] == [
        {"name": "a", "type": "u1", "shape": [3], "offset": 0},
        {"name": "b", "type": "f4", "shape": [1, 1], "offset": 8},
    ]
    assert sent[4 + length :] == bytes([1, 2, 3, 0, 0, 0, 0, 0]) + bytes.fromhex("0000c03f") + bytes(4)


@given(
    st.lists(
        st.sampled_from([np.uint8, np.int8, np.uint16, np.int16, np.int32, np.uint32, np.float32, np.float64]).flatmap(
            lambda kind: arrays_of.arrays(kind, arrays_of.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5))
        ),
        max_size=4,
    )
)
def test_arrays_of_the_page_come_back_as_they_were(sent):
    _, back = unpack(pack({}, {str(k): array for k, array in enumerate(sent)}))
    for k, array in enumerate(sent):
        assert back[str(k)].dtype == array.dtype
        np.testing.assert_array_equal(back[str(k)], array)


def test_for_the_page_what_is_not_a_number_becomes_null():
    text = dumps({"a": [float("nan"), float("inf"), 1.0], "b": {"c": np.float64("nan")}, "d": np.array([1.0, np.nan])})
    assert json.loads(text) == {"a": [None, None, 1.0], "b": {"c": None}, "d": [1.0, None]}


def test_types_that_the_page_cannot_read_are_refused():
    with pytest.raises(TypeError, match="int64"):
        pack({}, {"a": np.zeros(2, np.int64)})
