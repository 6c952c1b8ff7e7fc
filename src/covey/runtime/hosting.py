"""Where controllers run: in the simulation's process, or each in its own process."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from covey.errors import InvalidValueError
from covey.mapping.occupancy.belief import Beliefs
from covey.runtime.host import Host, Team
from covey.runtime.local.host import LocalHost

Controllers = Literal["in_process", "processes"] | Any
"""``in_process``, ``processes``, a `covey.runtime.remote.record.Processes`, or a `Recording`."""


def hosting(controllers: Controllers) -> tuple[type[Beliefs], Callable[[Team], Host]]:
    """Return the class for the beliefs of robots with equal mapping, and the function that makes the host.

    Raises:
        InvalidValueError: ``controllers`` is none of these.
    """
    if controllers == "in_process":
        return Beliefs, LocalHost
    from covey.runtime.remote.fleet import Fleet
    from covey.runtime.remote.host import RemoteHost
    from covey.runtime.remote.mirror import Mirror
    from covey.runtime.remote.record import Processes
    from covey.runtime.replay.recording import Recording

    if isinstance(controllers, Recording):
        return Mirror, partial(RemoteHost, Processes(), controllers.lines)
    record = Processes() if controllers == "processes" else controllers
    if not isinstance(record, Processes):
        raise InvalidValueError(f"controllers is {controllers!r}; give in_process, processes, or a Processes record")
    return Mirror, partial(RemoteHost, record, Fleet)
