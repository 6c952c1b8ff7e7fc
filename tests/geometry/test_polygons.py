import numpy as np
import shapely

from covey.geometry.polygons import contains

L_SHAPE = np.array([(0, 0), (4, 0), (4, 1), (1, 1), (1, 3), (0, 3)], float)


def test_the_same_points_as_shapely():
    points = np.random.default_rng(1).uniform(-1, 5, (4000, 2))
    for polygon in (L_SHAPE, L_SHAPE[::-1]):
        assert (contains(polygon, points) == shapely.contains_xy(shapely.Polygon(polygon), points)).all()
