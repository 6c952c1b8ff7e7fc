"""The process in which a keeper has runs executed: ``python -m covey.experiments.child``.

Orders come as lines of JSON on standard input, one answer goes back for each. What a controller prints goes to
standard error. When the keeper vanishes, the process ends at once, in the middle of a run too.
"""

import faulthandler
import json
import os
import queue
import signal
import sys
import threading
from pathlib import Path
from typing import IO, Any

IDLE_S = 60.0
"""After so long without an order the process ends by itself."""


def main() -> None:
    """Execute what is ordered until there is nothing more to come."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    orders: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    stream = os.fdopen(os.dup(0), encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    faulthandler.enable()
    if hasattr(signal, "SIGUSR1"):
        faulthandler.register(signal.SIGUSR1, all_threads=False)
    threading.Thread(target=_listen, args=(stream, orders), daemon=True).start()

    from covey.experiments.execute import execute
    from covey.experiments.plan import PlannedRun, environment

    _say(answers, {"ready": environment()})
    while True:
        try:
            order = orders.get(timeout=IDLE_S)
        except queue.Empty:
            return
        try:
            answer = {"row": execute(PlannedRun(**order["planned"]), Path(order["folder"]))}
        except Exception as error:  # the disk: no fault of the run, and no row
            answer = {"error": str(error), "errno": getattr(error, "errno", None)}
        sys.stdout.flush()
        _say(answers, answer)


def _listen(stream: IO[str], orders: "queue.SimpleQueue[dict[str, Any]]") -> None:
    for line in stream:
        orders.put(json.loads(line))
    os._exit(0)


def _say(answers: IO[str], answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
