"""Kinds of knowledge about a vertex of the ground."""

UNKNOWN, MEASURED, DROP, OBSTACLE = 0, 1, 2, 3
"""None; measured; below the visible range; above it."""
