"""Where controllers run: in the simulation's process, or each in its own process."""

from collections.abc import Callable
from functools import partial

from covey.runtime.execution import Execution
from covey.runtime.host import Host, Team
from covey.runtime.local.host import LocalHost
from covey.runtime.phases.localization_and_mapping import Kinds

Hosting = tuple[Kinds, Callable[[Team], Host]]
"""Classes in the place of those of beliefs, and the function that makes the host of the robots' controllers."""


def hosting_of(execution: Execution) -> Hosting:
    """Return where the controllers of a simulation run."""
    if execution.controllers == "in_process":
        return {}, LocalHost
    from covey.runtime.remote.fleet import Fleet
    from covey.runtime.remote.host import MIRRORS, RemoteHost

    return MIRRORS, partial(RemoteHost, Fleet)
