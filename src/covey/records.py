"""The base of every record that a user writes in a file or passes in Python."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator

LEAST, MOST = 1e-12, 1e12
"""Numbers in records are 0 or have a magnitude between these, so that products of a few of them do not overflow."""


class Record(BaseModel):
    """A frozen typed record: unknown keys are refused, and a change is a copy (`model_copy(update=...)`)."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True)

    @field_validator("*")
    @classmethod
    def _within_bounds(cls, value: Any) -> Any:
        for number in _numbers(value):
            if isinstance(number, int):
                if not -(2**63) <= number < 2**63:
                    raise ValueError("is a whole number with more than 64 bits; give a smaller one")
            elif number and not LEAST <= abs(number) <= MOST:
                raise ValueError(
                    f"{number:g} is too small or too large; give 0, or a magnitude from {LEAST:g} to {MOST:g}"
                )
        return value


def _numbers(value: Any) -> Iterator[int | float]:
    """Yield the numbers in a value and in its lists; records in it check their own numbers."""
    if isinstance(value, (int, float)):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _numbers(item)
