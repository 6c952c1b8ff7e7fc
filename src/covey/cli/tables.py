"""Tables for a terminal; plain lines if the output goes to a file or another program."""

import math
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from covey.errors import printable


def print_names(kind: str, summaries: Mapping[str, str]) -> None:
    """Print names, each with its summary."""
    console = Console(highlight=False)
    if console.is_terminal:
        table = Table(title=kind, title_justify="left", box=None, show_header=False, pad_edge=False, padding=(0, 2))
        for name, summary in summaries.items():
            table.add_row(Text(printable(name), "bold"), Text(printable(summary)))
        console.print(table, "")
    else:
        width = max(map(len, summaries), default=0)
        print(f"{kind}:")
        for name, summary in summaries.items():
            print(f"  {name:{width}}  {summary}".rstrip())


def print_all_names(kinds: Mapping[str, Iterable[str]]) -> None:
    """Print the names of each kind."""
    width = Console().width
    for kind, names in kinds.items():
        words = printable(f"{kind}: {', '.join(names)}")
        print(textwrap.fill(words, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False))
    print("\ncovey list KIND says what each of a kind is; covey show NAME says all about most of them")


def print_metrics(chosen: Mapping[str, tuple[Any, str]]) -> None:
    """Print metrics: name, value and meaning."""
    table = Table("metric", "value", "", box=None, header_style="bold", pad_edge=False, padding=(0, 2))
    for name, (value, meaning) in chosen.items():
        if (name, value) == ("status", "exhausted"):
            meaning = f"{meaning}: every controller had finished before the goal"
        table.add_row(name, Text(shown(value)), Text(meaning, "dim"))
    Console(highlight=False).print(table)


_FIRST_REPORTS, _LAST_REPORTS = 20, 5


def print_reports(reports: Any) -> None:
    """Print the reports of a run and their answers, a data frame as `covey.Run.reports`."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2))
    for head in ("time [s]", "robot", "report", "answer", "error [m]"):
        table.add_column(Text(head))
    rows = reports.to_dicts()
    left_out = len(rows) - _FIRST_REPORTS - _LAST_REPORTS
    for row in rows if left_out < 1 else [*rows[:_FIRST_REPORTS], None, *rows[-_LAST_REPORTS:]]:
        if row is None:
            table.add_row("…", "", Text(f"{left_out} more, which are in reports.parquet"))
            continue
        what = f"{row['kind']} {row['identity']} at ({row['x_m']:.2f}, {row['y_m']:.2f})".lstrip()
        cells = shown(row["time_s"]), row["robot"], what, row["answer"], shown(row["error_m"])
        table.add_row(*map(Text, cells))
    Console(highlight=False).print("", table)


def print_findings(findings: list[tuple[str, str, bool]]) -> int:
    """Print findings (subject, finding, whether it is good); return 1 if something is wrong, else 0."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2))
    for subject, finding, well in findings:
        table.add_row(
            "" if well else "[bold red]![/bold red]", Text(printable(subject)), Text(printable(finding, keep="\n"))
        )
    Console(highlight=False).print(table)
    return 0 if all(well for _, _, well in findings) else 1


def shown(value: Any) -> str:
    """Return a number as text with few digits.

    Examples:
        >>> shown(1234.5678), shown(0.98765), shown(None), shown(12)
        ('1234.6', '0.9877', '-', '12')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if not isinstance(value, float):
        return printable(str(value))
    return f"{value:.1f}" if abs(value) >= 1000 else f"{value:.4g}"
