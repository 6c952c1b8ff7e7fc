"""Goal checker: whether a robot is at its goal and will stay there."""

from covey.onboard.driving import DriveLimits, Driving

_STILL_M_S, _STILL_RAD_S, _NEAR_M = 0.1, 0.1, 0.02


class GoalChecker:
    """Compares the remaining distance with the tolerances; a robot too fast to stop within them is not there yet."""

    def __init__(self, limits: DriveLimits, driving: Driving):
        self._braking, self._lead_s = limits.braking, limits.lead_s
        self._angle_rad = 0.5 * driving.heading_tolerance_rad

    def at_point(self, away_m: float, v: float, tolerance_m: float) -> bool:
        """Return whether a robot at this speed [m/s] is at a point, and still is after it stops."""
        braking_m = v * v / (2.0 * self._braking) + abs(v) * self._lead_s
        return away_m <= tolerance_m and braking_m <= tolerance_m

    def at_distance(self, left_m: float, v: float) -> bool:
        """Return whether a robot has driven its distance and stands; ``v`` is its speed [m/s]."""
        return abs(left_m) < _NEAR_M and abs(v) < _STILL_M_S

    def at_angle(self, left_rad: float, w: float) -> bool:
        """Return whether a robot has turned by its angle and stands; ``w`` is its turn rate [rad/s]."""
        return abs(left_rad) < self._angle_rad and abs(w) < _STILL_RAD_S
