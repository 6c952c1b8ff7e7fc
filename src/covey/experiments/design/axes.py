"""`Axes`: which parameter of a design runs along the axis of figures, which makes lines, which panels."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from covey.experiments.design.records import Design


MOST_CURVES = 8
"""Up to so many curves stand in one figure."""
MOST_PANELS = 12
"""Up to so many figures show one metric, each for one setting."""


@dataclass(frozen=True)
class Layout:
    """How a figure shows the parameters that do not run along its axis.

    Attributes:
        curves: parameters with a curve for each of their combinations.
        panels: parameters with a figure for each of their combinations.
        pooled: parameters whose values are put together, because there are too many.
    """

    curves: tuple[str, ...]
    panels: tuple[str, ...]
    pooled: tuple[str, ...]


@dataclass(frozen=True)
class Axes:
    """How the parameters of a table are shown; each is one column of it.

    Attributes:
        x: along the axis; None when nothing varies.
        line: one line or colour for each of its values; None without one.
        facet: what else is kept apart.
        rest: parameters that vary besides.
    """

    x: str | None
    line: str | None
    facet: str | None
    rest: tuple[str, ...]

    @property
    def varying(self) -> tuple[str, ...]:
        """Every parameter that varies, those that are kept apart first."""
        return tuple(name for name in (self.facet, *self.rest, self.line, self.x) if name)

    @property
    def apart(self) -> str | None:
        """The parameter with a colour for each of its values."""
        return self.line or self.facet

    def has_sizes(self, table: "pl.DataFrame") -> bool:
        """Return whether ``x`` is the size of a fleet, as a number: sizes under labels are not known here."""
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
        """Return what the design says; what it leaves out is chosen: numbers along x, then lines, then facets."""
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
    """Return the parameters that together have up to ``most`` combinations, in this order, and the others."""
    fit: list[str] = []
    for name in names:
        if math.prod(table[one].n_unique() for one in [*fit, name]) <= most:
            fit.append(name)
    return tuple(fit), tuple(name for name in names if name not in fit)


def parameters(table: "pl.DataFrame") -> list[str]:
    """Return the columns that are parameters: those between ``seed`` and ``status``."""
    names = table.columns
    return names[names.index("seed") + 1 : names.index("status")]
