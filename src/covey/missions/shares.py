"""The missions that need no measurements of their own: what has been explored and covered is always counted."""

from typing import ClassVar

import numpy as np

from covey.records import Record
from covey.world.world import World


class Exploration(Record):
    """See everything that can be seen: the explored share is what counts."""

    kind: ClassVar[str] = "exploration"

    def begin(self, world: World, start: np.ndarray, radius: np.ndarray) -> None:
        """Nothing is to be added."""


class Coverage(Record):
    """Pass over everything that a body can pass over: the covered share is what counts."""

    kind: ClassVar[str] = "coverage"

    def begin(self, world: World, start: np.ndarray, radius: np.ndarray) -> None:
        """Nothing is to be added."""
