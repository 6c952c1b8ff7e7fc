"""The view of a group: bearings, distances and offsets against complex numbers."""

import math

import numpy as np

from covey.onboard.group_view import GroupFacts, GroupView
from covey.robots import disc


def test_bearings_distances_and_offsets_are_those_of_the_complex_plane():
    random = np.random.default_rng(3)
    pose = np.column_stack((random.uniform(-5, 5, (40, 2)), random.uniform(-math.pi, math.pi, 40)))
    names = tuple(f"r{i}" for i in range(40))
    view = GroupView(GroupFacts("r", names, disc(), 0.1, np.zeros((0, 2)), 0))
    view.at(0.0, {"pose": pose})
    at = pose[:, 0] + 1j * pose[:, 1]
    for target, places in ((view.after(7), np.roll(at, -7)), ((1.0, -2.0), np.full(40, 1.0 - 2.0j))):
        own = (places - at) * np.exp(-1j * pose[:, 2])
        np.testing.assert_allclose(view.bearing_to(target), np.angle(own), atol=1e-12)
        np.testing.assert_allclose(view.distance_to(target), np.abs(own), atol=1e-12)
        np.testing.assert_allclose(view.offset_to(target), np.column_stack((own.real, own.imag)), atol=1e-12)
