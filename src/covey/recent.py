"""`Recent`: what was made last, kept in the process so that an equal run need not make it again."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Recent(Generic[T]):
    """The last few things that were made, by what they were made of; nobody may change them.

    Args:
        most: sum of the sizes of all that is kept.
        size: returns that of a thing.
    """

    def __init__(self, most: float, size: Callable[[T], float]):
        self._most, self._size = most, size
        self._things: OrderedDict[Hashable, tuple[T, float]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what ``key`` stands for: as it was made before, or made now; what is too large is not kept."""
        held = self._things.pop(key, None)  # and then put in as the latest
        if held is None:
            thing = make()
            held = thing, self._size(thing)
        if held[1] <= self._most:
            self._things[key] = held
            while sum(size for _, size in list(self._things.values())) > self._most:
                self._things.popitem(last=False)
        return held[0]
