"""What a team is to achieve, and how it is scored from the truth: exploration, coverage, patrolling, formation.

What has been explored and covered is counted in every run (`covey.runtime.phases.scoring`); a mission says which of it
the run is about, and adds measurements of its own. To the simulation a mission is anything with the shape of
`covey.missions.protocol.Mission`.
"""

from covey.missions.formation import Formation
from covey.missions.patrolling import Patrolling
from covey.missions.records import MissionRecord, mission_of
from covey.missions.shares import Coverage, Exploration

__all__ = ["Coverage", "Exploration", "Formation", "MissionRecord", "Patrolling", "mission_of"]
