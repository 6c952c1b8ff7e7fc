"""`covey view` and `covey export`: a recorded run in a web page, or in one file."""

import os
import sys
import threading
import webbrowser
from pathlib import Path

from covey.results.run import Run
from covey.viewer.exports import Format, export
from covey.viewer.recorded import Recorded
from covey.viewer.server import Server


def view_command(folder: Path, beside: Path | None, host: str, port: int) -> None:
    """Show a run, or two side by side, in a web page until Ctrl-C."""
    run = Run(folder, incomplete=True)
    other = None if beside is None else Run(beside, incomplete=True)
    second = None if other is None else Recorded(other, run)
    with Server(Recorded(run, other), host, port, second) as server:
        print(f"watch  {server.view_url}\nend    Ctrl-C", file=sys.stderr, flush=True)
        if sys.stderr.isatty() and (os.environ.get("DISPLAY") or sys.platform == "darwin"):
            webbrowser.open(server.view_url)
        threading.Event().wait()


def export_command(folder: Path, form: Format, out: Path | None) -> None:
    """Write a run into one file, and print its path and size."""
    run = Run(folder)
    path = out or Path(f"{folder.resolve().name}.{form}")
    export(run, form, path)
    print(f"{path}  {path.stat().st_size / 1e6:.2f} MB")
