"""Delivered share, latency and queue drops are those of theory, within 2 %."""

import math

import numpy as np
import pytest
from scipy.special import erfc

from covey.comms.links import GilbertElliott, LogDistance, Unlimited
from covey.comms.packets import Packets, objects
from covey.comms.protocols import Acknowledged, SlottedAloha
from covey.comms.queue import TransmitQueues
from covey.comms.radio import Radio
from covey.random import generator


def poisson_packets(rate, count, size=100):
    """Packets of one robot that come at random."""
    at = np.cumsum(generator(5, "arrivals").exponential(1.0 / rate, count))
    zero, one = np.zeros(count, np.int64), np.ones(count, np.int64)
    far = np.full(count, np.inf)
    return Packets.written(np.arange(count), zero, one, zero, size * one, at, far, objects([None] * count))


def test_share_and_delay_of_bernoulli_loss_and_uniform_jitter(net):
    """Share 1 - p; mean delay latency + jitter / 2."""
    team = net(2, Radio(links=(Unlimited(),), loss=0.1, latency_s=0.02, jitter_s=0.06))
    m = 50_000
    team.send_many(np.zeros(m), np.ones(m), np.full(m, 100), "x", [None] * m)
    claim = team.claim("x")
    team.run(0.5)
    assert len(claim.pop()[2]) / m == pytest.approx(0.9, rel=0.02)
    delay = team.traffic.total("delay_s")[1] / team.traffic.total("messages_received")[1]
    assert delay == pytest.approx(0.05, rel=0.02)


def test_share_of_gilbert_elliott_loss(net):
    """Stationary loss pi_G h_G + pi_B h_B, pi_B = p_GB / (p_GB + p_BG) (Gilbert 1960, Elliott 1963)."""
    chain = GilbertElliott(to_bad=0.2, to_good=0.5, loss_good=0.05, loss_bad=0.8)
    team = net(12, Radio(links=(Unlimited(), chain)))
    a, b = np.triu_indices(12, 1)
    claim = team.claim("x")
    team.run(100.0, each=lambda t: team.send_many(a, b, np.full(len(a), 50), "x", [None] * len(a)))
    wanted = 1.0 - (5 / 7 * 0.05 + 2 / 7 * 0.8)
    assert len(claim.pop()[2]) / (999 * len(a)) == pytest.approx(wanted, rel=0.02)


def test_share_under_log_normal_shadowing(net):
    """P(received power >= threshold) = Q((threshold - mean) / sigma) (Rappaport 2002, eq. 4.69 ff.)."""
    radio = Radio(links=(LogDistance(exponent=3.0, sigma_db=8.0),), tx_power_dbm=15.0, sensitivity_dbm=-82.0)
    for distance in (40.0, 120.0):
        team = net(2, radio, xy=[(0, 0), (distance, 0)])
        m = 50_000
        team.send_many(np.zeros(m), np.ones(m), np.full(m, 100), "x", [None] * m)
        claim = team.claim("x")
        team.run(0.2)
        mean = 15.0 - 40.0 - 30.0 * math.log10(distance)
        coverage = 0.5 * erfc((-82.0 - mean) / 8.0 / math.sqrt(2.0))
        assert len(claim.pop()[2]) / m == pytest.approx(coverage, rel=0.02)


@pytest.mark.parametrize("load", [0.3, 0.7])
def test_waiting_time_of_a_transmit_queue(load):
    """M/D/1: mean wait rho D / (2 (1 - rho)) (Pollaczek-Khinchine; Bertsekas, Gallager 1992, 3.5)."""
    sent, _, _ = TransmitQueues(1, 1000.0, np.inf).submit(poisson_packets(load / 0.1, 200_000))
    assert (sent.start_s - sent.sent_s).mean() == pytest.approx(load * 0.1 / (2.0 * (1.0 - load)), rel=0.02)
    np.testing.assert_allclose(sent.end_s - sent.start_s, 0.1)


@pytest.mark.parametrize(("load", "places"), [(0.9, 1), (0.9, 4), (1.3, 3)])
def test_drops_of_a_full_queue(load, places):
    """M/D/1/K with K = places + 1: P = 1 - b / (1 + rho b), b = sum (-1)^k (n-k)^k rho^k e^((n-k) rho) / k!, n = K-1.

    O. Brun, J.-M. Garcia: Analytical solution of finite capacity M/D/1 queues. Journal of Applied Probability 37, 2000.
    """
    n = places
    b = sum((-load) ** k * (n - k) ** k * math.exp((n - k) * load) / math.factorial(k) for k in range(n + 1))
    _, full, late = TransmitQueues(1, 1000.0, 100 * places).submit(poisson_packets(load / 0.1, 200_000))
    assert full.mean() == pytest.approx(1.0 - b / (1.0 + load * b), rel=0.02)
    assert not late.any()


@pytest.mark.slow
@pytest.mark.parametrize("offered", [0.5, 1.0])
def test_throughput_of_slotted_aloha(net, offered):
    """S = G (1 - G/n)^(n-1), which tends to G e^-G for many stations n (Roberts 1975; Bertsekas, Gallager 1992, 4.2)."""
    n, cells, slots = 8, 80, 250
    xy = [(1000.0 * c + (s > 0), float(s)) for c in range(cells) for s in range(n + 1)]
    radio = Radio(range_m=100.0, interference=True, bandwidth_kbit_s=80.0, protocol=SlottedAloha())
    team, rng = net(len(xy), radio, xy=xy), generator(9, "offered")
    sinks = (n + 1) * np.arange(cells)
    sources = np.setdiff1d(np.arange(len(xy)), sinks)
    claim = team.claim("x")

    def write(_):
        who = sources[rng.random(len(sources)) < offered / n]
        team.send_many(who, who - who % (n + 1), np.full(len(who), 900), "x", [None] * len(who))

    team.run(0.1 * slots, each=write)
    wanted = offered * (1.0 - offered / n) ** (n - 1)
    assert len(claim.pop()[2]) / (cells * slots) == pytest.approx(wanted, rel=0.02)


@pytest.mark.slow
def test_transmissions_of_stop_and_wait(net):
    """1 / (1 - p)^2 transmissions for a message when packets and confirmations are lost with p (both must get through)."""
    pairs, messages, loss = 400, 15, 0.2
    radio = Radio(links=(Unlimited(),), loss=loss, protocol=Acknowledged(timeout_s=0.2, retries=1000))
    team = net(2 * pairs, radio)
    claim = team.claim("x")
    for _ in range(messages):
        team.send_many(np.arange(pairs), pairs + np.arange(pairs), np.full(pairs, 50), "x", [None] * pairs)
    team.run(20.0)
    assert len(claim.pop()[2]) == pairs * messages
    sent = team.traffic.total("packets_sent")[:pairs].sum()
    assert sent / (pairs * messages) == pytest.approx(1.0 / (1.0 - loss) ** 2, rel=0.02)


@pytest.mark.parametrize(("others", "weaker_db"), [(1, 0.0), (1, 10.0), (8, 0.0)])
def test_capture_among_shadowed_interferers(net, others, weaker_db):
    """A packet is received if its power, 10 log10 of the sum of the others' away, is 3 dB; each draws its shadow."""
    sigma_db, exponent, far, m = 10.0, 2.5, 30.0, 1500
    around = 2 * math.pi * np.arange(others) / others
    apart = far * 10 ** (weaker_db / (10 * exponent))
    xy = np.array([(0.0, 0.0), (far, 0.0), *np.column_stack((far + apart * np.cos(around), apart * np.sin(around)))])
    xy[2:] += (0.0, 0.001)  # not on the sender itself
    radio = Radio(
        links=(LogDistance(exponent=exponent, sigma_db=sigma_db),),
        tx_power_dbm=30.0,
        sensitivity_dbm=-150.0,
        noise_dbm=-150.0,
        interference=True,
        sinr_db=3.0,
        bandwidth_kbit_s=1e6,
    )
    team = net(others + 2, radio, xy=xy)
    claim = team.claim("x")
    senders = np.array([0, *range(2, others + 2)])
    for _ in range(m):
        team.send_many(senders, np.ones(others + 1), np.full(others + 1, 100), "x", [None] * (others + 1))
        team.run(0.1)
    team.run(0.1)
    receiver, source, *_ = (np.asarray(column) for column in claim.pop())
    rng = np.random.default_rng(1)
    wanted = rng.normal(scale=sigma_db, size=400_000)
    powers = rng.normal(-weaker_db, sigma_db, (400_000, others))
    expected = np.mean(wanted - 10 * np.log10((10 ** (powers / 10)).sum(1)) >= 3.0)
    share = np.count_nonzero(source == 0) / m
    assert share == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / m))
    if others == 1:  # 3 dB above each other: never both
        assert len(source) <= m
    assert (receiver == 1).all()
