"""Tags that are left, read and removed, beside a plain list of them."""

import math
from collections import Counter

import numpy as np
import pytest

import covey
from covey.comms.tags import Tag, TagField, Tags


class Watched:
    """A tag that counts how often its place is read."""

    def __init__(self, k, reads):
        self.k, self.reads, self.end_s = k, reads, math.inf

    @property
    def x(self):
        self.reads[self.k] += 1
        return 0.1 * self.k

    y = 0.0


def test_leaving_a_tag_does_not_read_the_others_again():
    field, reads = TagField(Tags()), Counter()
    for k in range(300):
        field.leave(Watched(k, reads))
    assert [reads[k] for k in range(300)] == [1] * 300


@pytest.mark.parametrize("seed", range(3))
def test_the_tags_in_reach_are_those_of_a_plain_list(seed):
    rng = np.random.default_rng(seed)
    world = covey.World.empty(20, 20, resolution_m=0.5)
    field, plain = TagField(Tags(range_m=4.0, blocked_by_walls=False)), []
    for step in range(200):
        for _ in range(rng.integers(0, 3)):
            x, y, lifetime_s = *rng.uniform(-8, 8, 2), rng.choice([5.0, 40.0, math.inf])
            tag = Tag(float(x), float(y), {"number": len(plain)}, "r0", float(step), step + float(lifetime_s))
            plain.append(tag)
            field.leave(tag)
        field.expire(float(step))
        present = [tag for tag in plain if tag.end_s > step]
        assert field.tags == present
        pose = np.array([*rng.uniform(-8, 8, 2), 0.0])
        near = [(math.hypot(t.x - pose[0], t.y - pose[1]), t.content["number"]) for t in present]
        found = field.read(pose, float(step), world.skip, world.grid.frame)
        assert [tag.content["number"] for tag in found] == [k for away, k in sorted(near) if away <= 4.0]
