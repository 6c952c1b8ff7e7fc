"""The shelf of controllers, one file each; `controllers` finds them by name."""

from covey.controllers.brick_and_mortar import brick_and_mortar
from covey.controllers.cost_frontier import cost_frontier
from covey.controllers.fftnf import fftnf
from covey.controllers.first_frontier import first_frontier
from covey.controllers.greed import greed
from covey.controllers.lvd import lvd
from covey.controllers.minotaur import minotaur
from covey.controllers.nearest_frontier import nearest_frontier
from covey.controllers.random_ballistic_walk import random_ballistic_walk
from covey.controllers.ssb import ssb
from covey.controllers.still import still
from covey.controllers.tnf import tnf
from covey.controllers.wall_follower import wall_follower
from covey.controllers.wander import Wander
from covey.robots.controller import controller, controllers

__all__ = [
    "Wander",
    "controller",
    "controllers",
    "brick_and_mortar",
    "cost_frontier",
    "fftnf",
    "first_frontier",
    "greed",
    "lvd",
    "minotaur",
    "nearest_frontier",
    "random_ballistic_walk",
    "ssb",
    "still",
    "tnf",
    "wall_follower",
]
