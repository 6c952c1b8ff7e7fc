"""All controllers that ship with Covey; what needs one by name loads only that one, see `covey.registry.Registry`."""

from covey.controllers.basic.commanded import commanded
from covey.controllers.basic.still import still
from covey.controllers.basic.wall_follower import wall_follower
from covey.controllers.basic.wander import Wander
from covey.controllers.coverage.boustrophedon import boustrophedon
from covey.controllers.coverage.brick_and_mortar import brick_and_mortar
from covey.controllers.coverage.partitioned_coverage import partitioned_coverage
from covey.controllers.coverage.random_ballistic_walk import random_ballistic_walk
from covey.controllers.coverage.spanning_tree_coverage import spanning_tree_coverage
from covey.controllers.coverage.ssb import ssb
from covey.controllers.exploration.connected import connected
from covey.controllers.exploration.cost_frontier import cost_frontier
from covey.controllers.exploration.cost_utility import cost_utility
from covey.controllers.exploration.fftnf import fftnf
from covey.controllers.exploration.first_frontier import first_frontier
from covey.controllers.exploration.greed import greed
from covey.controllers.exploration.greedy_assignment import greedy_assignment
from covey.controllers.exploration.hungarian_assignment import hungarian_assignment
from covey.controllers.exploration.iterative_assignment import iterative_assignment
from covey.controllers.exploration.leader import leader
from covey.controllers.exploration.lvd import lvd
from covey.controllers.exploration.market import market
from covey.controllers.exploration.minotaur import minotaur
from covey.controllers.exploration.minpos import minpos
from covey.controllers.exploration.nearest_frontier import nearest_frontier
from covey.controllers.exploration.next_best_view import next_best_view
from covey.controllers.exploration.rrt_frontier import rrt_frontier
from covey.controllers.exploration.tnf import tnf
from covey.controllers.laws.by_radio import LloydByRadio, consensus_by_radio
from covey.controllers.laws.circular_motion import circular_motion
from covey.controllers.laws.consensus import consensus, follow_leaders, rendezvous
from covey.controllers.laws.cyclic_pursuit import cyclic_pursuit
from covey.controllers.laws.evader import Evader
from covey.controllers.laws.flocking import olfati_saber, reynolds, vicsek
from covey.controllers.laws.formations import formation_bearing, formation_displacement, formation_distance
from covey.controllers.laws.go_to import go_to
from covey.controllers.laws.guards import orca_law, safe_law
from covey.controllers.laws.lloyd import lloyd
from covey.controllers.laws.potential_field import PotentialField
from covey.controllers.laws.pursuit import PursuitAndEvasion
from covey.controllers.patrolling.conscientious_reactive import conscientious_reactive
from covey.controllers.patrolling.cyclic_patrol import cyclic_patrol
from covey.controllers.patrolling.expected_idleness import expected_idleness
from covey.controllers.patrolling.heuristic_conscientious_reactive import heuristic_conscientious_reactive
from covey.controllers.patrolling.meeting_patrol import meeting_patrol
from covey.controllers.patrolling.min_max_reactive import min_max_reactive
from covey.controllers.patrolling.partitioned_patrol import partitioned_patrol
from covey.controllers.policies.onnx import Onnx, onnx_each
from covey.controllers.rescue.rescue_leader import rescue_leader
from covey.controllers.rescue.rescue_team import rescue_team
from covey.controllers.rescue.search_plan import search_plan
from covey.controllers.rescue.with_lookout import with_lookout
from covey.controllers.terrain.aerial_scout import AerialScout
from covey.controllers.terrain.terrain_team import TerrainTeam
from covey.onboard.controller import controller, controllers

__all__ = [
    "AerialScout",
    "Evader",
    "LloydByRadio",
    "Onnx",
    "PotentialField",
    "PursuitAndEvasion",
    "TerrainTeam",
    "Wander",
    "boustrophedon",
    "brick_and_mortar",
    "circular_motion",
    "commanded",
    "connected",
    "conscientious_reactive",
    "consensus",
    "consensus_by_radio",
    "controller",
    "controllers",
    "cost_frontier",
    "cost_utility",
    "cyclic_patrol",
    "cyclic_pursuit",
    "expected_idleness",
    "fftnf",
    "first_frontier",
    "follow_leaders",
    "formation_bearing",
    "formation_displacement",
    "formation_distance",
    "go_to",
    "greed",
    "greedy_assignment",
    "heuristic_conscientious_reactive",
    "hungarian_assignment",
    "iterative_assignment",
    "leader",
    "lloyd",
    "lvd",
    "market",
    "meeting_patrol",
    "min_max_reactive",
    "minotaur",
    "minpos",
    "nearest_frontier",
    "next_best_view",
    "olfati_saber",
    "onnx_each",
    "orca_law",
    "partitioned_coverage",
    "partitioned_patrol",
    "random_ballistic_walk",
    "rendezvous",
    "rescue_leader",
    "rescue_team",
    "reynolds",
    "rrt_frontier",
    "safe_law",
    "search_plan",
    "spanning_tree_coverage",
    "ssb",
    "still",
    "tnf",
    "vicsek",
    "wall_follower",
    "with_lookout",
]
