"""`Steps`: says how far a report is."""

import time
from collections.abc import Callable

_EACH_S = 0.2


class Steps:
    """Tells an observer what is being done, at most a few times a second.

    Args:
        observer: called with what is done in words, how much of it is done, and how much there is.
    """

    def __init__(self, observer: Callable[[str, int, int], object] = lambda what, done, total: None):
        self._observer, self._next = observer, 0.0

    def say(self, what: str, done: int, total: int) -> None:
        """Tell the observer, if it is time to."""
        if time.monotonic() >= self._next:
            self._observer(what, done, total)
            self._next = time.monotonic() + _EACH_S
