"""`covey run DESIGN` and `covey results`."""

import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from covey.cli.bar import StageBar
from covey.cli.design_progress import DesignProgress
from covey.cli.exit_codes import INTERRUPTED, NOT_REACHED, REACHED
from covey.cli.looking import refuse_code_of
from covey.errors import InvalidValueError, RunFolderError, printable
from covey.experiments.analysis.questions import endings, has_goal
from covey.experiments.analysis.summary import SEEDLESS, as_csv, as_json, as_latex, as_text, is_seedless
from covey.experiments.design.confounds import only_noise
from covey.experiments.design.load import load_design
from covey.experiments.design.plan import base_scenario, plan
from covey.experiments.design.records import Design
from covey.experiments.design.shipped import is_design
from covey.experiments.design.vectors import is_known
from covey.experiments.run import (
    Progress,
    Results,
    design_folder,
    in_words_damaged,
    in_words_taken_over,
    parse_shard,
    replaces,
    run_design,
)
from covey.experiments.workers.cluster import job_script, open_cluster
from covey.experiments.workers.folder import DESIGN, LOGS, RESULTS, load_kept_design, refuse_others, taken_over
from covey.experiments.workers.row import RUNS
from covey.experiments.workers.rows import read_rows
from covey.experiments.workers.versions import differences, in_words
from covey.processors import processors
from covey.registry import Looking, looking
from covey.results.folder import near_run, run_folder
from covey.results.run import Run

if TYPE_CHECKING:
    from covey.viewer.study import Study

_FAILURES_SHOWN = 5


def run_design_command(
    source: str,
    out: Path | None,
    seed: int | None,
    jobs: int | None,
    cluster: str | None,
    shard: str | None,
    dry_run: bool,
    retry_failed: bool,
    quiet: bool,
    *,
    trusted_only: bool = False,
    trust: bool = False,
    page: tuple[str, int] | None = None,
) -> int:
    """Run a design, print where its results are, and return the exit code.

    Args:
        page: address and port of a page that shows the runs; None: no page. The other arguments are those of
            `covey run`.
    """
    if cluster is not None and jobs is not None:
        raise InvalidValueError("--jobs is for this machine; on a cluster the workers decide how many run at a time")
    if trust and not dry_run:
        raise InvalidValueError("--trust is for --dry-run; without --dry-run, covey run always runs a design's code")
    part = None if shard is None else parse_shard(shard)
    with looking(checks=True) if dry_run and not trust else nullcontext(Looking()) as seen:
        design = load_design(source, trusted_only=trusted_only)
        if seed is not None:
            design = design.with_seed(seed)
        folder = design_folder(design) if out is None else out
        if dry_run:
            print(_what_would_run(design, folder, seen) if cluster is None else job_script(cluster, _logs(folder)))
            return REACHED
    refuse_others(folder, design)
    progress = nullcontext() if quiet else DesignProgress(stop=base_scenario(design).stop)
    workers = None if cluster is not None else processors() if jobs is None else jobs
    with nullcontext() if page is None else _page(design, folder, workers, page) as study:
        try:
            with (
                _cluster(cluster, folder, trusted_only) as executor,
                progress as bar,
            ):
                observers = [one.observe for one in (bar, study) if one is not None]
                observers += [_print_news] if quiet else []
                results = run_design(
                    design,
                    folder,
                    jobs=jobs,
                    executor=executor,
                    shard=part,
                    retry_failed=retry_failed,
                    observer=lambda progress: [observe(progress) for observe in observers],
                )
        except KeyboardInterrupt:
            print(f"interrupted; finished runs are in {folder}; repeat the command to do the rest", file=sys.stderr)
            return INTERRUPTED
        code = _report(results, folder, quiet, design)
        if study is not None and (study.looked_at or study.complete):
            print("the page stays until you close it, or Ctrl-C", file=sys.stderr, flush=True)
            with suppress(KeyboardInterrupt):
                study.wait()
    return code


def _cluster(cluster: str | None, folder: Path, trusted_only: bool) -> AbstractContextManager[Executor | None]:
    """Return the executor of a cluster as a context, or one for this machine."""
    if cluster is None:
        return nullcontext()
    return open_cluster(cluster, _logs(folder), trusted_only=trusted_only)


def _logs(folder: Path) -> Path:
    return folder.resolve() / LOGS


def _print_news(progress: Progress) -> None:
    """Print news of the workers of a cluster, also where nothing else is printed."""
    for news in progress.news:
        print(printable(news), file=sys.stderr, flush=True)


@contextmanager
def _page(design: Design, folder: Path, workers: int | None, page: tuple[str, int]) -> Iterator["Study"]:
    """Show the runs in a page within the block."""
    from covey.cli.live import say_where  # loads the server
    from covey.viewer import Server
    from covey.viewer.study import Study

    with Study(design, folder, workers, page[0]) as study, Server(study, *page) as server:
        say_where(server)
        yield study


def results_command(
    source: str, form: Literal["table", "csv", "latex", "json"], out: Path | None, *, trusted_only: bool
) -> int:
    """Print the results of a design so far."""
    folder = _folder(source, out, trusted_only)
    results = _read(folder)
    if len(results) < results.planned:
        print(f"{len(results)} of {results.planned} runs have ended", file=sys.stderr)
    print({"table": as_text, "csv": as_csv, "latex": as_latex, "json": as_json}[form](results).rstrip("\n"))
    return REACHED


def report_command(source: str, results: Path | None, out: Path | None, *, trusted_only: bool) -> None:
    """Write the report of a design and print where it is."""
    from covey.experiments.report.report import write_report

    found = _read(_folder(source, results, trusted_only))
    with looking():
        if Path(source).is_dir():
            design = load_kept_design(found.folder, trusted_only=trusted_only)
        else:
            design = load_design(source, trusted_only=trusted_only)
        with StageBar() as progress:
            written = write_report(design, found, out, observer=progress.observe)
    print(f"{written.page}\n{written.latex}\n{len(written.figures)} figures in the same folder")


def compare_command(a: str, b: str, metrics: list[str], form: Literal["table", "latex"], *, trusted_only: bool) -> None:
    """Print what differs between two runs, or between the results of two designs."""
    from covey.experiments.analysis.compare import compare_results, compare_runs, differences, matches, run_differences

    alone: tuple[list[str], list[str]] = ([], [])
    single = [(run_folder(Path(source)) / "manifest.json").is_file() for source in (a, b)]
    for source, is_run in zip((a, b), single, strict=True):
        path = Path(source)
        if not (is_run or is_design(source) or (path / DESIGN).is_file()):
            said = "it is neither a run nor a design" if path.exists() else "there is no such folder or file"
            kept = Path("runs", source)
            near = f", did you mean {str(kept)!r}?" if (kept / DESIGN).is_file() else near_run(path)
            raise InvalidValueError(f"{source}: {said}{near}; give two run folders, or two designs")
    if single[0] != single[1]:
        one, other = (a, b) if single[0] else (b, a)
        raise InvalidValueError(f"{one} is one run and {other} is not; give two runs, or the results of two designs")
    if all(single):
        first, second = Run(a), Run(b)
        for run in (first, second) if trusted_only else ():
            refuse_code_of(run)
        found, sheets = run_differences(first, second), [compare_runs(first, second, metrics)]
    else:
        first, second = (_read(_folder(source, None, trusted_only)) for source in (a, b))
        found, sheets = differences(first, second), compare_results(first, second, metrics)
        alone = matches(first, second).alone
    mark = "% " if form == "latex" else ""
    print(f"{mark}A = {first.folder}, B = {second.folder}" + ("" if mark else "\n"))
    for run in (first, second):
        if isinstance(run, Run) and not run.manifest["scenario"]:
            print(f"{mark}{run.folder} was run from Python, without a scenario; its settings are not recorded")
    for path, one, other in found:
        print(printable(f"{mark}A and B differ in {path}: {one} / {other}"))
    if len(found) > 1:
        print(f"{mark}{len(found)} settings differ, so no difference below can be attributed to one of them")
    for which, vectors in zip("AB", alone, strict=True):
        for vector in vectors:
            print(printable(f"{mark}only {which} has {vector}; it is compared with nothing"))
    for sheet in sheets:
        print(sheet.to_latex() if form == "latex" else f"{sheet.to_text()}\n")


def _folder(source: str, out: Path | None, trusted_only: bool) -> Path:
    """Return the results folder of a design, given as its file, its name, or that folder."""
    with looking() as seen:
        if not Path(source).is_dir():
            design = load_design(source, trusted_only=trusted_only)
            folder = design_folder(design) if out is None else out
            _check_version(source, design, folder, seen, "" if out is None else f" --out {shlex.quote(str(out))}")
            if trusted_only and folder.is_dir():
                load_kept_design(folder, trusted_only=True)
            return folder
        folder = out or Path(source)
        if trusted_only:
            load_kept_design(folder, trusted_only=True)
        return folder


def _check_version(source: str, design: Design, folder: Path, seen: Looking, where: str) -> None:
    """Warn if the results in a folder are of another version of a design; refuse those of another design."""
    again = f"covey run {shlex.quote(source)}{where}"
    if is_known(design) and not seen.stand_ins and (said := replaces(folder, design, lambda: plan(design))):
        raise RunFolderError(
            f"{said}. Run this one: {again}; or see what is there: covey results {shlex.quote(str(folder))}"
        )
    if keys := differences(folder, design):
        said = f"{in_words(folder, design, keys)}, and these are its results; to bring them up to date: {again}"
        print(f"warning: {said}", file=sys.stderr)


def _read(folder: Path) -> Results:
    """Return the results in a folder; damaged runs are reported and left out."""
    results = Results(folder)
    if results.taken_over:
        print(in_words_taken_over(results.taken_over), file=sys.stderr)
    for path, lines in results.damaged_lines.items():
        print(in_words_damaged(path, lines), file=sys.stderr)
    for run_id in results.damaged:
        print(f"{folder / RUNS / run_id} is damaged and left out; run the design again to repeat it", file=sys.stderr)
    return results


def _what_would_run(design: Design, folder: Path, seen: Looking) -> str:
    refuse_others(folder, design)
    if not is_known(design) or seen.stand_ins:
        raise InvalidValueError(
            f"the number of runs depends on {', '.join(seen.unread)}, and a dry run does not run code from files; "
            "add --trust to run that code and count the runs"
        )
    runs = plan(design)
    planned = {p.run_id for p in runs}
    rows = read_rows(folder, values=False)
    taken_over(folder, planned, rows, None)
    there = sum(run_id in rows.places for run_id in planned)
    if replaced := replaces(folder, design, lambda: runs):
        print(f"warning: {replaced}", file=sys.stderr)
    return f"{len(planned)} runs: {there} have ended already, {len(planned) - there} would run, into {folder}"


def _report(results: Results, folder: Path, quiet: bool, design: Design) -> int:
    failures = results.failures
    if quiet:
        print(folder)
    else:
        print(as_text(results), end="\n\n")
        counts = Counter(results.table["status"].to_list())
        ends = endings(counts, goal=has_goal(base_scenario(design).stop.model_dump(), counts))
        print(f"{len(results)} of {results.planned} runs have ended: {ends}")
        print(f"results  {folder / RESULTS}" if len(results) == results.planned else f"folder  {folder}")
        print(f"report   covey report {shlex.quote(str(folder))}")
    _warn_of_processors(results)
    if is_seedless(results.table):
        print(f"warning: {SEEDLESS}", file=sys.stderr)
    elif not quiet and (said := only_noise(design)):
        print(printable(f"note: {said}"), file=sys.stderr)
    for row in failures[:_FAILURES_SHOWN]:
        said = f"{row['status']}: {row.get('reason')}\n  alone: {row['reproduce']}"
        print(printable(said, keep="\n"), file=sys.stderr)
    if len(failures) > _FAILURES_SHOWN:
        print(f"and {len(failures) - _FAILURES_SHOWN} more; --retry-failed runs them again", file=sys.stderr)
    return NOT_REACHED if failures else REACHED


def _warn_of_processors(results: Results) -> None:
    kinds = results.table["host_cpu"].drop_nulls().unique()
    if len(kinds) > 1:
        print(
            f"warning: {len(kinds)} kinds of processor computed these runs (column host_cpu); their last digits may "
            "differ, so compare only runs of one kind where it matters",
            file=sys.stderr,
        )
