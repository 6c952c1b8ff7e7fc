"""Rows of packets and receivers, their pairs and their counts, against NumPy."""

import numpy as np
import pytest

from covey.comms import radio_channel
from covey.comms.traffic import COUNTERS, Traffic
from covey.world.world import World


@pytest.mark.parametrize(("robots", "to_all"), [(2, 0.5), (5, 0.5), (90, 0.5), (90, 0.0)])
def test_packets_for_all_go_to_all_others_and_pairs_are_distinct(robots, to_all):
    draw = np.random.default_rng(robots)
    source = draw.integers(robots, size=40)
    to = np.where(draw.random(40) < to_all, -1, (source + draw.integers(1, robots, size=40)) % robots)
    row, receiver = radio_channel._expand(source, to, robots)
    everybody = [(k, r) for k in range(40) for r in range(robots) if (r == to[k] if to[k] >= 0 else r != source[k])]
    np.testing.assert_array_equal(np.column_stack((row, receiver)), everybody)

    xy = draw.uniform(0.0, 5.0, (robots, 2))
    pairs, which = radio_channel._pairs(World.empty(5.0, 5.0), xy, source[row], receiver, robots)
    ends = np.sort(np.column_stack((source[row], receiver)), axis=1)
    once, number = np.unique(ends, axis=0, return_inverse=True)
    np.testing.assert_array_equal(np.column_stack((pairs.a, pairs.b)), once)
    np.testing.assert_array_equal(which, number.ravel())


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
