"""The shelf of controllers, one file each; `controllers` finds them by name."""

from covey.controllers.boustrophedon import boustrophedon
from covey.controllers.conscientious_reactive import conscientious_reactive
from covey.controllers.cost_frontier import cost_frontier
from covey.controllers.cyclic_patrol import cyclic_patrol
from covey.controllers.expected_idleness import expected_idleness
from covey.controllers.first_frontier import first_frontier
from covey.controllers.heuristic_conscientious_reactive import heuristic_conscientious_reactive
from covey.controllers.meeting_patrol import meeting_patrol
from covey.controllers.nearest_frontier import nearest_frontier
from covey.controllers.partitioned_patrol import partitioned_patrol
from covey.controllers.random_ballistic_walk import random_ballistic_walk
from covey.controllers.spanning_tree_coverage import spanning_tree_coverage
from covey.controllers.still import still
from covey.controllers.voronoi_coverage import voronoi_coverage
from covey.controllers.wander import Wander
from covey.robots.controller import controller, controllers

__all__ = [
    "Wander",
    "boustrophedon",
    "conscientious_reactive",
    "controller",
    "controllers",
    "cost_frontier",
    "cyclic_patrol",
    "expected_idleness",
    "first_frontier",
    "heuristic_conscientious_reactive",
    "meeting_patrol",
    "nearest_frontier",
    "partitioned_patrol",
    "random_ballistic_walk",
    "spanning_tree_coverage",
    "still",
    "voronoi_coverage",
]
