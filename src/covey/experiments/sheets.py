"""`Sheet`: a table of text with a heading, as HTML and LaTeX take it."""

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

_LATEX = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "–": "--",
    "≥": r"$\ge$",
}


@dataclass(frozen=True)
class Sheet:
    """A table, every cell as text.

    Attributes:
        title: what it shows.
        head: names of the columns.
        rows: the cells.
        numeric: which columns are set flush right.
        caption: what the reader must know to read it.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    caption: str = ""

    @staticmethod
    def of(table: "pl.DataFrame", title: str, caption: str = "", names: Sequence[str] | None = None) -> "Sheet":
        """Return a sheet of a frame; ``names`` are those of its columns in print."""
        numeric = tuple(kind.is_numeric() for kind in table.dtypes)
        rows = tuple(tuple(text(cell) for cell in row) for row in table.rows())
        return Sheet(title, tuple(names or table.columns), rows, numeric, caption)

    def to_text(self) -> str:
        """Return the table for a terminal or a text file."""
        from rich.console import Console
        from rich.table import Table

        table = Table(title=self.title or None, caption=self.caption or None, box=None, pad_edge=False, padding=(0, 2))
        table.title_justify = table.caption_justify = "left"
        for head, right in zip(self.head, self.numeric, strict=True):
            table.add_column(head, justify="right" if right else "left", overflow="fold")
        for row in self.rows:
            table.add_row(*row)
        stream = io.StringIO()
        widths = [max(map(len, column)) + 4 for column in zip(self.head, *self.rows, strict=True)]
        Console(file=stream, width=max(80, sum(widths) + 2), highlight=False, markup=False).print(table)
        return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())

    def to_latex(self) -> str:
        """Return the table in the style of the package booktabs; one with a title floats, under its caption."""
        columns = "".join("r" if right else "l" for right in self.numeric)
        lines = [
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            " & ".join(map(_escaped, self.head)) + r" \\",
            r"\midrule",
            *(" & ".join(map(_escaped, row)) + r" \\" for row in self.rows),
            r"\bottomrule",
            r"\end{tabular}",
        ]
        if self.title:
            caption = rf"\caption{{{_escaped(f'{self.title}. {self.caption}'.strip())}}}"
            lines = [r"\begin{table}", caption, *lines, r"\end{table}"]
        return "\n".join(lines) + "\n"


def text(value: Any) -> str:
    """Return a value as a table shows it: three digits after the point at most, and four that count.

    Examples:
        >>> text(1234.5), text(0.98765), text(12.0), text(None), text(0.00002)
        ('1234', '0.9877', '12', '–', '2e-05')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)


def _escaped(plain: str) -> str:
    return "".join(_LATEX.get(c, c) for c in plain)
