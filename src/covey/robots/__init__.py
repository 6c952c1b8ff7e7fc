"""Robots: bodies, drives, the catalogue, the state of a team, and onboard computers."""

from covey.robots.catalogue import (
    aerial_scout,
    disc,
    maes,
    pioneer3dx,
    skid_steer,
    tracked,
    turtlebot3_burger,
    turtlebot3_waffle,
    turtlebot3_waffle_pi,
)
from covey.robots.model import RobotModel

__all__ = [
    "RobotModel",
    "aerial_scout",
    "disc",
    "maes",
    "pioneer3dx",
    "skid_steer",
    "tracked",
    "turtlebot3_burger",
    "turtlebot3_waffle",
    "turtlebot3_waffle_pi",
]
