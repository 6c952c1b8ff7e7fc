"""`Sheet`: a table of text with a heading, for HTML and LaTeX."""

import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from covey.errors import printable
from covey.lazy import pl
from covey.results.text import in_latex

PREAMBLE = r"% in the preamble: \usepackage{array,booktabs,graphicx}"
"""Preamble that a LaTeX document needs for the tables."""

_LINES = 40
"""Largest number of lines in one LaTeX table; a longer one is split."""
_WIDE = 40
"""Text columns with a cell longer than this break their lines [characters]."""


@dataclass(frozen=True)
class Sheet:
    """A table, every cell as text.

    Attributes:
        title: the heading.
        head: names of the columns.
        rows: the cells.
        numeric: which columns are set flush right.
        caption: explanation for the reader.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    caption: str = ""

    @staticmethod
    def of(table: "pl.DataFrame", title: str, caption: str = "", names: Sequence[str] | None = None) -> "Sheet":
        """Return a data frame as a sheet; ``names``: printed names of its columns."""
        numeric = tuple(kind.is_numeric() for kind in table.dtypes)
        rows = tuple(tuple(text(cell) for cell in row) for row in table.rows())
        return Sheet(title, tuple(names or table.columns), rows, numeric, caption)

    def to_text(self) -> str:
        """Return the table for a terminal or a text file."""
        from rich.console import Console
        from rich.table import Table

        table = Table(
            title=_one_line(self.title) or None,
            caption=_one_line(self.caption) or None,
            box=None,
            pad_edge=False,
            padding=(0, 2),
        )
        table.title_justify = table.caption_justify = "left"
        head, rows = tuple(map(_one_line, self.head)), [tuple(map(_one_line, row)) for row in self.rows]
        for name, right in zip(head, self.numeric, strict=True):
            table.add_column(name, justify="right" if right else "left", overflow="fold")
        for row in rows:
            table.add_row(*row)
        stream = io.StringIO()
        widths = [max(map(len, column)) + 4 for column in zip(head, *rows, strict=True)]
        Console(file=stream, width=max(80, sum(widths) + 2), highlight=False, markup=False).print(table)
        return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())

    def to_latex(self) -> str:
        """Return the table in the style of the package booktabs, at most as wide as the text.

        A table with a title floats and has a caption, and a label from the title, such as ``tab:best-fleet-by-time``;
        a table too long for a page is split. See `PREAMBLE`.
        """
        parts = list(_pages(self.rows))
        if not self.title:
            return self._tabular(self.rows) + "\n"
        found = []
        for number, rows in enumerate(parts, start=1):
            part = f" (part {number} of {len(parts)})" if len(parts) > 1 else ""
            caption = f"{self.title}{part}. {self.caption if number == 1 else ''}".strip()
            label = rf"\label{{tab:{_slug(self.title)}{f'-{number}' if number > 1 else ''}}}"
            head = rf"\caption{{{in_latex(caption)}}}{label}"
            found.append("\n".join((r"\begin{table}", head, self._tabular(rows), r"\end{table}", "")))
        return "\n".join(found)

    def _tabular(self, rows: Sequence[tuple[str, ...]]) -> str:
        longest = [max(map(len, cells)) for cells in zip(self.head, *self.rows, strict=True)]
        wide = [not right and n > _WIDE for n, right in zip(longest, self.numeric, strict=True)]
        broken = rf">{{\raggedright\arraybackslash}}p{{{0.6 / max(1, sum(wide)):.2f}\linewidth}}"
        kinds = (broken if w else "r" if right else "l" for w, right in zip(wide, self.numeric, strict=True))
        lines = [
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{{''.join(kinds)}}}",
            r"\toprule",
            " & ".join(map(in_latex, self.head)) + r" \\",
            r"\midrule",
            *(
                " & ".join(_breakable(c) if w else in_latex(c) for c, w in zip(r, wide, strict=True)) + r" \\"
                for r in rows
            ),
            r"\bottomrule",
            r"\end{tabular}}",
        ]
        return "\n".join(lines)


def _pages(rows: Sequence[tuple[str, ...]]) -> Iterator[list[tuple[str, ...]]]:
    """Yield the rows of each page; a text cell takes one line per 45 characters."""
    page: list[tuple[str, ...]] = []
    lines = 0
    for row in rows:
        high = max((1 + len(cell) // 45 for cell in row), default=1)
        if page and lines + high > _LINES:
            yield page
            page, lines = [], 0
        page, lines = [*page, row], lines + high
    yield page


def _slug(title: str) -> str:
    return "-".join(re.findall("[a-z0-9]+", title.lower()))


def _one_line(cell: str) -> str:
    return printable(cell, keep="")


def _breakable(cell: str) -> str:
    """Return a LaTeX cell that can break its line within a name or a path."""
    return re.sub(r"(\\_|[./:=])", r"\1\\allowbreak{}", in_latex(cell))


def text(value: Any) -> str:
    """Return a value as text for a table: at most three decimals and four significant digits.

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
    return _one_line(str(value))


def within(value: float | None, low: float | None, high: float | None, *, open_ended: bool = False) -> str:
    """Return a number and its interval, with as many decimals as make two significant digits of its width.

    Args:
        value, low, high: the number and the ends; None where unknown.
        open_ended: whether an end that is None lies beyond all times, not that there is no interval.

    Examples:
        >>> within(-6.5432, -9.1234, -3.2345), within(-6.5432, None, None)
        ('-6.5 (-9.1 to -3.2)', '-6.543')
        >>> within(None, None, -12.0, open_ended=True), within(0.51234, 0.4999, 0.5211)
        ('– (-inf to -12)', '0.512 (0.500 to 0.521)')
    """
    if low is None and high is None and not (open_ended and value is None):
        return text(value)
    ends = [end for end in (value, low, high) if end is not None]
    width = (high - low) if low is not None and high is not None else max(map(abs, ends), default=1.0)
    places = min(6, max(0, 1 - math.floor(math.log10(width)))) if width > 0 else 2
    shown = [None if end is None else f"{round(end, places) + 0.0:.{places}f}" for end in (value, low, high)]
    return f"{shown[0] or '–'} ({shown[1] or '-inf'} to {shown[2] or 'inf'})"
