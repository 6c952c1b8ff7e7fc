"""`Axes`: the parameters of a design along the axis, as the lines, and as the panels of figures."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from covey.lazy import pl

if TYPE_CHECKING:
    from covey.experiments.design.records import Design


MOST_CURVES = 8
"""Largest number of curves in one figure."""
MOST_PANELS = 12
"""Largest number of figures for one metric, one per setting."""


@dataclass(frozen=True)
class Layout:
    """How a figure shows the parameters that are not along its axis.

    Attributes:
        curves: parameters with a curve for each of their combinations.
        panels: parameters with a figure for each of their combinations.
        pooled: parameters whose values are pooled, because there are too many.
    """

    curves: tuple[str, ...]
    panels: tuple[str, ...]
    pooled: tuple[str, ...]


@dataclass(frozen=True)
class Axes:
    """How figures show the parameters of a table; each is one column of it.

    Attributes:
        x: the parameter along the axis; None if nothing varies.
        line: the parameter with a line or colour for each of its values, or None.
        facet: the parameter with a panel for each of its values, or None.
        rest: other parameters that vary.
    """

    x: str | None
    line: str | None
    facet: str | None
    rest: tuple[str, ...]

    @property
    def varying(self) -> tuple[str, ...]:
        """All parameters that vary, those with lines and panels first."""
        return tuple(name for name in (self.facet, *self.rest, self.line, self.x) if name)

    @property
    def apart(self) -> str | None:
        """The parameter with a colour for each of its values."""
        return self.line or self.facet

    def has_sizes(self, table: "pl.DataFrame") -> bool:
        """Return whether ``x`` is the size of a fleet, as a number; labelled sizes do not count."""
        return self.x is not None and self.x.rpartition(".")[2] == "count" and table[self.x].dtype.is_numeric()

    def beside(self, table: "pl.DataFrame") -> Layout:
        """Return the layout of a figure with ``x`` along its axis and a colour for each value of `apart`."""
        left = [name for name in (self.facet, *self.rest) if name and name != self.apart]
        panels, pooled = _fitting(table, left, MOST_PANELS)
        return Layout((self.apart,) if self.apart else (), panels, pooled)

    def over_time(self, table: "pl.DataFrame") -> Layout:
        """Return the layout of a figure with time along its axis."""
        curves, left = _fitting(table, [name for name in (self.line, self.x) if name], MOST_CURVES)
        first = [self.facet] if self.facet else []
        if not curves and self.facet:
            (curves, _), first = _fitting(table, first, MOST_CURVES), []
        panels, pooled = _fitting(table, [*first, *left, *self.rest], MOST_PANELS)
        return Layout(curves, panels, pooled)

    @staticmethod
    def of(design: "Design", table: "pl.DataFrame") -> "Axes":
        """Return the axes of the design; those it leaves out are chosen: numbers along x, then lines, then facets."""
        names = [n for n in parameters(table) if table[n].n_unique() > 1]
        given = design.report
        left = [n for n in names if n not in (given.x, given.line, given.facet)]

        def choose(name: str | None, wanted: list[str]) -> str | None:
            if name in names:
                return name
            chosen = wanted[0] if wanted else None
            if chosen:
                left.remove(chosen)
            return chosen

        x = choose(given.x, [n for n in left if table[n].dtype.is_numeric()] or left)
        line = choose(given.line, left if given.facet is None else [])
        facet = choose(given.facet, left)
        return Axes(x, line, facet, tuple(left))


def _fitting(table: "pl.DataFrame", names: Sequence[str], most: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the parameters, added in order while they have at most ``most`` combinations, and the others."""
    fit: list[str] = []
    for name in names:
        if math.prod(table[one].n_unique() for one in [*fit, name]) <= most:
            fit.append(name)
    return tuple(fit), tuple(name for name in names if name not in fit)


def parameters(table: "pl.DataFrame") -> list[str]:
    """Return the parameter columns: those between ``seed`` and ``status``."""
    names = table.columns
    return names[names.index("seed") + 1 : names.index("status")]
