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


def due(per_substep: tuple[int, int], from_substep: int, to_substep: int) -> list[tuple[int, int]]:
    """Return number and substep of the samples due from substep ``from_substep`` on and before ``to_substep``.

    Sample k is due in the substep ceil(k / per_substep).

    Args:
        per_substep: see `samples_per_substep`.
        from_substep, to_substep: the substeps.

    Examples:
        >>> due(samples_per_substep(25, 0.01), 0, 10)
        [(0, 0), (1, 4), (2, 8)]
        >>> due(samples_per_substep(25, 0.01), 9, 12)
        []
    """
    samples, substeps = per_substep
    numbers = range((from_substep - 1) * samples // substeps + 1, (to_substep - 1) * samples // substeps + 1)
    return [(number, -(-number * substeps // samples)) for number in numbers]
