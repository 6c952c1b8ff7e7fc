"""A recorded run in the messages of a page, compared with what could be seen while it ran."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from tests.viewer.test_live import Viewer

import covey
from covey.cli import main
from covey.missions import Rescue
from covey.plain import dumps, unpack
from covey.results.landscape import Change, Landscape
from covey.sensors import TagCamera
from covey.viewer import Server
from covey.viewer.cell_layers import layer_of
from covey.viewer.description import description_of
from covey.viewer.hub import PageClient
from covey.viewer.layers import layers_of as layers_of_live
from covey.viewer.messages import Watch
from covey.viewer.recorded import Recorded, blocks_of, changes_of, estimates_of, layers_of, messages_of


def test_the_recording_has_what_could_be_seen(recorded):
    run, seen = recorded
    hello, recording, poses, estimates, plans, _, *layers = messages_of(run)
    hello = json.loads(hello)
    assert hello["mode"] == "replay"
    assert [robot["name"] for robot in hello["robots"]] == list(run.names)
    header, arrays = unpack(recording)
    assert header["status"] == run.status
    np.testing.assert_array_equal(arrays["step"], list(seen))
    for k, one in enumerate(seen.values()):
        np.testing.assert_allclose(unpack(poses)[1]["poses"][k], one["pose"], atol=1e-5)
    assert [event["kind"] for event in header["events"]] == run.events["kind"].to_list()
    assert unpack(estimates)[0]["as"] == "pose"
    np.testing.assert_allclose(unpack(plans)[1]["point"], run.plans.points, atol=1e-5)
    cells = {header["name"]: arrays["cells"] for header, arrays in map(unpack, layers)}
    assert list(cells) == hello["layers"]
    explored = cells["first_explored"]
    for step in (1, 30, len(seen)):
        np.testing.assert_array_equal((explored >= 0) & (explored <= step), seen[step]["explored"])
    np.testing.assert_array_equal(cells["truth"], seen[len(seen)]["truth"])


def test_changes_of_the_truth_lead_back_to_each_step(recorded):
    run, seen = recorded
    _, arrays = unpack(list(messages_of(run, []))[1])
    cells = run.maps.truth.cells.copy()
    changes = zip(*arrays["changed:truth"].T, arrays["before:truth"], arrays["after:truth"], strict=True)
    for step, cell, before, after in reversed(list(changes)):
        if step <= 20:
            break
        assert cells.reshape(-1)[cell] == after
        cells.reshape(-1)[cell] = before
    np.testing.assert_array_equal(cells, seen[20]["truth"])
    assert not np.array_equal(cells, seen[60]["truth"])


def test_bodies_cover_from_the_recorded_poses_what_they_covered(recorded):
    run, seen = recorded
    _, first = layers_of(run)["first_covered"]()
    for step in (10, 40, len(seen)):
        there = (first >= 0) & (first <= step)
        both = (there & seen[step]["covered"]).sum()
        assert both >= 0.98 * max(there.sum(), seen[step]["covered"].sum())  # between two poses a body moves on a curve


def test_the_bodies_are_those_of_the_robots(recorded):
    run, _ = recorded
    (body,) = run.manifest["bodies"]
    hello = json.loads(next(messages_of(run)))
    assert hello["robots"][1]["discs"] == body["discs_m"]
    assert hello["robots"][1]["start"] == body["start"][1]
    np.testing.assert_allclose(np.array(body["start"])[:, :2], run.poses[0, :, :2], atol=0.2)


def test_a_viewer_gets_the_recording_and_the_layers_that_it_watches(recorded):
    run, _ = recorded
    with Server(Recorded(run)) as server:
        viewer = Viewer(server)
        assert not viewer.until(lambda header: header["type"] == "hello")["edits"]
        viewer.send(type="watch", layers=["truth"], rate_hz=10)
        assert unpack(viewer.socket.recv(timeout=240))[0]["type"] == "recording"
        header, arrays = unpack(viewer.socket.recv(timeout=240))
        assert header["name"] == "truth"
        np.testing.assert_array_equal(arrays["cells"], run.maps.truth.cells)
        assert unpack(viewer.socket.recv(timeout=240))[0]["name"] == "pose"
        viewer.send(type="watch", layers=["truth", "last_covered"], rate_hz=10)
        header, arrays = unpack(viewer.socket.recv(timeout=240))
        assert header["name"] == "last_covered"
        np.testing.assert_array_equal(arrays["cells"], run.maps.last_covered)
        assert "ended" in viewer.ask(type="play")["text"]


def test_estimates_without_errors_are_not_sent_twice(recorded):
    run, _ = recorded
    np.testing.assert_allclose(run.estimates, run.poses, atol=1e-12)  # the robots know where they are
    header, arrays = unpack(estimates_of(run)[0])
    assert (header["as"], arrays) == ("pose", {})
    copy = covey.Run(run.folder)
    copy.estimates = run.poses + 0.125
    poses = np.concatenate([unpack(block)[1]["poses"] for block in estimates_of(copy)])
    np.testing.assert_allclose(poses, copy.estimates, atol=1e-5)


def test_blocks_hold_all_poses_in_order_and_none_is_large():
    poses = np.random.default_rng(1).uniform(-40.0, 40.0, (9000, 10, 3))
    blocks = blocks_of("pose", poses)
    assert len(blocks) > 1
    assert max(map(len, blocks)) < 300_000
    row = 0
    for header, arrays in map(unpack, blocks):
        assert header["first"] == row
        row += len(arrays["poses"])
    together = np.concatenate([arrays["poses"] for _, arrays in map(unpack, blocks)])
    np.testing.assert_allclose(together, poses, rtol=0, atol=4e-6)  # as `blocks_of` says of 50 m


def test_a_recorded_run_is_shown_without_loading_the_simulation(recorded):
    show = (
        "import sys, covey.cli.view as view; from covey.results.run import Run; view.Recorded(Run(sys.argv[1]));"
        "print(*{'covey.results.run', 'numba', 'covey.runtime.simulation'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", show, recorded[0].folder], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["covey.results.run"]


@pytest.mark.parametrize("command", ["view"])
def test_a_folder_without_a_run_is_refused_in_words(command, tmp_path, capsys):
    assert main([command, str(tmp_path)]) == 2
    assert "not a run folder" in capsys.readouterr().err


def test_doors_are_described_while_a_run_lasts_and_afterwards(tmp_path):
    world = covey.World.building(size_m=(40, 30), seed=1)
    sim = covey.Simulation(world, robots=1, controller="random_ballistic_walk", recording=tmp_path / "run")
    live = json.loads(dumps(description_of(sim, [])))
    run = sim.run(until_s=0.5)
    assert [door["name"] for door in live["world"]["doors"]] == [door.name for door in world.doors] != []
    assert json.loads(next(messages_of(run)))["world"]["doors"] == live["world"]["doors"]


def test_changes_of_the_ground_lead_back_to_each_step():
    rng = np.random.default_rng(1)
    altitude, states, changes = rng.random((6, 8)), {}, []
    for step, row, column in ((3, 0, 2), (5, 1, 1), (9, 3, 4)):
        states[step - 1] = altitude.copy()
        before = altitude[row : row + 3, column : column + 3].copy()
        after = before + np.array([[0.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 0.0]])
        altitude[row : row + 3, column : column + 3] = after
        changes.append(Change(step, row, column, before, after))
    arrays = changes_of(Landscape(altitude, np.array([0.0, 0.0, 1.0]), changes, {}, 1.0))
    assert len(arrays["changed:ground"]) == 3 * 5  # corners do not change
    for step, state in states.items():
        cells = altitude.astype(np.float32)
        for k in reversed(range(len(arrays["changed:ground"]))):
            at, cell = arrays["changed:ground"][k]
            if at > step:
                assert cells.reshape(-1)[cell] == arrays["after:ground"][k]
                cells.reshape(-1)[cell] = arrays["before:ground"][k]
        np.testing.assert_array_equal(cells, state.astype(np.float32))


def test_layers_have_the_names_of_those_of_a_run_that_lasts(recorded):
    run, _ = recorded
    world = covey.World.maze(size_m=(20, 14), seed=1)
    sim = covey.Simulation(world, robots=3, controller="nearest_frontier", seed=3, share_maps=1.0)
    assert set(layers_of(run)) - set(layers_of_live(sim)) == {"first_covered"}
    assert all(str(make()[1].dtype) == layer_of(name).type for name, make in layers_of(run).items())
    hello = json.loads(next(messages_of(run)))
    assert "first_explored" not in hello["at_end"]
    assert {"last_covered", "map:robot0"} <= set(hello["at_end"]) <= set(hello["layers"])


def test_plans_scans_and_changes_come_once_and_when_they_are_looked_at(detailed):
    run, _ = detailed
    recorded, viewer = Recorded(run), PageClient(edits=False)

    def sent(**watch):
        recorded.handle(viewer, Watch(type="watch", **watch))
        headers = [unpack(text)[0] for text in viewer.texts if isinstance(text, bytes)]
        viewer.texts.clear()
        return [header["name"] for header in headers if header["type"] in ("plans", "scans", "changes")]

    assert sent(layers=["truth"]) == []
    assert sent(layers=["truth"], details=["paths", "lidar"]) == ["paths"]
    assert sent(details=["paths", "lidar"], robots=[1]) == ["lidar:1"]
    assert sent(details=["lidar"], robots=[1, 2]) == ["lidar:2"]
    assert sent(layers=["map:robot2"], details=["lidar", "paths"], robots=[1]) == ["changes:map:robot2"]
    assert sent(layers=["map:robot2", "union"]) == ["changes:union"]


def test_a_layer_that_was_recorded_says_how_often(detailed, recorded):
    hello = json.loads(next(messages_of(detailed[0])))
    every_s = {"lidar": 1.0, "union": 2.0, **{f"map:robot{i}": 2.0 for i in range(3)}}
    assert hello["every_s"] == every_s
    assert not every_s.keys() & set(hello["at_end"])
    assert {"paths", "lidar"} <= set(hello["details"])
    hello = json.loads(next(messages_of(recorded[0])))
    assert hello["every_s"] == {}
    assert "lidar" not in hello["details"]
    assert {"union", "map:robot0"} <= set(hello["at_end"])


def test_what_a_viewer_asks_for_does_not_add_up(recorded):
    source, client = Recorded(recorded[0]), PageClient(False)
    source.hub.join(client)
    source.handle(client, Watch(type="watch", layers=("truth",)))
    first = len(client.texts)
    for i in range(30):
        unknown = tuple(f"{i} {k}" for k in range(100))
        source.handle(
            client, Watch(type="watch", layers=unknown, details=unknown, robots=tuple(range(99 * i, 99 * i + 99)))
        )
        source.handle(client, Watch(type="watch", layers=("truth",)))
    assert len(client.texts) == first
    assert source._sent[client] == {"truth"}


def test_of_a_damaged_file_a_viewer_is_told_once_and_sees_the_rest(detailed, tmp_path):
    folder = shutil.copytree(detailed[0].folder, tmp_path / "run")
    (folder / "plans.npz").write_bytes(b"PK")
    source, client = Recorded(covey.Run(folder)), PageClient(False)
    source.hub.join(client)
    for _ in range(2):
        source.handle(client, Watch(type="watch", details=("lidar", "paths"), robots=(0,)))
    told = [json.loads(one) for one in client.texts if isinstance(one, str)]
    (refused,) = [one["text"] for one in told if one["type"] == "refused"]
    assert "plans.npz' is damaged" in refused
    kinds = [unpack(one)[0]["type"] for one in client.texts if isinstance(one, bytes)]
    assert kinds.count("scans") == 1
    assert "poses" in kinds


def test_a_recorded_search_has_the_targets_and_walls_of_one_that_lasts(tmp_path):
    eye = TagCamera(detect_near=1, detect_far=1, detect_slant=1, false_per_min=0)
    robot = covey.robots.disc().model_copy(update={"sensors": (*covey.robots.disc().sensors, eye)})
    group = covey.Group("s", robot, [(0.5, 0.4, 0.0)], "still")
    options = {"targets": [{"kind": "victim", "at": (2, 0.5)}], "recording": tmp_path / "run"}
    sim = covey.Simulation(covey.World.empty(4, 4, 0.1), [group], mission=Rescue(), **options)
    run = sim.run(until_s=1.0)
    live, hello = layers_of_live(sim)["searched_walls"]().seen, json.loads(next(messages_of(run)))
    _, cells = layers_of(run)["searched_walls"]()
    np.testing.assert_array_equal(cells, live)
    assert {-2, -1} < set(np.unique(cells).tolist())  # no wall, not searched, and the steps in which some were
    assert "searched_walls" not in hello["at_end"]
    assert hello["targets"] == json.loads(dumps(description_of(sim, [])))["targets"]
    assert [(t["kind"], t["position_m"][0]) for t in hello["targets"]] == [("victim", pytest.approx(2.0, abs=0.01))]
