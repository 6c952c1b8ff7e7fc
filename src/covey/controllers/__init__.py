"""The shelf of controllers, one file each; `controllers` finds them by name."""

from covey.controllers.connected import connected
from covey.controllers.cost_frontier import cost_frontier
from covey.controllers.cost_utility import cost_utility
from covey.controllers.first_frontier import first_frontier
from covey.controllers.greedy_assignment import greedy_assignment
from covey.controllers.hungarian_assignment import hungarian_assignment
from covey.controllers.iterative_assignment import iterative_assignment
from covey.controllers.leader import leader
from covey.controllers.market import market
from covey.controllers.minpos import minpos
from covey.controllers.nearest_frontier import nearest_frontier
from covey.controllers.next_best_view import next_best_view
from covey.controllers.random_ballistic_walk import random_ballistic_walk
from covey.controllers.rrt_frontier import rrt_frontier
from covey.controllers.still import still
from covey.controllers.wander import Wander
from covey.robots.controller import controller, controllers

__all__ = [
    "Wander",
    "connected",
    "controller",
    "controllers",
    "cost_frontier",
    "cost_utility",
    "first_frontier",
    "greedy_assignment",
    "hungarian_assignment",
    "iterative_assignment",
    "leader",
    "market",
    "minpos",
    "nearest_frontier",
    "next_best_view",
    "random_ballistic_walk",
    "rrt_frontier",
    "still",
]
