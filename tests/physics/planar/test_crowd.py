"""Who may touch whom."""

import numpy as np
import pytest

from covey.physics.motion import RADIUS
from covey.physics.planar.crowd import HYSTERESIS_M, _partners, find_pairs, link


@pytest.mark.parametrize("count", [1, 2, 30])
def test_pairs_are_all_that_can_come_so_near_and_remember_who_is_in_contact(count):
    rng, order = np.random.default_rng(count), np.arange(count)
    pose, partners, found = rng.uniform(0, 6, (count, 3)), np.empty((0, 2), np.int64), 0
    limits = np.zeros((count, 12))
    limits[:, RADIUS] = rng.uniform(0.1, 0.6, count)
    world_id = rng.integers(0, 2, count)
    for _ in range(30):
        pose[:, :2] += rng.normal(0, 0.5, (count, 2))
        reach = rng.uniform(0.0, 0.3, count)
        size = limits[:, RADIUS] + reach
        gap = np.hypot(*(pose[:, None, :2] - pose[None, :, :2]).transpose(2, 0, 1)) - size[:, None] - size
        near = (gap <= HYSTERESIS_M) & (world_id[:, None] == world_id)
        lasting = {tuple(pair) for pair in partners.tolist()}
        expected = sorted((i, j, int((i, j) in lasting)) for i, j in np.argwhere(np.triu(near, 1)).tolist())
        pairs = find_pairs(pose, limits, reach, world_id, partners, order)
        assert sorted(map(tuple, pairs.tolist())) == expected
        place = np.argsort(np.lexsort((pose[:, 0], world_id)))[pairs[:, :2]]  # by world, then from left to right
        assert (np.diff(place.min(axis=1) * count + place.max(axis=1)) > 0).all()
        links, first = link(pairs, count)
        for i in range(count):
            rows = [p for p, pair in enumerate(pairs.tolist()) if i in pair[:2]]
            assert sorted(links[first[i] : first[i + 1]].tolist()) == rows
        pairs[:, 2] = rng.random(len(pairs)) < 0.5
        partners = _partners(pairs, count)
        assert (np.diff(partners[:, 0]) >= 0).all()
        assert sorted(map(tuple, partners.tolist())) == sorted((i, j) for i, j, lasts in pairs.tolist() if lasts)
        found += len(partners)
    assert found > 50 or count < 30
