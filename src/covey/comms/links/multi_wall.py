"""The multi-wall model: distance, and a loss for each wall."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from covey.comms.links.geometry import Pairs
from covey.comms.links.log_distance import path_loss_db
from covey.comms.links.model import PowerModel, links

WALL_DB = {"drywall": 4.0, "wood": 3.4, "brick": 7.0, "concrete": 12.5, "metal": 25.0}
"""dB per wall at 2.4 GHz: middle of the quoted ranges (drywall 3-5, brick 6-8, concrete 10-15, metal 20-30); wood as
the light wall of COST 231, 3.4 dB."""


@links.register("multi_wall")
class MultiWall(PowerModel):
    """L = L0 + 10 n log10(d / 1 m) + sum over materials of (walls k_w) x (loss L_w).

    A stretch of wall without a gap is one wall. References: COST Action 231, Digital mobile radio towards future
    generation systems, final report 1999, 4.7.2; A. Motley, J. Keenan: Personal communication radio coverage in
    buildings at 900 MHz and 1700 MHz, Electronics Letters 24 (12), 1988.
    """

    by_walls: ClassVar[bool] = True

    l0_db: float = Field(default=40.0, ge=-200, le=200, description="Loss at 1 m [dB].")
    exponent: float = Field(default=2.0, ge=0, le=20, description="Path loss exponent n of free space.")
    wall_db: dict[str, float] = Field(
        default={}, description="Loss of a wall by material; replaces values of the table [dB]."
    )
    unnamed_db: float = Field(
        default=6.9, ge=0, le=1000, description="Loss of a wall of unknown material [dB]: COST 231's heavy wall."
    )
    per_m_db: float = Field(default=0.0, ge=0, le=1e6, description="Loss for each metre inside walls, on top [dB].")

    def loss_db(self, pairs: Pairs, spare_db: np.ndarray) -> np.ndarray:
        """Return the loss by distance and walls [dB], (m,)."""
        by_distance = path_loss_db(pairs.distance_m, self.l0_db, self.exponent, 1.0)
        return by_distance + pairs.wall_loss(
            {}, WALL_DB | self.wall_db, (self.per_m_db, self.unnamed_db), spare_db - by_distance
        )
