"""Where controllers run: in the simulator's own process, or each in one of its own."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from covey.errors import InvalidValueError
from covey.mapping.belief import Beliefs
from covey.sim.deciding import Deciding

Controllers = Literal["in_process", "processes"] | Any
"""``in_process``, ``processes``, or a `covey.sim.processes.record.Processes`."""


def hosting(controllers: Controllers) -> tuple[type[Beliefs], Callable[..., Deciding]]:
    """Return the kind of the beliefs of robots that map alike, and what lets the controllers decide.

    Raises:
        InvalidValueError: it is none of the two.
    """
    if controllers == "in_process":
        return Beliefs, Deciding
    from covey.sim.processes.deciding import DecidingApart
    from covey.sim.processes.mirror import Mirror
    from covey.sim.processes.record import Processes

    record = Processes() if controllers == "processes" else controllers
    if not isinstance(record, Processes):
        raise InvalidValueError(f"controllers is {controllers!r}; give in_process, processes, or a Processes record")
    return Mirror, partial(DecidingApart, record)
