"""The table of finished rows: what is written is read, whatever else happens to its files."""

import json
import math
import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from covey.cli import main
from covey.cli.exit_codes import BAD_INPUT, NOT_REACHED, REACHED
from covey.errors import CoveyError, RunFolderError
from covey.experiments.analysis.table import build_table, deterministic
from covey.experiments.run import Results, run_design
from covey.experiments.workers import rows as module
from covey.experiments.workers.rows import ROWS, Rows, RowWriter, read_rows

METRICS = {
    "auc": 0.1 + 0.2,
    "exploration_time_s": 5e-324,
    "collisions": 3,
    "messages_sent": 2**53 + 1,
    "status": "timeout",
    "of_mine": "2024-01-01",  # which a reader may take for a date
    "all_well": True,
    "ate_m": None,
    "distance_by_robot_m": {"scout0": 1.5, "ü": None},
}


def row_of(number, **changes):
    seed = 1000 + number
    row = {
        "run_id": f"{number:020x}",
        "seed": seed,
        "timeout_s": 20.0,
        "status": "timeout",
        "metrics": METRICS | {"auc": number / 7},
        "host": {"name": "here", "cpu": "ab", "wall_s": 1.25, "cpu_s": 1.0, "load": None},
        "scenario": f"format: 1\nname: é\nseed: {seed}\n",
        "folder": "/somewhere",
    }
    return row | changes


def append(folder, *rows):
    with RowWriter(folder) as writer:
        for row in rows:
            writer.append(row, "pictures", (), Rows(folder))


def expected(folder, row):
    """Return the row that is read for one that was written."""
    host = {name: value for name, value in row["host"].items() if value is not None}
    return row | {"host": host, "reproduce": f"covey run {folder}/runs/{row['run_id']}"}


def test_what_is_written_is_read_to_the_last_digit(tmp_path):
    written = [row_of(n) for n in range(40)]
    append(tmp_path, *written)
    found = read_rows(tmp_path)
    assert [found[row["run_id"]] for row in written] == [expected(tmp_path, row) for row in written]
    assert found.damaged == {}


def test_the_rows_of_a_plan_come_in_its_order_and_the_others_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK_BYTES", 700)  # about a row
    written = [row_of(n) for n in range(12)]
    append(tmp_path, *written)
    found = read_rows(tmp_path)
    wanted = [written[n]["run_id"] for n in (7, 2, 11)]
    assert found.ordered(wanted)["run_id"].to_list() == wanted
    assert [found[row["run_id"]] for row in written] == [expected(tmp_path, row) for row in written]
    assert found.ordered([wanted[0], wanted[0]])["run_id"].to_list() == [wanted[0], wanted[0]]
    few = read_rows(tmp_path, values=False)
    assert few.statuses() == found.statuses()
    assert not [name for name in few.frame.columns if name.startswith(("metrics.", "host."))]


def test_values_of_other_kinds_in_one_column_are_read(tmp_path):
    """A block of lines that are not alike is read line by line."""
    kinds = [1, 2.5, True, "some", None, [1, 2], {"a": 1}]
    written = [row_of(n, metrics={"of_mine": kind}) for n, kind in enumerate(kinds)]
    append(tmp_path, *written)
    found = read_rows(tmp_path)
    values = [found[row["run_id"]]["metrics"]["of_mine"] for row in written]
    assert values == ["1", "2.5", "true", "some", None, [1, 2], {"a": 1}]


def test_a_file_that_ends_anywhere_holds_all_rows_before(tmp_path):
    """As after kill -9 while a row was being written: only this row is lost, and nobody has to be told."""
    append(tmp_path, *(row_of(n) for n in range(3)))
    (path,) = (tmp_path / ROWS).iterdir()
    whole = path.read_bytes()
    ends = [n for n in range(len(whole)) if whole[n : n + 1] == b"\n"]
    rows = [n for n in ends if b'"run_id"' in whole[:n].rpartition(b"\n")[2]]
    cuts = {0, 1, *range(0, len(whole), 97), *(n + k for n in ends for k in (-1, 0, 1, 2)), len(whole)}
    for cut in sorted(cuts):
        path.write_bytes(whole[:cut])
        found = read_rows(tmp_path)
        assert len(found.frame) == sum(n < cut for n in rows), cut
        assert found.damaged == {}, cut


def _append_some(folder, first):
    append(folder, *(row_of(n) for n in range(first, first + 20)))


@pytest.mark.slow
def test_two_processes_append_at_a_time(tmp_path):
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        list(pool.map(_append_some, [tmp_path] * 8, range(0, 160, 20)))
    found = read_rows(tmp_path)
    assert sorted(found.places) == [f"{n:020x}" for n in range(160)]
    assert found.damaged == {}


@pytest.mark.parametrize("order", [1, -1])
def test_a_result_counts_more_than_a_failure_and_the_later_row_more_than_the_earlier(order, tmp_path, monkeypatch):
    failed, result = row_of(1, status="died", metrics={}, reason="it vanished"), row_of(1)
    for row in (failed, result)[::order]:
        append(tmp_path, row)
    assert read_rows(tmp_path)[failed["run_id"]]["status"] == "timeout"
    again = row_of(2, status="hung", metrics={}, reason="second")
    append(tmp_path, row_of(2, status="failed", metrics={}, reason="first"))
    append(tmp_path, again)
    assert read_rows(tmp_path)[again["run_id"]]["reason"] == "second"


def flip(line):
    return line.replace(b'"auc":', b'"auc";')


def cut(line):
    return line[: len(line) // 2]


def another(line):
    return json.dumps({key: [value] for key, value in json.loads(line).items()}).encode()


def unknown(line):
    return line.replace(b'"of":"', b'"of":"00')


def deep(line):
    return b'{"status":' + b"[" * 100_000


def nothing_of_ours(line):
    return bytes(range(128, 256))


@pytest.mark.parametrize("damage", [flip, cut, another, unknown, deep, nothing_of_ours])
def test_a_damaged_line_costs_its_own_row_and_is_told(damage, tmp_path):
    append(tmp_path, *(row_of(n) for n in range(3)))
    (path,) = (tmp_path / ROWS).iterdir()
    lines = path.read_bytes().splitlines()
    lines[-2] = damage(lines[-2])
    path.write_bytes(b"\n".join(lines) + b"\n")
    found = read_rows(tmp_path)
    assert sorted(found.places) == [f"{n:020x}" for n in (0, 2)]
    assert found.damaged == {path: 1}


def test_a_table_of_another_format_is_refused(tmp_path):
    append(tmp_path, row_of(0))
    (path,) = (tmp_path / ROWS).iterdir()
    path.write_bytes(path.read_bytes().replace(b'"format":1', b'"format":9'))
    with pytest.raises(RunFolderError, match="has format 9; this version of Covey reads format 1"):
        read_rows(tmp_path)


def test_a_full_disk_leaves_the_table_as_it_was(tmp_path, monkeypatch):
    with RowWriter(tmp_path) as writer:
        writer.append(row_of(0), "rows", (), Rows(tmp_path))
        (path,) = (tmp_path / ROWS).iterdir()
        before = path.read_bytes()
        with monkeypatch.context() as patch:
            write = os.write
            patch.setattr(module.os, "write", lambda file, data: write(file, data[: len(data) // 2]))
            with pytest.raises(OSError, match="No space left on device"):
                writer.append(row_of(1), "rows", (), Rows(tmp_path))
        assert path.read_bytes() == before
        writer.append(row_of(2), "rows", (), Rows(tmp_path))
    assert sorted(read_rows(tmp_path).places) == [f"{n:020x}" for n in (0, 2)]


# -- studies -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_runs_without_folders_are_rows_like_others(plain, tmp_path, in_this_process):
    kept = run_design(plain(), tmp_path / "pictures", jobs=1)
    rows = run_design(plain(keep="rows"), tmp_path / "rows", jobs=1)
    assert os.listdir(tmp_path / "rows" / "runs") == []
    assert deterministic(rows.table).equals(deterministic(kept.table))
    assert rows.runs == []
    assert len(kept.runs) == 4
    done = len(in_this_process)
    run_design(plain(keep="rows"), tmp_path / "rows", jobs=1)
    run_design(plain(keep="rows"), tmp_path / "pictures", jobs=1)  # what is kept already does not matter
    assert len(in_this_process) == done
    run_design(plain(keep="measurements"), tmp_path / "rows", jobs=1)
    assert len(in_this_process) == done + 4, "their folders are wanted now"
    assert len(Results(tmp_path / "rows").runs) == 4


def test_a_run_without_a_folder_is_repeated_alone_by_the_command_of_its_row(write, in_this_process, capsys):
    folder = write(a_yaml="design: a\nscenario: room.yaml\niterations: 2\nkeep: rows\n")
    assert main(["run", "a.yaml", "--out", "a", "-q", "--jobs", "1"]) == REACHED
    row = Results(folder / "a").rows[1]
    command = row["reproduce"].split()[1:]
    assert main([*command, "--out", "alone", "--no-pictures", "-q"]) == NOT_REACHED
    metrics = json.loads((folder / "alone" / "metrics.json").read_text())
    same = [name for name, value in metrics.items() if name in ("auc", "exploration_cost_m", "energy_j") and value]
    assert same
    assert all(math.isclose(metrics[name], row["metrics"][name], rel_tol=0) for name in same)
    assert main(["run", str(folder / "a" / "runs" / "0123456789abcdef0123")]) == BAD_INPUT


def test_a_design_that_keeps_only_rows_has_no_measurements(plain):
    with pytest.raises((CoveyError, ValueError), match="rows keeps no measurements"):
        plain(keep="rows", measurements=[{"every_s": 1, "record": ["position"]}])


def test_parts_that_were_run_in_folders_of_their_own_are_one_study_when_their_files_are(
    plain, tmp_path, in_this_process
):
    whole = run_design(plain(keep="rows"), tmp_path / "whole", jobs=1)
    for part in (1, 2):
        run_design(plain(keep="rows"), tmp_path / f"part{part}", jobs=1, shard=(part, 2))
    shutil.copytree(tmp_path / "part2", tmp_path / "part1", dirs_exist_ok=True)
    done = len(in_this_process)
    together = run_design(plain(keep="rows"), tmp_path / "part1", jobs=1)
    assert deterministic(together.table).equals(deterministic(whole.table))
    assert len(in_this_process) == done


def as_before(folder):
    """Turn the folder of a study into one of the version before: rows only in the folders of the runs."""
    shutil.rmtree(folder / ROWS)
    plan = json.loads((folder / "plan.json").read_text())
    runs = [
        {"run_id": run_id, "vector": v, "iteration": i, "seed": plan["seeds"][i], "parameters": vector["parameters"]}
        for v, vector in enumerate(plan["vectors"])
        for i, run_id in enumerate(vector["runs"])
    ]
    old = {"format": 1, **{key: plan[key] for key in ("design", "metrics", "folder")}, "runs": runs}
    (folder / "plan.json").write_text(json.dumps(old, indent=1))


def test_the_study_of_the_version_before_is_read_and_its_rows_are_taken_over_once(
    plain, tmp_path, in_this_process, capsys
):
    table = run_design(plain(), tmp_path, jobs=1).table
    as_before(tmp_path)
    assert main(["results", str(tmp_path)]) == REACHED
    assert (
        "the rows of 4 finished runs stood only in their own folders; they are in the table now"
        in capsys.readouterr().err
    )
    assert main(["results", str(tmp_path)]) == REACHED
    assert "finished runs stood" not in capsys.readouterr().err
    assert Results(tmp_path).table.equals(table)
    done = len(in_this_process)
    assert run_design(plain(), tmp_path, jobs=1).table.equals(table)
    assert len(in_this_process) == done


def test_a_row_that_its_runner_could_not_write_any_more_is_taken_over(plain, tmp_path, in_this_process):
    """As after kill -9 between the folder of a run and its row."""
    run_design(plain(), tmp_path, jobs=1)
    (path,) = (tmp_path / ROWS).iterdir()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]) + lines[-1][:30])
    said = []
    results = run_design(plain(), tmp_path, jobs=1, observer=lambda progress: said.extend(progress.remarks))
    assert any("the rows of 1 finished runs stood only in their own folders" in remark for remark in said)
    assert len(results) == 4
    assert len(in_this_process) == 4
    assert Results(tmp_path).taken_over == 0


def test_the_type_of_a_column_depends_on_the_runs_of_the_plan_alone(tmp_path):
    """Other rows in the same file, as of another version of the design, change nothing."""
    entries = [
        {"run_id": f"{n:020x}", "vector": n, "iteration": 0, "seed": 1000 + n, "parameters": {}} for n in range(2)
    ]
    mine = [row_of(n, metrics={"collisions": n, "auc": 1.0}) for n in range(2)]
    (tmp_path / "a").mkdir()
    append(tmp_path / "a", *mine)
    (tmp_path / "b").mkdir()
    append(tmp_path / "b", *mine, row_of(5, metrics={"collisions": 0.5, "auc": 3}))
    alone, beside = (build_table(read_rows(tmp_path / name), entries) for name in "ab")
    assert alone.equals(beside)
    assert alone.schema == beside.schema
