"""Laws of merging beliefs about the ground, what counts after a change, and what goes over the air."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.mapping.elevation.belief import Elevations
from covey.mapping.elevation.versions import rounded
from covey.mapping.records import ElevationMapping
from covey.sensors.wedge import WedgeReadings, Windows

SIGMA = 0.02
NAMES = ["a", "b", "c"]
FIELDS = ("altitude", "variance", "marks", "occupancy")


def see(beliefs, robot, altitude, step, corner=(5, 5), kind=None):
    altitude = np.array(altitude, float)[None]
    kind = np.ones(altitude.shape) if kind is None else np.array(kind)[None]
    lattice, nowhere = np.array([0.0, 0.0, 1.0]), np.zeros((1, 3))
    windows = Windows(np.array([corner]), lattice, nowhere)
    told = WedgeReadings.inside(windows, kind.astype(np.uint8), altitude, altitude, SIGMA)
    told.into(beliefs, np.array([robot]), np.array([0]), nowhere, step)


def three(test="innovation"):
    return Elevations(NAMES, (40, 40), (0.0, 0.0), 1.0, ElevationMapping(change_test=test))


SIGHT = st.tuples(
    st.integers(0, 2),
    st.integers(0, 30),
    st.integers(0, 30),
    st.sampled_from([0.0, 0.01, 0.5, -3.0]),
    st.integers(1, 3),
)


def told(sights):
    """Three robots that have seen the same things each time that this is called."""
    beliefs = three()
    for step, (robot, row, column, altitude, kind) in enumerate(sights):
        patch = np.full((6, 6), altitude) + 0.001 * np.arange(36).reshape(6, 6)
        see(beliefs, robot, patch, step, corner=(row, column), kind=np.full((6, 6), kind))
        if step % 5 == 4:
            beliefs.publish(np.array([robot]))
    beliefs.publish()
    return beliefs


def shown(beliefs, robot):
    return [getattr(beliefs[robot], name)() for name in FIELDS]


def same(one, other):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


@settings(max_examples=25)
@given(st.lists(SIGHT, min_size=1, max_size=25), st.permutations(range(4)))
def test_the_order_in_which_news_arrive_and_how_often_do_not_matter(sights, order):
    first, second = told(sights), told(sights)
    for beliefs, sequence in ((first, range(4)), (second, [*order, *order])):
        early = [beliefs.update_since(1, np.zeros(3, int)), beliefs.update_since(2, np.zeros(3, int))]
        see(beliefs, 1, np.full((4, 4), 0.02), 99, corner=(8, 8))
        beliefs.publish()
        updates = [*early, beliefs.update_since(1, np.zeros(3, int)), beliefs.update_since(2, np.zeros(3, int))]
        for k in sequence:
            beliefs.merge_updates(np.arange(3)[:, None] == 0, [updates[k]])
    same(shown(first, 0), shown(second, 0))
    assert (first[0].marks()[8:12, 8:12] > 0).all()  # and the updates did arrive


@settings(max_examples=25)
@given(st.lists(SIGHT, min_size=1, max_size=25))
def test_news_by_way_of_a_third_robot_come_to_the_same_as_news_from_each(sights):
    direct, by_way = told(sights), told(sights)
    for other in (1, 2):
        direct.merge(0, other)
    by_way.merge(1, 2)
    by_way.merge(0, 1)
    by_way.merge(0, 2)
    same(shown(direct, 0), shown(by_way, 0))
    assert direct.clock[0].tolist() == by_way.clock[0].tolist() == np.diag(direct.clock).tolist()


@settings(max_examples=25)
@given(st.lists(SIGHT, min_size=1, max_size=25))
def test_robots_that_hold_the_same_believe_the_same(sights):
    beliefs = told(sights)
    for one, other in itertools.permutations(range(3), 2):
        beliefs.merge(one, other)
    for robot in (1, 2):  # up to what is rounded when it is published
        np.testing.assert_allclose(beliefs[robot].altitude(), beliefs[0].altitude(), rtol=0, atol=1e-3)
        np.testing.assert_allclose(beliefs[robot].variance(), beliefs[0].variance(), rtol=0.002)
        np.testing.assert_array_equal(beliefs[robot].marks(), beliefs[0].marks())
    np.testing.assert_array_equal(beliefs.union() >= 0, beliefs.occupancy[0] >= 0)


def test_what_several_have_measured_is_weighted_by_precision():
    beliefs = three("none")
    values = {0: [1.0, 1.02], 1: [1.03], 2: [0.99, 0.98, 1.01]}
    for robot, measured in values.items():
        for step, value in enumerate(measured):
            see(beliefs, robot, [[value]], step)
    beliefs.share(np.ones((3, 3), bool))
    everything = [value for measured in values.values() for value in measured]
    for belief in (beliefs[k] for k in range(3)):
        assert belief.altitude()[5, 5] == pytest.approx(np.mean(everything), abs=1e-5)
        assert belief.variance()[5, 5] == pytest.approx(SIGMA**2 / 6, rel=0.01)
    before = beliefs[0].variance()[5, 5]
    beliefs.share(np.ones((3, 3), bool))
    beliefs.merge(0, 1)
    assert beliefs[0].variance()[5, 5] == before  # nothing counts twice


def test_what_was_seen_before_another_found_the_vertex_changed_is_left_out():
    beliefs = three()
    for step in range(50):
        see(beliefs, 0, [[1.0]], step)
    beliefs.share(np.ones((3, 3), bool))
    assert beliefs[1].altitude()[5, 5] == pytest.approx(1.0)
    see(beliefs, 1, [[-2.0]], 60)  # a crater, and robot 1 has never seen the vertex itself before
    assert beliefs[1].altitude()[5, 5] == pytest.approx(-2.0)
    beliefs.share(np.ones((3, 3), bool))
    for robot in range(3):
        assert beliefs[robot].altitude()[5, 5] == pytest.approx(-2.0)
        assert beliefs[robot].variance()[5, 5] == pytest.approx(SIGMA**2 / 5, rel=0.01)
        assert beliefs[robot].last_changed[5, 5] == 60
    see(beliefs, 0, [[-2.01]], 70)  # its 50 sights of before are out of date
    assert beliefs[0].altitude()[5, 5] == pytest.approx((-2.0 * 5 - 2.01) / 6, abs=1e-4)


def test_a_drop_guessed_by_one_is_what_another_has_measured():
    beliefs = three()
    see(beliefs, 0, [[0.0, -3.0], [0.0, 0.0]], 0, kind=[[1, 2], [1, 1]])
    see(beliefs, 1, [[-0.7]], 0, corner=(5, 6))
    assert beliefs[0].altitude()[5, 6] == -5.0
    beliefs.share(np.ones((3, 3), bool))
    for robot in range(3):
        assert (beliefs[robot].altitude()[5, 6], beliefs[robot].marks()[5, 6]) == (pytest.approx(-0.7), 1)


@settings(max_examples=20)
@given(st.lists(SIGHT, min_size=1, max_size=25))
def test_news_survive_the_air_and_are_as_long_as_they_say(sights):
    beliefs, other = told(sights), told(sights)
    update = beliefs.update_since(1, np.zeros(3, int))
    code = beliefs.encode(update)
    assert len(code) == update.size_bytes
    back = other.decode(code)
    assert (back.giver, back.until.tolist(), back.since.tolist()) == (1, update.until.tolist(), update.since.tolist())
    received = np.arange(3)[:, None] == 0
    np.testing.assert_array_equal(beliefs.merge_updates(received, [update]), other.merge_updates(received, [back]))
    same(shown(beliefs, 0), shown(other, 0))


def test_published_evidence_is_rounded_by_less_than_a_tenth_of_a_per_cent_and_a_tenth_of_a_millimetre():
    evidence = np.zeros(1000, three().team.own.dtype)
    evidence["mark"], evidence["seen"] = 1, np.arange(1000)
    evidence["mean"] = np.random.default_rng(0).uniform(-500, 500, 1000)
    evidence["variance"] = 4e-4 / np.arange(1, 1001)
    out = rounded(evidence)
    np.testing.assert_allclose(out["variance"], evidence["variance"], rtol=0.001)
    np.testing.assert_allclose(out["mean"], evidence["mean"], rtol=0, atol=1e-4)
    assert (rounded(out) == out).all()
    assert math.isfinite(out["mean"].sum())
