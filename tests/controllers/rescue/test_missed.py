"""What cameras have missed: patches of walls, chances by hand, and places that see most."""

import math

import numpy as np
import pytest
from tests.references.controllers import cover_reference, sights_reference

from covey.controllers.rescue.missed import Eye, Missed, Sights
from covey.geometry.grid import Grid
from covey.robots.catalogue import turtlebot3_waffle_pi

EYE = Eye(
    half=math.radians(30),
    range_m=4.0,
    least_cosine=math.cos(math.radians(60)),
    near=1.0,
    far=0.5,
    slant=1.0,
    blur=1.0,
    mount=(0.0, 0.0, 0.0),
)


def room(width=80, height=80):
    """A room of 4 x 4 m in cells of 5 cm, with walls of two cells."""
    occupancy = np.zeros((height, width), np.int8)
    occupancy[:2] = occupancy[-2:] = occupancy[:, :2] = occupancy[:, -2:] = 100
    return occupancy, Missed(Grid(occupancy, 0.05), EYE)


def test_a_look_lowers_the_chance_of_what_is_in_sight_and_of_nothing_else():
    occupancy, missed = room()
    missed.add_sample(occupancy, (2.0, 2.0, 0.0))
    i = int(2.0 / 0.25)
    east = missed.missed[i, -1, 2]  # the wall in the east shows its western side
    assert east == pytest.approx(1 - 0.7 * (1.0 - 0.5 * 1.9 / 4.0), abs=0.02)  # 1.9 m away; samples count for 0.7
    seen = np.argwhere(missed.missed < 1.0)
    assert set(seen[:, 2].tolist()) == {2}
    y = (seen[:, 0] + 0.5) * 0.25
    assert np.abs(y - 2.0).max() <= 1.9 * math.tan(math.radians(30)) + 0.25
    missed.add_sample(occupancy, (2.0, 2.0, 0.0))
    assert missed.missed[i, -1, 2] == pytest.approx(east**2)


def test_a_look_that_counts_for_three_samples_leaves_what_three_leave():
    occupancy, once = room()
    _, thrice = room()
    once.add_sample(occupancy, (1.4, 2.3, 0.7), samples=3.0)
    for _ in range(3):
        thrice.add_sample(occupancy, (1.4, 2.3, 0.7))
    assert (once.missed < 0.3).any()
    np.testing.assert_allclose(once.missed, thrice.missed, rtol=1e-12)


def test_blur_range_and_incidence_limit_a_look():
    occupancy, missed = room()
    missed.add_sample(occupancy, (2.0, 2.0, 0.0), turn_rate=2.0)
    assert missed.missed.min() == pytest.approx(1 - 0.35 * (1.0 - 0.5 * 1.9 / 4.0), abs=0.02)
    _, steep = room()
    steep.add_sample(occupancy, (0.2, 3.8, math.radians(-1)))  # along the wall in the north
    assert not (steep.missed[..., 0] < 1.0).any()
    wide, far = room(width=160)
    far.add_sample(wide, (2.0, 2.0, 0.0))  # the wall is 5.9 m away
    assert (far.missed == 1.0).all()


def test_what_was_seen_moves_with_the_pose_from_which_it_was_seen():
    """Half a metre east and a quarter north, and a quarter turn: what the right poses would have seen."""
    occupancy, missed = room()
    _, right = room()
    for time_s, pose in ((1.0, (1.75, 1.5, 0.0)), (2.0, (2.0, 2.0, 1.6)), (3.0, (2.0, 2.0, math.pi))):
        missed.add_sample(occupancy, pose, time_s=time_s)
    missed.add_sample(occupancy, (2.0, 2.0, -1.6))  # of a mate
    motion = (0.0, -1.0, 0.0)  # the wall in the east, to y - 1
    missed.follow(np.array([[0.5, 1.5, *motion]]))
    right.add_sample(occupancy, (1.75, 0.5, 0.0))
    for pose in ((2.0, 2.0, 1.6), (2.0, 2.0, math.pi), (2.0, 2.0, -1.6)):
        right.add_sample(occupancy, pose)
    np.testing.assert_array_equal(missed.missed[1:], right.missed[1:])
    for _ in range(8):  # small corrections add up: the wall in the north by half a metre to the west
        missed.follow(np.array([[1.5, 2.5, -0.0625, 0.0, 0.0]]))
    _, north = room()
    north.add_sample(occupancy, (1.5, 2.0, 1.6))
    np.testing.assert_array_equal(missed.missed[-1, :, 0], north.missed[-1, :, 0])
    _, turned = room()
    turned.add_sample(occupancy, (2.0, 2.0, 0.1), time_s=1.0)
    before = np.argwhere(turned.missed[..., 2] < 1.0)
    turned.follow(np.array([[0.0, math.inf, 4.0, 0.0, math.pi / 2]]))  # about (2, 2)
    after = np.argwhere(turned.missed[..., 2] < 1.0)
    np.testing.assert_array_equal(np.sort(after[:, 1]), np.sort(15 - before[:, 0]))
    assert (after[:, 0] >= 15).all()


def test_unknown_cells_hide_walls():
    occupancy, missed = room()
    occupancy[:, 60:70] = -1
    missed.add_sample(occupancy, (2.0, 2.0, 0.0))
    assert (missed.missed == 1.0).all()


def test_the_cover_takes_the_place_that_sees_most_and_then_only_what_is_left():
    occupancy, missed = room()
    cells = np.array([[40, 40], [40, 41], [4, 4]])
    sights = missed.sights(occupancy, cells, share=1.0)
    gains = sights.gains(missed.missed)
    assert gains[0] > gains[2]
    cost = np.array([1.0, 1.0, 0.1])
    chosen = sights.cover(missed.missed, 5, 0.5, cost)
    assert chosen[0] == (2, pytest.approx(gains[2]))  # sees less, and costs much less
    alone = sights.cover(missed.missed, 5, 0.5, np.ones(3))
    assert alone[0][1] == pytest.approx(gains.max())
    total = np.unique(sights.patches[sights.patches >= 0]).size
    assert sum(gain for _, gain in chosen) <= total + 1e-9
    missed.missed[:] = 0.0
    assert sights.cover(missed.missed, 5, 0.5, cost) == []
    missed.forget(2.0, 4.0, 0.3)
    assert sights.gains(missed.missed)[0] > 0


@pytest.mark.parametrize("most", [3, 200])
@pytest.mark.parametrize("has_cost", [True, False])
def test_the_cover_is_that_of_plain_numpy(most, has_cost):
    random = np.random.default_rng(5)
    patches = random.integers(-1, 400, (60, 30))
    patches[:, 20:] = -1
    for row in patches:  # a place sees a patch once
        row[np.setdiff1d(np.arange(30), np.unique(row, return_index=True)[1])] = -1
    sights = Sights(patches, np.zeros(30))
    missed = random.integers(0, 5, 400) / 4.0  # exact sums, and many ties
    cost = random.uniform(0.5, 3.0, 60) if has_cost else None
    for least in (0.5, random.uniform(0.5, 8.0, 60)):
        assert sights.cover(missed, most, least, cost) == cover_reference(sights, missed, most, least, cost)


def test_a_place_needs_its_own_least_gain():
    sights, missed = Sights(np.array([[0, 1, -1], [2, 3, 4]]), np.zeros(3)), np.ones(5)
    assert sights.cover(missed, 5, np.array([2.0, 3.5])) == [(0, 2.0)]
    assert sights.cover(missed, 5, np.array([2.5, 3.0])) == [(1, 3.0)]


def test_a_wall_known_from_its_other_side_alone_is_to_be_searched():
    """The three cells before it are unknown: no beam has met this side yet."""
    occupancy, missed = room()
    occupancy[:, 75:78] = -1
    here = np.array([[40, 40]])
    east = np.ravel_multi_index((8, missed.missed.shape[1] - 1, 2), missed.missed.shape)
    assert east in missed.sights(occupancy, here).patches
    missed.add_sample(occupancy, (2.0, 2.0, 0.0))
    assert missed.missed.ravel()[east] < 1.0
    occupancy[:, 60:63] = -1  # unknown with free cells behind it: who knows what is there
    assert east not in missed.sights(occupancy, here).patches


def test_sights_are_those_of_rays_that_are_marched_one_by_one():
    """From places in the middle, in corners and beside the border of a map with walls, gaps and unknown cells."""
    random = np.random.default_rng(3)
    occupancy = np.where(random.random((70, 90)) < 0.01, 100, 0).astype(np.int8)
    occupancy[random.random((70, 90)) < 0.03] = -1
    occupancy[20:24, 30:60] = -1
    occupancy[24:26, 20:70] = 100
    missed = Missed(Grid(occupancy, 0.05), EYE)
    missed.tile = 1  # a patch is one face
    missed.missed, missed._stamp = np.ones((70, 90, 4)), np.zeros((70, 90, 4), np.int64)
    cells = np.array([[0, 0], [69, 89], [10, 40], [30, 45], [22, 45], [35, 5], *random.integers(0, 70, (6, 2))])
    for share in (1.0, 0.3):
        sights = missed.sights(occupancy, cells, share)
        for cell, patches in zip(cells, sights.patches, strict=True):
            met = sights_reference(occupancy, cell, share * 80.0, EYE.least_cosine)
            expected = list(dict.fromkeys((r * 90 + c) * 4 + side for _, r, c, side in met))
            assert patches[patches >= 0].tolist() == expected
            rays = {(r * 90 + c) * 4 + side: k for k, r, c, side in reversed(met)}
            assert sights.angles[patches >= 0] == pytest.approx([math.tau * rays[p] / 120 - math.pi for p in expected])


def test_of_a_place_that_was_seen_from_the_south_only_sides_that_can_be_read_from_there_are_forgotten():
    """Who stands behind the wall would look at it in vain, again and again."""
    _, missed = room()
    missed.missed[:] = 0.0
    missed.forget(2.0, 2.0, 0.1, [-math.pi / 2 + 0.2])
    assert set(np.argwhere(missed.missed > 0.0)[:, 2].tolist()) == {0}
    missed.forget(2.0, 2.0, 0.1, [math.radians(-50)])  # 40 degrees off south, 50 off east
    assert set(np.argwhere(missed.missed > 0.0)[:, 2].tolist()) == {0, 3}
    missed.forget(2.0, 2.0, 0.1)
    assert set(np.argwhere(missed.missed > 0.0)[:, 2].tolist()) == {0, 1, 2, 3}


def test_walls_that_a_camera_can_only_just_read_are_not_counted():
    """A target at the far end of the patch would be too steep."""
    eye = Eye.of(turtlebot3_waffle_pi().sensors[-1])
    assert math.degrees(math.acos(eye.least_cosine)) == pytest.approx(57.0)


def test_a_patch_that_is_only_in_part_in_view_does_not_count():
    """0.7 m before a wall a patch spans 20 degrees; the view ends at 2.15 m, within one of them."""
    occupancy, missed = room()
    x, y = 3.2, 2.15 - 0.7 * math.tan(math.radians(30))
    missed.add_sample(occupancy, (x, y, 0.0))
    seen = np.flatnonzero(missed.missed[:, -1, 2] < 1.0)
    assert 0.25 * (seen.max() + 1) == pytest.approx(2.0)  # the next one, from 2.0 m to 2.25 m, is left
    missed.add_sample(occupancy, (x, y + 0.15, 0.0))
    assert missed.missed[8, -1, 2] < 1.0
