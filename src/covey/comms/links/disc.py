"""Radio within a distance, through walls; and unlimited radio."""

import numpy as np
from pydantic import Field

from covey.comms.links.geometry import Pairs
from covey.comms.links.model import LinkModel, links


@links.register("unlimited")
class Unlimited(LinkModel):
    """All robots hear each other (MAES: global communication)."""


@links.register("disc")
class Disc(LinkModel):
    """Robots within a distance hear each other: d <= R (Yan et al. 2017: 200 m; MAES: 20 cells)."""

    range_m: float = Field(default=200.0, ge=0, description="Farthest distance at which robots hear each other [m].")

    def reach_m(self) -> float:
        """Return the range [m]."""
        return self.range_m

    def probability(self, pairs: Pairs) -> np.ndarray:
        """Return 1 within the range, 0 beyond, (m,)."""
        return (pairs.distance_m <= self.range_m).astype(float)
