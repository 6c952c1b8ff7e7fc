"""What nodes of a team write to each other: what was written is read, and nothing that strangers write does harm."""

import numpy as np
import pytest

from covey.comms.mailbox import Outgoing
from covey.plain import PlainError, decode, encode
from covey.ros.team_letters import Encoded, ReceivedMessage, TeamLetter, encoded, letter_bytes, read_letter
from covey.ros.types import MessageError, Types


def letters():
    said = Outgoing("b", "plan", {"goal": (1.0, 2.0)}, 60, float("inf"), None)
    heard = ReceivedMessage("a", None, "", encoded([1, 2]), 60, 0.5, 0.6, 1)
    entries = {"legs": encoded(3), "gone": None}
    return TeamLetter("a", 7, [said], entries), TeamLetter("a", 7, [heard], entries)


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
    data = encode(("covey 2", "a", 0, [row], {}))
    with pytest.raises(MessageError):
        read_letter(
            types, types.encode("std_msgs/msg/UInt8MultiArray", {"data": np.frombuffer(data, np.uint8)}), heard=False
        )
