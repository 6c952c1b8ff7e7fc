"""Who writes into a folder has it alone, until it ends, however it does."""

import errno
import os
import signal
import subprocess
import sys

import pytest

from covey.errors import DiskError, RunFolderError
from covey.results import folder as folder_module
from covey.results.lock import LOCK, FolderLock, refuse_locked
from covey.results.recorder import Recorder
from covey.results.recording import Recording
from covey.results.table import Table

HOLDER = """
import sys, time
from pathlib import Path
from covey.results.lock import FolderLock
lock = FolderLock(Path(sys.argv[1]), shared=len(sys.argv) > 2)
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """Start a process that holds the lock of a folder."""
    started = []

    def start(*options):
        process = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path), *options], stdout=subprocess.PIPE)
        started.append(process)
        assert process.stdout.readline() == b"held\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_a_folder_that_another_process_writes_into_is_refused_by_its_number(holder, tmp_path):
    process = holder()
    with pytest.raises(RunFolderError, match=f"is being written by process {process.pid} on .*wait until it has ended"):
        Recorder(Recording(folder=tmp_path, overwrite=True), ["a0"])
    with pytest.raises(RunFolderError, match=str(process.pid)):
        refuse_locked(tmp_path)
    process.send_signal(signal.SIGKILL)
    process.wait()
    refuse_locked(tmp_path)
    FolderLock(tmp_path).release()
    assert not (tmp_path / LOCK).exists()


def test_those_who_share_a_folder_keep_the_others_out(holder, tmp_path):
    holder("shared")
    mine = FolderLock(tmp_path, shared=True)
    with pytest.raises(RunFolderError, match="is being written"):
        FolderLock(tmp_path)
    mine.release()
    with pytest.raises(RunFolderError, match="is being written"):
        FolderLock(tmp_path)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_disk_that_is_full_from_the_first_write_is_what_is_said(code, tmp_path, monkeypatch):
    def full(*_args, **_kws):
        raise OSError(code, os.strerror(code))

    for place, name in ((Table, "__init__"), (folder_module.os, "fsync")):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, full)
            with pytest.raises(DiskError, match=os.strerror(code)):
                Recorder(tmp_path / name, ["a0"]).open({"robots": ["a0"]})
        assert not list((tmp_path / name).glob("*.part*"))


def test_what_is_written_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(folder_module.os, "fsync", lambda fd: done.append("fsync"))
    replace = os.replace
    monkeypatch.setattr(folder_module.os, "replace", lambda *args: (done.append("replace"), replace(*args)))
    folder_module.write_json(tmp_path / "a.json", {})
    assert done == ["fsync", "replace"]
