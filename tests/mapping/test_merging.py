import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.errors import InvalidValueError
from covey.mapping.belief import TILE_BYTES, Beliefs
from covey.mapping.records import Mapping

N = 4
robots = st.integers(0, N - 1)
acts = st.one_of(
    st.tuples(st.just("see"), robots, st.integers(0, 10**6)),
    st.tuples(st.just("publish"), robots, st.just(0)),
    st.tuples(st.just("merge"), robots, robots),
)


def team():
    return Beliefs([f"r{i}" for i in range(N)], (12.8, 12.8), (0.0, 0.0), Mapping(resolution_m=0.2))


def see(beliefs, robot, seed):
    rng = np.random.default_rng(seed)
    pose = np.append(rng.uniform(0, 12.8, 2), rng.uniform(-3, 3))
    beliefs[robot].update(pose, rng.uniform(0.2, 6, 20), np.linspace(-1, 1, 20), (0, 0, 0), 6.0, 0)


def play(beliefs, script):
    for act, a, b in script:
        if act == "see":
            see(beliefs, a, b)
        elif act == "publish":
            beliefs.publish(a)
        else:
            beliefs.merge(a, b)


@settings(max_examples=60, deadline=None)
@given(st.lists(acts, max_size=25))
def test_a_belief_is_its_own_evidence_plus_one_published_state_of_each_other(script):
    beliefs = team()
    published = np.zeros((N, 1, *beliefs.grid.shape), int).tolist()
    held = np.zeros((N, N), int)
    for act, a, b in script:
        before = beliefs.own[a].copy()
        fresh = beliefs._dirty[a].any()
        play(beliefs, [(act, a, b)])
        if act == "publish" and fresh:
            published[a].append(before.astype(int))
            held[a, a] = len(published[a]) - 1
        elif act == "merge":
            held[a] = np.maximum(held[a], held[b])
    for i in range(N):
        others = sum(np.array(published[o][held[i, o]]) for o in range(N) if o != i)
        np.testing.assert_array_equal(beliefs.log_odds[i], beliefs.own[i] + others)
        total = beliefs.log_odds[i]
        np.testing.assert_array_equal(beliefs[i].occupancy(), np.select([total > 0, total < 0], [100, 0], -1))


@settings(max_examples=30, deadline=None)
@given(st.lists(acts, max_size=15), st.permutations([1, 2, 3]), st.lists(st.sampled_from([1, 2, 3]), max_size=4))
def test_order_and_repetition_of_merges_do_not_matter(script, order, again):
    one, other = team(), team()
    for beliefs in (one, other):
        play(beliefs, script)
    for j in (1, 2, 3):
        one.merge(0, j)
    for j in (*order, *again):
        other.merge(0, j)
    np.testing.assert_array_equal(one.log_odds[0], other.log_odds[0])
    assert one.merge(0, order[0]) == 0


def test_news_travels_over_several_hops_and_old_news_is_ignored():
    beliefs = team()
    see(beliefs, 0, 1)
    beliefs.publish(0)
    beliefs.merge(3, 0)
    see(beliefs, 0, 2)
    beliefs.publish(0)
    for a, b in ((1, 0), (2, 1), (2, 3)):
        beliefs.merge(a, b)
    np.testing.assert_array_equal(beliefs.log_odds[2], beliefs.own[0])


def test_only_changed_tiles_move():
    beliefs = team()
    beliefs[0].update((1.0, 1.0, 0.0), np.array([2.0]), np.array([0.0]), (0, 0, 0), 6.0, 0)
    assert beliefs[0].publish() == 1
    assert beliefs[1].merge(beliefs[0]) == 1
    beliefs[0].update((1.0, 8.0, 0.0), np.array([2.0]), np.array([0.0]), (0, 0, 0), 6.0, 0)
    assert beliefs[1].merge(beliefs[0]) == 0  # not published yet
    assert beliefs[0].publish() == 1
    assert beliefs[0].publish() == 0
    assert beliefs[1].merge(beliefs[0]) == 1
    assert beliefs[2].merge(beliefs[1]) == 2
    assert TILE_BYTES == 1024


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(robots, st.integers(0, 10**6)), max_size=12), st.lists(st.booleans(), min_size=16, max_size=16)
)
def test_a_round_of_sharing_is_simultaneous(sights, links):
    hears = np.reshape(links, (N, N))
    shared, plain = team(), team()
    for k, (robot, seed) in enumerate(sights):
        for beliefs in (shared, plain):
            see(beliefs, robot, seed)
            if k == len(sights) // 2:
                beliefs.share(hears.T)
    taken = shared.share(hears)
    for i in np.flatnonzero(hears.any(axis=0)):
        plain.publish(int(i))
    before = plain._slots.copy(), plain.clock.copy()
    expected = plain.own.astype(int)
    for i in range(N):
        hold = plain.clock[i].copy()
        giver = np.full(N, i)
        for j in np.flatnonzero(hears[i]):
            giver = np.where(before[1][j] > hold, j, giver)
            hold = np.maximum(hold, before[1][j])
        slots = before[0][giver, np.arange(N)]
        for o in range(N):
            if o != i:
                tiles = plain._store[slots[o]].reshape(2, 2, 32, 32).transpose(0, 2, 1, 3).reshape(64, 64)
                expected[i] += tiles
    np.testing.assert_array_equal(shared.log_odds, expected)
    assert (taken[~hears.any(axis=1)] == 0).all()


def test_superseded_tiles_are_reused():
    beliefs = team()
    hears = np.ones((N, N), bool)
    for round_ in range(200):
        see(beliefs, round_ % N, round_)
        beliefs.share(hears)
    assert len(beliefs._store) <= 3 * N * 4 + 1  # four tiles for each of four origins are in use
    np.testing.assert_array_equal(beliefs.log_odds[0], beliefs.own.astype(int).sum(axis=0))
    np.testing.assert_array_equal(beliefs.log_odds[0], beliefs.log_odds[3])


def test_beliefs_on_other_grids_are_refused():
    with pytest.raises(InvalidValueError, match="different grids"):
        team()[0].merge(team()[1])
