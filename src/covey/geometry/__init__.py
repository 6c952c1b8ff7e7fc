"""Poses, angles, grids and rays: the mathematics that all other packages use."""

from covey.geometry.grid import Grid
from covey.geometry.se2 import Pose, wrap_angle

__all__ = ["Grid", "Pose", "wrap_angle"]
