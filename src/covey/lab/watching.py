"""Who watches a run of `covey.play`, and at what speed it goes."""

import contextlib
import os
import select
import sys
import threading
import webbrowser
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from covey.results.run import Run
from covey.runtime.keys import key_by_key
from covey.runtime.simulation import Simulation

Done = Callable[[Run], Any]
"""Is called with the run as soon as it has ended."""


def nothing(run: Run) -> None:
    """Do nothing."""


class Watch(Protocol):
    """Runs a simulation before the eyes of somebody.

    Attributes:
        observers: functions that the simulation calls with each snapshot.
    """

    observers: tuple[Callable[..., Any], ...]

    def run(self, sim: Simulation, done: Done = nothing) -> Run:
        """Run the simulation to its end, call ``done`` with the run before it is shown, and return the run."""
        ...


def watched(speed: float | Literal["max"], drawn: Mapping[str, Callable[[], Any]] = {}) -> Watch:
    """Return who watches at a speed: a cell of a notebook, the live page in a terminal, or nobody.

    Args:
        speed: simulated seconds per second, or max.
        drawn: what gives the marks of add-ons that are to be seen now, by layer of the page.
    """
    if drawn is None:
        drawn = {}
    if speed == "max":
        return Nobody("max")
    if in_notebook():
        return Cell()
    if sys.stderr.isatty() and not (speed == 0 and os.name == "nt"):
        return LivePage(speed, drawn)
    return Nobody(speed)


def in_notebook() -> bool:
    """Return whether the code runs in a notebook."""
    return "ipykernel" in sys.modules


class Nobody:
    """Runs at its speed; at speed 0 each step waits for a key."""

    observers = ()

    def __init__(self, speed: float | Literal["max"]):
        self.speed: float | Literal["max"] = speed

    def run(self, sim: Simulation, done: Done = nothing) -> Run:
        """Run the simulation, and return the run."""
        run = sim.run(self.speed)
        done(run)
        return run


class Cell:
    """Runs as fast as possible, then shows the run in the notebook: a page that plays it."""

    observers = ()

    def run(self, sim: Simulation, done: Done = nothing) -> Run:
        """Run the simulation, show it, and return the run."""
        import covey

        run = sim.run("max")
        done(run)
        display: Any = sys.modules["IPython"].display  # there is one in a notebook
        display.display(covey.view(run))
        return run


class LivePage:
    """Shows the run in a web page while it goes on; at speed 0 each key, or each step in the page, is one step."""

    def __init__(self, speed: float, drawn: Mapping[str, Callable[[], Any]]):
        import covey

        self.speed = speed
        self.live = covey.viewer.Live(
            speed or None, playing=speed > 0, drawn=lambda sim: {**drawn, **covey.viewer.of_sensors(sim)}
        )
        self.observers = (self.live.observe,)

    def run(self, sim: Simulation, done: Done = nothing) -> Run:
        """Run the simulation, and return the run; the page stays until its viewers leave, or Ctrl-C."""
        import covey

        with covey.viewer.Server(self.live) as server:
            print(f"watch and steer  {server.url}", file=sys.stderr, flush=True)
            if os.environ.get("DISPLAY") or sys.platform == "darwin":
                webbrowser.open(server.url)
            with self._keys() if self.speed == 0 else contextlib.nullcontext():
                run = sim.run("max", before_step=self.live.before_step)
            done(run)
            if self.live.hub.clients:
                print("the run has ended; its page stays until its viewers leave, or Ctrl-C", file=sys.stderr)
                with contextlib.suppress(KeyboardInterrupt):
                    self.live.linger()
        return run

    @contextlib.contextmanager
    def _keys(self) -> Any:
        """Take a step for each key of the terminal."""
        ended = threading.Event()

        def listen() -> None:
            while not ended.is_set():
                if select.select([sys.stdin], [], [], 0.2)[0]:
                    typed = os.read(sys.stdin.fileno(), 4096)
                    if not typed:
                        return
                    self.live.gate.step(len(typed))

        print("a key for the next step", file=sys.stderr, flush=True)
        thread = threading.Thread(target=listen, daemon=True)
        with key_by_key():
            thread.start()
            try:
                yield
            finally:
                ended.set()
                thread.join()
