"""`Study`: the runs of a design in a page while they are computed: state, metrics, failures, time to go."""

import json
import logging
import re
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import covey
from covey.errors import CoveyError, InvalidValueError
from covey.experiments.analysis.summary import USUAL
from covey.experiments.analysis.table import parameters_of
from covey.experiments.design.records import Design
from covey.experiments.run import Progress
from covey.experiments.workers.folder import read_plan
from covey.experiments.workers.row import FAILURES, RUNS, Row
from covey.experiments.workers.rows import read_rows, text_of
from covey.experiments.workers.showing import answer_of, request_of
from covey.results.folder import write_whole
from covey.viewer.children import Replays
from covey.viewer.hub import Hub, PageClient, wait_until_left
from covey.viewer.messages import Message, Open, Watch

_log = logging.getLogger(__name__)
_POLL_S = 0.5
_ANSWER_S = 30.0
"""Longest time that a run may take to answer, between two steps [s]."""
_WORK = re.compile(r"\.([0-9a-f]+)\.(.+)\.\d+")
"""Name of the folder of a run that is being computed, with its id and the machine: see
`covey.experiments.workers.folder.work_folder`."""


class Study:
    """Shows the runs of a design; give `observe` to `run_design`. It only reads.

    Args:
        design: the design.
        folder: its folder.
        workers: number of runs at a time; None: other machines decide.
        host: the address on which the pages of its runs listen.

    Attributes:
        hub: the viewers.
        complete: whether all runs had ended before.
    """

    def __init__(self, design: Design, folder: Path, workers: int | None, host: str = "127.0.0.1"):
        self.hub, self.folder = Hub(), folder.resolve()
        self._design, self._workers = design, workers
        self._replays = Replays(host)
        self._pool = ThreadPoolExecutor(4, "covey-study")
        self._runs: list[dict[str, Any]] = []
        self._places: dict[str, list[int]] = {}  # of each run id in the table
        self._metrics: tuple[str, ...] = design.columns or USUAL
        self._first = 0.0
        self.complete = False
        self._lock = threading.Lock()
        self._over = threading.Event()

    def __enter__(self) -> "Study":
        threading.Thread(target=self._poll, name="covey-study", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._replays.end()

    def observe(self, progress: Progress) -> None:
        """Take in that the first run is about to begin, or that one has ended. A fault here never ends the study."""
        if progress.news:
            return
        try:
            self._observe(progress)
        except Exception:
            _log.exception("the page of the study has a fault; the runs go on")

    def _observe(self, progress: Progress) -> None:
        with self._lock:
            if progress.row is None:
                self._begin()
                self.complete = progress.done == progress.total
                changed = []
            else:
                changed = self._set(progress.row["run_id"], _of_row(progress.row, self._metrics))
        self._tell(changed, self._progress(progress))

    @property
    def looked_at(self) -> bool:
        """Whether somebody looks at it, or has opened one of its runs."""
        return bool(self.hub.clients) or self._replays.any

    def last_look(self) -> float:
        """Return when somebody looked last at it or its runs; -inf if nobody has yet [s of ``time.monotonic``]."""
        return time.monotonic() if self.looked_at else self.hub.last_look()

    def wait(self) -> None:
        """Say that no more runs will be computed, and wait until nobody looks any more.

        If nothing was to be computed, wait until somebody has looked, too.
        """
        self._over.set()
        self.hub.hello = {**self.hub.hello, "over": True}
        self.hub.say({"type": "study", "runs": [], "over": True})
        wait_until_left(self.last_look, float("inf") if self.complete else 0.0)

    def _begin(self) -> None:
        entries = read_plan(self.folder)["runs"]
        names = parameters_of(entries)
        rows = read_rows(self.folder)
        for i, one in enumerate(entries):
            ended = one["run_id"] in rows.places
            said = _of_row(rows[one["run_id"]], self._metrics) if ended else {"state": "waiting"}
            values = [text_of(one["parameters"].get(name)) for name in names]
            self._places.setdefault(one["run_id"], []).append(i)
            known = {"i": i, "run": one["run_id"], "vector": one["vector"], "iteration": one["iteration"]}
            self._runs.append(known | {"values": values} | said)
        self._first = time.monotonic()
        report = self._design.report
        hello = {
            "type": "hello",
            "mode": "study",
            "covey": covey.__version__,
            "name": self._design.design,
            "description": self._design.description,
            "folder": str(self.folder),
            "workers": self._workers,
            "parameters": names,
            "metrics": list(self._metrics),
            "x": None if report is None else report.x,
            "line": None if report is None else report.line,
            "runs": self._runs,
            "over": False,
        }
        self.hub.describe(hello, {})

    def _set(self, run_id: str, said: dict[str, Any]) -> list[dict[str, Any]]:
        """Change what is known of a run; return its changed lines."""
        changed = []
        for i in self._places.get(run_id, ()):
            if any(self._runs[i].get(key) != value for key, value in said.items()):
                self._runs[i] = self._runs[i] | said
                changed.append(self._runs[i])
        return changed

    def _progress(self, progress: Progress) -> dict[str, Any]:
        ended, left = progress.done - progress.before, progress.total - progress.done
        spent = time.monotonic() - self._first
        to_go_s = spent / ended * left if ended else None
        return {
            "total": progress.total,
            "done": progress.done,
            "failed": progress.failed,
            "to_go_s": to_go_s if left else 0.0,
            "remarks": list(progress.remarks),
        }

    def _tell(self, changed: list[dict[str, Any]], progress: dict[str, Any] | None = None) -> None:
        hello = {**self.hub.hello, "runs": list(self._runs)}
        if progress is not None:
            hello["progress"] = progress
        self.hub.hello = hello
        if changed or progress is not None:
            self.hub.say({"type": "study", "runs": changed} | ({} if progress is None else {"progress": progress}))

    def _poll(self) -> None:
        """Look which runs are being computed: each has a temporary folder."""
        while not self._over.wait(_POLL_S):
            try:
                self._look()
            except OSError:
                continue  # the folder is being moved or removed
            except Exception:
                _log.exception("the page of the study has a fault; the runs go on")
                return

    def _look(self) -> None:
        names = [path.name for path in (self.folder / RUNS).iterdir()] if self._runs else []
        found = {match[1] for match in map(_WORK.fullmatch, names) if match}
        with self._lock:
            changed = []
            for run in list(self._runs):
                if run["state"] in ("waiting", "running"):
                    changed += self._set(run["run"], {"state": "running" if run["run"] in found else "waiting"})
        if changed:
            self._tell(changed)

    # -- the server's thread -------------------------------------------------------------------------------------------

    def handle(self, client: PageClient, message: Message) -> None:
        """Open a run; nothing else can be asked."""
        match message:
            case Watch():
                pass
            case Open():
                self._pool.submit(self._open, client, message)
            case _:
                text = "this page shows a study; nothing of it can be changed"
                self.hub.say({"type": "refused", "id": message.id, "text": text}, client)

    def _open(self, client: PageClient, message: Open) -> None:
        try:
            known = self._places.get(message.run)
            if not known:
                raise InvalidValueError(f"there is no run {message.run!r:.40}")
            if self._runs[known[0]]["state"] in ("waiting", "running"):
                url = self._watched(message.run)
            elif not (self.folder / RUNS / message.run).is_dir():
                raise InvalidValueError("of this run only its row is kept; see `keep` of the design")
            else:
                url = self._replays.open(self.folder / RUNS / message.run)
            answer = {"type": "done", "url": url}
        except (CoveyError, OSError) as error:
            answer = {"type": "refused", "text": str(error)}
        self.hub.say(answer | {"id": message.id}, client)

    def _watched(self, run: str) -> str:
        """Return the address of the page of a run that is being computed; its process opens it when it is asked.

        Raises:
            InvalidValueError: nobody computes it now, another machine does, or it does not answer.
        """
        runs = self.folder / RUNS
        works = [match for path in runs.iterdir() if (match := _WORK.fullmatch(path.name)) and match[1] == run]
        here = [match[0] for match in works if match[2] == socket.gethostname()]
        if not works:
            raise InvalidValueError("this run has not begun; it can be opened then")
        if not here:
            raise InvalidValueError(f"{works[0][2]} computes this run; it can be opened when it has ended")
        work, until = runs / here[0], time.monotonic() + _ANSWER_S
        request, asked = request_of(work), json.dumps({"host": self._replays.host}).encode()
        # The process may look at any time, and another thread may ask for the same run.
        write_whole(request, asked, request.with_name(f"{request.name}.{threading.get_ident()}"))
        while not answer_of(work).exists() and work.exists() and time.monotonic() < until and not self._over.wait(0.05):
            continue
        try:
            answer = json.loads(answer_of(work).read_text())
        except FileNotFoundError:
            request.unlink(missing_ok=True)
            if not work.exists():
                raise InvalidValueError("this run has just ended; open it again") from None
            raise InvalidValueError("this run does not answer: its steps take long; it can be tried again") from None
        if "url" not in answer:
            raise InvalidValueError(f"this run cannot be shown: {answer['error']}")
        return answer["url"]


def _of_row(row: Row, metrics: tuple[str, ...]) -> dict[str, Any]:
    """Return what the page shows of a run that has ended."""
    values = {name: row["metrics"].get(name) for name in metrics}
    plain = {name: value for name, value in values.items() if isinstance(value, bool | int | float)}
    state = "failed" if row["status"] in FAILURES else "done"
    return {"state": state, "status": row["status"], "reason": row.get("reason") or "", "metrics": plain}
