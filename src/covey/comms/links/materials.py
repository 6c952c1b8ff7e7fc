"""Walls that attenuate radio by material and length."""

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from covey.comms.links.geometry import Pairs
from covey.comms.links.model import PowerModel, links

MAES_DB = {
    1300: {"concrete": 13.0, "wood": 5.1, "brick": 4.5},
    2400: {"concrete": 15.0, "wood": 6.7, "brick": 5.5},
    5200: {"concrete": 23.0, "wood": 14.0, "brick": 15.0},
}
"""MAES (2024, `attenuationDictionary`): dB per unit of wall, by frequency [MHz] and material."""

MORE_DB = {"drywall": 4.0, "metal": 25.0}
"""Middle of the quoted ranges at 2.4 GHz: drywall 3 to 5 dB, metal 20 to 30 dB; used at all frequencies."""


@links.register("materials")
class Materials(PowerModel):
    """Loss = attenuation(material, frequency) x units of wall; MAES counts four units in a metre-wide cell.

    There is no other loss; add ``log_distance`` for the loss by distance. Cells without a material count as
    ``unnamed``.
    """

    by_walls: ClassVar[bool] = True

    frequency_mhz: Literal[1300, 2400, 5200] = Field(default=2400, description="Column of MAES' table [MHz].")
    units_per_m: float = Field(default=4.0, gt=0, le=1000, description="Table units per metre of wall.")
    attenuation_db: dict[str, float] = Field(
        default={}, description="Loss per unit by material; replaces values of the table [dB]."
    )
    unnamed: str = Field(default="concrete", description="Material of walls whose own is not in the table.")

    def loss_db(self, pairs: Pairs, spare_db: np.ndarray) -> np.ndarray:
        """Return the loss in the walls between each pair [dB], (m,)."""
        unit = MORE_DB | MAES_DB[self.frequency_mhz] | self.attenuation_db
        per_m = {name: db * self.units_per_m for name, db in unit.items()}
        return pairs.wall_loss(per_m, {}, (per_m.get(self.unnamed, 0.0), 0.0), spare_db)
