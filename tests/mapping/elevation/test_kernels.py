"""What measurements come to, vertex by vertex, against plain models."""

import numpy as np
import pytest

from covey.mapping.elevation.belief import Elevations
from covey.mapping.elevation.kernels import DROP, MEASURED
from covey.mapping.elevation.versions import rounded
from covey.mapping.records import ElevationMapping
from covey.sensors.wedge import WedgeReadings, Windows

SIGMA, SIDE = 0.02, 40
NOWHERE = np.zeros((1, 3))


def see(beliefs, robot, altitude, kind, corner, step):
    """Let a robot take in what a wedge tells of a square of vertices."""
    windows = Windows(np.array([corner]), np.array([0.0, 0.0, 1.0]), NOWHERE)
    told = WedgeReadings.inside(windows, kind.astype(np.uint8)[None], altitude[None], altitude[None], SIGMA)
    told.into(beliefs, np.array([robot]), np.array([0]), NOWHERE, step)


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
    own = beliefs._team.own
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
