"""Studies on a real Slurm of this machine: kills, cancelled jobs, short walltimes, partitions that refuse.

``make cluster`` runs these tests; they need Debian's ``slurm-wlm`` and ``munge``.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from tests.cluster.slurm import asked, missing, slurm

from covey.experiments.analysis.table import deterministic, read_results
from covey.experiments.design.load import load_design
from covey.experiments.run import run_design

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(bool(missing()), reason=f"needs Slurm: not on this machine: {', '.join(missing())}"),
]

DESIGN = """\
design: on a cluster
scenario:
  world: {empty_m: [8, 8]}
  robots: [{name: scout, robot: disc, controller: "./held.py:held"}]
  execution: {step_budget_s: 3000}
parameters: {robots.scout.count: [1, 2]}
stop: {timeout_s: 1}
iterations: 4
"""
HELD = """
import time
from pathlib import Path

here = Path(HERE)
free = []

def held(robot):
    if not robot.time and not is_free():
        while not (here / "go").exists():
            time.sleep(0.05)
    robot.drive(0.1, 0.1)

def is_free():
    if not free:
        try:
            (here / "free").rmdir()  # one run is, with all of its robots
        except OSError:
            return False
        free.append(True)
    return True
"""
PATH = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
WAIT_S = 1500


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Return the environment of a Slurm with two nodes."""
    with slurm(tmp_path_factory.mktemp("slurm"), nodes=2) as environment:
        yield environment | PATH


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a design of eight runs, which are held as long as there is no ``go`` in it."""
    (tmp_path / "held.py").write_text(HELD.replace("HERE", repr(str(tmp_path))))
    (tmp_path / "go").touch()
    (tmp_path / "design.yaml").write_text(DESIGN)
    return tmp_path


def of_slurm(folder, options, **more):
    """Write a cluster file, and return the arguments that run the design with it."""
    own = {"interface": "lo", "memory": "1GB", "cores": 1, "walltime": '"00:10:00"'}
    text = ", ".join(f"{key}: {value}" for key, value in (own | options).items())
    (folder / "slurm.yaml").write_text(f"slurm: {{{text}}}\n" + "".join(f"{k}: {v}\n" for k, v in more.items()))
    return ["run", "design.yaml", "--cluster", "slurm.yaml", "--out", "out"]


class Study:
    """A study in a process of its own."""

    def __init__(self, folder, environment, arguments):
        command = [sys.executable, "-m", "covey", *arguments]
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
        self.said = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        self.rest()

    def until(self, text):
        """Read what it says until this appears, and return that line."""
        for line in self.process.stderr:
            self.said += line
            if text in line:
                return line
        raise AssertionError(f"{text!r} was not said, but:\n{self.said}")

    def rest(self):
        """Read what else it says, and return its exit code."""
        if not self.process.stderr.closed:
            self.said += self.process.stderr.read()
            self.process.stderr.close()
        return self.process.wait(WAIT_S)


def queued(environment):
    return asked(environment, "squeue", "-h", "-o", "%i").split()


def until(true):
    end = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < end
        time.sleep(0.2)


def table_of(folder):
    return deterministic(read_results(folder / "out")).write_csv()


def undisturbed(folder):
    """Return the table of the same design on this machine."""
    run_design(load_design(folder / "design.yaml"), folder / "here", jobs=2)
    return deterministic(read_results(folder / "here")).write_csv()


def test_a_cancelled_job_and_a_killed_worker_are_replaced_and_the_table_is_that_of_this_machine(cluster, folder):
    (folder / "go").unlink()
    (folder / "free").mkdir()
    with Study(folder, cluster, of_slurm(folder, {}, jobs=2)) as study:
        first, second = study.until("asked for 2 jobs").split(": ")[1].strip().split(", ")
        study.until("1/8 runs")
        asked(cluster, "scancel", first)
        study.until(f"job {first} has ended: CANCELLED")
        study.until("asked for 1 more job")
        for worker in psutil.process_iter(["cmdline", "environ"]):
            if (worker.info["environ"] or {}).get("SLURM_JOB_ID") == second and "-m" in (worker.info["cmdline"] or []):
                worker.kill()
        (folder / "go").touch()
        assert study.rest() == 0, study.said
    assert table_of(folder) == undisturbed(folder)
    until(lambda: not queued(cluster))
    assert not list(folder.glob(".covey-keys-*"))


def test_a_walltime_of_a_minute_is_no_end_of_the_study(cluster, folder):
    (folder / "go").unlink()
    with Study(folder, cluster, of_slurm(folder, {"queue": "tiny", "walltime": '"00:01:00"'})) as study:
        study.until("TIMEOUT (TimeLimit): its walltime was over")
        (folder / "go").touch()
        assert study.rest() == 0, study.said
    assert "asked for 1 more job" in study.said
    assert len(read_results(folder / "out")) == 8


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"queue": "tiny", "walltime": '"02:00:00"'}, "PENDING (PartitionTimeLimit): it asks for more time"),
        ({"cores": 8, "memory": "16GB"}, "PENDING (PartitionConfig): it asks for more than the partition allows"),
    ],
)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_a_partition_refuses_is_told_and_whoever_ends_the_study_leaves_nothing(
    cluster, folder, options, reason, number, code
):
    with Study(folder, cluster, of_slurm(folder, options)) as study:
        study.until("no worker has been connected")
        assert reason in study.until("job ")
        study.process.send_signal(number)
        assert study.rest() == code
    assert "cancelling job" in study.said
    assert "repeat the command to do the rest" in study.said
    assert "Traceback" not in study.said
    until(lambda: not queued(cluster))
    assert not list(folder.glob(".covey-keys-*"))


def test_when_every_job_is_cancelled_the_study_ends_in_words_and_the_same_command_goes_on(cluster, folder):
    arguments = of_slurm(folder, {"queue": "tiny", "walltime": '"02:00:00"'}, failures=2)
    with Study(folder, cluster, arguments) as study:
        for _ in range(2):
            asked(cluster, "scancel", study.until("asked for").split(": ")[1].strip())
        assert study.rest() == 1
    assert "2 jobs have ended one after the other without that a run has ended; the last: job" in study.said
    with Study(folder, cluster, of_slurm(folder, {}, jobs=2)) as study:
        assert study.rest() == 0, study.said


def test_a_worker_without_covey_is_told_from_its_log(cluster, folder):
    bare = folder / "python"
    bare.write_text('#!/bin/sh\nunset PYTHONPATH\nexec /usr/bin/python3 -S "$@"\n')
    bare.chmod(0o755)
    with Study(folder, cluster, of_slurm(folder, {"python": bare}, failures=1)) as study:
        assert study.rest() == 1
    assert "FAILED (NonZeroExitCode)" in study.said
    assert "No module named" in study.said
    assert "Traceback" not in study.said


def test_a_wrong_partition_is_a_sentence(cluster, folder):
    with Study(folder, cluster, of_slurm(folder, {"queue": "nowhere"})) as study:
        assert study.rest() == 1
    said = [line for line in study.said.splitlines() if "runs" not in line]
    assert len(said) == 1
    assert "sbatch refused the job: sbatch: error: invalid partition specified: nowhere" in said[0]


def test_a_task_with_one_processor_counts_one(cluster, folder):
    script = folder / "count.sh"
    script.write_text(
        f"#!/bin/sh\n{sys.executable} -c 'from covey.processors import processors; print(processors())'\n"
    )
    done = subprocess.run(
        ["sbatch", "--wait", "--cpus-per-task=1", "--output=count", "--partition=short", str(script)],
        cwd=folder,
        env=cluster,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "count").read_text() == "1\n"


SCRIPTS = re.findall(
    r"^```bash\n(#!/bin/bash\n#SBATCH.*?)^```", Path("docs/running.md").read_text(), re.DOTALL | re.MULTILINE
)


@pytest.mark.parametrize("number", range(len(SCRIPTS)))
def test_the_scripts_of_the_docs_run(cluster, folder, number):
    activate = folder / "home" / "covey" / ".venv" / "bin" / "activate"
    activate.parent.mkdir(parents=True)
    covey = activate.with_name("covey")
    covey.write_text(f'#!/bin/sh\nexec {sys.executable} -m covey "$@"\n')
    module = activate.with_name("module")
    module.write_text("#!/bin/sh\n")
    for path in (covey, module):
        path.chmod(0o755)
    activate.write_text(f"PATH={activate.parent}:$PATH\n")
    (folder / "job.sh").write_text(SCRIPTS[number])
    array = ["--array=1-4"] if "--array" in SCRIPTS[number] else []
    environment = cluster | {"HOME": str(folder / "home"), "PATH": f"{activate.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["sbatch", "--wait", *array, "job.sh"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
    )
    logs = "\n".join(path.read_text() for path in folder.glob("slurm-*.out"))
    assert done.returncode in (0, 3), done.stderr + logs
    assert "error" not in logs.lower(), logs
    assert len(read_results(folder / "runs" / "on-a-cluster")) == 8
