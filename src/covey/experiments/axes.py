"""`Axes`: which parameter of a design runs along the axis of figures, which makes lines, which panels."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from covey.experiments.records import Design


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


def parameters(table: "pl.DataFrame") -> list[str]:
    """Return the columns that are parameters: those between ``seed`` and ``status``."""
    names = table.columns
    return names[names.index("seed") + 1 : names.index("status")]
