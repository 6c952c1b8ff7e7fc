"""Link models: who hears whom. Each is a record in a file of its own; several of one radio combine."""

from covey.comms.links.disc import Disc, Unlimited
from covey.comms.links.model import LinkModel, LossModel, PowerModel, links

__all__ = ["Disc", "LinkModel", "LossModel", "PowerModel", "Unlimited", "links"]
