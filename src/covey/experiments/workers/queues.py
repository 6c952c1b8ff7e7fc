"""What a queueing system says of its jobs: their states, and why they wait or have ended."""

import getpass
import re
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_ANSWER_S = 30
_LOG_LINES = 3
_LOG_BYTES = 20_000
_LINE = 200  # characters

_ENDED = {
    "slurm": (
        *("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "REVOKED"),
        "TIMEOUT",
    ),
    "sge": (),  # qstat shows no ended jobs
    "pbs": ("F", "C", "X"),
    "lsf": ("DONE", "EXIT"),
    "htcondor": ("removed", "completed"),
}
_HINTS = {
    "PartitionTimeLimit": "it asks for more time than the partition allows: lower walltime, see sinfo",
    "PartitionConfig": "it asks for more than the partition allows: lower cores or memory, see scontrol show partition",
    "PartitionNodeLimit": "it asks for more nodes than the partition allows, see scontrol show partition",
    "PartitionDown": "the partition is down",
    "PartitionInactive": "the partition is down",
    "Resources": "all that it needs is in use",
    "Priority": "other jobs come first",
    "JobHeldUser": "it is held: scontrol release releases it",
    "JobHeldAdmin": "the administrator holds it",
    "TimeLimit": "its walltime was over",
    "NonZeroExitCode": "its script failed",
    "Eqw": "it is in error: qstat -j shows more, qmod -cj tries it again",
    "hqw": "it is held",
}
_OF_CONDOR = ("", "idle", "running", "removed", "completed", "held", "transferring output", "suspended")


class NoAnswerError(Exception):
    """A command of the queueing system failed, or did not answer."""


@dataclass(frozen=True)
class JobState:
    """The state of a job.

    Attributes:
        state: the word of the queueing system, such as ``PENDING`` or ``qw``.
        reason: why it waits or has ended, in the words of the system; may be empty.
        ended: whether it will do nothing more.
    """

    state: str
    reason: str = ""
    ended: bool = False

    def __str__(self) -> str:
        """Return the state, the reason, and a hint what it means."""
        reason = f" ({self.reason})" if self.reason else ""
        hint = _HINTS.get(self.reason) or _HINTS.get(self.state) or ""
        return f"{self.state}{reason}{f': {hint}' if hint else ''}"


GONE = JobState("no longer in the queue", ended=True)


def job_states(system: str, jobs: Sequence[str]) -> dict[str, JobState]:
    """Return the state of each job, from the commands of a queueing system.

    Args:
        system: ``slurm``, ``sge``, ``pbs``, ``lsf`` or ``htcondor``.
        jobs: ids of jobs.

    Raises:
        NoAnswerError: the system does not answer.
    """
    command, parse = _SYSTEMS[system]
    found = parse(answer_of(command(jobs)))
    states = {job: found.get(job, GONE) for job in jobs}
    if system == "sge":
        states = {job: _detailed_by_sge(job, state) for job, state in states.items()}
    return states


def answer_of(command: Sequence[str], *, may_fail: bool = False) -> str:
    """Return what a command prints.

    Raises:
        NoAnswerError: it is missing, fails, or does not answer.
    """
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_ANSWER_S, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        raise NoAnswerError(f"{command[0]} has not answered for {_ANSWER_S} s") from None
    except OSError as error:
        raise NoAnswerError(f"{command[0]}: {error.strerror}") from None
    if done.returncode != 0 and not may_fail:
        raise NoAnswerError(f"{command[0]}: {' '.join(done.stderr.split()) or f'exit code {done.returncode}'}")
    return done.stdout


def of_slurm(text: str) -> dict[str, JobState]:
    """Return the states in the output of ``squeue --noheader --states=all --format '%i|%T|%r'``.

    Examples:
        >>> of_slurm("3|PENDING|PartitionConfig")["3"].reason
        'PartitionConfig'
        >>> of_slurm("4|TIMEOUT|TimeLimit")["4"].ended
        True
    """
    rows = [line.split("|", 2) for line in text.splitlines() if line.count("|") >= 2]
    return {
        job: JobState(state, "" if reason == "None" else reason, state in _ENDED["slurm"])
        for job, state, reason in rows
    }


def of_sge(text: str) -> dict[str, JobState]:
    """Return the states in the output of ``qstat -u USER``.

    Examples:
        >>> line = "   7 0.50000 dask-worke me           Eqw   11/28/2026 10:00:00              2"
        >>> of_sge(line)["7"].state
        'Eqw'
    """
    rows = [line.split() for line in text.splitlines()]
    return {row[0]: JobState(row[4]) for row in rows if len(row) > 4 and row[0].isdigit()}


def of_pbs(text: str) -> dict[str, JobState]:
    """Return the states in the output of ``qstat -x -f JOB...``.

    Examples:
        >>> of_pbs('''Job Id: 12.host
        ...     job_state = Q
        ...     comment = Not Running: Insufficient amount of resource: ncpus''')["12"]
        JobState(state='Q', reason='Not Running: Insufficient amount of resource: ncpus', ended=False)
    """
    found = {}
    for part in text.replace("\n\t", "").split("Job Id: ")[1:]:
        fields = dict(re.findall(r"^ +(\w+) = (.*)$", part, re.MULTILINE))
        state = fields.get("job_state", "")
        found[part.split()[0].partition(".")[0]] = JobState(state, fields.get("comment", ""), state in _ENDED["pbs"])
    return found


def of_lsf(text: str) -> dict[str, JobState]:
    """Return the states in the output of ``bjobs -a -noheader -o "jobid stat pend_reason delimiter='|'"``.

    Examples:
        >>> of_lsf("12|PEND|Not enough slots")["12"]
        JobState(state='PEND', reason='Not enough slots', ended=False)
    """
    rows = [line.split("|", 2) for line in text.splitlines() if line.count("|") >= 2]
    return {job: JobState(state, reason.strip(" -"), state in _ENDED["lsf"]) for job, state, reason in rows}


def of_htcondor(text: str) -> dict[str, JobState]:
    """Return the states in the output of ``condor_q -autoformat:t ClusterId JobStatus HoldReason``.

    Examples:
        >>> of_htcondor("12\\t5\\tno such file")["12"]
        JobState(state='held', reason='no such file', ended=False)
    """
    found = {}
    for job, number, *reason in (line.split("\t", 2) for line in text.splitlines() if line.count("\t")):
        state = _OF_CONDOR[int(number)] if number.isdigit() and int(number) < len(_OF_CONDOR) else number
        said = "".join(reason).strip()
        found[job] = JobState(state, "" if said == "undefined" else said, state in _ENDED["htcondor"])
    return found


_SYSTEMS: Mapping[str, tuple[Callable[[Sequence[str]], list[str]], Callable[[str], dict[str, JobState]]]] = {
    "slurm": (
        lambda jobs: ["squeue", "--noheader", "--states=all", f"--user={getpass.getuser()}", "--format=%i|%T|%r"],
        of_slurm,
    ),
    "sge": (lambda jobs: ["qstat", "-u", getpass.getuser()], of_sge),
    "pbs": (lambda jobs: ["qstat", "-x", "-f", *jobs], of_pbs),
    "lsf": (lambda jobs: ["bjobs", "-a", "-noheader", "-o", "jobid stat pend_reason delimiter='|'", *jobs], of_lsf),
    "htcondor": (
        lambda jobs: ["condor_q", *jobs, "-autoformat:t", "ClusterId", "JobStatus", "HoldReason"],
        of_htcondor,
    ),
}


def _detailed_by_sge(job: str, state: JobState) -> JobState:
    """Return the state of a job of SGE with the reason, which other commands give."""
    try:
        if state.ended:
            text = answer_of(["qacct", "-j", job], may_fail=True)
            wanted = ("failed", "exit_status")
        elif "w" in state.state or "E" in state.state:
            text = answer_of(["qstat", "-j", job], may_fail=True)
            wanted = ("error reason", "scheduling info:", "cannot run")
        else:
            return state
    except NoAnswerError:
        return state
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip().startswith(wanted)]
    return JobState(state.state, "; ".join(lines[:3]), state.ended)


def end_of_log(folder: Path | None, job: str) -> str:
    """Return the path of the newest log of a job and its last lines, rather those that are no mere information.

    It is empty if there is no log.
    """
    if folder is None or not folder.is_dir():
        return ""
    named = re.compile(rf"(?<!\d){re.escape(job)}(?!\d)")
    logs = [path for path in folder.iterdir() if named.search(path.name) and path.is_file() and path.stat().st_size]
    if not logs:
        return ""
    path = max(logs, key=lambda path: path.stat().st_mtime_ns)
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _LOG_BYTES))
        lines = [line for line in file.read().decode(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if " - INFO - " not in line and not line.startswith(" ")] or lines
    return "\n".join([f"the end of {path}:", *(f"  {line[:_LINE]}" for line in telling[-_LOG_LINES:])])


def grouped(states: Iterable[tuple[str, JobState]]) -> list[str]:
    """Return a line for each state, with the jobs that are in it.

    Examples:
        >>> waits = JobState("PENDING", "Priority")
        >>> grouped([("3", waits), ("4", waits), ("5", JobState("RUNNING"))])
        ['jobs 3 and 4: PENDING (Priority): other jobs come first', 'job 5: RUNNING']
    """
    jobs: dict[JobState, list[str]] = {}
    for job, state in states:
        jobs.setdefault(state, []).append(job)
    return [f"{listed(ids)}: {state}" for state, ids in jobs.items()]


def listed(jobs: Sequence[str]) -> str:
    """Return the ids of jobs in words.

    Examples:
        >>> listed(["3"]), listed(["3", "4"]), listed(["3", "4", "5", "6", "7"])
        ('job 3', 'jobs 3 and 4', '5 jobs (3, 4, 5, …)')
    """
    if len(jobs) == 1:
        return f"job {jobs[0]}"
    if len(jobs) > 4:
        return f"{len(jobs)} jobs ({', '.join(jobs[:3])}, …)"
    return f"jobs {', '.join(jobs[:-1])} and {jobs[-1]}"
