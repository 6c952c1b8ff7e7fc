"""Missions of a team, and their scores from the truth: exploration, coverage, patrolling, formation, navigation,
dispersion, pursuit, rescue.

Every run measures the explored and the covered area. The mission of a run adds its own measurements, decides when the
goal is reached, and accepts orders. To write a mission, derive from `Mission`, and return a `Tracker` from ``begin``.
"""

from covey.missions.coverage import Coverage
from covey.missions.dispersion import Dispersion
from covey.missions.exploration import Exploration
from covey.missions.formation import Formation
from covey.missions.navigation import Navigation
from covey.missions.patrolling import Patrolling
from covey.missions.protocol import Mission, MissionContext, Tracker, missions
from covey.missions.pursuit import PursuitMission
from covey.missions.referee import Judgement
from covey.missions.rescue import Rescue

__all__ = [
    "Coverage",
    "Dispersion",
    "Exploration",
    "Formation",
    "Judgement",
    "Mission",
    "MissionContext",
    "Navigation",
    "Patrolling",
    "PursuitMission",
    "Rescue",
    "Tracker",
    "missions",
]
