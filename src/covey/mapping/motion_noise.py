"""Noise of measured motion: how odometry drifts.

Both models disturb the motion between two readings, so the drift over a metre depends on how often it is read.
"""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from covey.records import Record


class SampledMotion(Record):
    """The motion model of gmapping: deviations in proportion to the motion.

    References:
        G. Grisetti, C. Stachniss, W. Burgard: Improved techniques for grid mapping with Rao-Blackwellized particle
        filters. IEEE T-RO 23(1), 2007; the defaults are those of the ROS package.
    """

    kind: Literal["sampled"] = Field(default="sampled", description="The name of this model.")
    srr: float = Field(default=0.1, ge=0, description="Deviation of the way for each metre of way [m/m].")
    srt: float = Field(default=0.2, ge=0, description="Deviation of the heading for each metre of way [rad/m].")
    str_: float = Field(
        default=0.1, ge=0, alias="str", description="Deviation of the way for each radian of turning [m/rad]."
    )
    stt: float = Field(default=0.2, ge=0, description="Deviation of the heading for each radian of turning [rad/rad].")

    @property
    def normals(self) -> int:
        """Standard normal numbers that `disturb` takes for each robot."""
        return 3

    def disturb(self, motion: np.ndarray, normals: np.ndarray) -> np.ndarray:
        """Return measured motions (m, 3) for true ones, with standard normal numbers of shape (m, 3)."""
        dx, dy, turn = np.abs(motion).T
        sigma_x = self.srr * dx + self.str_ * turn + 0.3 * self.srr * dy
        sigma_y = self.srr * dy + self.str_ * turn + 0.3 * self.srr * dx
        sigma_turn = self.stt * turn + self.srt * np.hypot(dx, dy)
        return motion + normals * np.stack((sigma_x, sigma_y, sigma_turn), axis=-1)


class VelocityMotion(Record):
    """The velocity motion model: variances from the squares of forward and turning speed, and a final turn.

    Over a period T the deviation of the way is sqrt(a1 v^2 + a2 w^2) T = sqrt(a1 dx^2 + a2 dturn^2), so that the
    period cancels; likewise for the heading (a3, a4) and the final turn (a5, a6). Sideways motion is taken over as is.

    References:
        S. Thrun, W. Burgard, D. Fox: Probabilistic Robotics. MIT Press 2005, section 5.3 (the model);
        the default 0.2 is that of AMCL in Nav2.
    """

    kind: Literal["velocity"] = Field(default="velocity", description="The name of this model.")
    alpha1: float = Field(default=0.2, ge=0, description="Variance of the speed for each squared forward speed [-].")
    alpha2: float = Field(
        default=0.2, ge=0, description="Variance of the speed for each squared turning speed [m^2/rad^2]."
    )
    alpha3: float = Field(
        default=0.2, ge=0, description="Variance of the turning for each squared forward speed [rad^2/m^2]."
    )
    alpha4: float = Field(default=0.2, ge=0, description="Variance of the turning for each squared turning speed [-].")
    alpha5: float = Field(
        default=0.2, ge=0, description="Variance of the final turn for each squared forward speed [rad2/m2]."
    )
    alpha6: float = Field(
        default=0.2, ge=0, description="Variance of the final turn for each squared turning speed [-]."
    )

    @property
    def normals(self) -> int:
        """Standard normal numbers that `disturb` takes for each robot."""
        return 3

    def disturb(self, motion: np.ndarray, normals: np.ndarray) -> np.ndarray:
        """Return measured motions (m, 3) for true ones, with standard normal numbers of shape (m, 3)."""
        way, turn = motion[:, 0] ** 2, motion[:, 2] ** 2
        measured = motion.copy()
        measured[:, 0] += normals[:, 0] * np.sqrt(self.alpha1 * way + self.alpha2 * turn)
        measured[:, 2] += normals[:, 1] * np.sqrt(self.alpha3 * way + self.alpha4 * turn)
        measured[:, 2] += normals[:, 2] * np.sqrt(self.alpha5 * way + self.alpha6 * turn)
        return measured


MotionNoise = Annotated[SampledMotion | VelocityMotion, Field(discriminator="kind")]
"""Either model, told apart by ``kind``."""
