"""Settings of the Rao-Blackwellised filter, named in words; each names the parameter of gmapping that it stands for."""

from typing import Self

from pydantic import Field

from covey.errors import InvalidValueError, did_you_mean
from covey.records import Record


class ParticleSettings(Record):
    """Parameters of `covey.mapping.slam.particles.ParticleSlam`; the defaults are those of slam_gmapping.

    Two things are added, which the presets leave out: a wider search after a slip of the wheels, and a match of each
    scan, also of those that do not go into the maps.

    No setting stands for ``xmin`` … ``ymax`` (the map grows where the robot goes), ``map_update_interval``,
    ``transform_publish_period`` and ``throttle_scans`` (the map and the pose are there when they are asked for).

    Examples:
        >>> ParticleSettings.preset("yan2017").resolution_m
        0.2
    """

    particles: int = Field(default=30, ge=1, le=10_000, description="Number of particles (gmapping: particles).")
    resolution_m: float = Field(default=0.05, gt=0, description="Side of a cell of the map [m] (gmapping: delta).")
    usable_range_m: float | None = Field(
        default=None,
        gt=0,
        description="Longest range that is matched and marked as a hit [m]; none: 0.01 m less than the laser's "
        "(gmapping: maxUrange).",
    )
    longest_range_m: float | None = Field(
        default=None,
        gt=0,
        description="Ranges from here on are no returns [m]; beams between the usable range and this one mark free "
        "space up to the usable range; none: the laser's (gmapping: maxRange).",
    )
    linear_update_m: float = Field(
        default=1.0, ge=0, description="A scan is processed after this way [m] (gmapping: linearUpdate)."
    )
    angular_update_rad: float = Field(
        default=0.5, ge=0, description="A scan is processed after this much turning [rad] (gmapping: angularUpdate)."
    )
    temporal_update_s: float | None = Field(
        default=None,
        ge=0,
        description="A scan is processed after this time [s]; none: never (gmapping: temporalUpdate).",
    )
    score_sigma_m2: float = Field(
        default=0.05,
        gt=0,
        description="A beam that ends at distance d from a hit scores exp(-d² / this) [m²] (gmapping: sigma).",
    )
    kernel_cells: int = Field(
        default=1,
        ge=0,
        le=4,
        description="Hits are looked for up to this many cells from the end of a beam (gmapping: kernelSize).",
    )
    linear_step_m: float = Field(default=0.05, gt=0, description="First step of the hill climb [m] (gmapping: lstep).")
    angular_step_rad: float = Field(
        default=0.05, gt=0, description="First turn of the hill climb [rad] (gmapping: astep)."
    )
    halvings: int = Field(
        default=5, ge=0, le=30, description="How often the hill climb halves its steps (gmapping: iterations)."
    )
    minimum_score: float = Field(
        default=0.0,
        ge=0,
        description="A matched pose is used if its score is above this; else odometry (gmapping: minimumScore).",
    )
    likelihood_sigma_m2: float = Field(
        default=0.075,
        gt=0,
        description="A beam that ends at distance d from a hit has the log-likelihood -d² / this [m²], one without a "
        "hit near its end -0.5 / this (gmapping: lsigma).",
    )
    likelihood_gain: float = Field(
        default=3.0,
        gt=0,
        description="Log-weights are divided by this times the number of particles (gmapping: ogain).",
    )
    skipped_beams: int = Field(
        default=0, ge=0, description="Beams left out between two that are matched (gmapping: lskip)."
    )
    shift_by_shift: float = Field(default=0.1, ge=0, description="Deviation of the way per way [m/m] (gmapping: srr).")
    turn_by_shift: float = Field(
        default=0.2, ge=0, description="Deviation of the turning per way [rad/m] (gmapping: srt)."
    )
    shift_by_turn: float = Field(
        default=0.1, ge=0, description="Deviation of the way per turning [m/rad] (gmapping: str)."
    )
    turn_by_turn: float = Field(
        default=0.2, ge=0, description="Deviation of the turning per turning [rad/rad] (gmapping: stt)."
    )
    resample_below: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Particles are drawn anew if the effective number of them is below this share "
        "(gmapping: resampleThreshold).",
    )
    occupied_above: float = Field(
        default=0.25,
        ge=0,
        le=1,
        description="A cell of the map is occupied if more than this share of the beams through it end in it "
        "(gmapping: occ_thresh).",
    )
    sampling_range_m: float = Field(
        default=0.01,
        ge=0,
        description="The covariance of a match is sampled up to this far in x and y [m] (gmapping: llsamplerange).",
    )
    sampling_step_m: float = Field(
        default=0.01, gt=0, description="Step of that in x and y [m] (gmapping: llsamplestep)."
    )
    sampling_range_rad: float = Field(
        default=0.005,
        ge=0,
        description="The covariance of a match is sampled up to this far in heading [rad] (gmapping: lasamplerange).",
    )
    sampling_step_rad: float = Field(
        default=0.005, gt=0, description="Step of that in heading [rad] (gmapping: lasamplestep)."
    )

    slipped_below: float = Field(
        default=0.6,
        ge=0,
        le=1,
        description="If the particles' scores per beam stay below this on average, the wheels may have slipped, and "
        "poses farther away are tried; 0: never (no parameter of gmapping).",
    )
    slip_m: float = Field(default=1.2, ge=0, le=5, description="How far away then in x and y [m].")
    slip_rad: float = Field(default=0.6, ge=0, le=3.2, description="How far away then in heading [rad].")

    match_every_scan: bool = Field(
        default=True,
        description="Whether scans between processed ones are matched with the map of the best particle, which "
        "corrects the motion that poses are given with (no parameter of gmapping).",
    )

    @classmethod
    def preset(cls, name: str) -> Self:
        """Return the settings of an earlier system: ``gmapping``, ``yan2017`` or ``dat160``.

        Raises:
            InvalidValueError: there is no such preset.
        """
        if name not in PRESETS:
            raise InvalidValueError(
                f"there is no preset {name!r} of particles{did_you_mean(name, PRESETS)}; "
                f"there are: {', '.join(PRESETS)}"
            )
        return cls(**PRESETS[name])


PRESETS: dict[str, dict] = {
    "gmapping": {"slipped_below": 0.0, "match_every_scan": False},
    "yan2017": {
        "slipped_below": 0.0,
        "match_every_scan": False,
        "resolution_m": 0.2,
        "usable_range_m": 25.0,
        "longest_range_m": 26.0,
    },
    "dat160": {
        "slipped_below": 0.0,
        "particles": 120,
        "usable_range_m": 4.0,
        "linear_update_m": 0.2,
        "angular_update_rad": 0.2,
        "temporal_update_s": 0.5,
        "minimum_score": 100.0,
        "shift_by_shift": 0.01,
        "turn_by_shift": 0.02,
        "shift_by_turn": 0.01,
        "turn_by_turn": 0.02,
    },
}
"""What each preset changes: the defaults of slam_gmapping; of the testbed of Yan et al. 2017 (Robotics 6(3)); of the
DAT160 project of Kleiven 2021."""
