"""`Child`: a `covey` command that shows a page, as a process of its own; `Replays`: those of recorded runs."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from covey.errors import InvalidValueError
from covey.registry import import_path

_ADDRESS = re.compile(r"(watch and steer|only watch|watch)\s+(http://\S+)")
_KEPT = re.compile(
    r"(PATH|HOME|USER|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TEMP|TMP|TERM|SYSTEMROOT|APPDATA|LOCALAPPDATA|XDG_\w+)"
)
_OURS = ("COVEY_CACHE_DIR", "NUMBA_NUM_THREADS", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "OMP_NUM_THREADS")
_ENDED = re.compile(r"the run has ended: (\w+); its record is in (.+)")
_LAST_S = 5.0
_LINES = 20


class Child:
    """A process ``covey …`` with a page.

    It gets no key or token of this process: of the environment it gets only what is known to hold none. Ctrl-C in the
    terminal does not reach it; `end` does.

    Args:
        arguments: what follows ``covey``.
        folder: the folder in which it runs.
        changed: called, in another thread, when its address is known, when its run has ended, and when it has itself.

    Attributes:
        url: address of its page; empty until it is known.
        view_url: address for somebody who may only watch.
        code: its exit code; None while it runs.
        ended, record: how its run has ended and the folder of the record, which it says at once; empty before.
        words: the last lines that it has printed.
    """

    def __init__(
        self, arguments: Sequence[str], folder: Path, changed: Callable[["Child"], object] = lambda child: None
    ):
        self.folder = folder
        self.url = self.view_url = ""
        self.code: int | None = None
        self.ended = self.record = ""
        self.words: deque[str] = deque(maxlen=_LINES)
        self.ready = threading.Event()
        self._changed = changed
        kept = {name: value for name, value in os.environ.items() if _KEPT.fullmatch(name) or name in _OURS}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "covey", *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=kept | {"PYTHONPATH": import_path(), "PYTHONUNBUFFERED": "1"},
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, name="covey-child", daemon=True)
        self._reader.start()

    def wait(self) -> bool:
        """Wait until it has a page, or has ended without one; return whether it has a page."""
        self.ready.wait()
        return bool(self.url)

    def interrupt(self) -> None:
        """Let it end as by Ctrl-C: its record up to now is kept."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT if os.name == "posix" else signal.SIGTERM)

    def end(self) -> None:
        """Let it end, and wait for it."""
        self.interrupt()
        try:
            self._process.wait(_LAST_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(_LAST_S)

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                found = _ADDRESS.match(line)
                if found is None and (over := _ENDED.match(line)):
                    self.ended, self.record = over[1], over[2].rstrip()
                    self._tell()
                if found is None:
                    self.words.append(line.rstrip())
                    continue
                if found[1] == "only watch":
                    self.view_url = found[2]
                else:
                    self.url = found[2]
                if found[1] != "watch and steer":  # the other address follows
                    self._tell()
        self.code = self._process.wait()
        self._tell()

    def _tell(self) -> None:
        self.ready.set()
        self._changed(self)


class Replays:
    """Pages of recorded runs: each is a process ``covey view RUN``, started when somebody opens it first.

    It ends when its last viewer has left.

    Args:
        host: the address on which they listen.
    """

    def __init__(self, host: str):
        self.host = host
        self._pages: dict[Path, Child] = {}
        self._lock, self._over = threading.Lock(), False

    def open(self, run: Path) -> str:
        """Return the address of the page of a run.

        Args:
            run: its folder.

        Raises:
            InvalidValueError: it cannot be shown, or all pages have been ended.
        """
        with self._lock:
            if self._over:
                raise InvalidValueError(f"{run} cannot be shown: this page is being closed; covey view {run} shows it")
            page = self._pages.get(run)
            if page is None or page.code is not None:
                page = self._pages[run] = Child(["view", str(run), "--host", self.host, "--until-closed"], run.parent)
        if not page.wait():
            raise InvalidValueError("\n".join(page.words) or f"{run} cannot be shown")
        return page.url

    @property
    def any(self) -> bool:
        """Whether there is one, at which somebody looks."""
        return any(page.code is None for page in list(self._pages.values()))

    def end(self) -> None:
        """End all of them, and let nobody open another one."""
        with self._lock:
            self._over, pages = True, list(self._pages.values())
        for page in pages:
            page.end()
