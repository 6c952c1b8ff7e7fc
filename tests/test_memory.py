"""What is left for a process: the machine, the limits of the process, and control groups of both versions."""

import subprocess
import sys

import psutil
import pytest

from covey.errors import InvalidValueError
from covey.memory import check_room, left_in_groups, room

GB = 10**9


def group(folder, limit, usage, stat="", *, old=False):
    folder.mkdir(parents=True, exist_ok=True)
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes") if old else ("memory.max", "memory.current")
    for name, value in zip((*names, "memory.stat"), (limit, usage, stat), strict=True):
        (folder / name).write_text(f"{value}\n" if value != "" else "")


def test_every_group_above_a_process_counts_without_the_files_that_it_gives_up(tmp_path):
    own, root = tmp_path / "cgroup", tmp_path / "fs"
    own.write_text("0::/job/step\n")
    group(root / "job" / "step", "max", GB // 4)
    group(root / "job", GB, GB // 2, f"anon 5\ninactive_file {GB // 8}")
    root.mkdir(exist_ok=True)
    found = list(left_in_groups(own, root))
    assert [left for left, _ in found] == [GB / 2 + GB / 8]
    assert found[0][1] == "the control group /job/step leaves of 1 GB"


def test_groups_of_version_one_count_and_other_controllers_do_not(tmp_path):
    own, root = tmp_path / "cgroup", tmp_path / "fs"
    own.write_text("5:cpu,cpuacct:/job\n4:memory:/job\n")
    group(root / "memory" / "job", GB, GB // 4, f"total_inactive_file {GB // 4}", old=True)
    group(root / "cpu,cpuacct" / "job", 1, 1, old=True)
    group(root / "memory", 2**63 - 4096, GB, old=True)  # no limit
    assert [left for left, _ in left_in_groups(own, root)] == [GB]


def test_a_container_shows_its_own_group_as_the_root(tmp_path):
    own, root = tmp_path / "cgroup", tmp_path / "fs"
    own.write_text("0::/docker/abc\n")
    group(root, GB, GB // 2)
    assert [left for left, _ in left_in_groups(own, root)] == [GB / 2]


def test_without_groups_the_machine_counts(tmp_path):
    assert list(left_in_groups(tmp_path / "no", tmp_path)) == []
    assert 0 < room()[0] <= psutil.virtual_memory().total


def test_a_limit_of_the_address_space_is_named():
    code = (
        "import resource, psutil, covey.memory as m\n"
        "used = psutil.Process().memory_info().vms\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 10**9, used + 10**9))\n"
        "m.check_room(5e8, 'x takes', 'less')\n"
        "m.check_room(2e9, 'x takes', 'less')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert "x takes 2 GB, more than the" in last
    assert "`ulimit -v` leaves this process" in last


def test_what_fits_nowhere_says_what_is_left_and_what_to_do():
    with pytest.raises(InvalidValueError, match=r"maps take 1e\+06 GB, more than the .* GB that .*; take fewer"):
        check_room(1e15, "maps take", "take fewer")
