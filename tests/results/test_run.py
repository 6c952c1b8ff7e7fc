import dataclasses
import json
import os
import shutil
import tracemalloc
import zipfile
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import covey
from covey import archives
from covey.errors import RunFolderError, UnknownNameError
from covey.geometry.grid import Grid
from covey.results import checked
from covey.results.figures import save_all
from covey.results.manifest import build_manifest, sha256
from covey.results.maps import Maps
from covey.results.recorder import Recorder
from covey.results.recording import Recording
from covey.results.run import Run

ROWS = ["kind", "robot", "step", "time_s", "other", "x_m", "y_m", "text", "data"]


def test_poses_are_those_of_the_circles(record):
    run = record()
    angle = run.times * 0.5 / 3.0  # a1: 0.5 m/s on a circle of 3 m
    expected = np.stack((3 * np.cos(angle), 3 * np.sin(angle), angle + np.pi / 2), axis=-1)
    assert np.allclose(run.poses[:, 1], expected, atol=1e-12)
    assert np.allclose(run.estimates[..., 0] - run.poses[..., 0], 0.03)
    assert run.steps.tolist() == list(range(1, 101))


def test_measurements_can_be_filtered_by_robot_name(record):
    run = record()
    rows = run.measurements.filter(pl.col("robot") == "a1")
    assert rows["distance_m"].to_list() == pytest.approx((0.5 * run.times).tolist())
    assert run.team["explored_share_union"][49] == 0.5


def test_events_are_counted_by_kind():
    def fails(robot):
        raise ValueError

    starts = [(-1.0, 0.0, 0.0), (1.0, 0.0, 0.0)]
    group = covey.Group("a", covey.robots.disc(), starts, fails)
    run = covey.Simulation(covey.World.empty(4, 4), [group], stop=covey.Stop(timeout_s=0.3)).run()
    assert run.count("controller_failed") == run.metrics["controllers_failed"] == 2
    assert run.events["kind"].to_list().count("controller_failed") == 2
    assert run.count("no such kind") == 0


def test_temporary_folder_lives_exactly_as_long_as_the_run(record, tmp_path):
    run = record()
    folder = run.folder
    saved = run.save(tmp_path / "kept")
    with pytest.raises(RunFolderError, match="cannot copy"):
        run.save(tmp_path / "kept")
    assert folder.is_dir()
    del run
    assert not folder.exists()
    assert len(saved.team) == 100


def test_maps_come_back_as_they_were(record, square_maps):
    expected, maps = square_maps(), record().maps
    assert np.array_equal(maps.truth.cells, expected.truth.cells)
    assert (maps.truth.resolution, maps.truth.origin) == (0.25, (-5.0, -5.0, 0.0))
    assert np.array_equal(maps.first_explored, expected.first_explored)
    assert np.array_equal(maps.robots[1].cells, expected.robots[1].cells)
    assert maps.union.resolution == 0.5
    assert record(maps=False).maps is None


def test_the_arrays_of_an_archive_of_maps_have_the_names_of_what_they_hold(square_maps, tmp_path):
    maps, per_cell = square_maps(), ("first_explored", "last_explored", "last_covered", "explored_by", "covered_by")
    for k, name in enumerate((*per_cell, "first_searched")):
        setattr(maps, name, np.full(maps.truth.shape, k, np.int32))
    maps.union_at = {50: Grid(np.full((2, 2), 5, np.int8), 0.5), 90: Grid(np.full((2, 2), 9, np.int8), 0.5)}
    (tmp_path / "maps.npz").write_bytes(maps.to_bytes())
    with np.load(tmp_path / "maps.npz") as arrays:
        assert {name: int(arrays[name][0, 0]) for name in (*per_cell, "first_searched")} == {
            **{name: k for k, name in enumerate(per_cell)},
            "first_searched": 5,
        }
        assert [int(arrays[f"union_at_{share}"][0, 0]) for share in (50, 90)] == [5, 9]
    again = Maps.load(tmp_path / "maps.npz")
    assert all((getattr(again, name) == getattr(maps, name)).all() for name in (*per_cell, "first_searched"))
    assert {share: int(grid.cells[0, 0]) for share, grid in again.union_at.items()} == {50: 5, 90: 9}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no manifest.json"),
        ("{", "Covey did not write it"),
        ("[]", "Covey did not write it"),
        ("", "Covey did not write it"),
        ('{"format": 2}', "Covey did not write it"),
        ('{"format": 1, "robots": [], "status": "finished"}', "format 1"),
    ],
)
def test_what_is_no_run_folder_is_said_plainly(tmp_path, content, message):
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(RunFolderError, match=message):
        Run(tmp_path)
    with pytest.raises(RunFolderError, match="no such folder"):
        Run(tmp_path / "nowhere")


def test_latest_is_the_newest_run_and_a_wrong_path_names_the_run_that_was_perhaps_meant(record, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, written in (("20260101-120000", 3e9), ("20260102-120000", 2e9)):
        os.utime(record(Path("runs/maze") / name).folder / "manifest.json", (written, written))
    newest = Path("runs/maze/20260101-120000")
    assert Run("runs/maze/latest").folder == newest
    for wrong in ("runs/maze/1", "runs/maze", "maze", "mase", "maze.yaml", "runs/mase"):
        with pytest.raises(RunFolderError) as caught:
            Run(wrong)
        assert str(caught.value).endswith(f", did you mean '{newest}'? (the newest of 2 runs there)")
    with pytest.raises(RunFolderError, match=r"did you mean 'runs/maze/20260102-120000'\?$"):
        Run("runs/maze/20260102-120001")
    with pytest.raises(RunFolderError, match=r"did you mean 'runs/maze/20260102-120000'\?$"):
        Run("runs/maze/20260102-120000/manifest.json")
    with pytest.raises(RunFolderError, match=f"did you mean '{newest}'"):
        Run("runs/maze/latest/figures")
    with pytest.raises(
        RunFolderError, match=r"there is no such folder; covey run NAME writes one, and runs/NAME/latest"
    ):
        Run("elsewhere/maze/1")
    with pytest.raises(RunFolderError, match=r"'.' is not a run folder"):
        Run(".")


def test_no_run_is_written_into_a_folder_whose_name_stands_for_the_newest_run(record, tmp_path):
    with pytest.raises(RunFolderError, match="'latest' stands for the newest run there; choose another folder"):
        record(tmp_path / "runs" / "latest")
    assert not list(tmp_path.iterdir())


def test_an_incomplete_run_says_whether_it_is_still_written_and_what_repeats_it(tmp_path):
    recorder = Recorder(tmp_path / "run", ["a0"])
    recorder.open(build_manifest(["a0"], 0, command=["/bin/covey", "run", "maze", "--seed", "3"]))
    shutil.copytree(tmp_path / "run", tmp_path / "killed")
    for name, words in (
        ("run", f"is incomplete: it is still being written by process {os.getpid()} on .*; wait, or end it"),
        ("killed", "is incomplete: it was killed, .*; repeat it: covey run maze --seed 3"),
    ):
        with pytest.raises(RunFolderError, match=f"{words}.*; covey.Run.*incomplete=True"):
            Run(tmp_path / name)
        with pytest.raises(RunFolderError, match=words):
            _ = Run(tmp_path / name, incomplete=True).team
    recorder.abandon("over")


def test_unknown_column_names_the_nearest(record):
    with pytest.raises(UnknownNameError, match="did you mean 'distance_m'"):
        record().series("distance")


def test_manifest_holds_what_a_second_run_needs(tmp_path):
    (tmp_path / "map.pgm").write_bytes(b"abc")
    recording = Recording(inputs=(tmp_path / "map.pgm",))
    manifest = build_manifest(["a"], 3, recording, command=["covey", "run", "maze"])
    assert manifest["inputs"][0]["sha256"] == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert sha256(tmp_path / "map.pgm") == manifest["inputs"][0]["sha256"]
    assert {"covey", "numpy", "python"} <= manifest["versions"].keys()
    assert manifest["goal"] == {"explored_share": 0.99, "of": "union", "timeout_s": None}
    assert json.loads(json.dumps(manifest)) == manifest


def test_notebook_shows_metrics_and_a_picture_and_escapes_names(record, tmp_path):
    run = record()
    run.manifest["name"] = "<script>"
    page = run._repr_html_()
    assert "<script>" not in page
    assert "exploration_time_s</td><td>9.9<" in page
    assert "data:image/png;base64," in page


def test_run_without_a_single_step_opens(tmp_path):
    recorder = Recorder(tmp_path / "run", ["a0"])
    recorder.open(build_manifest(robots=["a0"], seed=0))
    run = recorder.close("exhausted")
    assert run.poses.shape == (0, 1, 3)
    assert run.metrics["status"] == "exhausted"
    assert run.metrics["exploration_time_s"] is None
    assert "0 s" in repr(run)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: bytes(len(data)),
        lambda data: b"[" * 100_000,
        lambda data: bytes(range(256)) * 8,
    ],
    ids=["cut", "empty", "zeros", "brackets", "bytes"],
)
def test_a_damaged_file_of_a_run_is_named(damage, record):
    recorded = record()
    whole = recorded.folder
    uses = {
        "manifest.json": lambda run: run,
        "metrics.json": lambda run: run.metrics,
        "team.parquet": lambda run: run.times,
        "measurements.parquet": lambda run: (run.poses, run.measurements),
        "events.parquet": lambda run: run.events,
        "maps.npz": lambda run: run.maps,
    }
    for name, use in uses.items():
        good = (whole / name).read_bytes()
        use(Run(whole))
        (whole / name).write_bytes(damage(good))
        with pytest.raises(RunFolderError, match=f"{name}' is damaged"):
            use(Run(whole))
        (whole / name).write_bytes(good)


@pytest.mark.slow
def test_an_archive_that_is_too_large_is_refused_before_it_is_unpacked(record, monkeypatch):
    run = record()
    folder = run.folder
    for name, read in (("maps", "maps"), ("plans", "plans"), ("ground", "landscape")):
        np.savez_compressed(folder / f"{name}.npz", truth=np.zeros(100_000_000, np.uint8))
        assert (folder / f"{name}.npz").stat().st_size < 1_000_000
        monkeypatch.setattr(archives, "MAX_BYTES", 99_000_000)
        tracemalloc.start()
        with pytest.raises(RunFolderError, match=f"{name}.npz' takes 0.1 GB when unpacked; at most 0.099 GB are all"):
            getattr(Run(folder), read)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
        tracemalloc.stop()


def test_a_member_that_is_no_array_is_refused(record):
    run = record()
    with zipfile.ZipFile(run.folder / "maps.npz", "a") as archive:
        archive.writestr("coverable.npy", "hello")
    with pytest.raises(RunFolderError, match=r"maps.npz' is damaged.*not an archive of arrays"):
        _ = Run(run.folder).maps


def test_files_that_were_swapped_with_those_of_another_run_are_noticed(record, square_maps):
    one, other = record(), record(steps=7)
    for name in ("team.parquet", "measurements.parquet"):
        good = (one.folder / name).read_bytes()
        (one.folder / name).write_bytes((other.folder / name).read_bytes())
        with pytest.raises(RunFolderError, match=r"measurements.parquet' is damaged"):
            Run(one.folder).series("x_m")
        (one.folder / name).write_bytes(good)
    truth = square_maps().truth
    longer = truth.with_cells(np.zeros((3, 4), np.uint8))
    (one.folder / "maps.npz").write_bytes(dataclasses.replace(square_maps(), truth=longer).to_bytes())
    with pytest.raises(RunFolderError, match=r"maps.npz' is damaged.*not an array of the shape of the truth"):
        _ = Run(one.folder).maps


@pytest.mark.parametrize(("name", "other"), [("team", "events"), ("events", "measurements"), ("measurements", "team")])
def test_tables_that_were_swapped_are_noticed(name, other, record):
    run = record()
    folder = run.folder
    (folder / f"{name}.parquet").write_bytes((folder / f"{other}.parquet").read_bytes())
    with pytest.raises(RunFolderError, match=rf"{name}.parquet' is damaged.* no column .*: is it another table\?"):
        getattr(Run(folder), name)


def test_a_table_with_more_rows_than_its_file_can_hold_is_refused_before_it_is_read(record, monkeypatch):
    run = record()
    rows = pa.table({"step": np.zeros(2_000_000, np.int64), "kind": pa.repeat("x", 2_000_000).dictionary_encode()})
    pq.write_table(rows, run.folder / "team.parquet", compression="zstd")
    monkeypatch.setattr(checked, "_LARGE_BYTES", 40_000_000)  # between the 8 bytes of numbers and the 16 of texts
    with pytest.raises(RunFolderError, match=r"team.parquet' claims 2000000 rows, 0.0 GB, in a file of 0.0 MB"):
        _ = Run(run.folder).team


@pytest.mark.parametrize("name", ["manifest.json.part", "metrics.json.part", "reports.parquet.part", ".lock"])
def test_a_link_in_a_run_folder_lets_no_other_file_be_written(name, record, tmp_path):
    run, other = record(), tmp_path / "other.txt"
    folder = run.folder
    other.write_text("mine")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(other)
    begin = nullcontext() if name != ".lock" else pytest.raises(RunFolderError, match="cannot write the run folder")
    with begin:
        recorder = Recorder(Recording(folder=folder, overwrite=True), ["a"])
        recorder.open({"robots": ["a"]})
        recorder.add("reports", pa.schema([("step", pa.int64())]), {"step": [1]})
        recorder.abandon("enough")
    assert other.read_text() == "mine"


def test_pictures_in_a_folder_that_is_a_link_are_not_those_of_the_run(record, tmp_path):
    run, others = record(), tmp_path / "others"
    folder = run.folder
    others.mkdir()
    (others / "mine.png").write_bytes(b"mine")
    (folder / "figures").symlink_to(others)
    Recorder(Recording(folder=folder, overwrite=True), ["a"])
    assert (others / "mine.png").read_bytes() == b"mine"
    assert not (folder / "figures").exists()


@pytest.mark.parametrize("write", [lambda run: save_all(run, names=["overview"]), lambda run: run.plot()])
def test_pictures_are_not_written_into_a_folder_that_is_a_link(record, tmp_path, write):
    run, others = record(tmp_path / "run"), tmp_path / "others"
    others.mkdir()
    (run.folder / "figures").symlink_to(others)
    with pytest.raises(RunFolderError, match=r"figures' is a link, to '.*others'; remove it, or name another"):
        write(run)
    assert not list(others.iterdir())


def test_a_picture_that_is_a_link_lets_no_other_file_be_written(record, tmp_path):
    run, other = record(tmp_path / "run"), tmp_path / "other.png"
    other.write_bytes(b"mine")
    (run.folder / "figures").mkdir()
    (run.folder / "figures" / "overview.png").symlink_to(other)
    run.plot()
    assert other.read_bytes() == b"mine"


@pytest.mark.parametrize(
    ("name", "change", "read", "why"),
    [
        ("team", lambda t: t[::-1], lambda run: run.times, "its column time_s does not grow"),
        ("team", lambda t: t.with_columns(time_s=float("nan")), lambda run: run.pose_times, "time_s does not grow"),
        ("team", lambda t: pl.concat([t, t[-1:]]), lambda run: run.steps, "its column step does not grow"),
        (
            "events",
            lambda t: pl.DataFrame([("hit", "b7", 1, 0.1, "", 0.0, 0.0, "", "")], ROWS, orient="row").select(t.columns),
            lambda run: run.events,
            "it has an event of 'b7', which is no robot of this run",
        ),
    ],
)
def test_tables_that_contradict_the_run_are_refused(record, tmp_path, name, change, read, why):
    path = record(tmp_path / "run").folder / f"{name}.parquet"
    change(pl.read_parquet(path)).write_parquet(path)
    with pytest.raises(RunFolderError, match=f"{name}.parquet' is damaged, or Covey did not write it .*{why}"):
        read(Run(tmp_path / "run"))


def test_a_table_that_is_none_is_named(record, tmp_path):
    folder = record(tmp_path / "run").folder
    (folder / "measurements.parquet").write_text("what Covey did not write")
    with pytest.raises(RunFolderError, match=r"measurements.parquet' is damaged"):
        Run(folder).columns_of("measurements")


def test_a_metric_that_is_not_there_is_named_with_the_nearest(record):
    metrics = record().metrics
    assert metrics.get("nothing") is None
    with pytest.raises(UnknownNameError, match="unknown metric 'colisions', did you mean 'collisions'"):
        metrics["colisions"]


@pytest.mark.parametrize("name", ["poses", "estimates", "times", "steps", "pose_times"])
def test_arrays_that_a_run_keeps_cannot_be_written(record, name):
    with pytest.raises(ValueError, match="read-only"):
        getattr(record(), name)[0] = 0
