"""`covey run --profile`: where the time of a run goes, by phase and by function, and a flame graph."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from covey.errors import CoveyError

if TYPE_CHECKING:
    from pyinstrument import Profiler

FLAMES, PAGE = "profile.speedscope.json", "profile.html"
_INTERVAL_S = 0.002
_MOST = 15


@contextmanager
def sampled() -> "Iterator[Profiler]":
    """Note each 2 ms which function runs, in this thread, until the block ends.

    Raises:
        CoveyError: pyinstrument is not installed.
    """
    try:
        from pyinstrument import Profiler
    except ImportError:
        raise CoveyError("--profile needs pyinstrument; install it with: pip install 'covey[profile]'") from None
    profiler = Profiler(interval=_INTERVAL_S, async_mode="disabled")
    with profiler:
        yield profiler


def write_profile(profiler: "Profiler", folder: Path) -> list[Path]:
    """Write the flame graph and a page of the samples into a run folder, and return their paths."""
    from pyinstrument.renderers import HTMLRenderer, SpeedscopeRenderer

    paths = [folder / FLAMES, folder / PAGE]
    paths[0].write_text(profiler.output(SpeedscopeRenderer()), encoding="utf-8")
    paths[1].write_text(profiler.output(HTMLRenderer()), encoding="utf-8")
    return paths


def functions_of(profiler: "Profiler") -> dict[tuple[str, str], float]:
    """Return the time that each function spent itself [s], by function and file."""
    spent: dict[tuple[str, str], float] = defaultdict(float)
    session = profiler.last_session
    waiting = [] if session is None or (root := session.root_frame()) is None else [root]
    while waiting:
        frame = waiting.pop()
        own = frame.parent if frame.is_synthetic and frame.parent is not None else frame
        spent[own.function, own.file_path_short or ""] += frame.time - sum(child.time for child in frame.children)
        waiting += frame.children
    return spent


def print_profile(profiler: "Profiler", phase_s: Mapping[str, float], paths: list[Path]) -> None:
    """Print the time of each phase of the step, and of the functions that took most."""
    console = Console(highlight=False, soft_wrap=True, markup=False)
    total = sum(phase_s.values()) or 1.0
    table = Table("phase", "s", "%", title="wall time by phase", title_justify="left", box=None)
    for phase, seconds in sorted(phase_s.items(), key=lambda item: -item[1]):
        table.add_row(phase, f"{seconds:.3f}", f"{100 * seconds / total:.0f}")
    console.print()
    console.print(table)
    spent = functions_of(profiler)
    total = sum(spent.values()) or 1.0
    table = Table("function", "in", "s", "%", title="functions that took most", title_justify="left", box=None)
    for (function, file), seconds in sorted(spent.items(), key=lambda item: -item[1])[:_MOST]:
        table.add_row(function, file, f"{seconds:.3f}", f"{100 * seconds / total:.0f}")
    console.print()
    console.print(table)
    console.print(f"\nflame graph {paths[0]} (open it at https://www.speedscope.app); without network: {paths[1]}")
