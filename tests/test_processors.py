"""How many processors a process may use: of the machine, of its container, of its job."""

import os

import pytest

from covey.processors import of_cgroup, of_job, processors


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({}, []),
        ({"SLURM_CPUS_PER_TASK": "3", "SLURM_CPUS_ON_NODE": "64"}, [3]),
        ({"SLURM_CPUS_ON_NODE": "4"}, [4]),  # a job without --cpus-per-task
        ({"NSLOTS": "2"}, [2]),
        ({"NSLOTS": "two"}, []),
        ({"PBS_NUM_PPN": "8"}, [8]),
    ],
)
def test_the_processors_of_a_job(environment, told):
    assert of_job(environment) == told


@pytest.mark.skipif(len(getattr(os, "sched_getaffinity", lambda _: {0})(0)) < 2, reason="needs two processors")
@pytest.mark.parametrize("variable", ["SLURM_CPUS_PER_TASK", "NSLOTS"])
def test_a_job_with_one_processor_uses_one_though_the_machine_has_more(variable, monkeypatch):
    for name in ("SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE", "NSLOTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, "1")
    assert processors() == 1


def test_the_quota_of_a_control_group_of_version_2_and_of_those_above_counts(tmp_path):
    group = tmp_path / "root" / "pod" / "job"
    group.mkdir(parents=True)
    (group / "cpu.max").write_text("max 100000\n")
    (group.parent / "cpu.max").write_text("150000 100000\n")
    (tmp_path / "cgroup").write_text("0::/pod/job\n")
    assert of_cgroup(tmp_path / "cgroup", tmp_path / "root") == [2], "one and a half, rounded up"


def test_the_quota_of_a_control_group_of_version_1_counts(tmp_path):
    group = tmp_path / "root" / "cpu,cpuacct" / "job"
    group.mkdir(parents=True)
    for folder, quota in ((group, "300000"), (group.parent, "-1")):
        (folder / "cpu.cfs_quota_us").write_text(f"{quota}\n")
        (folder / "cpu.cfs_period_us").write_text("100000\n")
    (tmp_path / "cgroup").write_text("4:cpu,cpuacct:/job\n2:memory:/job\n")
    assert of_cgroup(tmp_path / "cgroup", tmp_path / "root") == [3]


def test_without_control_groups_nothing_is_limited(tmp_path):
    assert of_cgroup(tmp_path / "cgroup", tmp_path) == []
