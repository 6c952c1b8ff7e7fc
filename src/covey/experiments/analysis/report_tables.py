"""`Sheet`: a table of text with a heading, for HTML and LaTeX."""

import io
import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from covey.errors import printable
from covey.lazy import pl
from covey.results.text import in_latex

PREAMBLE = r"% in the preamble: \usepackage{array,booktabs}"
"""Preamble that a LaTeX document needs for the tables."""

_LINES = 40
"""Largest number of lines in one LaTeX table; a longer one is split."""
_WIDE = 40
"""Text columns with a cell longer than this break their lines [characters]."""
_COLUMN_PT, _PAGE_PT, _LONG_PT = 245.0, 345.0, 140.0
"""Widths of a column of IEEE's, of a page of Springer's, and of a text column that breaks its lines [pt]."""
_LETTERS, _LETTERS_OF_PAGE = 40, 60
"""Most letters of a caption that takes one line, above a column and above a page."""
_SMALL_LETTER_PT = 3.8
"""About the width of a letter in 7 pt [pt]."""


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
        """Return the table in the style of the package booktabs, for papers of one or two columns.

        It is set in 8 pt, or 7 pt where it is wide, and never scaled. A table too wide for a column goes across both
        (``table*``), one too wide for a page of 345 pt is split by its columns, and one too long by its rows. Columns
        that are the same in all rows are said in the note below it. A table with a title floats, has it as its caption,
        and a label, such as ``tab:best-fleet-by-time``. See `PREAMBLE`.
        """
        if not self.title:
            return "\n".join(part.tabular() for part in self._parts()) + "\n"
        found, parts = [], [(part, rows) for part in self._parts() for rows in _pages(part.rows)]
        kind = "table" if max(part.width() for part, _ in parts) <= _COLUMN_PT else "table*"
        for number, (part, rows) in enumerate(parts, start=1):
            count = f" ({number} of {len(parts)})" if len(parts) > 1 else ""
            label = rf"\label{{tab:{_slug(self.title)}{f'-{number}' if number > 1 else ''}}}"
            caption = _first_line(self.title, (_LETTERS if kind == "table" else _LETTERS_OF_PAGE) - len(count))
            body = [rf"\caption{{{in_latex(caption + count)}}}{label}", r"\centering", part.tabular(rows)]
            note = f"{in_latex(self.title)}. {part.note}".strip() if caption != self.title else part.note
            if number == 1 and note:
                body.append(rf"\par\smallskip\parbox{{\linewidth}}{{\footnotesize\raggedright {note}}}")
            found.append("\n".join((rf"\begin{{{kind}}}", *body, rf"\end{{{kind}}}", "")))
        return "\n".join(found)

    def _parts(self) -> "Iterator[_Tabular]":
        """Yield the table without columns that say the same in all rows, in parts as wide as a page."""
        columns = [
            _Column(name, right, [row[i] for row in self.rows])
            for i, (name, right) in enumerate(zip(self.head, self.numeric, strict=True))
        ]
        several = len(self.rows) > 2 and self.title
        same = [c for c in columns if several and len(set(c.cells)) == 1 and c.cells[0] not in ("", "–")]
        same = same if len(same) < len(columns) else []
        columns = [c for c in columns if c not in same]
        said = ", ".join(f"{c.head_in_latex(alone=True)} {c.in_latex(c.cells[0], alone=True)}" for c in same)
        note = " ".join(filter(None, (f"In all rows: {said}." if same else "", _text_in_latex(self.caption))))
        keys = list(itertools.takewhile(lambda column: not column.right, columns))
        keys = keys if len(keys) < len(columns) else []
        part = _Tabular(keys, note)
        for column in columns[len(keys) :]:
            wider = _Tabular([*part.columns, column], note)
            if wider.width(_SMALL_LETTER_PT) > _PAGE_PT and len(part.columns) > len(keys):
                yield part
                wider = _Tabular([*keys, column], note)
            part = wider
        yield part


@dataclass(frozen=True)
class _Column:
    """A column: its name, whether it holds numbers, and its cells."""

    head: str
    right: bool
    cells: list[str]

    @property
    def is_long(self) -> bool:
        """Whether its text is broken into lines."""
        return not self.right and max(map(len, (self.head, *self.cells))) > _WIDE

    @property
    def is_split(self) -> bool:
        """Whether its numbers are aligned at their points, or before their intervals."""
        return self.right and any(re.search(r"\d\.\d| \(", cell) for cell in self.cells)

    @property
    def kind(self) -> str:
        if self.is_long:
            return rf">{{\raggedright\arraybackslash}}p{{{_LONG_PT}pt}}"
        return "r@{}l" if self.is_split else "r" if self.right else "l"

    @property
    def letters(self) -> int:
        """Number of letters of its widest line."""
        if not self.is_split:
            return max(map(len, (self.head, *self.cells)))
        halves = [_halves(cell) for cell in self.cells]
        return max(len(self.head), sum(max(map(len, half)) for half in zip(*halves, strict=True)))

    def in_latex(self, cell: str, *, alone: bool = False) -> str:
        """Return a cell for LaTeX; ``alone``: in a sentence."""
        if self.is_long:
            return _breakable(cell)
        if not self.right:
            return in_latex(cell)
        return "&".join(map(_number, _halves(cell))) if self.is_split and not alone else _number(cell)

    def head_in_latex(self, *, alone: bool = False) -> str:
        head = _text_in_latex(self.head)
        return rf"\multicolumn{{2}}{{c}}{{{head}}}" if self.is_split and not alone else head


@dataclass(frozen=True)
class _Tabular:
    """Columns that fit beside each other, and the note below the table."""

    columns: list[_Column]
    note: str

    @property
    def rows(self) -> list[tuple[str, ...]]:
        return list(zip(*(column.cells for column in self.columns), strict=True))

    def width(self, letter_pt: float = 4.3) -> float:
        """Return about how wide it is in 8 pt [pt]."""
        return sum(_LONG_PT if c.is_long else letter_pt * c.letters for c in self.columns) + 6.0 * len(self.columns)

    def tabular(self, rows: Sequence[tuple[str, ...]] | None = None) -> str:
        size, gap = (r"\footnotesize", "3pt") if self.width() <= _COLUMN_PT else (r"\scriptsize", "2pt")
        lines = (
            _no_option(" & ".join(c.in_latex(cell) for c, cell in zip(self.columns, row, strict=True))) + r" \\"
            for row in (self.rows if rows is None else rows)
        )
        return "\n".join(
            (
                rf"{{{size}\setlength{{\tabcolsep}}{{{gap}}}%",
                rf"\begin{{tabular}}{{{''.join(column.kind for column in self.columns)}}}",
                r"\toprule",
                " & ".join(column.head_in_latex() for column in self.columns) + r" \\",
                r"\midrule",
                *lines,
                r"\bottomrule",
                r"\end{tabular}}",
            )
        )


def _no_option(line: str) -> str:
    """Return a line of a table that LaTeX does not take for an option of the end of the line before."""
    return f"{{}}{line}" if line.startswith(("[", "*")) else line


def _halves(cell: str) -> tuple[str, str]:
    """Return a number before its point, or its interval, and the rest."""
    found = re.fullmatch(r"([^ ]*)( \(.*)", cell) or re.fullmatch(r"([^.]*)(\..*)?", cell)
    return (found[1], found[2] or "") if found else (cell, "")


def _number(cell: str) -> str:
    """Return a cell of numbers for LaTeX, with signs of minus and infinity."""
    text = re.sub(r"(?<![\w.])-(?=[\d.i])", "\x00", cell)
    text = re.sub(r"\binf\b", r"$\\infty$", in_latex(text.replace("\x00", "−")))
    return f"~{text[1:]}" if text.startswith(" ") else text


def _text_in_latex(text: str) -> str:
    """Return a head or an explanation for LaTeX, with signs of minus."""
    return in_latex(text.replace(" - ", " − "))


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


def _first_line(title: str, most: int) -> str:
    """Return a title, or as much of it as has at most so many letters and ends at a comma, a colon or a word."""
    if len(title) <= most:
        return title
    head = title[: most + 1]
    at = max(head.rfind(mark) for mark in (", ", ": ", " of "))
    return head[: at if at > 0 else max(0, head.rfind(" "))] or title[:most]


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
