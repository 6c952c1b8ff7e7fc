"""Messages are typed, sized and copied; the mailbox keeps them until they are taken."""

from dataclasses import dataclass

import numpy as np
import pytest

from covey.comms.mailbox import INBOX_MESSAGES, Mailbox, Outgoing
from covey.comms.message import HEADER_BYTES, OWN_KINDS, Message, copied
from covey.errors import InvalidValueError
from covey.geometry import Pose


@dataclass(frozen=True)
class Bid:
    robot: str
    cost: float


def test_a_payload_is_copied_to_the_last_array():
    cells = np.zeros((3, 4), np.int8)
    payload = {"cells": cells, "more": [cells, (1, "two")]}
    copy, size = copied(payload)
    cells += 1
    assert copy["cells"].sum() == copy["more"][0].sum() == 0
    # dict 2 + keys (2 + 5) + (2 + 4) + array (12 + 8) + list 2 + array 20 + tuple 2 + 8 + (2 + 3)
    assert size == 2 + 7 + 6 + 20 + 2 + 20 + 2 + 8 + 5


def test_poses_and_dataclasses_keep_their_types():
    assert copied((Pose(1.0, 2.0, 0.5), Bid("a", 3.0)))[0] == (Pose(1.0, 2.0, 0.5), Bid("a", 3.0))
    assert type(copied(Pose(1.0, 2.0))[0]) is Pose


def test_what_is_no_data_is_refused():
    with pytest.raises(InvalidValueError, match="a function cannot be sent"):
        copied([lambda: 0])


@pytest.mark.parametrize("kind", [*OWN_KINDS, "map digest 2"])
def test_nobody_writes_messages_in_the_name_of_covey(kind):
    """Bytes of the kind "map digest" ended a run."""
    mailbox = Mailbox("a", ("a", "b"))
    with pytest.raises(InvalidValueError, match="is for the messages of Covey itself; give yours another name"):
        mailbox.send(b"x", "b", kind, None)
    with pytest.raises(InvalidValueError, match="is for the messages of Covey itself"):
        mailbox.post(Outgoing("b", kind, b"x", 30, 1.0, None))
    assert not mailbox.outbox
    mailbox.send(b"x", "b", "map digest of mine", None)


def test_addressing_an_unknown_robot_says_who_is_there():
    box = Mailbox("scout0", ("scout0", "scout1"))
    with pytest.raises(InvalidValueError, match="did you mean 'scout1'"):
        box.send("hello", "scuot1", "", None)
    with pytest.raises(InvalidValueError, match="to itself"):
        box.send("hello", "scout0", "", None)
    box.send("hello", "scout1", "greeting", None)
    assert [m.size_bytes for m in box.outbox] == [7 + HEADER_BYTES]


def test_a_full_inbox_loses_the_oldest():
    box = Mailbox("a", ("a", "b"))
    for k in range(INBOX_MESSAGES + 3):
        box.put(Message("b", None, "even" if k % 2 == 0 else "odd", k, 8, 0.0, 0.0, 1, k))
    assert box.overflowed == 3
    assert [m.payload for m in box.pop("odd")][:2] == [3, 5]
    assert [m.payload for m in box.pop(None)][:2] == [4, 6]
    assert box.pop(None) == []
