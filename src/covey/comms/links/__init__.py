"""Link models: which robots hear each other. Each is a record in its own file; a radio can combine several."""

from covey.comms.links.disc import Disc, Unlimited
from covey.comms.links.gilbert_elliott import GilbertElliott
from covey.comms.links.line_of_sight import LineOfSight
from covey.comms.links.log_distance import LogDistance
from covey.comms.links.materials import Materials
from covey.comms.links.model import LinkModel, LossModel, PowerModel, links
from covey.comms.links.multi_wall import MultiWall
from covey.comms.links.wall_length import WallLength

__all__ = [
    "Disc",
    "GilbertElliott",
    "LineOfSight",
    "LinkModel",
    "LogDistance",
    "LossModel",
    "Materials",
    "MultiWall",
    "PowerModel",
    "Unlimited",
    "WallLength",
    "links",
]
