"""Faces of walls, by hand."""

import numpy as np

from covey.geometry.faces import last_of_cells


def test_a_cell_has_the_last_step_of_its_faces_unless_one_has_none():
    faces = np.array([[0, 1, 0, 5], [0, 1, 1, 9], [2, 0, 3, 4], [2, 0, 2, -1], [1, 1, 0, 0]], np.int32)
    np.testing.assert_array_equal(last_of_cells(faces, (3, 2)), [[-2, 9], [-2, 0], [-1, -2]])
