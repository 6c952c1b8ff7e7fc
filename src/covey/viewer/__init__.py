"""The live page: a server that shows a simulation, or a recorded run, in a browser.

`Live` and `Joined` are loaded at first use: who looks at a recorded run needs no simulation.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from covey.viewer.drawn import of_sensors
from covey.viewer.server import Server

if TYPE_CHECKING:
    from covey.viewer.joined import Joined
    from covey.viewer.live import Live

__all__ = ["Joined", "Live", "Server", "of_sensors"]


def __getattr__(name: str) -> Any:
    if name not in ("Joined", "Live"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"covey.viewer.{name.lower()}"), name)
