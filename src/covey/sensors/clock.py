"""Sampling times: sample k is taken at the first physics substep at or after k / rate, in exact arithmetic.

Rates and substeps are exact decimal numbers as typed (0.01 is 1/100, not its nearest binary fraction), so no error
accumulates in long runs.
"""

from fractions import Fraction
from functools import lru_cache

from covey.errors import InvalidValueError


@lru_cache(maxsize=256)
def samples_per_substep(rate_hz: float, substep_s: float) -> tuple[int, int]:
    """Return the samples per substep as numerator and denominator.

    Raises:
        InvalidValueError: the rate or the substep is not positive, or there is more than one sample per substep.
    """
    if not (0 < rate_hz < float("inf") and 0 < substep_s < float("inf")):
        raise InvalidValueError(f"a rate of {rate_hz} Hz with a substep of {substep_s} s; both must be positive")
    share = Fraction(str(rate_hz)) * Fraction(str(substep_s))
    if share > 1:
        raise InvalidValueError(
            f"a rate of {rate_hz:g} Hz is more than one sample per substep of {substep_s:g} s; "
            f"use at most {float(1 / Fraction(str(substep_s))):g} Hz or a shorter substep"
        )
    return share.numerator, share.denominator


def substep_of(rate_hz: float, substep_s: float, sample: int) -> int:
    """Return the substep of a sample: ceil(sample / (rate x substep)).

    Examples:
        >>> [substep_of(30, 0.01, k) for k in range(4)]
        [0, 4, 7, 10]
    """
    samples, substeps = samples_per_substep(rate_hz, substep_s)
    return -(-sample * substeps // samples)


def due(rate_hz: float, substep_s: float, from_substep: int, to_substep: int) -> tuple[int, int, int]:
    """Return the samples due from substep ``from_substep`` on and before ``to_substep``.

    Returns:
        The first and the last sample and the substep of the last one; if none is due, ``last`` is ``first - 1``.

    Examples:
        >>> due(25, 0.01, 0, 10)  # substeps 0, 4 and 8
        (0, 2, 8)
        >>> due(25, 0.01, 9, 12)
        (3, 2, 8)
    """
    samples, substeps = samples_per_substep(rate_hz, substep_s)
    first = (from_substep - 1) * samples // substeps + 1
    last = (to_substep - 1) * samples // substeps
    return first, last, -(-last * substeps // samples)
