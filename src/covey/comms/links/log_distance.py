"""Log-distance path loss with log-normal shadowing."""

import math

import numpy as np
from pydantic import Field, model_validator

from covey.comms.links.geometry import Pairs
from covey.comms.links.model import PowerModel, Shadowing, links


def path_loss_db(distance_m: np.ndarray, l0_db: float, exponent: float, d0_m: float) -> np.ndarray:
    """Return L0 + 10 n log10(d / d0) [dB], (m,); nearer than d0 it is L0.

    Examples:
        >>> path_loss_db(np.array([50.0]), 40.0, 2.5, 1.0).round(2)
        array([82.47])
    """
    loss = np.maximum(distance_m, d0_m)
    loss /= d0_m
    np.log10(loss, out=loss)
    loss *= 10.0 * exponent
    loss += l0_db
    return loss


@links.register("log_distance")
class LogDistance(PowerModel):
    """L = L0 + 10 n log10(d / d0) + X, X normal with mean 0 and deviation sigma, the same in both directions.

    X is drawn for each packet, as in gz-sim. With ``same_within_m`` it depends on the pair of squares of that side that
    hold the two robots, so a robot that stands still stays in a hole. With ``correlation_m`` it changes slowly along
    the paths of the robots, see `covey.comms.links.shadowing`.

    References: T. Rappaport: Wireless communications, 2nd edition 2002, 4.9; M. Gudmundson: Correlation model for
    shadow fading in mobile radio systems, 1991; the defaults are those of gz-sim's RFComms.
    """

    l0_db: float = Field(default=40.0, ge=-200, le=200, description="Loss at d0_m [dB].")
    d0_m: float = Field(default=1.0, gt=0, le=1e6, description="Reference distance d0 [m].")
    exponent: float = Field(default=2.5, ge=0, le=20, description="Path loss exponent n.")
    sigma_db: float = Field(default=10.0, ge=0, le=100, description="Standard deviation of the shadowing [dB].")
    same_within_m: float = Field(
        default=0.0,
        ge=0,
        le=1e6,
        description="Side of the squares within which shadowing is the same [m]; 0: per packet.",
    )
    correlation_m: float = Field(
        default=0.0,
        ge=0,
        le=1e6,
        description="Distance at which the correlation of shadowing is 1/e (Gudmundson) [m]; 0: see same_within_m.",
    )

    @model_validator(mode="after")
    def _one_kind_of_shadowing(self) -> "LogDistance":
        if self.same_within_m and self.correlation_m:
            raise ValueError(
                f"same_within_m is {self.same_within_m:g} and correlation_m is {self.correlation_m:g}; leave one out"
            )
        return self

    def loss_db(self, pairs: Pairs, spare_db: np.ndarray) -> np.ndarray:
        """Return the mean loss [dB], (m,)."""
        return path_loss_db(pairs.distance_m, self.l0_db, self.exponent, self.d0_m)

    def reach_db(self, loss_db: float) -> float:
        """Return the distance at which a loss is reached [m]."""
        if not self.exponent:
            return math.inf
        return self.d0_m * 10.0 ** min((loss_db - self.l0_db) / (10.0 * self.exponent), 300.0)

    def shadowing(self) -> Shadowing:
        """Return the deviation [dB], the side of the squares [m], and the correlation distance [m]."""
        return Shadowing(self.sigma_db, self.same_within_m, self.correlation_m)
