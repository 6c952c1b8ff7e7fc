"""Protocols: confirm and repeat, listen first, carry for others, and one of a user's own."""

import numpy as np
import pytest

from covey.comms.links import LogDistance, Unlimited
from covey.comms.protocols import Acknowledged, Csma, Protocol, SlottedAloha, StoreAndForward
from covey.comms.radio import Radio
from covey.comms.traffic import CAUSES


def drops(team, cause):
    return int(team.traffic.dropped[..., CAUSES.index(cause)].sum())


def test_confirmed_messages_arrive_once_and_in_order(net):
    team = net(2, Radio(links=(Unlimited(),), loss=0.4, protocol=Acknowledged(timeout_s=0.3, retries=100)))
    for k in range(20):
        team.mailboxes[0].send(k, "r1", "", None)
    team.run(60.0)
    assert team.said(1) == list(range(20))
    assert team.traffic.total("messages_received").tolist() == [0, 20]


def test_a_sender_gives_up(net):
    team = net(2, Radio(range_m=0.5, protocol=Acknowledged(timeout_s=0.3, retries=3)))
    team.mailboxes[0].send("hello", "r1", "", None)
    team.run(5.0)
    assert team.said(1) == []
    assert (drops(team, "out_of_range"), drops(team, "protocol")) == (4, 1)


def test_messages_go_over_several_hops_and_arrive_once(net):
    team = net(5, Radio(range_m=1.1, protocol=StoreAndForward()))
    team.mailboxes[0].send("far", "r4", "", None)
    team.mailboxes[2].send("all", None, "", None)
    team.run(5.0)
    box = team.mailboxes[4].pop(None)
    assert [(m.payload, m.sender, m.hops) for m in box] == [("all", "r2", 2), ("far", "r0", 4)]
    assert [team.said(i) for i in range(4)] == [["all"], ["all"], [], ["all"]]


@pytest.mark.parametrize("protocol", ["direct", Acknowledged(), StoreAndForward()])
def test_a_message_leaves_in_the_step_in_which_it_was_written(net, protocol):
    """On air from the time of writing on, it takes size / bandwidth; a robot that relays confirms first, with 36 bytes."""
    team = net(4, Radio(range_m=1.1, bandwidth_kbit_s=100.0, protocol=protocol))
    team.run(0.5)
    team.mailboxes[0].send("near", "r1", "", None)  # at 0.4 s
    if isinstance(protocol, StoreAndForward):
        team.mailboxes[3].send("far", "r1", "", None)
    team.run(1.0)
    near, *far = sorted(team.mailboxes[1].pop(None), key=lambda m: m.hops)
    assert near.received_s == pytest.approx(near.sent_s + near.size_bytes * 8e-5)
    assert [m.received_s - m.sent_s for m in far] == pytest.approx([0.1 + (36 + m.size_bytes) * 8e-5 for m in far])


def test_a_robot_carries_a_message_to_the_other_side(net):
    team = net(3, Radio(range_m=5.0, protocol=StoreAndForward()), xy=[(0, 0), (3, 0), (50, 0)])
    team.mailboxes[0].send("news", "r2", "", None)
    team.run(2.0)
    team.pose[1, 0] = 47.0
    team.run(2.0)
    assert team.said(2) == ["news"]
    held = [len(s.protocol._held) for s in team.posts[0].stations]
    assert held == [1, 0, 0], "who handed it over, or got it, keeps nothing"


@pytest.mark.parametrize(
    ("protocol", "ttl_s"),
    [(StoreAndForward(hops=3), None), (StoreAndForward(hold_s=0.05), None), (StoreAndForward(), 0.05)],
)
def test_a_chain_that_is_too_long_or_too_slow_ends(net, protocol, ttl_s):
    team = net(5, Radio(range_m=1.1, protocol=protocol))
    team.mailboxes[0].send("far", "r4", "", ttl_s)
    team.run(5.0)
    assert team.said(4) == []


def test_two_at_a_time_destroy_each_other_unless_one_is_much_stronger(net):
    def heard(*models, **options):
        team = net(3, Radio(links=models, interference=True, **options), xy=[(0, 0), (1, 0), (9, 0)])
        team.mailboxes[1].send("near", "r0", "", None)
        team.mailboxes[2].send("far", "r0", "", None)
        team.run(0.3)
        return team.said(0), drops(team, "collision")

    assert heard(Unlimited()) == ([], 2)
    assert heard(LogDistance(sigma_db=0.0, exponent=3.0)) == (["near"], 1)  # 28.6 dB apart
    assert heard(LogDistance(sigma_db=0.0, exponent=1.0)) == ([], 2)  # 9.5 dB
    assert heard(LogDistance(sigma_db=0.0, exponent=3.0), receiver="qpsk") == (["near"], 1)


def test_a_robot_that_transmits_hears_nothing(net):
    team = net(2, Radio(links=(Unlimited(),), interference=True))
    team.mailboxes[0].send(1, "r1", "", None)
    team.mailboxes[1].send(2, "r0", "", None)
    team.run(0.3)
    assert (team.said(0), team.said(1)) == ([], [])


def test_radios_disturb_each_other_on_the_same_channel_only(net):
    for other, lost in (("1", 2), ("2", 0)):
        radios = [
            Radio(name="a", links=(Unlimited(),), interference=True),
            Radio(name="b", links=(Unlimited(),), interference=True, channel=other),
        ]
        team = net(3, *radios)
        team.mailboxes[1].send("a", "r0", "", None, "a")
        team.mailboxes[2].send("b", "r0", "", None, "b")
        team.run(0.3)
        assert drops(team, "collision") == lost


@pytest.mark.slow
def test_listening_first_saves_long_packets(net):
    """Packets of five steps: ALOHA loses most of them, carrier sensing few (Kleinrock, Tobagi 1975)."""
    delivered = {}
    for protocol in (SlottedAloha(probability=0.05), Csma(probability=0.05)):
        team = net(9, Radio(links=(Unlimited(),), interference=True, bandwidth_kbit_s=8.0, protocol=protocol))
        claim = team.claim("x")
        for _ in range(40):
            team.send_many(np.arange(1, 9), np.zeros(8), np.full(8, 500), "x", [None] * 8)
        team.run(200.0)
        delivered[type(protocol).__name__] = len(claim.pop()[2])
    assert delivered["Csma"] > 2 * delivered["SlottedAloha"]


class Twice(Protocol):
    """Says everything twice, and delivers the second."""

    def send(self, frame, station):
        station.transmit(frame, note="first")
        station.transmit(frame, note="second")

    def hear(self, frame, station):
        if frame.note == "second":
            station.deliver(frame)


def test_a_protocol_of_ones_own(net):
    team = net(2, Radio(links=(Unlimited(),), protocol=Twice()))
    team.mailboxes[0].send("hello", "r1", "", None)
    team.run(0.3)
    assert team.said(1) == ["hello"]
    assert team.traffic.total("packets_sent").tolist() == [2, 0]


def test_interferers_too_weak_to_be_decoded_drown_a_packet_together(net):
    """Ten of -83.1 dBm over a noise of -90 dBm make -73 dBm: 7 dB more than the packet of -80 dBm that is wanted."""
    wanted, weak = 10 ** ((15 - 40 + 80) / 25), 10 ** ((15 - 40 + 83.1) / 25)  # L = 40 dB + 25 dB log10(d / m)
    angles = np.radians(np.arange(10) * 36.0)
    others = np.column_stack((weak * np.cos(angles), weak * np.sin(angles)))
    radio = Radio(links=(LogDistance(sigma_db=0.0),), interference=True)

    def heard(count):
        team = net(12, radio, xy=[(0, 0), (wanted, 0.1), *others])
        team.mailboxes[1].send("wanted", "r0", "", None)
        for k in range(2, 2 + count):
            team.mailboxes[k].send("noise", f"r{k + 1 if k < 11 else 2}", "", None)
        team.run(0.3)
        return team.said(0)

    assert heard(0) == ["wanted"]
    assert heard(10) == []


def test_on_a_slow_link_a_message_is_sent_once_when_nothing_is_lost(net):
    """1228 bytes take 4.9 s at 2 kbit/s: the sender waits for a confirmation from the end of that on."""
    team = net(2, Radio(links=(Unlimited(),), bandwidth_kbit_s=2.0, protocol=Acknowledged(timeout_s=0.5)))
    team.mailboxes[0].send(b"x" * 1198, "r1", "", None)
    team.run(10.0)
    assert len(team.said(1)) == 1
    assert team.traffic.total("packets_sent").tolist() == [1, 1]


def test_several_messages_on_a_slow_link_are_sent_once_each(net):
    team = net(2, Radio(links=(Unlimited(),), bandwidth_kbit_s=8.0, protocol=Acknowledged(timeout_s=0.5)))
    for k in range(5):
        team.mailboxes[0].send(bytes([k]) * 970, "r1", "", None)  # a second each
    team.run(12.0)
    assert team.traffic.total("packets_sent").tolist() == [5, 5]
