"""Goal checker: whether a robot is where it was to go, and will stay there."""

from covey.onboard.driving import DriveLimits, Driving

_STILL_M_S, _STILL_RAD_S, _NEAR_M = 0.1, 0.1, 0.02


class GoalChecker:
    """Compares what is left with the tolerances; a robot too fast to stop within them has not reached its goal yet."""

    def __init__(self, limits: DriveLimits, driving: Driving):
        self._braking, self._lead_s = limits.braking, limits.lead_s
        self._angle_rad = 0.5 * driving.heading_tolerance_rad

    def at_point(self, away_m: float, v: float, tolerance_m: float) -> bool:
        """Return whether a robot of this speed [m/s] is at a point, and still is when it stands."""
        braking_m = v * v / (2.0 * self._braking) + abs(v) * self._lead_s
        return away_m <= tolerance_m and braking_m <= tolerance_m

    def at_distance(self, left_m: float, v: float) -> bool:
        """Return whether a robot has driven a distance, and stands [m/s]."""
        return abs(left_m) < _NEAR_M and abs(v) < _STILL_M_S

    def at_angle(self, left_rad: float, w: float) -> bool:
        """Return whether a robot has turned through an angle, and stands [rad/s]."""
        return abs(left_rad) < self._angle_rad and abs(w) < _STILL_RAD_S
