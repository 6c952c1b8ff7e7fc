"""The laws of merging, over random histories, against a plain model that keeps every publication whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.references.mapping import RULES, merged

from covey.errors import InvalidValueError
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.records import Mapping

N, TILES = 4, 4
robots = st.integers(0, N - 1)
see_ = st.tuples(st.just("see"), robots, st.integers(0, 10**6))
publish_ = st.tuples(st.just("publish"), robots, st.just(0))
merge_ = st.tuples(st.just("merge"), robots, robots)
tell_ = st.tuples(
    st.just("tell"), robots, robots
)  # a makes an update for b, which may arrive at any time, anywhere, or never
arrive_ = st.tuples(st.just("arrive"), robots, st.integers(0, 50))
acts = st.one_of(see_, see_, publish_, merge_, tell_, arrive_)
histories = st.lists(acts, max_size=30)


def team(rule="probabilistic"):
    return Beliefs([f"r{i}" for i in range(N)], (12.8, 12.8), (0.0, 0.0), Mapping(resolution_m=0.2), RULES[rule])


def see(beliefs, robot, seed):
    rng = np.random.default_rng(seed)
    pose = np.append(rng.uniform(0, 12.8, 2), rng.uniform(-3, 3))
    beliefs[robot].update(pose, rng.uniform(0.2, 6, 20), np.linspace(-1, 1, 20), (0, 0, 0), 6.0, 0)


def tiles_of(cells):
    return cells.reshape(2, 32, 2, 32).swapaxes(1, 2).reshape(TILES, 32, 32)


class Plain:
    """Beliefs, and beside them which publication of each tile of each robot every robot holds."""

    def __init__(self, rule="probabilistic"):
        self.beliefs = team(rule)
        self.published = [[np.zeros((TILES, 32, 32), int)] for _ in range(N)]
        self.held = np.zeros((N, N, TILES), int)  # holder, origin, tile -> publication
        self.told = []

    def play(self, history):
        for act, a, b in history:
            getattr(self, act)(a, b)

    def see(self, a, seed):
        see(self.beliefs, a, seed)

    def publish(self, a, _):
        own, known = tiles_of(self.beliefs[a].own.astype(int)), self.beliefs.clock[a].copy()
        moved = self.beliefs.publish(np.array([a]))
        items = self.beliefs.update_since(a, known).items
        assert moved == len(items)
        assert (items[:, 1] == a).all()
        fresh = np.isin(np.arange(TILES), items[:, 0])
        assert not (own != self.published[a][-1])[~fresh].any()
        if moved:
            self.published[a].append(own)
            self.held[a, a] = np.where(fresh, len(self.published[a]) - 1, self.held[a, a])

    def merge(self, a, b):
        self._take(a, self.held[b], self.beliefs.merge(a, b))

    def tell(self, a, b):
        update = self.beliefs.update_since(a, self.beliefs.clock[b])
        self.told.append((update, self.held[a] * (self.held[a] > self.beliefs.clock[b][:, None])))

    def arrive(self, a, k):
        if self.told:
            update, held = self.told[k % len(self.told)]
            received = (np.arange(N) == a)[:, None]
            self._take(a, held, self.beliefs.merge_updates(received, [update])[a])

    def _take(self, a, held, moved):
        before = self.held[a].copy()
        self.held[a] = np.maximum(before, held)
        self.held[a, a] = before[a]
        assert moved == (self.held[a] > before).sum()  # only tiles that it lacked

    def evidence(self, i):
        """Own evidence now, and the held one of each robot, (N, 64, 64)."""
        tiles = [[self.published[o][self.held[i, o, t]][t] for t in range(TILES)] for o in range(N)]
        out = np.array(tiles).reshape(N, 2, 2, 32, 32).swapaxes(2, 3).reshape(N, 64, 64)
        out[i] = self.beliefs[i].own
        return out


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(histories, st.sampled_from([*RULES]))
def test_a_belief_is_own_evidence_and_one_version_of_each_other_however_it_came(history, rule):
    plain = Plain(rule)
    plain.play(history)
    for i in range(N):
        held = plain.evidence(i)
        np.testing.assert_array_equal(plain.beliefs[i].log_odds, held.sum(axis=0))
        expected = merged(rule, held[i], [held[o] for o in range(N) if o != i])
        np.testing.assert_array_equal(plain.beliefs[i].occupancy(), expected)


@settings(max_examples=40, deadline=None)
@given(histories, st.permutations([1, 2, 3]), st.lists(st.sampled_from([1, 2, 3]), max_size=4))
def test_order_and_repetition_of_merges_do_not_matter(history, order, again):
    one, other = Plain(), Plain()
    for plain in (one, other):
        plain.play(history)
    for j in (1, 2, 3):
        one.beliefs.merge(0, j)
    for j in (*order, *again):
        other.beliefs.merge(0, j)
    np.testing.assert_array_equal(one.beliefs[0].log_odds, other.beliefs[0].log_odds)
    assert one.beliefs.merge(0, order[0]) == 0


@settings(max_examples=40, deadline=None)
@given(histories)
def test_merging_is_commutative_and_idempotent(history):
    one, other = Plain(), Plain()
    for plain in (one, other):
        plain.play([*history, *(("publish", i, 0) for i in range(N))])
    one.beliefs.merge(0, 1)
    other.beliefs.merge(1, 0)
    np.testing.assert_array_equal(one.beliefs[0].log_odds, other.beliefs[1].log_odds)
    version = one.beliefs[0].version
    assert one.beliefs.merge(0, 1) == one.beliefs.merge(0, 0) == 0
    assert one.beliefs[0].version == version


@settings(max_examples=40, deadline=None)
@given(histories)
def test_merging_is_associative(history):
    one, other = Plain(), Plain()
    for plain in (one, other):
        plain.play([*history, *(("publish", i, 0) for i in range(N))])
    one.play([("merge", 0, 1), ("merge", 0, 2)])  # (a + b) + c
    other.play([("merge", 1, 2), ("merge", 0, 1)])  # a + (b + c)
    np.testing.assert_array_equal(one.beliefs[0].log_odds, other.beliefs[0].log_odds)


@settings(max_examples=40, deadline=None)
@given(histories)
def test_news_after_any_history_makes_all_equal_to_the_sum_of_all_own_evidence(history):
    plain = Plain()
    plain.play(history)
    taken = plain.beliefs.share(np.ones((N, N), bool))
    total = sum(plain.beliefs[i].own.astype(int) for i in range(N))
    for i in range(N):
        np.testing.assert_array_equal(plain.beliefs[i].log_odds, total)
    np.testing.assert_array_equal(plain.beliefs.union(), plain.beliefs[0].occupancy())
    assert (plain.beliefs.share(np.ones((N, N), bool)) == 0).all()
    assert (taken >= 0).all()


def test_news_travels_over_several_hops_and_old_news_is_harmless():
    beliefs = team()
    see(beliefs, 0, 1)
    beliefs.publish()
    old = beliefs.update_since(0, np.zeros(N, int))
    beliefs.merge(3, 0)
    see(beliefs, 0, 2)
    beliefs.publish()
    for a, b in ((1, 0), (2, 1)):
        beliefs.merge(a, b)
    np.testing.assert_array_equal(beliefs[2].log_odds, beliefs[0].own)
    assert beliefs.merge(2, 3) == 0
    assert beliefs.merge_updates(np.ones((N, 1), bool), [old]).tolist() == [0, 0, 0, 0]
    np.testing.assert_array_equal(beliefs[2].log_odds, beliefs[0].own)


@settings(max_examples=30, deadline=None)
@given(histories, st.lists(robots, min_size=N, max_size=N))
def test_news_as_bytes_say_the_same_elsewhere(history, order):
    here, elsewhere = Plain(), team()
    here.play([*history, *(("publish", i, 0) for i in range(N))])
    for giver in (*order, *range(N)):
        update = here.beliefs.update_since(giver, elsewhere.clock[0])
        code = here.beliefs.encode(update)
        assert len(code) == update.size_bytes
        elsewhere.merge_updates(np.ones((N, 1), bool), [elsewhere.decode(code)])
    total = sum(here.beliefs[i].own.astype(int) for i in range(1, N))
    np.testing.assert_array_equal(elsewhere[0].log_odds, total)


def test_only_tiles_that_the_other_lacks_move():
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
    assert len(beliefs.update_since(2, beliefs.clock[1]).items) == 0


def test_what_was_published_does_not_change_when_its_robot_goes_on():
    beliefs = team()
    see(beliefs, 0, 1)
    beliefs.publish()
    beliefs.merge(1, 0)
    before = beliefs[1].log_odds
    for seed in range(5):
        see(beliefs, 0, seed)
    np.testing.assert_array_equal(beliefs[1].log_odds, before)
    assert (beliefs[0].log_odds != before).any()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(robots, st.integers(0, 10**6)), max_size=12), st.lists(st.booleans(), min_size=16, max_size=16)
)
def test_a_round_of_sharing_is_simultaneous(sights, links):
    hears = np.reshape(links, (N, N))
    plain = Plain()
    for k, (robot, seed) in enumerate(sights):
        plain.see(robot, seed)
        if k == len(sights) // 2:
            for i in np.flatnonzero(hears.any(axis=1)):
                plain.publish(i, 0)
            before = plain.held.copy()
            plain.beliefs.share(hears.T)
            for i in range(N):
                plain.held[i] = np.maximum(plain.held[i], before[hears[:, i]].max(axis=0, initial=0))
    for i in np.flatnonzero(hears.any(axis=0)):
        plain.publish(i, 0)
    before = plain.held.copy()
    taken = plain.beliefs.share(hears)
    for i in range(N):
        plain.held[i] = np.maximum(plain.held[i], before[hears[i]].max(axis=0, initial=0))
        np.testing.assert_array_equal(plain.beliefs[i].log_odds, plain.evidence(i).sum(axis=0))
    assert (taken[~hears.any(axis=1)] == 0).all()


def test_superseded_tiles_are_reused_and_equal_knowledge_is_held_once():
    beliefs = team()
    hears = np.ones((N, N), bool)
    for round_ in range(20):
        see(beliefs, round_ % N, round_)
        beliefs.share(hears)
    early = beliefs.nbytes
    for round_ in range(200):
        see(beliefs, round_ % N, round_)
        beliefs.share(hears)
    assert beliefs.nbytes <= 1.5 * early
    crowd = Beliefs([f"r{i}" for i in range(100)], (12.8, 12.8), (0.0, 0.0), Mapping(resolution_m=0.2))
    see(crowd, 0, 1)
    before = crowd.nbytes
    crowd.share(np.ones((100, 100), bool))
    assert crowd.nbytes - before < 10 * beliefs.grid.cells.size  # not 100 copies


@pytest.mark.parametrize("rule", RULES)
def test_rules_by_hand(rule):
    # Robot 0 saw cell (5, 7) free once (-8) and others hit it once each (+17): odds add to 26, own is free.
    # Nobody but robot 1 saw (5, 10): it is occupied for all. (0, 0) is unknown to all.
    beliefs = team(rule)
    beliefs[0].update((1.1, 1.1, 0.0), np.array([0.5]), np.array([0.0]), (0, 0, 0), 6.0, 0)  # free 5..7, hit 8
    for i in (1, 2):
        beliefs[i].update((1.1, 1.1, 0.0), np.array([0.3]), np.array([0.0]), (0, 0, 0), 6.0, 0)  # free 5, 6, hit 7
    beliefs.share(np.ones((N, N), bool))
    row = beliefs[0].occupancy()[5, 4:10].tolist()
    if rule == "greedy_fill":
        assert row == [-1, 0, 0, 0, 100, -1]
        assert beliefs[3].occupancy()[5, 4:10].tolist() == [-1, 0, 0, 0, 100, -1]  # robot 0 comes first
        assert beliefs[1].occupancy()[5, 4:10].tolist() == [-1, 0, 0, 100, 100, -1]
    else:
        assert row == [-1, 0, 0, 100, 100, -1]
        assert beliefs[3].occupancy()[5, 4:10].tolist() == row
    # Robot 1 looks again, further: cell 7 becomes free for it (17 - 3 * 8 < 0), while robot 2 still says wall.
    for _ in range(3):
        beliefs[1].update((1.1, 1.1, 0.0), np.array([0.9]), np.array([0.0]), (0, 0, 0), 6.0, 0)
    beliefs.share(np.ones((N, N), bool))
    at_7 = {"probabilistic": 100 if -8 - 7 + 17 > 0 else 0, "greedy_fill": 0, "maximum": 100, "votes": 0}[rule]
    assert beliefs[0].occupancy()[5, 7] == at_7


def test_beliefs_on_other_grids_are_refused():
    with pytest.raises(InvalidValueError, match="different grids"):
        team()[0].merge(team()[1])


@pytest.mark.parametrize(("count", "rule"), [(500, "probabilistic"), (500, "maximum"), (60, "maximum")])
def test_what_hundreds_of_robots_saw_adds_up(count, rule):
    team = Beliefs([f"r{i}" for i in range(count)], (3.0, 3.0), (0.0, 0.0), Mapping(resolution_m=0.2), rule=RULES[rule])
    members, angles = np.arange(count), np.array([0.0, 0.5 * np.pi])
    poses = np.tile([0.5, 0.5, 0.0], (count, 1))
    faces = np.where(members % 7 == 3, 2.3, 1.1)  # every seventh looks through where the others see a wall
    for step in range(12):
        ranges = np.column_stack((faces, np.full(count, 1.5)))
        team.update(members, poses, ranges, angles, (0.0, 0.0, 0.0), 10.0, step)
    own = np.array([team[i].own for i in range(count)], np.int64)
    assert own.max() == 70  # 3.5 / 0.05, as sure as one can be
    total = own.sum(axis=0)
    everybody = np.ones((count, count), bool)
    team.share(everybody)
    team.update(members[:1], poses[:1], ranges[:1], angles, (0.0, 0.0, 0.0), 10.0, 12)  # on top of what is shared
    states = merged(rule, own[0], list(own[1:]))
    for robot in (0, 3, count - 1):
        assert (team[robot].occupancy() == states).all()
        assert (team[robot].log_odds == total).all()
    if count == 500:
        assert total.max() == 70 * 500 > np.iinfo(np.int16).max
