"""`covey view`: a recorded run in a web page."""

import os
import sys
import threading
import webbrowser
from pathlib import Path

from covey.results.run import Run
from covey.viewer.recorded import Recorded
from covey.viewer.server import Server


def view_command(folder: Path, host: str, port: int) -> None:
    """Show a run in a web page until Ctrl-C."""
    with Server(Recorded(Run(folder, incomplete=True)), host, port) as server:
        print(f"watch  {server.view_url}\nend    Ctrl-C", file=sys.stderr, flush=True)
        if sys.stderr.isatty() and (os.environ.get("DISPLAY") or sys.platform == "darwin"):
            webbrowser.open(server.view_url)
        threading.Event().wait()
