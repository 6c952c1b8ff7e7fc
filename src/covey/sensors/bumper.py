"""Bumper: whether, and from where, the body was touched."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from covey.sensors.sensor import Readings, SensorRecord
from covey.sensors.truth import Truth


@dataclass(eq=False, slots=True)
class BumperReading:
    """Attributes: ``pressed``; ``bearing`` [rad] of the contact in the body frame, NaN when there is none."""

    pressed: bool
    bearing: float

    def __bool__(self) -> bool:
        return self.pressed


@dataclass(frozen=True, eq=False)
class BumperReadings(Readings):
    """The bumpers of m robots: ``pressed`` bool (m,), ``bearing`` float64 (m,) [rad]."""

    pressed: np.ndarray
    bearing: np.ndarray

    def row(self, i: int) -> BumperReading:
        """Return the reading of the i-th robot."""
        return BumperReading(bool(self.pressed[i]), float(self.bearing[i]))


class Bumper(SensorRecord):
    """A contact switch along the front or all around: pressed by a contact in the last step."""

    kind: Literal["bumper"] = "bumper"
    name: str = Field(default="bumper", min_length=1, description="Name of the sensor, unique on its robot.")
    fov_deg: float = Field(
        default=360.0, gt=0, le=360, description="Part of the rim that feels, centred ahead [degrees]."
    )

    def read(self, truth: Truth, members: np.ndarray, keys: np.ndarray, sample: int) -> BumperReadings:
        """Return the bumpers of the members, see `SensorRecord.read`."""
        bearing = truth.contact_bearing[members]
        pressed = np.abs(bearing) <= np.radians(0.5 * self.fov_deg)  # NaN compares as False
        return BumperReadings(pressed, np.where(pressed, bearing, np.nan))
