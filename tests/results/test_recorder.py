import errno
import gc
import os
import signal
import subprocess
import sys
import textwrap
import tracemalloc
from contextlib import suppress

import numpy as np
import polars as pl
import pytest

from covey.errors import InvalidValueError, RunFolderError
from covey.results import recorder as recorder_module
from covey.results.folder import DETAILS, FILES, OF_THE_LAB, PROCESS_TABLES, RADIO_TABLES
from covey.results.manifest import build_manifest
from covey.results.recorder import Recorder
from covey.results.reserve import Reserve
from covey.results.run import Run
from covey.results.table import Table


def start(folder, n=2, **options):
    names = [f"a{i}" for i in range(n)]
    recorder = Recorder(folder, names, **options)
    recorder.open(build_manifest(robots=names, seed=7))
    return recorder


def test_finished_folder_holds_exactly_its_files_and_says_finished(record, tmp_path):
    run = record(tmp_path / "run")
    assert sorted(p.name for p in run.folder.iterdir()) == sorted(
        {*FILES} - {*RADIO_TABLES, *PROCESS_TABLES, *DETAILS, *OF_THE_LAB, "ground.npz"}
    )
    assert (run.manifest["status"], run.manifest["goal_status"], run.manifest["seed"]) == ("finished", "reached", 7)


def test_tables_hold_every_step_and_robot_sorted_across_row_groups(record, tmp_path, monkeypatch):
    monkeypatch.setattr(recorder_module, "_ROWS", 14)
    monkeypatch.setattr(recorder_module, "_STEPS", 1)
    table = record(tmp_path / "run", n=3).measurements
    assert table["step"].to_list() == [step for step in range(1, 101) for _ in range(3)]
    assert table["robot"].cast(pl.String).to_list() == ["a0", "a1", "a2"] * 100
    row = table.row(3 * 49 + 1, named=True)  # step 50 of a1, at 0.5 m/s
    assert row["distance_m"] == pytest.approx(2.5)
    assert row["collisions_wall"] == 3
    assert table.schema["step"] == pl.Int64
    assert table.schema["x_m"] == pl.Float64


def test_same_run_gives_the_same_bytes(record, tmp_path):
    names = ("measurements.parquet", "team.parquet", "events.parquet", "maps.npz")
    first, second = record(tmp_path / "a"), record(tmp_path / "b")
    assert [(first.folder / n).read_bytes() for n in names] == [(second.folder / n).read_bytes() for n in names]


def test_poses_at_their_own_rate_shares_at_every_step(record, tmp_path):
    run = record(tmp_path / "run", pose_every=10)
    assert run.poses.shape == (10, 2, 3)
    assert run.pose_times.tolist() == pytest.approx(list(range(1, 11)))
    assert np.isfinite(run.series("explored_share")).all()
    with pytest.raises(InvalidValueError, match="pose_every"):
        Recorder(tmp_path / "b", ["a"], pose_every=0)


def test_events_are_recorded_with_their_places(record, tmp_path):
    events = record(tmp_path / "run", n=1).events
    collision = events.filter(pl.col("kind") == "collision").row(0, named=True)
    assert (collision["robot"], collision["other"], collision["x_m"], collision["y_m"]) == ("a0", "a1", 1.0, 2.0)


def test_finished_run_is_not_overwritten_unless_asked(record, tmp_path):
    run = record(tmp_path / "run")
    (run.folder / "figures").mkdir()
    (run.folder / "figures" / "old.png").write_bytes(b"old")
    (run.folder / "my notes.txt").write_text("keep")
    with pytest.raises(RunFolderError, match="already holds a finished run"):
        Recorder(run.folder, ["a0"])
    again = record(run.folder, steps=5, overwrite=True)
    assert len(again.steps) == 5
    assert not (run.folder / "figures" / "old.png").exists()
    assert (run.folder / "my notes.txt").read_text() == "keep"


def test_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(RunFolderError, match="not a run folder"):
        Recorder(tmp_path, ["a0"])
    with pytest.raises(RunFolderError, match="is a file"):
        Recorder(tmp_path / "thesis.tex", ["a0"])
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_full_disk_is_one_clear_error_and_an_incomplete_folder(circle_frame, tmp_path, monkeypatch):
    monkeypatch.setattr(recorder_module, "_ROWS", 20)
    monkeypatch.setattr(recorder_module, "_STEPS", 1)
    recorder = start(tmp_path / "run")
    for step in range(1, 10):
        recorder.observe(circle_frame(step))

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Table, "write", full)
    with pytest.raises(RunFolderError, match=r"No space left on device.*incomplete"):
        recorder.observe(circle_frame(10))  # the tenth step of two robots fills the block of 20 rows
    assert [p.name for p in (tmp_path / "run").iterdir()] == ["manifest.json"]
    with pytest.raises(RunFolderError, match=r"incomplete.*No space left"):
        Run(tmp_path / "run")


def test_disk_that_fills_at_the_maps_leaves_whole_tables(circle_frame, square_maps, tmp_path, monkeypatch):
    recorder = start(tmp_path / "run")
    recorder.observe(circle_frame(1))

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(recorder_module, "write_whole", full)
    with pytest.raises(RunFolderError, match="incomplete"):
        recorder.close("reached", square_maps())
    run = Run(tmp_path / "run", incomplete=True)
    assert len(run.measurements) == 2
    with pytest.raises(RunFolderError, match=r"no metrics\.json"):
        _ = run.metrics


CHILD = """
import sys
import numpy as np
from covey.results import recorder as module
from covey.results.snapshot import Snapshot
from covey.results.manifest import build_manifest
module._ROWS, module._STEPS = 200, 1
recorder = module.Recorder(sys.argv[1], ["a0", "a1"])
recorder.open(build_manifest(robots=["a0", "a1"], seed=0))
draw = np.random.default_rng(1)
step = 0
while True:
    step += 1
    p, v, k = draw.random((2, 3)), draw.random(2), np.zeros(2, int)
    recorder.observe(Snapshot(step, 0.1 * step, p, p, p, p, v, k, k, v))
    if step == 2000:
        print("ready", flush=True)
"""


def run_child(script, folder):
    command = [sys.executable, "-c", textwrap.dedent(script), str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_killed_run_leaves_no_half_file_and_can_be_run_again(record, tmp_path):
    child = run_child(CHILD, tmp_path / "run")
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGKILL)
    child.communicate()
    left = {p.name for p in (tmp_path / "run").iterdir()}
    assert {name for name in left if not name.endswith(".part")} == {"manifest.json", ".lock"}  # which holds nobody
    with pytest.raises(RunFolderError, match=r"incomplete.*killed"):
        Run(tmp_path / "run")
    assert record(tmp_path / "run").metrics["status"] == "reached"
    assert not list((tmp_path / "run").glob("*.part"))


@pytest.mark.slow
def test_real_limit_of_the_system_on_file_size_is_reported(tmp_path):
    limit = "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    limit += "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))\n"
    child = run_child(limit + CHILD, tmp_path / "run")
    _, error = child.communicate(timeout=240)
    assert error.strip().splitlines()[-1].startswith("covey.errors.DiskError: cannot write the run folder")
    assert [p.name for p in (tmp_path / "run").iterdir()] == ["manifest.json"]
    assert Run(tmp_path / "run", incomplete=True).manifest["status"] == "incomplete"


@pytest.mark.slow
def test_memory_stays_flat_however_long_the_run(circle_frame, tmp_path, monkeypatch):
    monkeypatch.setattr(recorder_module, "_ROWS", 2000)
    monkeypatch.setattr(recorder_module, "_STEPS", 1)
    recorder = start(tmp_path / "run")
    for step in range(1, 1001):
        recorder.observe(circle_frame(step))
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for step in range(1001, 3001):
        recorder.observe(circle_frame(step))
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    recorder.close("timeout")
    assert grown < 2000 * 2 * 8  # less than one number per row


def test_closing_twice_or_before_opening_is_refused(circle_frame, tmp_path):
    recorder = Recorder(tmp_path / "early", ["a0", "a1"])
    with pytest.raises(RunFolderError, match="not being recorded"):
        recorder.close("reached")
    recorder = start(tmp_path / "run")
    recorder.observe(circle_frame(1))
    recorder.close("reached")
    with pytest.raises(RunFolderError, match="not being recorded"):
        recorder.close("reached")


def test_host_table_grows_with_wall_time(circle_frame, tmp_path, monkeypatch):
    monkeypatch.setattr(recorder_module, "_HOST_S", 0.0)
    recorder = start(tmp_path / "run")
    for step in range(1, 4):
        recorder.observe(circle_frame(step))
    host = recorder.close("reached").host
    assert host["step"].to_list() == [1, 2, 3, 3]
    assert host["wall_time_s"].is_sorted()
    assert (host["rss_mib"].drop_nulls() > 1).all()


@pytest.mark.slow
def test_a_killed_run_is_whole_up_to_its_last_checkpoint(tmp_path):
    """Its last checkpoint is of step 300: blocks of 100 steps are written, and the rows of the last 50 wait."""
    often = "from covey.results import recorder\nrecorder._CHECKPOINT_S = 0.0\n"
    child = run_child(
        often
        + CHILD.replace("if step == 2000:", "if step == 350:\n        module._CHECKPOINT_S = 1e9\n    if step == 351:"),
        tmp_path / "run",
    )
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGKILL)
    child.communicate()
    with pytest.raises(RunFolderError, match=r"incomplete.*killed"):
        Run(tmp_path / "run")
    run = Run(tmp_path / "run", incomplete=True)
    assert run.steps.tolist() == list(range(1, 351))
    assert run.measurements["step"].to_list() == [step for step in range(1, 351) for _ in range(2)]
    draw = np.random.default_rng(1)
    drawn = [(draw.random((2, 3)), draw.random(2))[0] for _ in range(350)]
    assert np.array_equal(run.poses, drawn)
    assert not {"checkpoint", "measurements.parquet.part"} & {path.name for path in run.folder.iterdir()}
    assert len(Run(tmp_path / "run", incomplete=True).measurements) == 700  # again, from the whole tables


def test_checkpoints_change_no_byte_and_leave_nothing(record, tmp_path, monkeypatch):
    names = ("measurements.parquet", "team.parquet", "events.parquet")
    monkeypatch.setattr(recorder_module, "_ROWS", 14)
    monkeypatch.setattr(recorder_module, "_STEPS", 1)
    without = record(tmp_path / "without")
    monkeypatch.setattr(recorder_module, "_CHECKPOINT_S", 0.0)
    run = record(tmp_path / "with")
    for name in names:
        assert (run.folder / name).read_bytes() == (without.folder / name).read_bytes()
    assert {path.name for path in run.folder.iterdir()} == {path.name for path in without.folder.iterdir()}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts the files of /proc")
@pytest.mark.parametrize("spare", [0, 1, 16])
def test_a_checkpoint_does_not_end_a_run_that_may_open_no_more_files(circle_frame, tmp_path, monkeypatch, spare):
    import resource

    reserve = Reserve(spare)
    monkeypatch.setattr(recorder_module, "RESERVE", reserve)
    recorder = start(tmp_path / "run")
    recorder.observe(circle_frame(1))
    monkeypatch.setattr(recorder_module, "_CHECKPOINT_S", 0.0)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = max(int(number) for number in os.listdir("/proc/self/fd")) + 32
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, limits[1]))
    taken = []
    try:
        with suppress(OSError):
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))
        for step in (2, 3):
            recorder.observe(circle_frame(step))
        assert (tmp_path / "run" / "checkpoint").exists() == (spare > 0)
        assert len(reserve) == spare
    finally:
        for file in taken:
            os.close(file)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert recorder.close("stopped").steps.tolist() == [1, 2, 3]
    assert (reserve.users, len(reserve)) == (0, 0)


def test_recordings_share_their_reserve_of_files_and_leave_it(circle_frame, tmp_path, monkeypatch):
    reserve = Reserve(3)
    monkeypatch.setattr(recorder_module, "RESERVE", reserve)
    closed, abandoned, forgotten = (start(tmp_path / name) for name in "abc")
    assert (reserve.users, len(reserve)) == (3, 3)
    closed.observe(circle_frame(1))
    closed.close("stopped")
    assert (reserve.users, len(reserve)) == (2, 3)
    abandoned.abandon("no time")
    del forgotten
    gc.collect()
    assert (reserve.users, len(reserve)) == (0, 0)


@pytest.mark.parametrize(
    "checkpoint",
    [b"", b"{", b"[1]\n", b'{"../team": [4, 1]}\nx', b'{"team": [1e9, 4]}\nabcd', b'{"team": [100000000, 4]}\nabcd'],
)
def test_a_damaged_checkpoint_is_said(circle_frame, tmp_path, checkpoint):
    recorder = start(tmp_path / "run")
    recorder.observe(circle_frame(1))
    recorder._lock.release()  # it is dead
    (tmp_path / "run" / "checkpoint").write_bytes(checkpoint)
    with pytest.raises(RunFolderError, match="checkpoint' is damaged"):
        Run(tmp_path / "run", incomplete=True)


def test_a_checkpoint_reads_and_writes_no_file_elsewhere(circle_frame, tmp_path):
    recorder = start(tmp_path / "run")
    recorder.observe(circle_frame(1))
    recorder._checkpoint()
    recorder._lock.release()
    other = tmp_path / "other"
    other.write_bytes(b"mine" * 100)
    unfinished = tmp_path / "run" / "team.parquet.part"
    unfinished.unlink()
    unfinished.symlink_to(other)
    with pytest.raises(RunFolderError, match="damaged"):
        Run(tmp_path / "run", incomplete=True)
    assert other.read_bytes() == b"mine" * 100
    assert not (tmp_path / "run" / "team.parquet").exists()


def test_a_run_under_way_is_left_alone(circle_frame, tmp_path):
    recorder = start(tmp_path / "run")
    recorder.observe(circle_frame(1))
    recorder._checkpoint()
    before = {path.name for path in (tmp_path / "run").iterdir()}
    Run(tmp_path / "run", incomplete=True)
    assert {path.name for path in (tmp_path / "run").iterdir()} == before
    assert recorder.close("stopped").steps.tolist() == [1]
