"""Bumper: contacts of the body and their bearings."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from covey.sensors.degradation import Degradation
from covey.sensors.sensor import Readings, SensorRecord
from covey.sensors.truth import Truth


@dataclass(eq=False, slots=True)
class BumperReading:
    """The contacts of one bumper since its previous sample.

    Attributes:
        pressed: whether there was a contact.
        bearing: bearing of the last contact in the body frame [rad]; NaN for none.
        bearings: float64 (k,) [rad], bearings of all contacts, oldest first; a lasting contact is repeated in each
            substep.
    """

    pressed: bool
    bearing: float
    bearings: np.ndarray

    def __bool__(self) -> bool:
        return self.pressed


@dataclass(frozen=True, eq=False)
class BumperReadings(Readings):
    """The bumpers of m robots: ``pressed`` bool (m,), ``bearing`` (m,), ``bearings`` float64 (m, k) [rad], then NaN."""

    pressed: np.ndarray
    bearing: np.ndarray
    bearings: np.ndarray

    def row(self, i: int) -> BumperReading:
        """Return the reading of the i-th robot; its array is a copy."""
        own = self.bearings[i]
        return BumperReading(bool(self.pressed[i]), float(self.bearing[i]), own[~np.isnan(own)])

    def degrade(self, i: int, worse: Degradation) -> None:
        """Degrade a reading: a lost sample has no contact."""
        if worse.lost(1)[0]:
            self.pressed[i], self.bearing[i], self.bearings[i] = False, np.nan, np.nan


class Bumper(SensorRecord):
    """A contact switch along the front or all around, pressed by any contact since the previous sample."""

    form: ClassVar[str] = "bearings"
    between_steps: ClassVar[bool] = True
    degrades: ClassVar[bool] = True
    kind: Literal["bumper"] = "bumper"
    name: str = Field(default="bumper", min_length=1, description="Name of the sensor, unique on its robot.")
    fov_deg: float = Field(
        default=360.0,
        gt=0,
        le=360,
        description="Part of the rim that senses contact, centred straight ahead [degrees].",
    )

    def read(self, truth: Truth, members: np.ndarray, keys: np.ndarray, sample: int) -> BumperReadings:
        """Return the bumpers of the members, see `SensorRecord.read`."""
        robots, bearings = truth.touches()
        feels = np.abs(bearings) <= np.radians(0.5 * self.fov_deg)
        robots, bearings = robots[feels], bearings[feels]
        order = np.argsort(robots, kind="stable")
        first, end = (np.searchsorted(robots[order], members, side) for side in ("left", "right"))
        count = end - first
        each = np.full((len(members), int(count.max(initial=0))), np.nan)
        for i in np.flatnonzero(count).tolist():
            each[i, : count[i]] = bearings[order[first[i] : end[i]]]
        last = np.full(len(members), np.nan)
        last[count > 0] = bearings[order[end[count > 0] - 1]]
        return BumperReadings(count > 0, last, each)
