"""What nodes of a team write to each other: what was written is read, and nothing that strangers write does harm."""

import sys
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from covey.comms.mailbox import Outgoing
from covey.errors import InvalidValueError
from covey.geometry.se2 import Pose
from covey.ros.plain import DEEPEST, PlainError, decode, encode
from covey.ros.team_letters import Encoded, Heard, Letter, encoded, letter_bytes, read_letter
from covey.ros.types import MessageError, Types


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
    0.1,
    float("inf"),
    "naïve \ud800",
    b"\0\1",
    (1, [2, {"a": {3, 4}}], frozenset({"b"})),
    {(1, 2): None, "x": ()},
    Pose(1.0, 2.0, 3.0),
    Plan(1.5, (1.0, 2.0)),
]
ARRAYS = [
    np.arange(6.0).reshape(2, 3),
    np.zeros((0, 3)),
    np.array(3),
    np.array([True, False]),
    np.array(["ab", ""]),
    np.arange(3, dtype=">i2"),
    np.array([1 + 2j]),
]
HERE = sys.modules[__name__]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_what_was_written_is_read(value):
    read = decode(encode(value), HERE)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize("array", ARRAYS, ids=repr)
def test_arrays_are_read_as_they_were(array):
    read = decode(encode(Sighting("a", array)), HERE).where
    np.testing.assert_array_equal(read, array)
    assert (read.dtype, read.shape, read.flags.writeable) == (array.dtype, array.shape, True)
    number = decode(encode(np.float32(0.5)))
    assert type(number) is np.float32


@pytest.mark.parametrize("value", [print, object(), np.array([object()]), range(3), type, [lambda: 0]], ids=range(6))
def test_what_is_no_plain_data_is_refused(value):
    with pytest.raises(InvalidValueError, match="cannot be sent to other nodes; send numbers"):
        encode(value)


def test_what_lies_too_deep_is_refused():
    value = bomb = None
    for _ in range(DEEPEST + 2):
        value = [value]
    with pytest.raises(InvalidValueError, match="flatter"):
        encode(value)
    bomb = 10_000 * b"t\1\0\0\0" + b"N"
    with pytest.raises(PlainError, match="nested"):
        decode(bomb)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"?",
        b"l\xff\xff\xff\xff",
        b"s\xff\xff\xff\xffabc",
        b"NN",
        b"d\1\0\0\0N",
        b"S\1\0\0\0l\0\0\0\0",
        b"I\3\0\0\0abc",
        b"I\xff\xff\0\0" + 65535 * b"9",
        b"a\2\0\0\0|O\1\1\0\0\0" + bytes(8),
        b"a\3\0\0\0<i3\1\1\0\0\0" + bytes(8),
        b"a\3\0\0\0<U0\1\1\0\0\0",
        b"a\3\0\0\0<U1\1\1\0\0\0\xff\xff\xff\xff",
        b"a\3\0\0\0<f8\xff" + 255 * b"\xff\xff\xff\xff",
        b"a\3\0\0\0<f8\2\xff\xff\xff\xff\0\0\0\0" + b"N",
        b"r\x09\0\0\0os:system\1\0\0\0s\4\0\0\0true",
        b"r\x06\0\0\0:print\0\0\0\0",
        encode(Plan(1.0, ())).replace(b":Plan", b":Nope"),
        encode(Plan(1.0, ())).replace(bytes.fromhex("000000000000f03f"), bytes.fromhex("000000000000f0bf")),
    ],
    ids=lambda data: repr(data[:24]),
)
def test_bytes_that_are_no_plain_data_are_refused(data):
    with pytest.raises(PlainError):
        decode(data, HERE)


def test_records_of_other_modules_and_classes_that_are_no_records_are_not_made():
    for name in ("covey.lab.play:play", "covey.world.world:World", "subprocess:Popen", ":pytest.Item", ":VALUES"):
        text = name.encode()
        with pytest.raises(PlainError, match="there is no record"):
            decode(b"r" + len(text).to_bytes(4, "little") + text + b"\1\0\0\0s\4\0\0\0true", HERE)


def letters():
    said = Outgoing("b", "plan", {"goal": (1.0, 2.0)}, 60, float("inf"), None)
    heard = Heard("a", None, "", encoded([1, 2]), 60, 0.5, 0.6, 1)
    entries = {"legs": encoded(3), "gone": None}
    return Letter("a", 7, [said], entries), Letter("a", 7, [heard], entries)


def test_letters_are_read_as_they_were_written():
    types = Types("jazzy")
    for letter, heard in zip(letters(), (False, True), strict=True):
        read = read_letter(types, letter_bytes(types, letter), heard=heard)
        assert (read.owner, read.at_ns, dict(read.entries)) == ("a", 7, dict(letter.entries))
        (one,), (wanted,) = read.messages, letter.messages
        assert isinstance(one.payload, Encoded)
        assert decode(one.payload) == (wanted.payload if not heard else [1, 2])
        assert one.size_bytes == wanted.size_bytes
        with pytest.raises(MessageError):
            read_letter(types, letter_bytes(types, letter), heard=not heard)


def test_a_letter_with_changed_bytes_is_read_or_refused():
    types, rng = Types("jazzy"), np.random.default_rng(1)
    refused = 0
    for letter, heard in zip(letters(), (False, True), strict=True):
        good = np.frombuffer(letter_bytes(types, letter), np.uint8)
        for _ in range(1500):
            bad = good.copy()
            bad[rng.integers(4, len(bad), 3)] = rng.integers(0, 256, 3)
            try:
                for message in read_letter(types, bad[: rng.integers(4, 2 * len(bad))].tobytes(), heard=heard).messages:
                    decode(message.payload)
            except (MessageError, PlainError):
                refused += 1
    assert refused > 1000


@pytest.mark.parametrize(
    "row",
    [("b", "k", b"N", 60, 0.0, None), ("b", "k", b"N", 10**9, 1.0, None), ("b", "k", bytes(10**6), 60, 1.0, None)],
)
def test_messages_that_lie_about_their_size_or_never_live_are_refused(row):
    types = Types("jazzy")
    data = encode(("covey 1", "a", 0, [row], {}))
    with pytest.raises(MessageError):
        read_letter(
            types, types.encode("std_msgs/msg/UInt8MultiArray", {"data": np.frombuffer(data, np.uint8)}), heard=False
        )
