"""The settings of localization in a known map; the names and the default values of AMCL stand in the descriptions."""

from pydantic import Field, model_validator

from covey.records import Record


class KnownMapSettings(Record):
    """The settings of `MonteCarlo`.

    Default values are those of AMCL as Nav2 ships it, except where the description says so.

    References:
        Nav2: AMCL, configuration guide. https://docs.nav2.org/configuration/packages/configuring-amcl.html
    """

    min_particles: int = Field(
        default=500, ge=10, le=1_000_000, description="Least number of particles (min_particles)."
    )
    max_particles: int = Field(default=2000, ge=10, le=1_000_000, description="Largest number (max_particles).")
    kld_error: float = Field(
        default=0.05, gt=0, lt=1, description="Largest error of the particles' distribution (pf_err)."
    )
    kld_quantile: float = Field(
        default=0.99, ge=0, le=10, description="Standard normal quantile with which it holds (pf_z)."
    )
    turn_from_turn: float = Field(
        default=0.2, ge=0, le=100, description="Variance of a turn for each squared radian turned (alpha1)."
    )
    turn_from_way: float = Field(
        default=0.2, ge=0, le=100, description="Variance of a turn for each squared metre driven [rad2/m2] (alpha2)."
    )
    way_from_way: float = Field(
        default=0.2, ge=0, le=100, description="Variance of a way for each squared metre driven (alpha3)."
    )
    way_from_turn: float = Field(
        default=0.2, ge=0, le=100, description="Variance of a way for each squared radian turned [m2/rad2] (alpha4)."
    )
    sideways_from_way: float = Field(
        default=0.0,
        ge=0,
        le=100,
        description="Variance of the way sideways for each squared metre driven. AMCL: alpha5, 0.2, only for robots "
        "that drive sideways; here 0 switches it off.",
    )
    max_beams: int = Field(default=60, ge=2, le=10_000, description="Beams of a scan that are used (max_beams).")
    hit_weight: float = Field(
        default=0.5, ge=0, le=1, description="Share of the beams that end at a wall of the map (z_hit)."
    )
    random_weight: float = Field(default=0.5, gt=0, le=1, description="Share of the beams that end anywhere (z_rand).")
    hit_sigma_m: float = Field(
        default=0.2, gt=0, le=10, description="Deviation of the end of a beam from its wall [m] (sigma_hit)."
    )
    max_distance_m: float = Field(
        default=2.0,
        gt=0,
        le=100,
        description="Ends farther than this from all walls of the map are equally unlikely [m] "
        "(laser_likelihood_max_dist).",
    )
    independent_beams: float = Field(
        default=20.0,
        gt=0,
        le=10_000,
        description="The beams of a scan say as much as this many independent ones, so that neighbouring beams, whose "
        "errors go together, do not make it too sure. (AMCL instead adds the cubes of the beams' likelihoods.)",
    )
    update_distance_m: float = Field(
        default=0.25, ge=0, le=100, description="The filter works after so long a way [m] (update_min_d)."
    )
    update_angle_rad: float = Field(
        default=0.2, ge=0, le=7, description="The filter works after so wide a turn [rad] (update_min_a)."
    )
    resample_interval: int = Field(
        default=1, ge=1, le=1000, description="Updates between two resamplings (resample_interval)."
    )
    recovery_fast: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="Rate of the quick average of how well the scans fit (recovery_alpha_fast). AMCL: 0, which "
        "switches recovery off.",
    )
    recovery_slow: float = Field(
        default=0.001,
        ge=0,
        le=1,
        description="Rate of the slow average (recovery_alpha_slow). AMCL: 0, which switches recovery off.",
    )
    candidates: int = Field(
        default=100_000,
        ge=100,
        le=10_000_000,
        description="Poses all over the map among which those that fit the scan become particles: at an unknown start, "
        "and while the scans fit worse than they used to. (AMCL draws them without looking at the scan.)",
    )

    @model_validator(mode="after")
    def _check(self) -> "KnownMapSettings":
        if self.max_particles < self.min_particles:
            raise ValueError(
                f"max_particles is {self.max_particles}; it must be at least min_particles, {self.min_particles}"
            )
        return self
