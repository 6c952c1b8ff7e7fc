"""Who watches a run of `covey.play`, and at what speed it goes."""

import contextlib
import html
import os
import selectors
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from covey.notebook import in_colab, in_notebook
from covey.results.run import Run
from covey.runtime.keys import key_by_key
from covey.runtime.simulation import Simulation

Done = Callable[[Run], Any]
"""Is called with the run as soon as it has ended."""
ALONE_S = 30.0
"""Time after which a run that waits for the page goes on by itself, if nobody has opened it [s]."""
EVERY_S = 0.5
"""Time between two updates of the line in a cell [s]."""


def nothing(run: Run) -> None:
    """Do nothing."""


class Watcher(Protocol):
    """Runs a simulation before the eyes of somebody.

    Attributes:
        observers: functions that the simulation calls with each snapshot.
    """

    observers: tuple[Callable[..., Any], ...]

    def run(self, sim: Simulation, done: Done = nothing) -> Run:
        """Run the simulation to its end, call ``done`` with the run before it is shown, and return the run."""
        ...


def watched(speed: float | Literal["max"], drawn: Mapping[str, Callable[[], Any]] = {}) -> Watcher:
    """Return who watches at a speed: a cell of a notebook, the live page in a terminal, or nobody.

    Args:
        speed: simulated seconds per second, or max.
        drawn: what gives the marks of add-ons that are to be seen now, by layer of the page.
    """
    if drawn is None:
        drawn = {}
    if in_notebook():
        return Cell(speed, drawn)
    if speed == "max":
        return Nobody("max")
    if sys.stderr.isatty() and not (speed == 0 and os.name == "nt"):
        return LivePage(speed, drawn)
    return Nobody(speed)


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
    """Shows the run in a cell of a notebook, while it goes on and when it has ended.

    Below the live page stands how far the run is. At speed 0 each step waits for Step in the page. When the run has
    ended, the page that the saved notebook keeps takes the place of the live one. At ``"max"`` there is only the line.
    Google Colab leads to no live page: there is the line, and then the recording.
    """

    def __init__(self, speed: float | Literal["max"], drawn: Mapping[str, Callable[[], Any]]):
        self.speed: float | Literal["max"] = speed
        self._drawn = drawn
        self.observers: tuple[Callable[..., Any], ...] = ()
        self._live: Any = None
        if speed != "max" and not in_colab():
            self._live = _live(speed, drawn)
            self.observers = (self._live.observe,)

    def run(self, sim: Simulation, done: Done = nothing) -> Run:
        """Run the simulation, and return the run."""
        import covey

        line = ProgressLine(sim.stop.timeout_s)
        if self._live is None:
            if self.speed != "max":
                line.begin("Colab shows no live page; the recording follows")
            run = sim.run(self.speed or "max", before_step=line.before_step)
            line.end(run)
            done(run)
            if self.speed != "max":
                _display(covey.view(run))
            return run
        live = self._live
        with covey.viewer.Server(live, framed=True) as server:
            page = _display(PageFrame(server.url))
            line.begin(f"{server.url}" if self.speed else f"press Step, or Play, in the page: {server.url}")
            alone = threading.Timer(ALONE_S, self._go_on, (line,))
            alone.daemon = True
            if self.speed == 0:
                alone.start()

            def before_step(sim: Simulation) -> None:
                line.before_step(sim)
                live.before_step(sim)

            try:
                run = sim.run("max", before_step=before_step)
            except BaseException:
                page.update({"text/plain": ""}, raw=True)  # its server is gone
                raise
            finally:
                alone.cancel()
            line.end(run)
            done(run)
            page.update(covey.view(run))
        return run

    def _go_on(self, line: "ProgressLine") -> None:
        """Let a run go on that waits for steps from a page that nobody has opened, as where no browser is."""
        if not self._live.hub.clients:
            line.note = f"nobody has opened the page in {ALONE_S:g} s, so the run goes on by itself"
            self._live.gate.speed(None)
            self._live.gate.play()


class PageFrame:
    """The live page in a frame of a notebook."""

    def __init__(self, url: str, height: int = 600):
        self._url, self._height = url, height

    def _repr_html_(self) -> str:
        return (
            f'<iframe src="{html.escape(self._url)}" title="Covey, live" allow="fullscreen" '
            f'style="width:100%;height:{self._height}px;border:0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<live page at {self._url}>"


class ProgressLine:
    """The line of a cell that says how far a run is.

    Args:
        stop_s: when it ends at the latest [s].

    Attributes:
        note: what is said beside it.
    """

    def __init__(self, stop_s: float):
        self.note, self._stop_s = "", stop_s
        self._shown: Any = None
        self._next, self._begun = time.monotonic() + EVERY_S, time.monotonic()

    def begin(self, note: str) -> None:
        """Show the line, with a note."""
        self.note = note
        self._show(f"0 of {self._stop_s:g} s")

    def before_step(self, sim: Simulation) -> None:
        """Say how far the run is, if that has not been said for some time."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + EVERY_S
            self._show(f"{sim.time:.1f} of {self._stop_s:g} s")

    def end(self, run: Run) -> None:
        """Say how the run has ended, if anything has been said."""
        if self._shown is not None:
            self.note = ""
            seconds = time.monotonic() - self._begun
            simulated = float(run.times[-1]) if len(run.times) else 0.0
            self._show(f"{simulated:.1f} s in {seconds:.1f} s: {run.status}")

    def _show(self, text: str) -> None:
        data = {"text/plain": f"{text}; {self.note}" if self.note else text}
        if self._shown is None:
            self._shown = _display(data, raw=True)
        else:
            self._shown.update(data, raw=True)


def _display(shown: Any, **how: Any) -> Any:
    """Show something in the cell, and return the handle that replaces it."""
    display: Any = sys.modules["IPython"].display  # there is one in a notebook
    return display.display(shown, display_id=True, **how)


def _live(speed: float, drawn: Mapping[str, Callable[[], Any]]) -> Any:
    """Return what shows a run at a speed."""
    import covey

    return covey.viewer.Live(
        speed or None, playing=speed > 0, drawn=lambda sim: {**drawn, **covey.viewer.of_sensors(sim)}
    )


class LivePage:
    """Shows the run in a web page while it goes on; at speed 0 each key, or each step in the page, is one step."""

    def __init__(self, speed: float, drawn: Mapping[str, Callable[[], Any]]):
        self.speed, self.live = speed, _live(speed, drawn)
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
            # select.select takes no file whose number is above 1023
            with getattr(selectors, "PollSelector", selectors.SelectSelector)() as waiting:
                waiting.register(sys.stdin, selectors.EVENT_READ)
                while not ended.is_set():
                    if waiting.select(0.2):
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
