"""What queueing systems say of jobs, by commands that stand in for theirs."""

import os

import pytest

from covey.experiments.workers.queues import GONE, JobState, NoAnswerError, end_of_log, job_states

SGE = """\
job-ID  prior   name       user         state submit/start at     queue                          slots ja-task-ID
-----------------------------------------------------------------------------------------------------------------
      3 0.50000 dask-worke me           Eqw   11/28/2026 10:00:00                                    1
      4 0.50000 dask-worke me           r     11/28/2026 10:00:00 all.q@node1                        1
"""


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Put commands into a folder that comes first in the search path."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    def put(name, script):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)

    return put


def test_states_and_reasons_of_slurm(command):
    lines = "5|PENDING|PartitionConfig\n6|RUNNING|None\n7|TIMEOUT|TimeLimit\n8|CANCELLED|None\n9|COMPLETING|None"
    command("squeue", f"cat <<'END'\n{lines}\nEND")
    states = job_states("slurm", ["5", "6", "7", "8", "9", "10"])
    assert [job for job, state in states.items() if state.ended] == ["7", "8", "10"]
    assert states["5"] == JobState("PENDING", "PartitionConfig")
    assert "it asks for more than the partition allows" in str(states["5"])
    assert str(states["7"]) == "TIMEOUT (TimeLimit): its walltime was over"
    assert states["10"] == GONE


def test_states_and_reasons_of_sge_come_from_three_commands(command):
    command("qstat", f"case $1 in -j) echo 'error reason    1:  can not open log';; *) cat <<'END'\n{SGE}END\n;; esac")
    command("qacct", "echo 'exit_status  137'; echo 'failed       100 : assumedly after job'")
    states = job_states("sge", ["3", "4", "5"])
    assert states["3"] == JobState("Eqw", "error reason 1: can not open log")
    assert states["4"] == JobState("r")
    assert states["5"].ended
    assert states["5"].reason == "exit_status 137; failed 100 : assumedly after job"


def test_a_queue_that_does_not_answer_ends_no_job(command):
    command("squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1")
    with pytest.raises(NoAnswerError, match=r"squeue: .*Unable to contact slurm controller"):
        job_states("slurm", ["5"])


def test_of_a_log_the_last_lines_are_told_that_are_no_mere_information(tmp_path):
    assert end_of_log(tmp_path, "12") == ""
    (tmp_path / "dask-worker-123.err").write_text("of another job\n")
    (tmp_path / "dask-worker-12.out").write_text("")
    trace = (
        "Traceback (most recent call last):\n  File \"x.py\", line 1\nModuleNotFoundError: No module named 'covey'\n"
    )
    (tmp_path / "dask-worker-12.err").write_text(f"{trace}2026-11-28 - distributed.nanny - INFO - End worker\n")
    first, *lines = end_of_log(tmp_path, "12").splitlines()
    assert first == f"the end of {tmp_path / 'dask-worker-12.err'}:"
    assert lines == ["  Traceback (most recent call last):", "  ModuleNotFoundError: No module named 'covey'"]
