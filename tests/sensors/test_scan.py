"""Fans of rays against walls and bodies."""

import math

import numpy as np
import pytest
from tests.references.sensors import scan_reference

from covey.sensors.scan import scan
from covey.sensors.sensor import fan_angles

CENTRE = np.zeros(3)


@pytest.mark.parametrize("fov", [90, 190, 359, 360])
@pytest.mark.parametrize("rays", [1, 2, 7, 64])
def test_the_same_distances_as_every_ray_against_every_disc(make_truth, fov, rays):
    random = np.random.default_rng(rays)
    solid = random.random((60, 60)) < 0.01
    pose = np.column_stack((random.uniform(0.2, 5.8, (25, 2)), random.uniform(-4, 4, 25)))
    truth = make_truth(pose, solid, discs=[[0.1, 0.0, 0.12], [-0.1, 0.05, 0.15]])
    members, mount = np.array([3, 0, 24, 11]), np.array([0.3, -0.1, 0.5])
    for sees_robots in (True, False):
        arguments = (truth, members, mount, fan_angles(rays, math.radians(fov)), 4.0, sees_robots)
        np.testing.assert_allclose(scan(*arguments), scan_reference(*arguments), rtol=0, atol=1e-9)


def test_a_robot_ahead_is_seen_by_the_rays_that_meet_its_circle(make_truth):
    """A circle of radius r at distance d: rays within asin(r / d); at angle a the distance solves the cosine rule."""
    truth = make_truth([[0, 0, 0.3], [3 * math.cos(0.3), 3 * math.sin(0.3), 0]], radius=0.5)
    angles = fan_angles(181, math.pi)
    got = scan(truth, np.array([0]), CENTRE, angles, 10.0, True)[0]
    expected = np.full(181, 10.0)
    hit = np.abs(angles) <= math.asin(0.5 / 3)
    expected[hit] = 3 * np.cos(angles[hit]) - np.sqrt(0.25 - (3 * np.sin(angles[hit])) ** 2)
    np.testing.assert_allclose(got, expected, atol=1e-12)
    assert 15 < hit.sum() < 25


@pytest.mark.parametrize("bearing", [math.pi, -math.pi, math.pi - 0.02, -math.pi + 0.02, 0.0])
def test_a_robot_across_the_seam_of_a_full_circle_is_seen_from_both_ends(make_truth, bearing):
    truth = make_truth([[0, 0, 0], [2 * math.cos(bearing), 2 * math.sin(bearing), 0]])
    angles = fan_angles(360, 2 * math.pi)
    seen = angles[scan(truth, np.array([0]), CENTRE, angles, 5.0, True)[0] < 5.0]
    off = np.abs((seen - bearing + math.pi) % (2 * math.pi) - math.pi)
    assert len(seen) in (11, 12)  # 2 asin(0.1) = 11.48 degrees
    assert off.max() <= math.asin(0.1)


def test_the_nearer_of_wall_and_body_hides_the_other(make_truth):
    solid = np.zeros((20, 60), bool)
    solid[:, 30] = True
    before = make_truth([[0.55, 1.05, 0], [2.05, 1.05, 0]], solid)
    behind = make_truth([[0.55, 1.05, 0], [4.05, 1.05, 0]], solid)
    ahead = np.zeros(1)
    assert scan(before, np.array([0]), CENTRE, ahead, 9.0, True)[0, 0] == pytest.approx(1.3)
    assert scan(before, np.array([0]), CENTRE, ahead, 9.0, False)[0, 0] == pytest.approx(2.45)
    assert scan(behind, np.array([0]), CENTRE, ahead, 9.0, True)[0, 0] == pytest.approx(2.45)


def test_the_own_body_is_transparent_and_inside_another_everything_is_at_zero(make_truth):
    truth = make_truth([[0, 0, 0], [0.3, 0, 0]], radius=0.25)
    angles = fan_angles(8, 2 * math.pi)
    assert np.all(scan(make_truth([[0, 0, 0]]), np.array([0]), CENTRE, angles, 5.0, True) == 5.0)
    assert np.all(scan(truth, np.array([0]), np.array([0.2, 0, 0]), angles, 5.0, True) == 0.0)


def test_an_angle_of_view_has_a_ray_on_both_edges_and_a_circle_has_no_double():
    np.testing.assert_allclose(fan_angles(3, math.pi), [-math.pi / 2, 0, math.pi / 2])
    np.testing.assert_allclose(fan_angles(4, 2 * math.pi), [-math.pi, -math.pi / 2, 0, math.pi / 2])
    assert fan_angles(1, 1.0).tolist() == [0.0]
