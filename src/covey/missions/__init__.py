"""What a team is to achieve, and how it is scored from the truth: exploration, coverage, patrolling, formation.

What has been explored and covered is counted in every run; the mission of a run adds measurements of its own, says when
the goal is reached, and takes orders. A mission of your own derives `Mission`, and begins a `Tracker`.
"""

from covey.missions.coverage import Coverage
from covey.missions.exploration import Exploration
from covey.missions.formation import Formation
from covey.missions.patrolling import Patrolling
from covey.missions.protocol import Mission, MissionContext, Tracker, missions

__all__ = [
    "Coverage",
    "Exploration",
    "Formation",
    "Mission",
    "MissionContext",
    "Patrolling",
    "Tracker",
    "missions",
]
