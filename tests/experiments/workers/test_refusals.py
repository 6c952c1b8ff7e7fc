"""What a machine refuses is no result of a run: it is tried again, and told as the machine's if it stays so."""

import os
import subprocess
import sys

import psutil
import pytest

from covey.errors import MachineError
from covey.experiments import run
from covey.experiments.design.plan import plan, software
from covey.experiments.design.records import RunLimits
from covey.experiments.run import run_design
from covey.experiments.workers import refusals
from covey.experiments.workers.execute import execute
from covey.experiments.workers.refusals import RefusedError, refused
from covey.experiments.workers.supervisor import Supervisor


@pytest.fixture
def few_addresses(monkeypatch):
    monkeypatch.setattr(refusals, "address_limit_mib", lambda: 954.0)


@pytest.fixture
def much_memory(monkeypatch):
    monkeypatch.setattr(refusals, "address_limit_mib", lambda: None)
    monkeypatch.setattr(refusals.psutil, "virtual_memory", lambda: type("Memory", (), {"available": 2**40}))


def test_memory_that_the_machine_does_not_give_is_its_fault(few_addresses):
    why = refused("MemoryError: Unable to allocate 8.00 MiB for an array", 4096, 326)
    assert "at most 954 MiB of addresses (ulimit -v; SGE sets it by h_vmem)" in why
    assert "held 326 MiB" in why


def test_memory_beyond_the_limit_of_the_design_is_the_runs_own_fault(few_addresses):
    assert refused("MemoryError: Unable to allocate 74.5 GiB for an array", 4096, 326) == ""
    assert refused("MemoryError", 4096, 5000) == ""


def test_where_memory_is_free_its_lack_is_the_runs_own_fault(much_memory):
    assert refused("MemoryError", 4096, 326) == ""


def test_threads_for_which_there_are_no_addresses_are_refused_as_memory_is(few_addresses):
    assert "MiB of addresses" in refused("<jemalloc>: background thread creation failed (11)", 4096, 326, threads=1)


def test_threads_are_refused_by_the_machine_unless_the_run_has_started_many(much_memory):
    said = "RuntimeError: can't start new thread"
    assert "no more threads" in refused(said, 4096, 326, threads=5)
    assert refused(said, 4096, 326, threads=500) == ""


@pytest.mark.parametrize(
    "said",
    [
        "<jemalloc>: Error in mmap(): err: 12, msg: Cannot allocate memory",
        "<jemalloc>: arena 0 background thread creation failed (11)",
        "<jemalloc>: Error in calloc(): out of memory\nFatal Python error: Aborted",
        "<jemalloc>: OOM in mutex pool",
        "mimalloc: error: unable to allocate OS memory (1073741824 bytes, error code: 12)",
    ],
)
def test_libraries_that_get_no_memory_and_abort_are_refused(few_addresses, said):
    assert "MiB of addresses" in refused(said, 4096, 326, threads=1)


@pytest.mark.skipif(sys.platform != "linux", reason="ulimit -v is of Linux")
def test_the_limit_of_addresses_is_read():
    code = "from covey.experiments.workers.refusals import address_limit_mib; print(address_limit_mib())"
    limited = f"ulimit -v {6 * 2**20} && exec {sys.executable} -c '{code}'"
    assert subprocess.run(["sh", "-c", limited], capture_output=True, text=True).stdout.strip() == "6144.0"


def test_a_controller_that_gets_no_memory_is_refused_and_nothing_is_left(few_addresses, plain, tmp_path):
    (tmp_path / "greedy.py").write_text("def go(robot):\n    raise MemoryError\n")
    scenario = {"world": {"empty_m": [8, 8]}, "robots": [{"robot": "disc", "controller": f"{tmp_path}/greedy.py:go"}]}
    design = plain(scenario=scenario, parameters={}, iterations=1, stop={"timeout_s": 1})
    here_mib = psutil.Process().memory_info().rss / 2**20  # this process holds what earlier tests have left
    with pytest.raises(RefusedError, match="MiB of addresses"):
        execute(plan(design)[0], tmp_path / "runs" / "one", RunLimits(memory_mib=here_mib + 4096))
    assert not list((tmp_path / "runs").glob("*")) if (tmp_path / "runs").exists() else True


def refusing(patch, times):
    """Let a machine refuse the first run that it gets, so many times; return the ids of all attempts."""
    attempts = []

    def keep(planned, folder, limits, software):
        attempts.append(planned.run_id)
        if planned.run_id == attempts[0] and attempts.count(planned.run_id) <= times:
            raise RefusedError(f"node3 refused run {planned.run_id}: it has no space left on its disk")
        return execute(planned, folder)

    patch.setattr(run, "keep", keep)
    return attempts


def test_a_run_that_a_machine_refuses_is_tried_again(plain, tmp_path, monkeypatch):
    attempts, news = refusing(monkeypatch, 2), []
    results = run_design(plain(), tmp_path / "out", jobs=1, observer=lambda progress: news.extend(progress.news))
    assert [row["status"] for row in results.rows] == ["timeout"] * 4
    assert attempts.count(attempts[0]) == 3
    assert len(news) == 2
    assert news[0].endswith("it has no space left on its disk; it is tried again")


def test_a_run_that_is_refused_again_and_again_has_no_row_and_the_rest_is_done(plain, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        refusing(patch, 99)
        with pytest.raises(MachineError, match=r"1 of 4 runs have no result, because machines refused them: node3"):
            run_design(plain(), tmp_path / "out", jobs=1)
    assert len(list((tmp_path / "out" / "runs").iterdir())) == 3
    refusing(monkeypatch, 0)
    assert len(run_design(plain(), tmp_path / "out", jobs=1).rows) == 4


def test_a_machine_that_refuses_all_runs_ends_the_study(plain, tmp_path, monkeypatch):
    def keep(planned, *_):
        raise RefusedError(f"node3 refused run {planned.run_id}: it starts no more threads")

    monkeypatch.setattr(run, "keep", keep)
    with pytest.raises(MachineError, match=r"node3 refused run .*; 10 runs one after the other were refused"):
        run_design(plain(iterations=10), tmp_path / "out", jobs=1)


GREEDY = """
import os
from pathlib import Path

def go(robot):
    block = bytearray({mib} << 20)
    block[:: 4096] = bytes(len(block[:: 4096]))
    Path({counted!r}).write_text("oom_kill {count}\\n")
    os.kill(os.getpid(), {number})
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "wait4"), reason="needs the peak of a child's memory")
@pytest.mark.parametrize(
    ("mib", "number", "ran_out", "status"),
    [(10, 9, True, None), (None, 9, True, "out_of_memory"), (10, 9, False, "died")],
)
def test_a_run_that_the_system_ends_for_memory_is_to_blame_if_it_held_more_than_it_may(
    plain, tmp_path, monkeypatch, mib, number, ran_out, status
):
    """The system counts such ends; here the count is that of a file, as a test takes no machine's memory."""
    import resource

    # the peak of a process begins at that of its parent, which may hold less than a worker does
    most = max(500, 100 + resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 2**10)
    counted = tmp_path / "vmstat"
    counted.write_text("oom_kill 3\n")
    monkeypatch.setattr(refusals, "_KILLS", counted)
    (tmp_path / "greedy.py").write_text(
        GREEDY.format(mib=mib or most + 50, number=number, counted=str(counted), count=3 + ran_out)
    )
    scenario = {"world": {"empty_m": [8, 8]}, "robots": [{"robot": "disc", "controller": f"{tmp_path}/greedy.py:go"}]}
    scenario["execution"] = {"step_budget_s": 240}  # it takes more than this process has ever held, and that takes time
    limits = {"memory_mib": most}
    design = plain(scenario=scenario, parameters={}, iterations=1, stop={"timeout_s": 1}, limits=limits)
    one = Supervisor()
    try:
        if status is None:
            with pytest.raises(
                RefusedError, match=rf"ran out, and it ended the run, which held \d+ MiB and may hold {most}"
            ):
                one.run(plan(design)[0], tmp_path / "runs" / "one", design.limits, software())
        else:
            row = one.run(plan(design)[0], tmp_path / "runs" / "one", design.limits, software())
            assert row["status"] == status
    finally:
        one.close()
