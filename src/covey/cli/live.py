"""`covey run --live` and `covey live`: a run, and the gallery of scenarios, in a web page."""

import contextlib
import os
import signal
import sys
import threading
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from covey.cli.exit_codes import INTERRUPTED
from covey.results.run import Run
from covey.scenario.records import Scenario
from covey.viewer import Live, Server
from covey.viewer.adding import run_shown
from covey.viewer.gallery import Gallery


def run_live(
    scenario: Scenario,
    folder: Path,
    page: tuple[str, int],
    *,
    speed: float | Literal["max"],
    paused: bool = False,
    **options: Any,
) -> Run:
    """Run a scenario, and show it in a web page; the other arguments are those of `run_scenario`.

    The page stays after the end of the run until its viewers leave or the user presses Ctrl-C.

    Args:
        page: address and port.
        paused: wait before the first step.
    """
    with shown(page, None if speed == "max" else speed, not paused) as live:
        run = run_shown(scenario, folder, live, **options)
        print(f"the run has ended: {run.status}; its record is in {run.folder}", file=sys.stderr, flush=True)
        live.finish(run)
        return run


@contextlib.contextmanager
def shown(page: tuple[str, int], factor: float | None = None, playing: bool = True) -> Iterator[Live]:
    """Show the run that is made in the block in a web page, which stays until its viewers leave, or Ctrl-C.

    Args:
        page: address and port.
        factor, playing: see `Live`.
    """
    live = Live(factor, playing)
    with Server(live, *page) as server:
        say_where(server)
        yield live
        if live.hub.clients:
            print("its page stays until its viewers leave, or Ctrl-C", file=sys.stderr, flush=True)
            with contextlib.suppress(KeyboardInterrupt):
                live.linger()


def gallery_command(host: str, port: int) -> int:
    """Show the scenarios in a web page that starts runs, until Ctrl-C; return the exit code."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # so that the runs end with it, also in the background
    with Gallery(Path.cwd(), host) as gallery, Server(gallery, host, port) as server:
        say_where(server)
        print("end              Ctrl-C; runs that you have started end, too", file=sys.stderr, flush=True)
        with contextlib.suppress(KeyboardInterrupt):  # the usual end
            threading.Event().wait()
    return INTERRUPTED


def say_where(server: Server) -> None:
    """Print the addresses of a page; in a terminal with a screen, open it."""
    print(f"watch and steer  {server.url}\nonly watch       {server.view_url}", file=sys.stderr, flush=True)
    if sys.stderr.isatty() and (os.environ.get("DISPLAY") or sys.platform == "darwin"):
        webbrowser.open(server.url)
