"""`covey ros run`."""

import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from covey.cli.exit_codes import INTERRUPTED, NOT_REACHED, REACHED
from covey.cli.live import shown
from covey.cli.progress import ProgressBar
from covey.cli.tables import print_metrics
from covey.errors import InvalidValueError
from covey.experiments.workers.again import scenario_of
from covey.results.metrics.headlines import of_interest
from covey.ros.bridge import Bridge
from covey.ros.dds import Participant
from covey.ros.run import run_in_ros
from covey.ros.settings import BridgeSettings
from covey.scenario.folders import check_folder, fresh_folder

SERVICES = "services and actions: only for programs with RMW_IMPLEMENTATION=rmw_cyclonedds_cpp; topics: for all"


def ros_run_command(
    source: str,
    changes: Mapping[str, Any],
    graph: tuple[int | None, str | None, str | None],
    settings: BridgeSettings,
    *,
    out: Path | None,
    force: bool,
    quiet: bool,
    trusted_only: bool,
    page: tuple[str, int] | None = None,
) -> int:
    """Run a scenario as a team of robots in a graph of ROS 2, and return the exit code.

    Args:
        graph: domain, distribution and reach, see `Participant`.
        settings: what is told, and how time passes. The other arguments are those of `covey ros run`.
        page: address and port of a page that shows the run; None: no page.
    """
    scenario = scenario_of(source, changes, trusted_only=trusted_only)
    if out is not None:
        check_folder(out, overwrite=force)
    with (
        nullcontext(out) if out is not None else fresh_folder(scenario.name) as folder,
        Participant(*graph) as participant,
    ):
        bridge = Bridge(participant, settings)
        print(f"{participant}\n{SERVICES}", file=sys.stderr, flush=True)
        try:
            with (
                nullcontext() if page is None else shown(page) as live,
                nullcontext() if quiet else ProgressBar(scenario.stop) as bar,
            ):
                observers = [one for one in (bar, live and live.observe) if one is not None]
                how = {"overwrite": force, "observers": observers, "before_step": live and live.before_step}
                run = run_in_ros(scenario, folder, bridge, **how)
        except KeyboardInterrupt:
            print(f"interrupted; {bridge.pacer}; the record up to now is in {folder}", file=sys.stderr)
            return INTERRUPTED
    print(bridge.pacer, file=sys.stderr)
    if not quiet:
        print_metrics(of_interest(run))
    print(run.folder if quiet else f"\nrun folder  {run.folder}")
    return REACHED if run.status == "reached" else NOT_REACHED


def topics_of(texts: list[str]) -> tuple[tuple[str, str], ...]:
    """Return names and types of topics that go over the radio, each typed as ``NAME:TYPE``.

    Raises:
        InvalidValueError: a text is no name and type.

    Examples:
        >>> topics_of(["maps:nav_msgs/msg/OccupancyGrid"])
        (('maps', 'nav_msgs/msg/OccupancyGrid'),)
    """
    found = [text.partition(":") for text in texts]
    for text, (name, _, kind) in zip(texts, found, strict=True):
        if not name.isidentifier() or kind.count("/") != 2:
            raise InvalidValueError(f"--radio {text}: write NAME:TYPE, for example maps:nav_msgs/msg/OccupancyGrid")
    return tuple((name, kind) for name, _, kind in found)
