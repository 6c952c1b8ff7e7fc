"""Jobs of a study that end are replaced as long as the study needs them, and given up if they end too often."""

import itertools

import pytest

from covey.errors import MachineError
from covey.experiments.workers.jobs import ASK_S, Jobs
from covey.experiments.workers.queues import JobState, NoAnswerError

WAITS, RUNS, OVER = JobState("PENDING", "Priority"), JobState("RUNNING"), JobState("TIMEOUT", "TimeLimit", True)


class Queue:
    """A queue whose jobs are in the states that a test says."""

    def __init__(self, most=2, runs_each=4, failures=3):
        self.said = {}
        self.asked = 0
        self.forgotten = []
        self._numbers = itertools.count(1)
        self._clock = 0.0
        self.jobs = Jobs("slurm", most, runs_each, failures, self.submit, self.forgotten.append, None, self.states)

    def submit(self, number):
        for _ in range(number):
            job = str(next(self._numbers))
            self.jobs.add(job, f"Cluster-{job}")
            self.said[job] = WAITS

    def states(self, _system, jobs):
        self.asked += 1
        return {job: self.said[job] for job in jobs}

    def attend(self, left, ended, *workers):
        self._clock += ASK_S
        return self.jobs.attend(left, ended, [f"Cluster-{one}" for one in workers], self._clock)


def test_as_many_jobs_are_asked_for_as_the_runs_need():
    queue = Queue(most=10)
    assert queue.attend(9, 0) == ["asked for 3 jobs: 1, 2, 3"]
    assert queue.attend(9, 0) == []
    assert list(queue.jobs.there) == ["1", "2", "3"]


def test_the_queue_is_not_asked_while_every_job_has_its_worker():
    queue = Queue()
    queue.attend(100, 0)
    queue.attend(90, 10, "1", "2")
    assert queue.asked == 0
    queue.attend(90, 10, "1")
    assert queue.asked == 1


def test_a_job_whose_walltime_is_over_is_replaced_until_few_runs_are_left():
    queue = Queue()
    queue.attend(100, 0)
    queue.said["1"] = OVER
    told = queue.attend(90, 10, "2")
    assert told == ["job 1 has ended: TIMEOUT (TimeLimit): its walltime was over", "asked for 1 more job: 3"]
    assert queue.forgotten == ["Cluster-1"]
    queue.said["2"] = OVER
    assert len(queue.attend(3, 97, "3")) == 1, "one job can do the last three runs"
    assert list(queue.jobs.there) == ["3"]


def test_jobs_that_end_without_a_run_end_the_study_after_the_set_number_of_times():
    queue = Queue(most=1, failures=2)
    queue.attend(5, 0)
    queue.said["1"] = OVER
    assert "asked for 1 more job: 2" in queue.attend(5, 0)
    queue.said["2"] = OVER
    with pytest.raises(MachineError, match=r"2 jobs have ended one after the other without that a run .*\(TimeLimit\)"):
        queue.attend(5, 0)


def test_a_run_that_ends_in_between_begins_the_count_anew():
    queue = Queue(most=1, failures=2)
    queue.attend(5, 0)
    for ended in range(1, 5):
        queue.said[str(ended)] = OVER
        queue.attend(20 - ended, ended)
    assert queue.jobs.failed == 0


def test_a_queue_that_does_not_answer_changes_nothing_and_is_told(monkeypatch):
    queue = Queue()
    queue.attend(100, 0)
    monkeypatch.setattr(queue.jobs, "_states", raises(NoAnswerError("squeue has not answered for 30 s")))
    assert queue.attend(100, 0) == []
    assert queue.jobs.why() == ["the queue cannot be asked: squeue has not answered for 30 s"]
    assert len(queue.jobs.there) == 2


def test_a_refusal_ends_the_study_at_once_only_when_no_job_has_been_accepted(monkeypatch):
    queue = Queue(most=1)
    queue.attend(5, 0)
    queue.said["1"] = OVER
    monkeypatch.setattr(queue.jobs, "_submit", raises(MachineError("sbatch refused the job")))
    assert "sbatch refused the job; it is tried again" in queue.attend(4, 1)
    first = Queue()
    monkeypatch.setattr(first.jobs, "_submit", raises(MachineError("sbatch refused the job")))
    with pytest.raises(MachineError, match="sbatch refused"):
        first.attend(5, 0)


def test_why_nothing_happens_is_told_by_state():
    queue = Queue(most=3)
    queue.attend(100, 0)
    queue.said["3"] = RUNS
    assert queue.jobs.why() == ["jobs 1 and 2: PENDING (Priority): other jobs come first", "job 3: RUNNING"]


def raises(error):
    def call(*_):
        raise error

    return call
