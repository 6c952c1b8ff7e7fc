"""What measurements come to, vertex by vertex, against plain models."""

import math

import numpy as np
import pytest

from covey.mapping.elevation.belief import Elevations
from covey.mapping.elevation.kinds import DROP, MEASURED, OBSTACLE, UNKNOWN
from covey.mapping.elevation.versions import rounded
from covey.mapping.records import ElevationMapping
from covey.sensors.wedge import WedgeReadings, Windows

SIGMA, SIDE = 0.02, 40
NOWHERE = np.zeros((1, 3))


def see(beliefs, robot, altitude, kind, corner, step, again=None):
    """Let a robot take in what a wedge tells of a square of vertices."""
    windows, again = (
        Windows(np.array([corner]), np.array([0.0, 0.0, 1.0]), NOWHERE),
        altitude if again is None else again,
    )
    told = WedgeReadings.inside(windows, kind.astype(np.uint8)[None], altitude[None], again[None], SIGMA)
    told.into(beliefs, np.array([robot]), np.array([0]), NOWHERE, step)


class Plain:
    """What one robot knows of vertices that it looks at alone, one by one; a sigma of 0.02 m, steps of up to 0.4 m.

    Attributes:
        held: mark, mean [m], variance [m^2], and the steps at which it was last seen and last found changed, by vertex.
        resets: how often each vertex that was measured was found changed.
    """

    def __init__(self, test):
        self.test, self.held, self.resets = test, {}, {}

    def get(self, at):
        return self.held.get(at, (UNKNOWN, 0.0, 0.0, 0, 0))

    def look(self, kind, altitude, again, corner, step):
        cells = list(np.ndindex(kind.shape))
        for a, b in [cell for cell in cells if kind[cell] == 1] + [cell for cell in cells if kind[cell] > 1]:
            at = int(corner[0] + a), int(corner[1] + b)
            if max(at) < SIDE:
                what = (self.measure, self.bound, self.bound, self.hide)[kind[a, b] - 1]
                what(at, altitude[a, b], kind[a, b] if kind[a, b] in (DROP, OBSTACLE) else again[a, b], step)

    def changed(self, at, mark):
        self.resets[at] = self.resets.get(at, 0) + (mark == MEASURED)

    def measure(self, at, value, again, step):
        mark, mean, variance, _, changed = self.get(at)
        of, limit = SIGMA**2, {"none": math.inf, "paper": 1.96, "innovation": 4.0}[self.test]
        if mark == MEASURED and self.test != "none":
            noise = self.test == "innovation"
            if math.isnan(again):
                limit = 2.576 if self.test == "paper" else limit
            elif abs(value - mean) > 1.96 * math.sqrt(variance + noise * of):
                value, of = 0.2 * value + 0.8 * again, of / 5.0
            else:
                limit = math.inf
            if abs(value - mean) > limit * math.sqrt(variance + noise * of):
                self.changed(at, mark)
                mark, changed = UNKNOWN, step
        if mark == MEASURED:
            value = (mean / variance + value / of) / (1.0 / variance + 1.0 / of)
            of = 1.0 / (1.0 / variance + 1.0 / of)
        self.held[at] = MEASURED, value, of, step, changed

    def bound(self, at, edge, mark, step):
        before, mean, variance, _, changed = self.get(at)
        beyond = mean - edge if mark == DROP else edge - mean
        if before == mark or (before == MEASURED and beyond <= 4.0 * math.sqrt(variance) + 0.4):
            return
        if before != UNKNOWN:
            self.changed(at, before)
            changed = step
        value = edge
        if mark == DROP:
            around = [
                ((p - at[0]) ** 2 + (q - at[1]) ** 2, max(abs(p - at[0]), abs(q - at[1])), p, q)
                for (p, q), held in self.held.items()
                if held[0] == MEASURED and (p, q) != at
            ]
            around = [some for some in around if some[1] <= 16]
            value = (self.held[min(around)[2:]][1] if around else edge) - 5.0
        self.held[at] = mark, value, (1.0 / 1.96) ** 2, step, changed

    def hide(self, at, edge, _, step):
        mark, mean, variance, seen, changed = self.get(at)
        if mark == MEASURED and mean - 4.0 * math.sqrt(variance + SIGMA**2) > edge:
            self.changed(at, mark)
            self.held[at] = UNKNOWN, mean, variance, seen, step
        around = [(at[0] + i, at[1] + k) for i in (-1, 0, 1) for k in (-1, 0, 1)] if mark == UNKNOWN else []
        for other in around:
            if self.get(other)[0] == MEASURED and self.get(other)[1] - edge > 0.4:
                self.held[at] = DROP, self.get(other)[1] - 5.0, (1.0 / 1.96) ** 2, step, changed
                break


@pytest.mark.parametrize("test", ["innovation", "paper", "none"])
@pytest.mark.parametrize("seed", range(3))
def test_each_sight_changes_what_is_known_as_the_plain_filter_says(seed, test):
    rng, plain = np.random.default_rng(seed), Plain(test)
    beliefs = Elevations(["a"], (SIDE, SIDE), mapping=ElevationMapping(change_test=test))
    for step in range(150):
        shape, corner = rng.integers(1, 7, 2), rng.integers(24, SIDE - 2, 2)
        off = rng.choice([0.02, 0.12, 0.4], shape, p=[0.8, 0.15, 0.05])
        altitude = 7.0 + rng.choice([0.0, 0.0, 0.5, -1.0]) + off * rng.normal(size=shape)
        again = np.where(rng.random(shape) < 0.2, np.nan, altitude + 0.03 * rng.normal(size=shape))
        kind = np.where(rng.random(shape) < 0.8, 1, rng.integers(0, 5, shape))
        see(beliefs, 0, altitude, kind, corner, step, again)
        plain.look(kind, altitude, again, corner, step + 1)
    own, resets = beliefs.team.own[0], beliefs.resets[0]
    for at in np.ndindex(SIDE, SIDE):
        mark, mean, variance, seen, changed = plain.get(at)
        assert (own[at]["mark"], own[at]["changed"], resets[at]) == (mark, changed, plain.resets.get(at, 0)), at
        if mark:
            assert (own[at]["mean"], own[at]["variance"]) == pytest.approx((mean, variance), abs=1e-9)
            assert own[at]["seen"] == seen
    assert len({held[0] for held in plain.held.values()}) == 4
    assert sum(plain.resets.values()) > 20


def look_around(beliefs, rng, steps, robots=3):
    """Let robots see squares here and there, of all kinds, on ground that changes; some tell what they know."""
    for step in range(steps):
        shape, corner = rng.integers(1, 7, 2), rng.integers(20, SIDE - 3, 2)
        for robot in np.flatnonzero(rng.random(robots) < 0.6):  # some at once
            altitude = rng.choice([0.0, 0.3, -2.0]) + 0.005 * rng.normal(size=shape)
            kind = np.where(rng.random(shape) < 0.5, 1, rng.integers(0, 5, shape))
            see(beliefs, robot, altitude, kind, corner, step)
        if step % 7 == 6:
            beliefs.share(rng.random((robots, robots)) < 0.5)


def plainly(own, others):
    """What own evidence and that of others come to: mean, variance, mark, or None when nothing is known.

    What was seen before anybody found the vertex changed does not count. Measurements are weighted by precision; where
    there is none the latest of the others' marks counts, of equally late ones an obstacle, and then the lowest.
    """
    changed = max([0, *(part["changed"] for part in others)])
    known = [own] if own["seen"] >= changed else []
    known += [part for part in others if part["seen"] >= max(changed, own["changed"])]
    known = [part for part in known if part["mark"]]
    measured = [part for part in known if part["mark"] == MEASURED]
    if measured:
        weights = np.array([1.0 / part["variance"] for part in measured])
        return weights @ [part["mean"] for part in measured] / weights.sum(), 1.0 / weights.sum(), MEASURED
    if not known:
        return None
    last = max(known, key=lambda part: (part["seen"], part["mark"], -part["mean"]))
    return last["mean"], last["variance"], last["mark"]


@pytest.mark.parametrize("seed", range(4))
def test_a_map_is_what_its_own_evidence_and_the_newest_of_the_others_come_to(seed):
    rng = np.random.default_rng(seed)
    beliefs = Elevations(["a", "b", "c"], (SIDE, SIDE), mapping=ElevationMapping())
    look_around(beliefs, rng, 90)
    beliefs.share(np.ones((3, 3), bool))
    own = beliefs.team.own
    told = [rounded(evidence) for evidence in own]
    for robot in range(3):
        altitude, variance, marks = (getattr(beliefs[robot], name)() for name in ("altitude", "variance", "marks"))
        for row, column in np.ndindex(SIDE, SIDE):
            others = [told[k][row, column] for k in range(3) if k != robot]
            expected = plainly(own[robot, row, column], others)
            assert marks[row, column] == (expected[2] if expected else 0), (robot, row, column)
            if expected:
                found = altitude[row, column], variance[row, column]
                assert found == pytest.approx(expected[:2], rel=1e-9, abs=1e-9)
    assert len(np.unique(beliefs[0].marks())) == 4


@pytest.mark.parametrize("seed", range(3))
def test_drivable_is_what_differs_little_from_all_that_is_known_around_it(seed):
    rng = np.random.default_rng(seed)
    beliefs = Elevations(["a"], (SIDE, SIDE - 3), mapping=ElevationMapping(max_step_m=0.4))
    look_around(beliefs, rng, 40, robots=1)
    altitude, marks = beliefs[0].altitude(), beliefs[0].marks()
    altitude[SIDE:], altitude[:, SIDE - 3 :] = np.nan, np.nan  # there are no vertices
    around = np.pad(altitude, 1, constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(around, (3, 3))
    steep = (np.abs(windows - altitude[..., None, None]) > 0.4).any(axis=(2, 3))
    expected = np.select([marks == 0, marks > MEASURED], [-1, 100], np.where(steep, 100, 0))
    expected[SIDE:], expected[:, SIDE - 3 :] = 100, 100
    np.testing.assert_array_equal(beliefs[0].occupancy(), expected)
    assert len(np.unique(expected)) == 3


def test_a_drop_lies_below_the_nearest_vertex_that_was_measured_wherever_that_is():
    rng, guessed = np.random.default_rng(6), 0
    for _ in range(60):
        beliefs = Elevations(["a"], (SIDE, SIDE))
        altitude, kind = rng.uniform(-1, 1, (SIDE, SIDE)), (rng.random((SIDE, SIDE)) < 0.006).astype(int)
        row, column = rng.integers(0, SIDE, 2)
        kind[row, column] = 0
        see(beliefs, 0, altitude, kind, (0, 0), 0)
        see(beliefs, 0, np.full((1, 1), -4.0), np.full((1, 1), DROP), (row, column), 1)
        away = np.where(kind == 1, np.maximum(*np.abs(np.indices(kind.shape) - [[[row]], [[column]]])), 99)
        square = np.where(away <= 16, np.square(np.indices(kind.shape) - [[[row]], [[column]]]).sum(axis=0), 9999)
        nearest = altitude[square == square.min()] if square.min() < 9999 else np.array([-4.0])
        assert np.abs(beliefs[0].altitude()[row, column] - (nearest - 5.0)).min() < 1e-9
        guessed += square.min() < 9999
    assert 30 < guessed < 60
