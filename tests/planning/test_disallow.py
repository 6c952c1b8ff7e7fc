"""Bearing-disallow: the widths of both laws, and the bearing that is taken."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.planning.disallow import allowed_bearings, arc_width


def degrees(distance_m, law, **parameters):
    return math.degrees(arc_width(distance_m, law, **parameters))


def test_the_arc_begins_at_two_metres_and_is_a_wall_at_one():
    for law in ("inverse", "linear"):
        assert [degrees(d, law) for d in (5.0, 2.0, 1.0, 0.3)] == pytest.approx([0, 0, 180, 180])
    # 360° / d - 180°, and 180° (2 - d).
    for d in (1.1, 1.25, 1.5, 1.9):
        assert degrees(d, "inverse") == pytest.approx(360 / d - 180)
        assert degrees(d, "linear") == pytest.approx(180 * (2 - d))


def test_the_distances_and_the_greatest_width_can_be_set():
    narrow = {"d_outer_m": 1.0, "d_inner_m": 0.5, "w_max": math.radians(120)}
    for law in ("inverse", "linear"):
        assert [degrees(d, law, **narrow) for d in (1.0, 0.5)] == pytest.approx([0, 120])
    assert degrees(0.75, "linear", **narrow) == pytest.approx(60)
    assert degrees(0.75, "inverse", **narrow) == pytest.approx(120 * (1 / 0.75 - 1) / (2 - 1))


def test_a_mate_beside_the_way_is_passed_on_the_nearer_side():
    assert allowed_bearings(0.0, [(0.2, 1.0)])[0] == pytest.approx(-0.3)
    assert allowed_bearings(3.1, [(-3.1, 0.6)])[0] == pytest.approx(
        2 * math.pi - 3.1 - 0.3
    )  # across the seam at ± 180°


def test_between_two_mates_there_is_no_way_through():
    two = [(0.3, 1.0), (-0.3, 1.0)]
    assert allowed_bearings(0.0, two)[:2] == pytest.approx([-0.8, 0.8])
    assert allowed_bearings(0.0, [(0.0, math.pi), (math.pi, math.pi + 0.01)]) == []


angles = st.floats(-math.pi, math.pi)


@given(angles, st.lists(st.tuples(angles, st.floats(0.0, math.pi)), max_size=6))
def test_no_bearing_in_an_arc_and_none_nearer_is_free(desired, arcs):
    def free(bearing):
        return all(w == 0 or abs(math.remainder(bearing - m, math.tau)) >= 0.5 * w - 1e-6 for m, w in arcs)

    found = allowed_bearings(desired, arcs)
    assert all(free(b) for b in found)
    best = abs(found[0] - desired) if found else math.pi
    for k in range(1, 200):
        off = k / 200 * best
        if off < best - 1e-3:
            assert not free_strictly(desired + off, arcs)
            assert not free_strictly(desired - off, arcs)


def free_strictly(bearing, arcs):
    return all(w == 0 or abs(math.remainder(bearing - m, math.tau)) > 0.5 * w + 1e-6 for m, w in arcs)
