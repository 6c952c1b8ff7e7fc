"""Progress checker: detects that a robot makes no progress."""

from covey.onboard.driving import Driving
from covey.planning.progress import ProgressTimer


class ProgressChecker:
    """Measures the time without progress, and whether it is too long.

    Attributes:
        stands: the robot has not moved for too long: it is stuck.
        roams: the robot has moved, but not got away, for too long: it is stuck, too.
    """

    def __init__(self, driving: Driving):
        step_m, timeout_s = driving.progress_m, driving.stuck_after_s
        self.stands = self.roams = False
        self._standing, self._roaming = ProgressTimer(step_m, timeout_s), ProgressTimer(5.0 * step_m, 2.25 * timeout_s)
        self._stall = ProgressTimer(step_m)

    def restart(self, time_s: float, x: float, y: float) -> None:
        """Restart at this time and place."""
        for timer in (self._standing, self._roaming, self._stall):
            timer.restart(time_s, x, y)

    def update(self, time_s: float, x: float, y: float) -> None:
        """Update the position of the robot [m]."""
        self.stands, self.roams = self._standing.expired(time_s, x, y), self._roaming.expired(time_s, x, y)
        self._stall.expired(time_s, x, y)

    def excuse(self, time_s: float, x: float, y: float) -> None:
        """Count the stall from now on, because the robot stands or backs off on purpose."""
        self._stall.restart(time_s, x, y)

    def stalled_s(self, time_s: float) -> float:
        """Return the time without progress [s]."""
        return self._stall.waited(time_s)

    def roams_hopelessly(self, time_s: float) -> bool:
        """Return whether the robot has not got away for three times the limit: then waiting does not help."""
        return self._roaming.waited(time_s) > 3.0 * self._roaming.timeout_s
