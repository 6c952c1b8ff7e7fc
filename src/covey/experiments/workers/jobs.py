"""`Jobs`: watches the jobs of a study in a queueing system, asks for new ones, and tells why nothing happens."""

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from covey.errors import MachineError
from covey.experiments.workers.queues import GONE, JobState, NoAnswerError, end_of_log, grouped, job_states

ASK_S = 20.0
"""Shortest time between two questions to the queueing system [s]."""


@dataclass
class Submitted:
    """A job in the queue.

    Attributes:
        job: its id in the queueing system.
        worker: name of its worker, or the beginning of the names of its workers.
        ended_before: number of runs that had ended when it was submitted.
    """

    job: str
    worker: str
    ended_before: int = 0

    def has_worker(self, names: Iterable[str]) -> bool:
        """Return whether one of these workers is of this job.

        Examples:
            >>> Submitted("7", "SLURMCluster-1").has_worker(["SLURMCluster-12", "SLURMCluster-1-0"])
            True
        """
        return any(name == self.worker or name.startswith(f"{self.worker}-") for name in names)


class Jobs:
    """The jobs of a study.

    Args:
        system: the queueing system, as in `job_states`.
        most: number of jobs at a time.
        runs_each: number of runs that a job executes at a time.
        failures: how often in a row each job may end without that a run ends.
        submit: submits so many jobs and passes each to `add`; it raises `MachineError` if they are refused.
        forget: called with the name of the worker of a job that has ended.
        logs: folder of the logs of jobs.
        states: returns the states of jobs.
    """

    def __init__(
        self,
        system: str,
        most: int,
        runs_each: int,
        failures: int,
        submit: Callable[[int], None],
        forget: Callable[[str], None],
        logs: Path | None,
        states: Callable[[str, list[str]], dict[str, JobState]] = job_states,
    ):
        self.system, self.most, self.runs_each = system, most, runs_each
        self.allowed, self.logs = failures * most, logs
        self.there: dict[str, Submitted] = {}
        self.failed = 0
        self._submit, self._forget, self._states = submit, forget, states
        self._ended = 0
        self._next_question = 0.0
        self._first = True

    def add(self, job: str, worker: str) -> None:
        """Take in a job that has been submitted."""
        self.there[job] = Submitted(job, worker, self._ended)

    def needed(self, left: int) -> int:
        """Return the number of jobs that so many runs need.

        Examples:
            >>> jobs = Jobs("slurm", 10, 4, 3, print, print, None)
            >>> jobs.needed(100), jobs.needed(9), jobs.needed(1)
            (10, 3, 1)
        """
        return min(self.most, math.ceil(left / self.runs_each))

    def attend(self, left: int, ended: int, workers: Iterable[str], now: float | None = None) -> list[str]:
        """Ask the queue about jobs without a worker, and replace those that have ended; return what is to be told.

        Args:
            left: number of runs that have not ended.
            ended: number of runs that have ended.
            workers: names of the connected workers.
            now: time of the monotonic clock [s]; default: now.

        Raises:
            MachineError: too many jobs in a row have ended without that a run has ended.
        """
        now = time.monotonic() if now is None else now
        if ended != self._ended:
            self._ended, self.failed = ended, 0
        if now < self._next_question:
            return []
        names = list(workers)
        without = [one for one in self.there.values() if not one.has_worker(names)]
        if not without and len(self.there) >= self.needed(left):
            return []
        self._next_question = now + ASK_S
        try:
            states = self._states(self.system, [one.job for one in without]) if without else {}
        except NoAnswerError:
            return []  # `why` tells it
        told = [self._end(one, states[one.job]) for one in without if states[one.job].ended]
        return told + self._ask_anew(left)

    def why(self) -> list[str]:
        """Return what the queue says of each job that is there, and the ends of the logs of those that run."""
        if not self.there:
            return ["no job is in the queue; others are asked for soon"]
        try:
            states = self._states(self.system, list(self.there))
        except NoAnswerError as error:
            return [f"the queue cannot be asked: {error}"]
        logs = [end_of_log(self.logs, job) for job in self.there if states.get(job, GONE).state not in _WAITING]
        return [*grouped(states.items()), *list(filter(None, logs))[:1]]

    def _end(self, one: Submitted, state: JobState) -> str:
        """Take in that a job has ended; return what is to be told.

        Raises:
            MachineError: too many have, without that a run has ended.
        """
        del self.there[one.job]
        self._forget(one.worker)
        said = f"job {one.job} has ended: {state}"
        if one.ended_before != self._ended:
            return said
        self.failed += 1
        said = "\n".join(filter(None, [said, end_of_log(self.logs, one.job)]))
        if self.failed >= self.allowed:
            several = "jobs have ended one after the other" if self.failed > 1 else "job has ended"
            raise MachineError(
                f"{self.failed} {several} without that a run has ended; the last: {said}\nfinished runs are kept, and "
                "the same command does the rest; with failures: N, the cluster file allows more of them for each job"
            )
        return said

    def _ask_anew(self, left: int) -> list[str]:
        """Submit jobs in the place of those that have ended, as many as the runs need; return what is to be told."""
        missing = self.needed(left) - len(self.there)
        if missing <= 0:
            return []
        before, first = set(self.there), self._first
        try:
            self._submit(missing)
        except MachineError as error:
            self.failed += 1
            if first or self.failed >= self.allowed:
                raise
            return [f"{error}; it is tried again"]
        self._first = False
        new = [job for job in self.there if job not in before]
        return [f"asked for {len(new)} {'' if first else 'more '}job{'s' if len(new) > 1 else ''}: {', '.join(new)}"]


_WAITING = ("PENDING", "qw", "hqw", "Eqw", "Q", "H", "PEND", "idle", "held")
