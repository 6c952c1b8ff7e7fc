"""The default folder of a run, and the link to the newest one."""

import os
import shutil

import pytest

from covey.results import folder as run_folders
from covey.results.folder import run_folder
from covey.scenario.folders import fresh_folder


def written(root, name="maze"):
    with fresh_folder(name, root) as folder:
        (folder / "manifest.json").write_text("{}")
    return folder


def test_latest_is_a_link_to_the_newest_run_while_it_is_written_and_after(tmp_path):
    first = written(tmp_path)
    latest = tmp_path / "maze" / "latest"
    assert os.readlink(latest) == first.name
    with fresh_folder("maze", tmp_path) as second:
        assert os.readlink(latest) == second.name
        (second / "manifest.json").write_text("{}")
    assert (os.readlink(latest), latest.resolve()) == (second.name, second.resolve())
    assert sorted(path.name for path in (tmp_path / "maze").iterdir()) == sorted([first.name, second.name, "latest"])
    os.utime(second / "manifest.json", (4e9, 4e9))
    assert run_folder(latest) == second
    shutil.move(tmp_path / "maze", tmp_path / "moved")
    assert (tmp_path / "moved" / "latest" / "manifest.json").is_file()


def test_a_run_that_left_nothing_leaves_no_link(tmp_path):
    with fresh_folder("maze", tmp_path / "runs"):
        pass
    assert not list(tmp_path.iterdir())
    first = written(tmp_path)
    with fresh_folder("maze", tmp_path):
        pass
    assert os.readlink(tmp_path / "maze" / "latest") == first.name


def test_a_link_to_a_run_that_was_removed_misleads_nobody(tmp_path):
    first, second = written(tmp_path), written(tmp_path)
    shutil.rmtree(second)
    assert run_folder(tmp_path / "maze" / "latest") == first
    third = written(tmp_path)
    assert os.readlink(tmp_path / "maze" / "latest") == third.name


def test_a_folder_of_that_name_stays_as_it_is(tmp_path):
    mine = tmp_path / "maze" / "latest"
    mine.mkdir(parents=True)
    (mine / "notes.txt").write_text("mine")
    written(tmp_path)
    assert (mine / "notes.txt").read_text() == "mine"
    assert not mine.is_symlink()


@pytest.mark.parametrize("refusal", [OSError("no privilege"), NotImplementedError()])
def test_a_system_without_links_needs_none(tmp_path, monkeypatch, refusal):
    def refuse(*_args, **_kws):
        raise refusal

    monkeypatch.setattr(run_folders.os, "symlink", refuse)
    first = written(tmp_path)
    assert [path.name for path in (tmp_path / "maze").iterdir()] == [first.name]
    assert run_folder(tmp_path / "maze" / "latest") == first
