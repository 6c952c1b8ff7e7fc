"""`covey view` and `covey export`: a recorded run in a web page, or in one file."""

import os
import sys
import threading
import webbrowser
from pathlib import Path
from typing import get_args

from covey.errors import InvalidValueError
from covey.results.run import Run
from covey.viewer.exports import ENDINGS, Format, export
from covey.viewer.exports.log import relations_beside
from covey.viewer.hub import wait_until_left
from covey.viewer.recorded import Recorded
from covey.viewer.server import Server

FIRST_S = 60.0
"""Time within which somebody must open a page that ends with its last viewer [s]."""


def view_command(folder: Path, beside: Path | None, host: str, port: int, *, until_closed: bool = False) -> None:
    """Show a run, or two side by side, in a web page until Ctrl-C, or until the last viewer has left."""
    run = Run(folder, incomplete=True)
    other = None if beside is None else Run(beside, incomplete=True)
    second = None if other is None else Recorded(other, run)
    shown = Recorded(run, other)
    with Server(shown, host, port, second) as server:
        print(f"watch  {server.view_url}\nend    Ctrl-C", file=sys.stderr, flush=True)
        if sys.stderr.isatty() and (os.environ.get("DISPLAY") or sys.platform == "darwin"):
            webbrowser.open(server.view_url)
        if not until_closed:
            threading.Event().wait()
        wait_until_left(shown.hub.last_look, FIRST_S)


def export_command(folder: Path, form: Format, out: Path | None, robot: str | None = None) -> None:
    """Write a run into one file, and print its path and size.

    Raises:
        InvalidValueError: the file ends like one of another format.
    """
    if robot is not None and form != "log":
        raise InvalidValueError("--robot is for --format log")
    ending = f".{ENDINGS.get(form, form)}"
    if out is not None and out.suffix.lower() not in ("", ending):
        others = [other for other in get_args(Format) if f".{ENDINGS.get(other, other)}" == out.suffix.lower()]
        hint = f"; for {out.suffix} add --format {others[0]}" if others else ""
        raise InvalidValueError(f"--out {out}: a file of --format {form} ends with {ending}{hint}")
    run = Run(folder)
    path = out or Path(f"{run.folder.resolve().name}{ending}")
    writer = None
    if form == "ros2":
        from covey.ros.bag_writing import write as writer
    export(run, form, path, robot, writer)
    written = [path, *(beside for beside in [relations_beside(path)] if form == "log" and beside.exists())]
    for file in written:
        print(f"{file}  {file.stat().st_size / 1e6:.2f} MB")
