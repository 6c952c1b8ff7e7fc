"""The wire: what is sent comes, every byte of it is counted on both ends, and only who knows the key comes in."""

import os
import struct
import threading
import time

import numpy as np
import pytest

from covey.comms.mailbox import Outgoing
from covey.geometry import Pose
from covey.runtime.transport import transport
from covey.runtime.transport.transport import (
    BUSY,
    DECIDE,
    MAP,
    NOTHING,
    ListeningSocket,
    TransportError,
    connect,
    plain_letters,
)


@pytest.fixture
def ends():
    door = ListeningSocket("127.0.0.1", 0, b"key")
    came = []
    thread = threading.Thread(target=lambda: came.append(connect(door.address, b"key")))
    thread.start()
    here = door.welcome(5.0)
    thread.join()
    yield here, came[0]
    for end in (here, came[0]):
        end.close()
    door.close()


def test_what_is_sent_comes_and_is_counted_by_class_on_both_ends(ends):
    here, there = ends
    ranges = np.linspace(0.0, 1.0, 100)
    here.send(MAP, ((ranges, 3), None, {"goal": (1.0, 2.0)}), cpu_s=0.25)
    here.send(BUSY)
    here.send(DECIDE, NOTHING)
    letter = there.receive(1.0)
    assert (letter.kind, letter.cpu_s, letter.parts[1:]) == (MAP, 0.25, (None, {"goal": (1.0, 2.0)}))
    np.testing.assert_array_equal(letter.parts[0][0], ranges)
    assert [there.receive(1.0).kind for _ in range(2)] == [BUSY, DECIDE]
    assert there.receive(0.0) is None
    assert here.sent.tolist() == there.received.tolist()
    assert here.letters_sent.tolist() == there.letters_received.tolist() == [1, 0, 1]
    assert here.sent[0] > 800
    assert here.sent[1] == 0
    assert 0 < here.sent[2] < 100


def test_who_trusts_nobody_reads_plain_data_alone(ends):
    here, there = ends
    there.plain = True
    said = Outgoing("b", "plan", {"goal": Pose(1.0, 2.0)}, 60, float("inf"), None)
    there.send(DECIDE, ({"twist": (0.1, 0.0, 0.2)}, None, {"messages": (said,)}))
    there.send(MAP, (None, (np.arange(3), "tiles"), None))
    with plain_letters():
        letter = here.receive(1.0)
        assert letter.parts[0] == {"twist": (0.1, 0.0, 0.2)}
        message = letter.parts[2]["messages"][0]
        assert (message.payload, message.size_bytes) == ({"goal": Pose(1.0, 2.0)}, 60)
        assert here.receive(1.0).parts[1][0].tolist() == [0, 1, 2]
        assert here.received.tolist() == there.sent.tolist()
        there.plain = False
        there.send(DECIDE, ({"twist": (0.1, 0.0, 0.2)}, None, None))
        with pytest.raises(TransportError, match="bytes are no plain data"):
            here.receive(1.0)


def test_the_processor_time_in_a_letter_changes_no_count(ends):
    here, _ = ends
    sizes = []
    for seconds in (0.0, 1.2345e-7, 1e300):
        before = here.sent.sum()
        here.send(DECIDE, NOTHING, seconds)
        sizes.append(here.sent.sum() - before)
    assert len(set(sizes)) == 1


def test_an_end_that_is_gone_is_an_error_and_can_be_looked_for(ends):
    here, there = ends
    assert not here.has_ended()
    there.send(DECIDE)
    assert not here.has_ended()
    there.close()
    assert here.receive(1.0).kind == DECIDE
    assert here.has_ended()
    with pytest.raises(TransportError):
        here.receive(1.0)


@pytest.mark.parametrize("size", [2**63, 2**62])
def test_nonsense_that_announces_a_huge_letter_is_an_error(ends, size):
    here, there = ends
    os.write(there._connection.fileno(), struct.pack("!iQ", -1, size))
    with pytest.raises(TransportError, match="cannot be read"):
        here.receive(5.0)


def test_another_key_is_refused_at_both_ends():
    door = ListeningSocket("127.0.0.1", 0, b"key")
    errors = []

    def come_in():
        try:
            connect(door.address, b"another key", 0.0)
        except TransportError as error:
            errors.append(str(error))

    thread = threading.Thread(target=come_in)
    thread.start()
    assert door.welcome(2.0) is None
    thread.join()
    door.close()
    assert len(errors) == 1


def test_connections_that_say_nothing_keep_nobody_waiting():
    import socket

    door = ListeningSocket("127.0.0.1", 0, b"key")
    silent = [socket.create_connection(door.address) for _ in range(3)]
    begin = time.monotonic()
    mine: list = []
    thread = threading.Thread(target=lambda: mine.append(connect(door.address, b"key")))
    thread.start()
    here = door.welcome(20.0)
    assert here is not None
    assert time.monotonic() - begin < 5.0  # was 5 s for each of the three
    thread.join()
    for end in (here, mine[0], *silent, door):
        end.close()


def test_one_who_knows_the_key_and_then_talks_nonsense_is_let_go_and_keeps_nobody_out(monkeypatch):
    """As a process of another version of Python might: what comes after the first answer is no challenge."""
    from multiprocessing.connection import Client, answer_challenge

    monkeypatch.setattr(transport, "_ASKED", 1)
    door = ListeningSocket("127.0.0.1", 0, b"key")
    other = Client(door.address)
    answer_challenge(other, b"key")
    other.send_bytes(b"good morning")
    mine: list = []
    thread = threading.Thread(target=lambda: mine.append(connect(door.address, b"key")), daemon=True)
    thread.start()
    here = door.welcome(8.0)
    assert here is not None
    thread.join()
    with pytest.raises((EOFError, OSError)):
        other.recv_bytes()
    for end in (here, mine[0], other, door):
        end.close()
