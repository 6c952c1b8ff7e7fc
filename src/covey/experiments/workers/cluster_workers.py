"""`Workers`: the workers of a cluster as an executor that tells why nothing happens."""

import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from covey.experiments.workers.jobs import Jobs

_LOOK_S, _ANSWER_S = 2.0, 5.0
FIRST_S, SAY_S = 30.0, 60.0
"""Time without a worker after which that is told first, and between two of these messages [s]."""


class Workers(Executor):
    """The workers of a cluster, as an executor.

    Args:
        client: a client of the Dask scheduler.
        start: what to do if no worker is connected; only told if ``jobs`` is None.
        jobs: the jobs that start the workers; None: others start them.
    """

    def __init__(self, client: Any, start: str, jobs: Jobs | None = None):
        self._client, self._start, self._jobs = client, start, jobs
        self._executor: Executor = client.get_executor()
        self._next_look = 0.0
        self._next_message = time.monotonic() + FIRST_S
        self._alone_since = time.monotonic()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Let a worker call a function."""
        return self._executor.submit(fn, *args, **kwargs)

    def attend(self, left: int, ended: int) -> list[str]:
        """Keep the jobs that the runs need in the queue; return what is to be told about workers and jobs.

        Call it often. It asks the scheduler every two seconds, and the queue only about jobs without a worker.

        Args:
            left: number of runs that have not ended.
            ended: number of runs that have ended.

        Raises:
            MachineError: the queueing system refuses jobs, or too many jobs have ended without that a run has ended.
        """
        now = time.monotonic()
        if now < self._next_look:
            return []
        self._next_look = now + _LOOK_S
        workers = self._connected()
        if workers is None:  # the scheduler has stopped, which the runs tell, or is busy
            return []
        told = [] if self._jobs is None else self._jobs.attend(left, ended, workers)
        if workers:
            self._alone_since, self._next_message = now, now + FIRST_S
        elif now >= self._next_message:
            self._next_message = now + SAY_S
            told.append(self._why(now - self._alone_since))
        return told

    def _connected(self) -> list[str] | None:
        """Return the names of the connected workers; None if the scheduler does not answer soon."""
        if self._client.status != "running":
            return None
        try:
            found = self._client.sync(self._client.scheduler.identity, callback_timeout=_ANSWER_S)
        except (OSError, TimeoutError, RuntimeError, AttributeError):
            return None
        return [str(worker["name"]) for worker in found["workers"].values()]

    def _why(self, alone_s: float) -> str:
        said = f"no worker has been connected for {alone_s:.0f} s, so no run is computed"
        if self._jobs is None:
            return f"{said}; {self._start}"
        return "\n  ".join([f"{said}:", *"\n".join(self._jobs.why()).splitlines()])
