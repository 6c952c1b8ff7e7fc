"""Radio that walls block."""

from typing import ClassVar

import numpy as np

from covey.comms.links.geometry import Pairs
from covey.comms.links.model import LinkModel, links


@links.register("line_of_sight")
class LineOfSight(LinkModel):
    """Robots hear each other if no wall is between their centres (MAES: broadcast blocked by walls)."""

    by_walls: ClassVar[bool] = True

    def probability(self, pairs: Pairs) -> np.ndarray:
        """Return 1 in sight, 0 behind a wall, (m,)."""
        return pairs.in_sight.astype(float)
