"""The clock: an integer count of physics substeps. Seconds are computed from it, never summed."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from covey.errors import InvalidValueError


@dataclass
class Clock:
    """Counts substeps.

    Attributes:
        substep_s: length of a physics substep [s].
        step_s: length of a control step [s], a multiple of ``substep_s``.
        now: number of substeps since the start.
        step: number of control steps since the start.
        time_s: time since the start [s].
    """

    substep_s: float = 0.01
    step_s: float = 0.1
    now: int = 0
    substeps_per_step: int = field(init=False)
    step: int = field(init=False)
    time_s: float = field(init=False)

    def __post_init__(self) -> None:
        for name in ("substep_s", "step_s"):
            if not 0 < getattr(self, name) < 3600:
                raise InvalidValueError(f"{name} is {getattr(self, name)!r}; it must be a positive number of seconds")
        ratio = exact(self.step_s) / exact(self.substep_s)
        if ratio.denominator != 1:
            raise InvalidValueError(
                f"step_s {self.step_s} is not a multiple of substep_s {self.substep_s}; "
                f"try step_s {float(max(1, round(ratio)) * exact(self.substep_s))}"
            )
        self.substeps_per_step = int(ratio)
        self._num, self._den = exact(self.substep_s).as_integer_ratio()
        self.advance(0)

    def seconds(self, substeps: Any) -> Any:
        """Return how long numbers of substeps last [s], an array or a number."""
        return substeps * self._num / self._den

    def advance(self, substeps: int) -> None:
        """Let some substeps pass."""
        self.now += substeps
        self.step = self.now // self.substeps_per_step
        self.time_s = self.seconds(self.now)


@lru_cache(maxsize=64)
def exact(number: float) -> Fraction:
    """Return the rational number with the shortest decimal text of ``number``: 0.1 is 1/10."""
    return Fraction(repr(float(number)))
