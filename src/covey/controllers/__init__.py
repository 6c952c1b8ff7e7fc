"""The shelf of controllers, one file each; `controllers` finds them by name."""

from covey.controllers.aerial_scout import AerialScout
from covey.controllers.boustrophedon import boustrophedon
from covey.controllers.brick_and_mortar import brick_and_mortar
from covey.controllers.connected import connected
from covey.controllers.conscientious_reactive import conscientious_reactive
from covey.controllers.cost_frontier import cost_frontier
from covey.controllers.cost_utility import cost_utility
from covey.controllers.cyclic_patrol import cyclic_patrol
from covey.controllers.expected_idleness import expected_idleness
from covey.controllers.fftnf import fftnf
from covey.controllers.first_frontier import first_frontier
from covey.controllers.greed import greed
from covey.controllers.greedy_assignment import greedy_assignment
from covey.controllers.heuristic_conscientious_reactive import heuristic_conscientious_reactive
from covey.controllers.hungarian_assignment import hungarian_assignment
from covey.controllers.iterative_assignment import iterative_assignment
from covey.controllers.leader import leader
from covey.controllers.lvd import lvd
from covey.controllers.market import market
from covey.controllers.meeting_patrol import meeting_patrol
from covey.controllers.min_max_reactive import min_max_reactive
from covey.controllers.minotaur import minotaur
from covey.controllers.minpos import minpos
from covey.controllers.nearest_frontier import nearest_frontier
from covey.controllers.next_best_view import next_best_view
from covey.controllers.partitioned_coverage import partitioned_coverage
from covey.controllers.partitioned_patrol import partitioned_patrol
from covey.controllers.random_ballistic_walk import random_ballistic_walk
from covey.controllers.rrt_frontier import rrt_frontier
from covey.controllers.spanning_tree_coverage import spanning_tree_coverage
from covey.controllers.ssb import ssb
from covey.controllers.still import still
from covey.controllers.terrain_team import TerrainTeam
from covey.controllers.tnf import tnf
from covey.controllers.wall_follower import wall_follower
from covey.controllers.wander import Wander
from covey.robots.controller import controller, controllers

__all__ = [
    "AerialScout",
    "TerrainTeam",
    "Wander",
    "boustrophedon",
    "brick_and_mortar",
    "connected",
    "conscientious_reactive",
    "controller",
    "controllers",
    "cost_frontier",
    "cost_utility",
    "cyclic_patrol",
    "expected_idleness",
    "fftnf",
    "first_frontier",
    "greed",
    "greedy_assignment",
    "heuristic_conscientious_reactive",
    "hungarian_assignment",
    "iterative_assignment",
    "leader",
    "lvd",
    "market",
    "meeting_patrol",
    "min_max_reactive",
    "minotaur",
    "minpos",
    "nearest_frontier",
    "next_best_view",
    "partitioned_coverage",
    "partitioned_patrol",
    "random_ballistic_walk",
    "rrt_frontier",
    "spanning_tree_coverage",
    "ssb",
    "still",
    "tnf",
    "wall_follower",
]
