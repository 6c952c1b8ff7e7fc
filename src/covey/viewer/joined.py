"""`Joined`: a page that shows a simulation that is under way, to who only watches."""

import time

from covey.runtime.simulation import Simulation
from covey.viewer.live import Live
from covey.viewer.server import Server

_LAST_S = 2.0


class Joined:
    """Shows a simulation from now on. Call `before_step` before each further step, and `end` when it has ended.

    Args:
        sim: the simulation, between two steps.
        host: the address to listen on.

    Attributes:
        url: address of the page; who has it can only watch.

    Raises:
        InvalidValueError: it cannot listen there.
    """

    def __init__(self, sim: Simulation, host: str = "127.0.0.1"):
        self._live = Live()
        self._server = Server(self._live, host)
        self._server.__enter__()
        sim.observers.append(self._live.observe)
        self.url = self._server.view_url

    def before_step(self, sim: Simulation) -> None:
        """Answer what viewers ask about a place."""
        self._live.before_step(sim)

    def end(self) -> None:
        """Let the viewers get the last state, and close the page."""
        until = time.monotonic() + _LAST_S
        while (self._live.hub.behind or self._server.loading) and time.monotonic() < until:
            self._live.catch_up()
            time.sleep(0.02)
        self._server.__exit__()
