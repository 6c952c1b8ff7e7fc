"""What is known of a controller that failed."""

import traceback
from dataclasses import dataclass

from covey.errors import printable


@dataclass(frozen=True)
class Failure:
    """A controller that failed: which robots stop, what was raised, and whether wall time decided it."""

    robots: tuple[int, ...]
    error: BaseException
    text: str
    by_wall_time: bool


def text_of(error: BaseException) -> str:
    """Return the last of the traceback below the frame that caught an error, the same in whichever process."""
    below = error.__traceback__.tb_next if error.__traceback__ is not None else None
    return printable("".join(traceback.format_exception(type(error), error, below)[-6:]))
