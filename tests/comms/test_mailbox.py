"""Messages are typed and sized; the mailbox keeps them until they are taken."""

import pytest

from covey.comms.mailbox import INBOX_MESSAGES, Mailbox, Outgoing
from covey.comms.message import HEADER_BYTES, OWN_KINDS, Message
from covey.errors import InvalidValueError


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
