"""`covey tune`."""

import math
import shlex
import sys
from pathlib import Path
from typing import IO, Any

from covey.cli.bar import TextBar
from covey.cli.exit_codes import INTERRUPTED, REACHED
from covey.errors import printable
from covey.experiments.analysis.analysis import comparison
from covey.experiments.analysis.report_tables import Sheet
from covey.experiments.analysis.report_tables import text as cell
from covey.experiments.analysis.summary import SEEDLESS, is_seedless
from covey.experiments.tuning.tune import DEFAULT, FRESH, PICTURE, SETTING, TUNED, Tuned, TuneProgress, tune
from covey.experiments.workers.rows import text_of
from covey.results.labels import label


def tune_command(source: str, metric: str, out: Path | None, quiet: bool, **options: Any) -> int:
    """Tune a strategy, print what was found, and return the exit code.

    Args:
        options: as in `tune`.
    """
    try:
        with TuneBar(quiet=quiet) as bar:
            found = tune(source, metric, folder=out, observer=bar.observe, **options)
    except KeyboardInterrupt:
        print("interrupted; repeat the command: it does what is left", file=sys.stderr)
        return INTERRUPTED
    print(found.folder if quiet else report(found, source))
    if found.fresh is not None and is_seedless(found.fresh.table):
        print(f"warning: {SEEDLESS}", file=sys.stderr)
    return REACHED


class TuneBar(TextBar):
    """How many trials have ended, and the best so far; then how many runs on fresh seeds."""

    def __init__(self, stream: IO[str] | None = None, *, quiet: bool = False):
        super().__init__(stream)
        self._quiet = quiet

    def observe(self, progress: TuneProgress) -> None:
        """Update the display."""
        if self._quiet:
            return
        if progress.fresh is not None:
            line = f"fresh seeds: {progress.fresh.done}/{progress.fresh.total} runs"
            if self.in_terminal or progress.fresh.done == progress.fresh.total:
                self.show(line, progress.fresh.done / max(1, progress.fresh.total))
            return
        parts = [f"{progress.done}/{progress.total} trials"]
        if progress.stopped:
            parts.append(f"{progress.stopped} stopped early")
        if progress.best is not None and math.isfinite(progress.best.value):
            parts.append(f"best {progress.best.value:.4g} (trial {progress.best.number})")
        self.show(", ".join(parts), progress.done / progress.total)


def report(found: Tuned, source: str) -> str:
    """Return what was found, as text for a terminal."""
    best = "largest" if found.larger else "smallest"
    stopped = sum(not one.is_finished for one in found.trials)
    lines = [
        f"{len(found.trials)} settings tried for the {best} mean of {found.metric}, {stopped} of them stopped early",
        "",
        _settings(found).to_text(),
    ]
    if found.left_out:
        lines += [
            "",
            f"not searched, as their ranges are wide: {'; '.join(found.left_out)}. To search one: --over NAME=FROM..TO",
        ]
    if found.fresh is None:
        lines += ["", "no setting was better than the default, so there is nothing to check on fresh seeds"]
    else:
        lines += ["", *_checked(found)]
        again = " ".join(f"-s {shlex.quote(f'{path}={text_of(value)}')}" for path, value in found.best.values.items())
        lines += ["", f"covey run {shlex.quote(source)} {again}" if not found.conditions else f"settings: {again}"]
        lines.append(f"report   covey report {shlex.quote(str(found.folder / FRESH))}")
    lines.append(f"picture  {found.folder / PICTURE}.png")
    return printable("\n".join(lines), keep="\n")


def _settings(found: Tuned) -> Sheet:
    rows = [
        (
            *(one.path, text_of(one.default), text_of(found.best.values[one.path])),
            f"{found.importance[one.path]:.0%}" if one.path in found.importance else cell(None),
        )
        for one in sorted(found.searched, key=lambda one: -found.importance.get(one.path, 0.0))
    ]
    return Sheet("", ("parameter", DEFAULT, "best", "importance"), tuple(rows), (False, True, True, True))


def _checked(found: Tuned) -> list[str]:
    """Return the two settings side by side on fresh seeds, each with its interval, and the test between them."""
    summary, rows = found.summary, found.comparison
    assert summary is not None
    assert rows is not None
    kinds = summary["interval"].drop_nulls().unique(maintain_order=True).to_list()
    conditions = [*found.conditions]
    shown = summary.select(SETTING, *conditions, "runs", "successes", "median", "low", "high", "mean")
    sheet = Sheet.of(
        shown,
        f"{label(found.metric)} on fresh seeds",
        f"low, high: of the median, {' or '.join(kinds)}" if kinds else "",
    )
    lines = [sheet.to_text()]
    if len(rows):
        adjusted = rows.with_columns(p_adjusted=rows["p_holm"])
        lines += [
            "",
            comparison(adjusted, f"{DEFAULT} (A) and {TUNED} (B), in pairs of equal seeds", "", found.metric).to_text(),
        ]
    return [*lines, "", verdict(found)]


def verdict(found: Tuned) -> str:
    """Return in a sentence whether the best setting is better than the default on seeds that it was not chosen by."""
    rows = found.comparison
    ends = [] if rows is None or not len(rows) else [rows["shift_low"][0], rows["shift_high"][0]]
    ends = [] if None in ends else [-end if found.larger else end for end in ends]
    if ends and min(ends) > 0:
        return f"{TUNED} is better than {DEFAULT} on fresh seeds"
    said = "worse than" if ends and max(ends) < 0 else "not shown to be better than"
    return (
        f"{TUNED} is {said} {DEFAULT} on fresh seeds: the seeds of the trials were too few, try more --seeds or --fresh"
    )
