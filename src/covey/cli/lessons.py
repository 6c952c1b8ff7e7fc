"""`covey lessons check`: hand-ins are graded."""

import csv
import json
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from covey.cli.exit_codes import NOT_REACHED, REACHED
from covey.errors import printable
from covey.lab.lessons.grading import Grade, graded


def check_command(folder: Path, lesson: int | None, seconds: float, jobs: int, form: str, quiet: bool) -> int:
    """Grade the hand-ins of a folder, print the grades, and return the exit code."""

    def told(grade: Grade) -> None:
        if not quiet:
            print(f"{grade.file}: {'done' if grade.done else 'not yet'}", file=sys.stderr, flush=True)

    grades = graded(folder, lesson, seconds, jobs, told)
    if form == "json":
        print(json.dumps([grade._asdict() for grade in grades], indent=2))
    elif form == "csv":
        rows = csv.writer(sys.stdout, lineterminator="\n")
        rows.writerow(("file", "lesson", "done", "reasons"))
        rows.writerows((g.file, g.lesson or "", g.done, "; ".join(g.reasons)) for g in grades)
    else:
        table = Table("hand-in", "lesson", "", "what is still wrong", box=None, header_style="bold", pad_edge=False)
        for grade in grades:
            said = Text(printable("\n".join(grade.reasons)))
            table.add_row(printable(grade.file), str(grade.lesson or "?"), "done" if grade.done else "not yet", said)
        Console(highlight=False, width=None if sys.stdout.isatty() else 160).print(table)
        print(f"{sum(grade.done for grade in grades)} of {len(grades)} are done")
    return REACHED if all(grade.done for grade in grades) else NOT_REACHED
