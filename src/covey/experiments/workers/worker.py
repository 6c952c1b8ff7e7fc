"""The process that executes runs for a supervisor: ``python -m covey.experiments.workers.worker``.

It reads orders as lines of JSON from standard input, and writes one answer for each. Output of controllers goes to
standard error. The process ends at once if the supervisor vanishes, even during a run. It also ends after a run that
has changed the process in a way that could affect the next one.
"""

import faulthandler
import gc
import json
import os
import queue
import signal
import stat
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

IDLE_S = 60.0
"""The process ends after this time without an order."""
CLOSED = 74
"""Exit code of a process that cannot answer any more."""


def main() -> None:
    """Execute orders until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    orders: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    stream = os.fdopen(os.dup(0), encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    faulthandler.enable()
    if sys.platform != "win32":
        faulthandler.register(signal.SIGUSR1, all_threads=False)
    threading.Thread(target=_listen, args=(stream, orders), daemon=True).start()

    from covey.lazy import loading

    with loading():
        from covey.experiments.design.plan import PlannedRun, software
        from covey.experiments.design.records import RunLimits
        from covey.experiments.workers.execute import execute
        from covey.experiments.workers.refusals import RefusedError

    found = _state()
    _say(answers, {"ready": software()})
    while True:
        try:
            order = orders.get(timeout=IDLE_S)
        except queue.Empty:
            return
        try:
            limits = RunLimits.model_validate(order["limits"])
            answer = {"row": execute(PlannedRun(**order["planned"]), Path(order["folder"]), limits)}
        except RefusedError as error:
            answer = {"refused": str(error)}
        except Exception as error:  # the disk: not the run's fault, so no row
            answer = {"error": str(error), "errno": getattr(error, "errno", None)}
        changed = _state() != found
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        last = changed or "refused" in answer
        _say(answers, answer | {"last": last})
        if last:
            os._exit(0)  # do not wait for threads that never end


def _state() -> tuple[Any, ...]:
    """Return the state of the process that a controller may have changed, except modules of files."""
    try:
        folder = os.getcwd()
    except OSError:  # it has been removed
        folder = ""
    threads = {t for t in threading.enumerate() if not t.daemon and not t.name.startswith("covey-")}
    variables = {name: value for name, value in os.environ.items() if name[0] != "_"}  # libraries set those with _
    return folder, variables, tuple(sys.path), sys.getrecursionlimit(), gc.isenabled(), threads


def _listen(stream: IO[str], orders: "queue.SimpleQueue[dict[str, Any]]") -> None:
    for line in stream:
        orders.put(json.loads(line))
    os._exit(0)


def _say(answers: IO[str], answer: dict[str, Any]) -> None:
    """Write an answer, unless a run has closed the pipe; its descriptor may now belong to another file."""
    try:
        if not stat.S_ISFIFO(os.fstat(answers.fileno()).st_mode):
            os._exit(CLOSED)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    except OSError:
        os._exit(CLOSED)


if __name__ == "__main__":
    main()
