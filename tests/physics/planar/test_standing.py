"""How bodies of the plane stand on a ground."""

import numpy as np
from scipy.spatial.transform import Rotation

from covey.physics.planar.standing import stand
from covey.world.ground import Ground


def test_a_body_stands_on_the_triangle_below_it_and_looks_where_its_heading_points():
    rng = np.random.default_rng(3)
    ground = Ground.of(rng.uniform(-1, 1, (20, 25)), 0.7)
    pose = np.column_stack((rng.uniform((-9, -7), (9, 7), (200, 2)), rng.uniform(-4, 4, 200)))  # some beyond the edge
    out = np.full((200, 3), np.nan)
    stand(ground, pose, out)
    np.testing.assert_allclose(out[:, 0], ground.altitude_at(pose[:, :2]))
    turn = Rotation.from_euler("ZYX", np.column_stack((pose[:, 2], out[:, 2], out[:, 1])))
    up = np.array([ground.normal_at(tuple(place)) for place in pose[:, :2]])
    np.testing.assert_allclose(turn.apply((0.0, 0.0, 1.0)), up, atol=1e-12)


def test_without_a_ground_nothing_is_written():
    out = np.full((2, 3), 7.0)
    stand(None, np.zeros((2, 3)), out)
    assert (out == 7.0).all()
