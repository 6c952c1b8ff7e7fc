import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.references.mapping import providers_reference

from covey.mapping.exchange.providers import hold_newer, providers


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_the_kernel_is_the_reference(seed, n):
    rng = np.random.default_rng(seed)
    heard = np.where(rng.random((n, n)) < 0.7, np.arange(n), -1)
    clocks, clock, reach = rng.integers(0, 4, (n, n)), rng.integers(0, 4, (n, n)), rng.random((n, n)) < 0.6
    for got, wanted in zip(
        providers(heard, clocks, reach, clock), providers_reference(heard, clocks, reach, clock), strict=True
    ):
        np.testing.assert_array_equal(got, wanted)


def test_where_all_hear_all_each_robot_tells_its_own_and_once():
    n = 5
    clock = np.zeros((n, n), int)
    np.fill_diagonal(clock, 3)
    heard = np.where(np.eye(n, dtype=bool), -1, np.arange(n))
    since, to = providers(heard, np.zeros((n, n), int), ~np.eye(n, dtype=bool), clock)
    assert (since == 0).all()  # of itself since the beginning; of others it has nothing
    assert (to == -1).all()


def test_news_from_afar_come_from_the_neighbour_that_has_the_newest_then_from_the_lowest():
    # 0 to 3 hear one another and not robot 4, of which 1, 2 and 3 hold publications 4, 6 and 6.
    clock = np.zeros((5, 5), int)
    clock[1, 4], clock[2, 4], clock[3, 4] = 4, 6, 6
    heard = np.full((5, 5), -1)
    heard[:4] = [0, 1, 2, 3, -1]
    reach = np.zeros((4, 5), bool)
    reach[:, :4] = True
    since, to = providers(heard, clock[:4].copy(), reach, clock)
    assert to.tolist() == [-2, -2, -1, -2, -2]  # robot 2 tells 0 and 1
    assert since[2, 4] == 0  # 0 has nothing
    reach[0, 2] = False  # 0 does not hear 2
    since, to = providers(heard, clock[:4].copy(), reach, clock)
    assert to.tolist() == [-2, -2, -1, 0, -2] or to.tolist() == [-2, -2, 1, 0, -2]
    assert since[3, 4] == 0


def test_a_message_is_newer_if_anything_in_it_is():
    random = np.random.default_rng(0)
    clock, clocks = random.integers(0, 3, (5, 5)), random.integers(0, 3, (4, 5))
    which, receiver = random.integers(0, 4, 40), random.integers(0, 5, 40)
    wanted = (clocks[which] > clock[receiver]).any(axis=1)
    assert 0 < wanted.sum() < 40
    np.testing.assert_array_equal(hold_newer(clocks, which, clock, receiver), wanted)
