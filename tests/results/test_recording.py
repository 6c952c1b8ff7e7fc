"""Where a run is written: a folder alone, or a record that says more."""

import hashlib

import pytest

import covey

ROOM = covey.World.empty(4, 4)


def test_a_bare_path_is_a_folder_and_a_record_also_names_the_run(tmp_path):
    read = tmp_path / "map.txt"
    read.write_bytes(b"walls")
    first = covey.Simulation(ROOM, recording=str(tmp_path / "first")).run(until_s=0.2)
    recording = covey.Recording(folder=tmp_path / "second", name="other", scenario_yaml="name: other", inputs=(read,))
    second = covey.Simulation(ROOM, recording=recording).run(until_s=0.2)
    assert (first.folder, second.folder) == (tmp_path / "first", tmp_path / "second")
    assert (first.manifest["name"], first.manifest["scenario"], first.manifest["inputs"]) == ("", "", [])
    assert (second.manifest["name"], second.manifest["scenario"]) == ("other", "name: other")
    assert second.manifest["inputs"] == [{"path": str(read), "sha256": hashlib.sha256(b"walls").hexdigest()}]


def test_a_finished_run_is_replaced_only_when_the_record_says_so(tmp_path):
    covey.Simulation(ROOM, recording=tmp_path / "run").run(until_s=0.2)
    with pytest.raises(covey.RunFolderError, match="already holds a finished run"):
        covey.Simulation(ROOM, recording=tmp_path / "run")
    recording = covey.Recording(folder=tmp_path / "run", overwrite=True)
    assert len(covey.Simulation(ROOM, recording=recording).run(until_s=0.5).steps) == 5


def test_what_is_no_recording_is_refused():
    with pytest.raises(covey.InvalidValueError, match=r"recording is 3; give a folder, or covey.Recording\(folder="):
        covey.Simulation(ROOM, recording=3)  # pyright: ignore[reportArgumentType]
