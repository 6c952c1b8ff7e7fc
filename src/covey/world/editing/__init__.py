"""Worlds that change: doors, walls, obstacles, craters."""
