"""`covey run --live`: a run in a web page."""

import os
import sys
import webbrowser
from pathlib import Path
from typing import Any, Literal

from covey.results.run import Run
from covey.scenario.records import Scenario
from covey.scenario.run import run_scenario
from covey.viewer import Live, Server


def run_live(
    scenario: Scenario,
    folder: Path,
    page: tuple[str, int],
    *,
    speed: float | Literal["max"],
    observers: Any = (),
    before_step: Any = None,
    **options: Any,
) -> Run:
    """Run a scenario, and show it in a web page while it runs; the arguments are those of `run_scenario`."""
    live = Live(None if speed == "max" else speed)

    def before(sim: Any) -> None:
        if before_step is not None:
            before_step(sim)
        live.before_step(sim)

    with Server(live, *page) as server:
        print(f"watch and steer  {server.url}\nonly watch       {server.view_url}", file=sys.stderr, flush=True)
        if sys.stderr.isatty() and (os.environ.get("DISPLAY") or sys.platform == "darwin"):
            webbrowser.open(server.url)
        return run_scenario(scenario, folder, observers=(*observers, live.observe), before_step=before, **options)
