"""The parameters of a design: a range, a list, or one value; each value with or without a label."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import Discriminator, Field, Tag, model_validator

from covey.errors import InvalidValueError
from covey.records import Record
from covey.scenario.yaml12 import Path

MAX_VECTORS = 100_000
"""Largest number of values of a parameter, and of vectors of a design."""


class Range(Record):
    """A range of numbers."""

    from_: float | int = Field(alias="from", description="First value.")
    to: float | int = Field(description="Last value.")
    step: float | int | None = Field(default=None, gt=0, description="From each value to the next; whole numbers: 1.")
    count: int | None = Field(default=None, ge=1, le=MAX_VECTORS, description="Instead of step: how many values.")
    log: bool = Field(default=False, description="Equal ratios, not equal steps, from each value to the next.")

    model_config = Record.model_config | {"populate_by_name": True}

    @model_validator(mode="after")
    def _goes_up(self) -> "Range":
        if self.to < self.from_:
            raise ValueError(f"goes from {self.from_:g} down to {self.to:g}; write the smaller one first")
        if self.step is not None and (self.count is not None or self.log):
            raise ValueError("has a step; leave out count and log")
        if (self.step or self.whole) and (self.to - self.from_) / (self.step or 1) >= MAX_VECTORS:
            raise ValueError(f"has more than {MAX_VECTORS} values; give it a larger step, or a count")
        if self.log and self.from_ <= 0:
            raise ValueError(f"log needs values above 0; given: from {self.from_:g}")
        return self

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers."""
        return all(isinstance(v, int) for v in (self.from_, self.to, self.step or 1))

    @property
    def values(self) -> list[float | int] | None:
        """All values; None for a range of real numbers with neither step nor count."""
        if self.count is not None:
            spaced = (np.geomspace if self.log else np.linspace)(self.from_, self.to, self.count)
            return list(dict.fromkeys(round(v) if self.whole else tidy(v) for v in spaced.tolist()))
        if self.step is None and (self.log or not self.whole):
            return None
        step = self.step or 1
        number = int((self.to - self.from_) / step + 1e-9) + 1
        return [v if self.whole else tidy(v) for v in (self.from_ + k * step for k in range(number))]

    def at(self, share: float) -> float | int:
        """Return the value at a share (from 0 to below 1) of the range; equal shares hold equally many values."""
        values = self.values
        if values is not None:
            return values[int(share * len(values))]
        if self.log:
            value = self.from_ * (self.to / self.from_) ** share
        else:
            value = self.from_ + share * (self.to - self.from_)
        return round(value) if self.whole else tidy(value)


def tidy(value: float) -> float:
    """Return a number without rounding noise.

    Examples:
        >>> tidy(0.1 + 0.2)
        0.3
    """
    return float(f"{value:.10g}")


class LabelledValue(Record):
    """A value with a name for tables and figures."""

    label: str = Field(min_length=1, max_length=80, description="What tables and figures show.")
    value: Any = Field(description="The value.")


class LabelledChanges(Record):
    """Several related changes of the scenario, with a name for tables and figures."""

    label: str = Field(min_length=1, max_length=80, description="What tables and figures show.")
    set_: dict[str, Any] = Field(alias="set", description="Values by dotted path.")


def _item_kind(value: Any) -> str:
    if isinstance(value, Record):
        return {LabelledValue: "labelled", LabelledChanges: "changes"}.get(type(value), "value")
    if isinstance(value, dict) and "label" in value:
        return "changes" if "set" in value else "labelled"
    return "value"


def _kind(value: Any) -> str:
    if isinstance(value, Range):
        return "range"
    if isinstance(value, dict) and any(isinstance(value.get(key), (int, float)) for key in ("from", "to")):
        return "range"
    return "list" if isinstance(value, (list, tuple)) else _item_kind(value)


_Labelled = Annotated[LabelledValue, Tag("labelled")] | Annotated[LabelledChanges, Tag("changes")]
Item = Annotated[_Labelled | Annotated[Any, Tag("value")], Discriminator(_item_kind)]
Parameter = Annotated[
    Annotated[Range, Tag("range")]
    | Annotated[Annotated[list[Item], Field(min_length=1)], Tag("list")]
    | Annotated[LabelledValue, Tag("labelled")]
    | Annotated[LabelledChanges, Tag("changes")]
    | Annotated[Any, Tag("value")],
    Discriminator(_kind),
]
"""The value of a parameter's key in a design."""


@dataclass(frozen=True)
class Choice:
    """One value of a parameter.

    Attributes:
        shown: the label or the value, for tables and figures.
        changes: values of the scenario by dotted path.
        place: its path in the design.
    """

    shown: Any
    changes: dict[str, Any]
    place: Path


def choices(name: str, parameter: Any) -> list[Choice]:
    """Return all values of a parameter.

    Raises:
        InvalidValueError: the parameter is a range of real numbers with neither step nor count.
    """
    place: Path = ("parameters", name)
    if isinstance(parameter, Range):
        if parameter.values is None:
            raise InvalidValueError(
                f"say how many values: {{from: {parameter.from_:g}, to: {parameter.to:g}, count: 5}}"
            )
        return [Choice(value, {name: value}, place) for value in parameter.values]
    if isinstance(parameter, list):
        return [choice(name, item, (*place, i)) for i, item in enumerate(parameter)]
    return [choice(name, parameter, place)]


def choice(name: str, item: Any, place: Path) -> Choice:
    """Return one value of a parameter as a choice."""
    if isinstance(item, LabelledValue):
        return Choice(item.label, {name: item.value}, (*place, "value"))
    if isinstance(item, LabelledChanges):
        return Choice(item.label, item.set_, (*place, "set"))
    return Choice(item, {name: item}, place)
