"""How the surface lies that a beam ends on, and which cells are wall then."""

import math

import numpy as np
import pytest
import shapely

from covey.geometry.beams import beam_directions
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.occupancy.evidence import _surface
from covey.mapping.records import Mapping


@pytest.mark.parametrize("seed", range(5))
def test_the_way_through_a_surface_is_one_over_the_sine_of_the_wider_angle_to_the_returns_beside(seed):
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.uniform(-3, 3, 60))
    ranges = rng.uniform(0.5, 6.0, 60) * rng.choice([1.0, math.inf, math.nan, -1.0], 60, p=[0.8, 0.1, 0.05, 0.05])
    directions, found = beam_directions(angles), []
    ends = ranges[:, None] * directions
    for i in np.flatnonzero(np.isfinite(ranges) & (ranges > 0)):
        sines = [0.0]
        for j in (i - 1, i + 1) if 0 < i < 59 else ():
            if math.isfinite(ranges[j]) and ranges[j] > 0:
                surface = shapely.LineString([ends[i] - 99 * (ends[j] - ends[i]), ends[i] + 99 * (ends[j] - ends[i])])
                sines.append(surface.distance(shapely.Point(0, 0)) / ranges[i])
        expected = min(1.0 / max(sines), 20.0) if len(sines) > 1 else 1.0
        assert _surface(directions, ranges, i)[0] == pytest.approx(expected, rel=1e-6)
        found.append(expected)
    assert min(found) == 1.0 < max(found)


DIRECTIONS = beam_directions(np.radians([-1.0, 0.0, 1.0]))
WALL = 1.0 / (DIRECTIONS @ (math.cos(1.0), math.sin(1.0)))  # 1 m away, its normal 1 rad to the left of the beam


def test_a_straight_wall_leans_by_its_angle():
    # its tangent is (-sin 1, cos 1): it comes nearer by tan 1 while it goes to the left by 1
    assert _surface(DIRECTIONS, WALL, 1) == (pytest.approx(1.0 / math.cos(1.0)), pytest.approx(-math.tan(1.0)))
    assert _surface(DIRECTIONS[::-1], WALL[::-1].copy(), 1)[1] == pytest.approx(
        -math.tan(1.0)
    )  # a lidar that turns right


@pytest.mark.parametrize("ranges", [(5.0, 1.0, 5.0), (WALL[0], WALL[1], 5.0), (0.9, 1.0, 0.9)])
def test_a_post_the_jamb_of_a_door_and_a_corner_do_not_lean(ranges):
    assert _surface(DIRECTIONS, np.array(ranges), 1)[1] == 0.0


@pytest.mark.parametrize("none", [math.inf, math.nan, 0.0])
@pytest.mark.parametrize("beside", [0, 2])
def test_one_neighbour_says_how_long_the_way_through_a_wall_is_but_does_not_turn_it(beside, none):
    ranges = WALL.copy()
    ranges[beside] = none
    assert _surface(DIRECTIONS, ranges, 1) == (pytest.approx(1.0 / math.cos(1.0)), 0.0)


@pytest.mark.parametrize("turned", [0.0, 0.3, math.pi / 4, 1.2])
@pytest.mark.parametrize("depth", [0.1, 0.45, 0.7])
def test_a_cell_is_wall_if_its_centre_lies_behind_the_wall_however_the_wall_lies(turned, depth):
    # A robot drives 0.7 m beside a wall whose face lies anywhere in the cells, and sees most of it at a grazing angle.
    belief = Beliefs(["scout"], (32.0, 32.0), (-16.0, -16.0), Mapping(resolution_m=0.2))
    ahead = np.array((math.cos(turned), math.sin(turned)))
    inward = np.array((-math.sin(turned), math.cos(turned)))
    angles = np.radians(np.linspace(-95, 95, 191))
    with np.errstate(divide="ignore"):
        ranges = np.where(angles > 0, 0.7 / np.sin(angles), np.inf)
    ranges[(angles > 0) & (ranges > 10.0)] = math.nan
    for x in np.arange(-5.0, 5.0, 0.12):
        x_m, y_m = x * ahead + (0.2 * depth - 0.7) * inward
        belief.update(np.array([0]), np.array([(x_m, y_m, turned)]), ranges[None], angles, (0, 0, 0), 10.0, 0)
    centres = belief.grid.to_world(np.argwhere(np.ones(belief.grid.shape)).astype(float))
    here = np.abs(centres @ ahead) < 4.0
    behind, states = (centres @ inward)[here] / 0.2 - depth, belief[0].occupancy().ravel()[here]  # behind: in cells
    assert behind[states == 100].min() > -0.011  # a tie is wall
    assert behind[states == 0].max() < 0.0
    front = (behind > 0.05) & (behind < np.abs(inward).sum() - 0.05)  # the cells that begin within half a cell
    assert front.any()
    assert (states[front] == 100).all()


@pytest.mark.parametrize("turned", [0.0, 0.3, math.pi / 4, 1.2])
def test_a_wall_at_a_grazing_angle_has_no_gap_that_looks_like_a_frontier(turned):
    # One scan of a wall 0.7 m away, whose face lies 0.7 of a cell behind the border of cells, at 35 to 7 degrees.
    belief = Beliefs(["scout"], (32.0, 32.0), (-16.0, -16.0), Mapping(resolution_m=0.2))
    ahead = np.array((math.cos(turned), math.sin(turned)))
    inward = np.array((-math.sin(turned), math.cos(turned)))
    angles = np.radians(np.arange(4.0, 90.0, 0.02))  # so many beams that one ends in each cell
    pose = (*(0.7 * 0.2 - 0.7) * inward, turned)
    belief.update(np.array([0]), np.array([pose]), 0.7 / np.sin(angles)[None], angles, (0, 0, 0), 12.0, 0)
    centres = belief.grid.to_world(np.argwhere(np.ones(belief.grid.shape)).astype(float))
    along, behind = centres @ ahead, centres @ inward / 0.2 - 0.7
    front = (behind > 0.05) & (behind < np.abs(inward).sum() - 0.05)
    assert (belief[0].occupancy().ravel()[front & (along > 1.0) & (along < 6.0)] == 100).all()
