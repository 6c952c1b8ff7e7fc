"""The live page: a server that shows a simulation, or a recorded run, in a browser."""

from covey.viewer.joined import Joined
from covey.viewer.live import Live
from covey.viewer.server import Server

__all__ = ["Joined", "Live", "Server"]
