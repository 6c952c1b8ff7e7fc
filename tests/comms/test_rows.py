"""Rows of packets and receivers, their pairs and their counts, against NumPy."""

import numpy as np
import pytest

from covey.comms import radio_channel
from covey.comms.packets import Packets
from covey.comms.traffic import COUNTERS, Traffic
from covey.world.world import World


@pytest.mark.parametrize(("robots", "to_all"), [(2, 0.5), (5, 0.5), (90, 0.5), (90, 0.0)])
def test_packets_for_all_go_to_all_others_and_pairs_are_distinct(robots, to_all):
    draw = np.random.default_rng(robots)
    source = draw.integers(robots, size=40)
    to = np.where(draw.random(40) < to_all, -1, (source + draw.integers(1, robots, size=40)) % robots)
    alive = draw.random(robots) < 0.9
    row, receiver, any_dead = radio_channel._expand(source, to, alive)
    everybody = [(k, r) for k in range(40) for r in range(robots) if (r == to[k] if to[k] >= 0 else r != source[k])]
    np.testing.assert_array_equal(np.column_stack((row, receiver)), everybody)
    assert any_dead == (not alive[receiver].all())

    xy = draw.uniform(0.0, 5.0, (robots, 2))
    pairs, which = radio_channel._pairs(World.empty(5.0, 5.0), xy, source[row], receiver, robots)
    ends = np.sort(np.column_stack((source[row], receiver)), axis=1)
    once, number = np.unique(ends, axis=0, return_inverse=True)
    np.testing.assert_array_equal(np.column_stack((pairs.a, pairs.b)), once)
    np.testing.assert_array_equal(which, number.ravel())
    np.testing.assert_allclose(pairs.distance_m, np.hypot(*(xy[once[:, 0]] - xy[once[:, 1]]).T), rtol=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_a_look_finds_the_dead_the_late_and_rows_out_of_order(seed):
    draw = np.random.default_rng(seed)
    number, expires_s, alive = draw.integers(4, size=5), draw.choice([1.0, np.inf], 5), draw.random(6) < 0.8
    row, receiver, arrived_s = draw.integers(5, size=3), draw.integers(6, size=3), draw.integers(3, size=3) / 1.0
    keys = receiver, number[row], arrived_s
    if seed % 2:
        order = np.lexsort(keys)
        row, receiver, arrived_s = row[order], receiver[order], arrived_s[order]
    seen = radio_channel._look(row, receiver, arrived_s, number, expires_s, alive)
    sorted_ = sorted(rows := list(zip(arrived_s, number[row], receiver, strict=True)))
    assert seen == (not alive[receiver].all(), bool((arrived_s > expires_s[row] + 1e-9).any()), rows == sorted_)


def test_a_count_adds_one_and_an_amount_to_the_next_counter_also_if_a_pair_comes_twice():
    traffic = Traffic(3)
    first, second = traffic.kind("a"), traffic.kind("b")
    robots, kinds = np.array([0, 2, 2]), np.array([first, second, second])
    traffic.add("packets_sent", robots, kinds, np.array([10, 20, 30]))
    expected = np.zeros((3, 2, len(COUNTERS)))
    at = COUNTERS.index("packets_sent")
    np.add.at(expected[..., at], (robots, kinds), 1.0)
    np.add.at(expected[..., at + 1], (robots, kinds), [10.0, 20.0, 30.0])
    np.testing.assert_array_equal(traffic.counts, expected)


def test_written_messages_count_with_their_receivers_and_the_dead_writers_are_told():
    traffic = Traffic(4)
    kind = traffic.kind("a")
    alive = np.array([True, False, True, True])
    origin, final = np.array([0, 0, 1, 2]), np.array([-1, 3, -1, 1])
    none, zeros = np.full(4, None), np.zeros(4)
    packets = Packets.written(origin, origin, final, np.full(4, kind), origin, zeros, zeros, none)
    assert traffic.add_written(packets, alive) == 1
    assert traffic.total("messages_sent").tolist() == [2, 1, 1, 0]
    assert traffic.total("messages_wanted").tolist() == [2 + 1, 3, 1, 0]
