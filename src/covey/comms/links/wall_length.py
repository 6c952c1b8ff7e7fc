"""Radio that depends on the distance and on its length inside walls: any function of the two."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from covey.comms.links.geometry import Pairs
from covey.comms.links.model import LinkModel, links
from covey.errors import CoveyError, InvalidValueError
from covey.named import find


@links.register("wall_length")
class WallLength(LinkModel):
    """Robots hear each other through up to ``max_m`` of wall, or by a function of distance and wall.

    The function gets the distance [m] and its length inside walls [m]. It returns whether there is a link, or the
    probability that a packet gets through: the "custom function" of MAES (maes 2.0, `SignalTransmission`). A function
    that takes arrays is called once with all pairs.
    """

    by_walls: ClassVar[bool] = True

    max_m: float = Field(default=0.0, ge=0, description="Largest length inside walls that a link crosses [m].")
    function: Any = Field(
        default=None,
        description="f(distance_m, through_walls_m) -> bool or probability; ./mine.py:name. Replaces max_m.",
    )

    @field_validator("function", mode="before")
    @classmethod
    def _load(cls, value: Any, info: ValidationInfo) -> Any:
        context = info.context or {}
        if value is None or isinstance(value, Function):
            return value
        if callable(value):
            return Function(value, "")
        if not isinstance(value, str) or ".py:" not in value:
            raise ValueError(f"must be a function, or ./mine.py:name; given: {value!r:.60}")
        try:
            return Function(find(value, links, context), value)
        except CoveyError as error:
            raise ValueError(str(error)) from None

    @classmethod
    def of_function(cls, function: Callable[..., Any], reference: str) -> "WallLength":
        """Return the model that a plain function stands for."""
        model = cls(function=Function(function, reference))
        model._reference = reference
        return model

    def probability(self, pairs: Pairs) -> np.ndarray:
        """Return the result of the function, or 1 up to ``max_m`` and 0 beyond, (m,)."""
        if self.function is None:
            most = self.max_m + 1e-9  # so that rounding does not decide about a wall of exactly this thickness
            return (pairs.through_m(most) <= most).astype(float)
        return self.function(pairs.distance_m, pairs.through_m())

    def references(self) -> list[str]:
        """Return what of ``./file.py:Name`` it stands for or holds."""
        own = [self.function.reference] if self.function is not None and self.function.reference else []
        return own or super().references()

    def in_file(self, parameters: dict[str, Any]) -> Any:
        """Return what stands in a file for it."""
        if self.function is None:
            return super().in_file(parameters)
        reference = self.function.reference
        if not reference:
            raise InvalidValueError("a Python function cannot be written to a file; give it as ./mine.py:name")
        return reference if reference == self._reference else super().in_file(parameters | {"function": reference})


class Function:
    """A function of distance and wall, called with arrays.

    Attributes:
        reference: how a file names it; empty for one that no file names.
    """

    def __init__(self, function: Callable[..., Any], reference: str):
        if not callable(function):
            raise InvalidValueError(f"{reference!r} is {type(function).__name__}; it must be a function")
        self.function, self.reference = function, reference
        try:
            probe = np.asarray(function(np.array([1.0, 10.0, 100.0]), np.array([0.0, 0.5, 5.0])))
        except (TypeError, ValueError):  # for example "the truth value of an array is ambiguous"
            probe = np.empty(0)
        self.takes_arrays = probe.shape == (3,)

    def __call__(self, distance_m: np.ndarray, through_m: np.ndarray) -> np.ndarray:
        if self.takes_arrays:
            found = self.function(distance_m, through_m)
        else:
            places = zip(distance_m.tolist(), through_m.tolist(), strict=True)
            found = [self.function(distance, through) for distance, through in places]
        chance = np.asarray(found, float)
        if not ((chance >= 0.0) & (chance <= 1.0)).all():
            raise InvalidValueError(
                "a link function returned a number outside 0 … 1; it must return whether there is a link, or the "
                "probability that a packet gets through"
            )
        return chance
