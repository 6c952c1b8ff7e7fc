"""A runner that is killed or interrupted: nothing that has ended is lost, no process is left, the table is the same."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from covey.experiments.analysis.table import build_table, deterministic, read_results
from covey.experiments.design.load import load_design
from covey.experiments.design.plan import plan
from covey.experiments.run import Results
from covey.experiments.workers.execute import execute
from covey.experiments.workers.folder import entry
from covey.experiments.workers.rows import rows_of
from covey.experiments.workers.supervisor import compile_if_cold

DESIGN = """\
design: interrupted
scenario: {world: {empty_m: [8, 8]}, robots: [{name: scout, robot: disc, controller: wander}]}
parameters: {robots.scout.count: [1, 2]}
stop: {timeout_s: 8}
iterations: 3
keep: everything
"""


def start(folder, jobs):
    command = [sys.executable, "-m", "covey", "run", "design.yaml", "--out", "out", "--jobs", jobs, "--quiet"]
    path = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen(command, cwd=folder, env=os.environ | {"PYTHONPATH": path}, stderr=subprocess.PIPE)


def wait_until(true, seconds=120.0):
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def ended(folder):
    runs = folder / "out" / "runs"
    return [path.name for path in runs.iterdir() if path.name[0] != "."] if runs.is_dir() else []


def in_flight(folder, runner):
    """Return the worker processes of a runner that are in the middle of a run."""
    names = os.listdir(folder / "out" / "runs") if (folder / "out" / "runs").is_dir() else []
    children = psutil.Process(runner.pid).children(recursive=True)
    return [child for child in children if any(name[0] == "." and name.endswith(f".{child.pid}") for name in names)]


def held(folder, runner):
    """Return a worker that stands in the middle of a run; None if there is none."""
    for child in in_flight(folder, runner):
        child.suspend()
        if child in in_flight(folder, runner):
            return child
        child.resume()
    return None


def stop(runner, folder, how, after):
    """Send a signal to the runner when ``after`` more runs have ended, in the middle of another one."""
    before, stands = len(ended(folder)), []

    def has_come():
        if len(ended(folder)) >= before + after and (child := held(folder, runner)):
            stands.append(child)
        return stands

    wait_until(has_come)
    children = psutil.Process(runner.pid).children(recursive=True)
    runner.send_signal(how)
    stands[0].resume()
    runner.wait(240)
    assert not psutil.wait_procs(children, timeout=240)[1]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_killed_and_interrupted_the_table_is_that_of_an_undisturbed_run(tmp_path):
    compile_if_cold()
    (tmp_path / "design.yaml").write_text(DESIGN)
    with start(tmp_path, "2") as runner:
        stop(runner, tmp_path, signal.SIGKILL, 1)
    with start(tmp_path, "1") as runner:
        stop(runner, tmp_path, signal.SIGINT, 1)
        message = runner.stderr.read().decode()
    assert runner.returncode == 130
    assert "repeat the command to do the rest" in message
    assert "Traceback" not in message
    so_far = ended(tmp_path)
    assert 2 <= len(so_far) < 6
    when = {name: (tmp_path / "out" / "runs" / name / "row.json").stat().st_mtime_ns for name in so_far}

    with start(tmp_path, "1") as runner:
        standing = []
        wait_until(lambda: (child := held(tmp_path, runner)) and (standing.append(child) or True))
        standing[0].kill()  # a worker, in the middle of a run, which is run again
        assert runner.wait(300) == 0
    assert {name: (tmp_path / "out" / "runs" / name / "row.json").stat().st_mtime_ns for name in so_far} == when
    assert len(list((tmp_path / "out" / "runs").iterdir())) == 6

    planned = plan(load_design(tmp_path / "design.yaml"))
    rows = {one.run_id: execute(one, tmp_path / "again" / one.run_id) for one in planned}
    undisturbed = deterministic(build_table(rows_of(tmp_path, rows.values()), map(entry, planned)))
    table = deterministic(read_results(tmp_path / "out"))
    assert table.write_csv() == undisturbed.write_csv()
    assert (undisturbed["status"] == "timeout").all()
    for one in planned:
        tables = [tmp_path / part / one.run_id / "measurements.parquet" for part in ("out/runs", "again")]
        assert tables[0].read_bytes() == tables[1].read_bytes()
    assert len(Results(tmp_path / "out").runs) == 6
