"""Where controllers run: in the simulation's process, or each in its own process."""

from collections.abc import Callable
from functools import partial

from covey.mapping.occupancy.belief import Beliefs
from covey.runtime.execution import Execution
from covey.runtime.host import Host, Team
from covey.runtime.local.host import LocalHost

Hosting = tuple[type[Beliefs], Callable[[Team], Host]]
"""The class for the beliefs of robots with equal mapping, and the function that makes the host of their controllers."""


def hosting_of(execution: Execution) -> Hosting:
    """Return the class for the beliefs of robots with equal mapping, and the function that makes the host."""
    if execution.controllers == "in_process":
        return Beliefs, LocalHost
    from covey.runtime.remote.fleet import Fleet
    from covey.runtime.remote.host import RemoteHost
    from covey.runtime.remote.mirror import Mirror

    return Mirror, partial(RemoteHost, Fleet)
