"""Exported files, read back by the libraries that own their formats."""

import base64
import json
import math
import re
import sys

import numpy as np
import pytest

import covey
from covey.cli import main
from covey.plain import unpack
from covey.viewer.exports import export
from covey.viewer.exports.html import in_planes
from covey.viewer.recorded import blocks_of
from covey.world.doors import Door


def of(messages, topic):
    """Return times [s] and contents of the messages of a topic."""
    found = [
        (message.log_time / 1e9, json.loads(message.data)) for _, channel, message in messages if channel.topic == topic
    ]
    assert found, topic
    return found


def cells_of(grid):
    kind = {1: np.uint8, 2: np.int8}[grid["fields"][0]["type"]]
    return np.frombuffer(base64.b64decode(grid["data"]), kind).reshape(-1, grid["column_count"])


def unknown_keys(content, schema, where=""):
    """Return the parts of a message that its schema does not have."""
    if isinstance(content, list):
        return [key for part in content for key in unknown_keys(part, schema["items"], where)]
    if not isinstance(content, dict):
        return []
    known = schema["properties"]
    return [f"{where}.{key}" for key in content if key not in known] + [
        key for name, part in content.items() if name in known for key in unknown_keys(part, known[name], name)
    ]


@pytest.fixture(scope="module")
def messages(recorded, tmp_path_factory):
    reader = pytest.importorskip("mcap.reader", reason="needs the library mcap")
    path = tmp_path_factory.mktemp("mcap") / "run.mcap"
    export(recorded[0], "mcap", path)
    with path.open("rb") as stream:
        return list(reader.make_reader(stream).iter_messages())


def test_planes_of_bytes_hold_poses_to_the_last_bit():
    poses = np.random.default_rng(1).normal(0.0, 30.0, (500, 7, 3)).astype(np.float32)
    poses[3, 2], poses[4, 2] = -0.0, np.nan
    header, arrays = unpack(in_planes(blocks_of("estimate", poses)[0]))
    assert header["name"] == "estimate"
    first, second, third, fourth = arrays["planes"].astype(np.uint32)
    change = first + (second << 8) + (third << 16) + (fourth << 24)
    bits = np.cumsum(change, axis=1, dtype=np.uint32).T  # modulo 2^32
    np.testing.assert_array_equal(np.ascontiguousarray(bits).reshape(poses.shape), poses.view(np.uint32))


def test_mcap_has_the_poses_in_frames_of_the_world(messages, recorded):
    run, seen = recorded
    frames = of(messages, "/tf")
    assert len(frames) == len(seen)
    for (time_s, content), step, time in zip(frames, seen, run.times, strict=True):
        assert time_s == pytest.approx(time)
        by_name = {frame["child_frame_id"]: frame for frame in content["transforms"]}
        for name, (x, y, heading) in zip(run.names, seen[step]["pose"], strict=True):
            at, turn = by_name[name]["translation"], by_name[name]["rotation"]
            assert (at["x"], at["y"]) == pytest.approx((x, y), abs=1e-3)
            turned = 2 * math.atan2(turn["z"], turn["w"]) - heading
            assert math.remainder(turned, 2 * math.pi) == pytest.approx(0.0, abs=1e-3)


def test_mcap_has_the_world_before_and_after_its_change_and_the_maps(messages, recorded):
    run, seen = recorded
    (before_s, before), (after_s, after) = of(messages, "/world")
    np.testing.assert_array_equal(cells_of(before), seen[1]["truth"])
    np.testing.assert_array_equal(cells_of(after), seen[len(seen)]["truth"])
    assert before_s == 0.0
    assert after_s == pytest.approx(4.0, abs=0.15)
    assert before["cell_size"]["x"] == run.maps.truth.resolution
    assert (before["pose"]["position"]["x"], before["pose"]["position"]["y"]) == pytest.approx(
        run.maps.truth.origin[:2]
    )
    step_of = {round(time, 6): step for step, time in zip(run.steps, run.times, strict=True)}
    explored = of(messages, "/explored")
    assert len(explored) > 10
    for time_s, grid in explored[::7]:
        np.testing.assert_array_equal(cells_of(grid) > 0, seen[step_of[round(time_s, 6)]]["explored"])
    for name, grid in zip(run.names, run.maps.robots, strict=True):
        np.testing.assert_array_equal(cells_of(of(messages, f"/maps/{name}")[0][1]), grid.cells)


def test_mcap_has_events_links_and_measurements(messages, recorded):
    run, _ = recorded
    log = of(messages, "/log")
    assert [time for time, _ in log] == pytest.approx(run.events["time_s"].to_list())
    assert any("wall added" in content["message"] for _, content in log)
    lines = of(messages, "/links")[-1][1]["entities"][0]["lines"][0]
    assert lines["type"] == 2  # LINE_LIST
    assert len(lines["points"]) == 2 * run.radio["links"][-1]
    shares = [content["explored_share_union"] for _, content in of(messages, "/team")]
    assert shares == pytest.approx(run.series("explored_share_union").tolist())


def test_mcap_messages_have_the_fields_of_their_schemas(messages):
    kinds = set()
    for schema, channel, message in messages:
        kinds.add(schema.name)
        assert schema.encoding == "jsonschema"
        assert channel.message_encoding == "json"
        if schema.name.startswith("foxglove."):
            assert unknown_keys(json.loads(message.data), json.loads(schema.data)) == []
    foxglove = {f"foxglove.{name}" for name in ("FrameTransforms", "SceneUpdate", "Grid", "Log")}
    assert kinds == foxglove | {"covey.Team"}


def test_mcap_has_plans_scans_and_maps_at_the_recorded_steps(detailed, tmp_path):
    reader = pytest.importorskip("mcap.reader", reason="needs the library mcap")
    run, seen = detailed
    export(run, "mcap", tmp_path / "run.mcap")
    with (tmp_path / "run.mcap").open("rb") as stream:
        messages = list(reader.make_reader(stream).iter_messages())
    for schema, _, message in messages:
        if schema.name.startswith("foxglove."):
            assert unknown_keys(json.loads(message.data), json.loads(schema.data)) == []
    maps = of(messages, "/maps/robot1")
    assert [time for time, _ in maps] == pytest.approx([0.1, 2.0, 4.0, 6.0])
    for (_, grid), step in zip(maps, (1, 20, 40, 60), strict=True):
        np.testing.assert_array_equal(cells_of(grid), seen[step]["map:robot1"])
    np.testing.assert_array_equal(cells_of(of(messages, "/maps")[2][1]), seen[40]["union"])
    lines = {}
    for time_s, content in of(messages, "/plans"):
        (entity,) = content["entities"]
        if time_s <= 3.0 + 1e-9:
            lines[entity["id"]] = [(p["x"], p["y"]) for line in entity["lines"] for p in line["points"]]
    begin = seen[30]["path_of"]
    for i, name in enumerate(run.names):
        np.testing.assert_allclose(lines[name], seen[30]["path"][begin[i] : begin[i + 1]], atol=1e-3)
    clouds = of(messages, "/scans/robot2")
    points = np.frombuffer(base64.b64decode(clouds[3][1]["data"]), "<f4").reshape(-1, 2)
    rays = seen[30]["lidar"][seen[30]["lidar_of"][2] : seen[30]["lidar_of"][3]]
    np.testing.assert_allclose(points, rays[rays[:, 2] == 1, :2], atol=1e-4)


def test_a_library_that_is_missing_is_named_with_the_way_to_install_it(recorded, tmp_path, capsys, monkeypatch):
    for form, extra, name in (("mcap", "mcap", "mcap.writer"), ("rrd", "rerun", "rerun")):
        monkeypatch.setitem(sys.modules, name, None)
        assert main(["export", str(recorded[0].folder), "--format", form, "--out", str(tmp_path / "run")]) == 2
        assert f"pip install 'covey[{extra}]'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_named(recorded, tmp_path):
    with pytest.raises(covey.RunFolderError, match=re.escape("missing/run.html")):
        export(recorded[0], "html", tmp_path / "missing" / "run.html")


def test_the_base_install_has_no_library_of_an_export_and_all_has_each():
    import tomllib
    from pathlib import Path

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert not [name for name in project["dependencies"] if name.startswith(("mcap", "rerun", "zstandard", "lz4"))]
    (every,) = project["optional-dependencies"]["all"]
    named = set(every.removeprefix("covey[").removesuffix("]").split(","))
    assert named == set(project["optional-dependencies"]) - {"all"}


def test_rrd_has_the_poses_grids_and_measurements(recorded, tmp_path):
    chunks = pytest.importorskip("rerun.chunk", reason="needs rerun-sdk")
    run, seen = recorded
    path = tmp_path / "run.rrd"
    export(run, "rrd", path)
    by_entity = {}
    for chunk in chunks.RrdReader(path).stream():
        by_entity.setdefault(chunk.entity_path, []).append(chunk.to_record_batch())

    def column(entity, ending):
        batches = by_entity[entity]
        return [
            row
            for batch in batches
            for name in batch.schema.names
            if name.endswith(ending)
            for row in batch[name].to_pylist()
        ]

    for i, name in enumerate(run.names):
        places = np.array(column(f"/world/robots/{name}", "translation")).reshape(-1, 3)
        np.testing.assert_allclose(places[:, :2], [one["pose"][i, :2] for one in seen.values()], atol=1e-4)
    shares = np.array(column("/team/explored_share_union", "scalars")).reshape(-1)
    np.testing.assert_allclose(shares, run.series("explored_share_union"))
    assert len(column("/log", "text")) == len(run.events)
    first = np.frombuffer(bytes(column("/world/truth", "data")[0][0]), np.uint8).reshape(*run.maps.truth.shape, 4)
    walls = (first == (43, 52, 64, 255)).all(axis=2)
    np.testing.assert_array_equal(walls[::-1], seen[1]["truth"] == 1)  # the first row of an image is the northernmost


def test_the_map_is_the_world_at_the_end_with_its_doors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    world = covey.World.empty(6, 4).replace(doors=(Door("d", -0.5, -1.0, 0.5, 1.0, True),))
    shut = {"door": "d", "to": "closed", "at_s": 0.2}
    team = [covey.Group("s", covey.robots.disc(), [(2.0, 0.0, 0.0)])]
    sim = covey.Simulation(world, team, lambda robot: None, events=[shut], recording=tmp_path / "run")
    sim.run(until_s=0.5)
    sim.close()
    assert main(["export", "run", "--format", "map"]) == 0
    saved = covey.World.from_file(tmp_path / "run.yaml")
    np.testing.assert_array_equal(saved.grid.cells, sim.world.grid.cells)
    assert saved.grid.cells[saved.grid.cell_at(0.0, 0.0)] == 1
    assert [(door.name, door.open) for door in saved.doors] == [("d", False)]
