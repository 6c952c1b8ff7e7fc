"""The network delivers as the radio allows: in time, in order, and every loss has a cause."""

import numpy as np
import pytest

from covey.comms.links import Unlimited
from covey.comms.mailbox import Mailbox
from covey.comms.network import Network
from covey.comms.radio import Radio
from covey.comms.traffic import CAUSES, COUNTERS
from covey.world.world import World

WORLD = World.empty(100, 100, resolution_m=1.0)


def network(count, *radios, seed=1):
    names = [f"r{i}" for i in range(count)]
    return Network([Mailbox(name, names) for name in names], radios or [Radio(links=(Unlimited(),))], seed)


def line(count, step_m=1.0):
    return np.column_stack((step_m * np.arange(count), np.zeros((count, 2))))


def drops(net, cause):
    return net.traffic.dropped[..., CAUSES.index(cause)].sum(axis=1).tolist()


def run(net, seconds, step_s=0.1, each=None, alive=None, pose=None):
    n = len(net.mailboxes)
    pose = line(n) if pose is None else pose
    alive = np.ones(n, bool) if alive is None else alive
    for k in range(round(seconds / step_s) + 1):
        net.deliver(WORLD, pose, alive, k * step_s)
        if each:
            each(k * step_s)


def test_many_messages_at_once_go_to_whom_they_are_for():
    net = network(4)
    claim = net.claim("map")
    net.send_many([0, 2, 1], [3, 1, -1], [100, 200, 300], "map", ["a", "b", "c"])
    run(net, 0.1)
    receiver, origin, payload, sent = claim.pop()
    assert sorted(zip(receiver.tolist(), origin.tolist(), payload, strict=True)) == [
        (0, 1, "c"),
        (1, 2, "b"),
        (2, 1, "c"),
        (3, 0, "a"),
        (3, 1, "c"),
    ]
    assert sent.tolist() == [0.0] * 5
    assert net.traffic.total("bytes_sent").tolist() == [100, 300, 200, 0]
    assert net.received_bytes.tolist() == [300, 200, 300, 400]
    assert claim.pop()[2] == []


def test_a_transmitter_sends_one_packet_after_another():
    net = network(2, Radio(links=(Unlimited(),), bandwidth_kbit_s=8.0, latency_s=0.05))  # 1000 bytes a second
    for k in range(3):
        net.mailboxes[0].send(bytes(500 - 28 - 2), "r1", str(k), None)
    got = []
    run(
        net,
        2.0,
        each=lambda t: got.extend((m.kind, round(m.received_s, 6), round(t, 6)) for m in net.mailboxes[1].pop(None)),
    )
    assert got == [("0", 0.55, 0.6), ("1", 1.05, 1.1), ("2", 1.55, 1.6)]


def test_what_does_not_fit_into_the_queue_is_dropped():
    net = network(2, Radio(links=(Unlimited(),), bandwidth_kbit_s=8.0, queue_bytes=700))
    for _ in range(4):
        net.mailboxes[0].send(bytes(470), "r1", "", None)  # one on the air, one waits
    run(net, 3.0)
    assert len(net.mailboxes[1].pop(None)) == 2
    assert drops(net, "queue_full") == [2, 0]


def test_a_message_that_waits_too_long_is_dropped():
    net = network(2, Radio(links=(Unlimited(),), bandwidth_kbit_s=8.0))
    for _ in range(3):
        net.mailboxes[0].send(bytes(470), "r1", "", 0.7)
    run(net, 3.0)
    assert len(net.mailboxes[1].pop(None)) == 1
    assert drops(net, "ttl") == [2, 0]


def test_each_drop_has_its_cause_at_the_sender():
    net = network(3, Radio(range_m=1.5))
    net.mailboxes[0].send(1, None, "hello", None)
    run(net, 0.1, alive=np.array([True, True, True]))
    assert drops(net, "out_of_range") == [1, 0, 0]
    net = network(3, Radio(range_m=1.5))
    net.mailboxes[0].send(1, "r1", "hello", None)
    net.mailboxes[1].send(1, "r0", "hello", None)
    run(net, 0.1, alive=np.array([True, False, True]))
    assert drops(net, "dead") == [1, 1, 0]
    net = network(2)
    for _ in range(1003):
        net.mailboxes[0].send(1, "r1", "hello", None)
    run(net, 0.1)
    assert drops(net, "inbox_full") == [3, 0]


def test_a_broadcast_payload_is_a_copy_for_each():
    net = network(3)
    net.mailboxes[0].send([1], None, "", None)
    run(net, 0.1)
    first, second = (net.mailboxes[i].pop(None)[0].payload for i in (1, 2))
    first.append(2)
    assert second == [1]


def test_messages_go_by_the_radio_that_they_name():
    net = network(3, Radio(name="wifi", range_m=1.5), Radio(name="lora", range_m=100.0, latency_s=1.0))
    net.mailboxes[0].send("near", None, "", None)
    net.mailboxes[0].send("far", None, "", None, "lora")
    run(net, 0.5)
    assert [[m.payload for m in box.pop(None)] for box in net.mailboxes] == [[], ["near"], []]
    run(net, 1.1)
    assert [[m.payload for m in box.pop(None)] for box in net.mailboxes] == [[], ["far"], ["far"]]
    with pytest.raises(ValueError, match="did you mean 'lora'"):
        net.mailboxes[0].send("?", None, "", None, "lorra")


def test_news_are_as_old_as_the_newest_message():
    net = network(3)
    run(net, 1.0, each=lambda t: net.mailboxes[0].send(t, "r1", "", None))
    assert net.news_s[1, 0] == pytest.approx(0.9)
    assert net.news_s[2, 0] == net.news_s[0, 1] == 0.0


def test_counts_tell_who_sent_and_got_what():
    net = network(3)
    net.mailboxes[0].send(0, None, "a", None)
    net.mailboxes[1].send(0, "r0", "b", None)
    run(net, 0.1)
    rows = {
        (robot, kind): dict(zip((*COUNTERS, *CAUSES), row, strict=True)) for robot, kind, row in net.traffic.changed()
    }
    assert rows[0, "a"]["messages_wanted"] == 2
    assert rows[1, "b"]["bytes_sent"] == 36
    assert rows[2, "a"]["messages_received"] == 1
    assert list(net.traffic.changed()) == []
