"""Progress checker: notices that a robot does not get on."""

from covey.onboard.driving import Driving
from covey.planning.progress import ProgressTimer


class ProgressChecker:
    """Says for how long a robot has not got on, and whether for too long.

    Attributes:
        stands: it has not moved for too long: stuck.
        roams: it has moved, but not got away, for too long: stuck as well.
    """

    def __init__(self, driving: Driving):
        step_m, timeout_s = driving.progress_m, driving.stuck_after_s
        self.stands = self.roams = False
        self._standing, self._roaming = ProgressTimer(step_m, timeout_s), ProgressTimer(5.0 * step_m, 2.25 * timeout_s)
        self._stall = ProgressTimer(step_m)

    def restart(self, time_s: float, x: float, y: float) -> None:
        """Begin anew here and now."""
        for timer in (self._standing, self._roaming, self._stall):
            timer.restart(time_s, x, y)

    def update(self, time_s: float, x: float, y: float) -> None:
        """Take in where the robot is [m]."""
        self.stands, self.roams = self._standing.expired(time_s, x, y), self._roaming.expired(time_s, x, y)
        self._stall.expired(time_s, x, y)

    def excuse(self, time_s: float, x: float, y: float) -> None:
        """Count the stall from now: the robot stands, or backs off, on purpose."""
        self._stall.restart(time_s, x, y)

    def stalled_s(self, time_s: float) -> float:
        """Return for how long it has not got on [s]."""
        return self._stall.waited(time_s)

    def roams_hopelessly(self, time_s: float) -> bool:
        """Return whether it has not got away for three times as long as is too long: then nothing is waited for."""
        return self._roaming.waited(time_s) > 3.0 * self._roaming.timeout_s
