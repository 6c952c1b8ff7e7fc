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
        self._most, self._size, self._held = most, size, 0.0
        self._things: OrderedDict[Hashable, tuple[T, float]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what ``key`` stands for: as it was made before, or made now; what is too large is not kept."""
        if key in self._things:
            self._things.move_to_end(key)
            return self._things[key][0]
        thing = make()
        size = self._size(thing)
        if size <= self._most:
            self._things[key] = thing, size
            self._held += size
            while self._held > self._most:
                self._held -= self._things.popitem(last=False)[1][1]
        return thing
