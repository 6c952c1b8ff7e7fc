"""Names as plain text in a terminal, LaTeX or a spreadsheet: anything that would be interpreted there is escaped."""

import unicodedata

from covey.errors import printable

_LATEX = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    "−": "$-$",
    "≥": r"$\ge$",
    "≤": r"$\le$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "²": r"\textsuperscript{2}",
    "³": r"\textsuperscript{3}",
    "°": r"$^\circ$",
    "µ": r"$\mu$",
    "…": r"\ldots{}",
}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def in_latex(text: str) -> str:
    r"""Return text escaped for LaTeX; a letter unknown to pdfLaTeX becomes the nearest known one, or its number.

    Examples:
        >>> in_latex("50 % of $x^2$"), in_latex("é, 中")
        ('50 \\% of \\$x\\textasciicircum{}2\\$', 'é, U+4E2D')
    """
    return "".join(_LATEX.get(c) or _latin(c) for c in printable(text, keep=""))


def in_cell(text: str) -> str:
    """Return text as a cell of a spreadsheet; an apostrophe comes before text that would be a formula.

    Examples:
        >>> in_cell("=1+1"), in_cell("plain")
        ("'=1+1", 'plain')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text


def _latin(letter: str) -> str:
    if letter <= "\xff":
        return letter
    nearest = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
    return in_latex(nearest) if nearest else f"U+{ord(letter):04X}"
