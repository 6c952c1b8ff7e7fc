"""`covey slam`, as it is typed."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import yaml
from PIL import Image

import covey
from covey.cli import main
from covey.geometry.se2 import compose
from covey.mapping.slam.following import follow_with_particles
from covey.mapping.slam.g2o import read_g2o, write_g2o
from covey.mapping.slam.log import Laser, Log, load_log, relative, save_log
from covey.mapping.slam.particle_settings import ParticleSettings
from covey.mapping.slam.pose_graph import PoseGraph
from covey.world.world import WALL

SIZE_M = (6.0, 4.0)


def room_log(scans=60, drift=0.02):
    """Return the log of a robot that drives a circle in an empty room of 6 m x 4 m, with odometry that drifts."""
    turn = np.linspace(0.0, 4.0 * np.pi, scans)
    truth = np.column_stack((3.0 + np.cos(turn), 2.0 + np.sin(turn), turn + 0.5 * np.pi))
    laser = Laser(np.radians(np.arange(-90.0, 90.0, 2.0)), 10.0, (0.1, 0.0, 0.0))
    eyes = compose(truth, np.array(laser.mount))
    bearing = eyes[:, 2:] + laser.angles
    with np.errstate(divide="ignore"):
        x, y = (
            np.where(c > 0.0, (size - at) / c, -at / c)
            for c, size, at in (
                (np.cos(bearing), SIZE_M[0], eyes[:, :1]),
                (np.sin(bearing), SIZE_M[1], eyes[:, 1:2]),
            )
        )
    motion = relative(truth[:-1], truth[1:]) * (1.0 + drift)
    odometry = [np.array([7.0, -3.0, 1.0])]
    for step in motion:
        odometry.append(compose(odometry[-1], step))
    times, rows = np.arange(scans, dtype=float), np.arange(scans)
    odometry = np.array(odometry)
    return truth, Log("room", laser, np.minimum(x, y), odometry, times, odometry, rows, truth)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    truth, log = room_log()
    save_log(folder / "room.npz", log)
    lines = ["stream1,stream2,dx,dy,dtheta\n"]
    for a, b in ((0, 30), (5, 50), (-1, 3)):
        lines.append(f"{a},{b},{','.join(map(repr, relative(truth[a], truth[b]).tolist()))}\n")
    (folder / "room.csv").write_text("".join(lines))
    code = main(
        ["slam", str(folder / "room.npz"), "--relations", str(folder / "room.csv"), "--out", str(folder / "out")]
    )
    assert code == 0
    return folder, truth, log


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("kind", ["jump", "carried"])
def test_jumps_are_told_and_a_map_in_pieces_is_exit_code_3(tmp_path, kind, capsys):
    """A robot drives in a room; then its odometry jumps by 5 m, or it is carried into a smaller room."""
    _, log = room_log()
    if kind == "jump":
        odometry = log.odometry.copy()
        odometry[40:] = compose(compose(odometry[39], np.array([5.0, 0.0, 1.0])), relative(odometry[39], odometry[40:]))
        changed = replace(log, odometry=odometry, stream=odometry, reference=None)
    else:
        ranges = log.ranges.copy()
        ranges[40:] = 0.4 * ranges[40:, ::-1] + 0.3 * np.sin(3.0 * log.laser.angles) + 0.5
        changed = replace(log, ranges=ranges, reference=None)
    save_log(tmp_path / "log.npz", changed)
    code = main(["slam", str(tmp_path / "log.npz"), "--out", str(tmp_path / "out"), "--unchecked"])
    scores, said = json.loads((tmp_path / "out" / "scores.json").read_text()), capsys.readouterr().out
    (jump,) = scores["jumps"]
    assert jump["scan"] == 40
    assert "before scan 40" in said
    assert (tmp_path / "out" / "loops.csv").read_text().startswith("first_scan,second_scan,residual_m")
    if kind == "jump":
        assert code == 0
        assert scores["explained"] > 0.95
        assert np.hypot(*jump["scans_say"][:2]) < 0.4
        assert [piece["joined"] for piece in scores["pieces"]] == [True]
    else:
        assert code == 3
        assert jump["scans_say"] is None
        assert scores["pieces"][1] == {"first_scan": 43, "last_scan": 59, "joined": False}
        assert "is not joined" in said


def test_the_folder_has_map_trajectory_graph_scores_and_report(recorded):
    folder = recorded[0] / "out"
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "loops.csv",
        "map.png", "map.yaml", "trajectory.tum", "trajectory.csv", "graph.g2o", "graph.npz", "scores.json", "report.html", "figures",
    }  # fmt: skip
    drawn = {path.name for path in (folder / "figures").iterdir()}
    assert drawn == {f"{n}.{k}" for n in ("map", "trajectory", "loops", "errors") for k in ("png", "svg", "pdf")}
    page = (folder / "report.html").read_text()
    assert page.count("<figure>") == 4
    assert "1 relations have no scan, and do not count." in page


@pytest.mark.slow
def test_the_scores_are_those_of_a_map_that_does_not_drift(recorded):
    scores = json.loads((recorded[0] / "out" / "scores.json").read_text())
    assert (scores["scans"], scores["method"]) == (60, "graph")
    assert (scores["relations"]["used"], scores["relations"]["left_out"]) == (2, 1)
    assert scores["relations"]["translation_m"] < 0.05 < scores["relations_of_odometry"]["translation_m"]
    assert scores["reference"]["ate_m"] < 0.05
    assert scores["path_m"] == pytest.approx(4.0 * np.pi, rel=0.02)  # two rounds of radius 1 m


def test_the_map_has_the_walls_of_the_room(recorded):
    folder, truth, _ = recorded
    header = yaml.safe_load((folder / "out" / "map.yaml").read_text())
    assert (header["image"], header["mode"], header["resolution"]) == ("map.png", "trinary", 0.05)
    pixels = np.asarray(Image.open(folder / "out" / "map.png"))[::-1]
    rows, columns = np.nonzero(pixels == 0)
    points = np.array(header["origin"][:2]) + 0.05 * (np.column_stack((columns, rows)) + 0.5)
    points = compose(truth[0], np.column_stack((points, np.zeros(len(points)))))  # the map begins at the first pose
    inside = np.minimum.reduce((points[:, 0], SIZE_M[0] - points[:, 0], points[:, 1], SIZE_M[1] - points[:, 1]))
    assert np.percentile(np.abs(inside), 95) < 0.1
    assert (pixels == 254).sum() * 0.05**2 == pytest.approx(24.0, rel=0.1)
    assert set(np.unique(pixels)) == {0, 205, 254}
    world = covey.World.from_file(folder / "out" / "map.yaml")
    assert (world.grid.shape, world.grid.origin) == (pixels.shape, tuple(header["origin"]))
    np.testing.assert_array_equal(world.grid.cells == WALL, pixels == 0)


def test_trajectory_files_hold_the_same_poses(recorded):
    folder, truth, log = recorded
    rows = np.genfromtxt(folder / "out" / "trajectory.csv", delimiter=",", names=True)
    lines = np.loadtxt(folder / "out" / "trajectory.tum")
    np.testing.assert_allclose(lines[:, 0], log.times)
    np.testing.assert_allclose(lines[:, 1:3], np.column_stack((rows["x_m"], rows["y_m"])), atol=1e-6)
    turn = 2.0 * np.arctan2(lines[:, 6], lines[:, 7])
    np.testing.assert_allclose(np.cos(turn - rows["heading_rad"]), 1.0, atol=1e-9)
    own = relative(truth[:1], truth)
    assert np.hypot(rows["x_m"] - own[:, 0], rows["y_m"] - own[:, 1]).max() < 0.1
    assert (rows["odometry_x_m"][0], rows["odometry_heading_rad"][0]) == (pytest.approx(0.0, abs=1e-9),) * 2
    graph = read_g2o(folder / "out" / "graph.g2o")
    kept = rows[rows["key_frame"] == 1]
    np.testing.assert_allclose(graph.poses[:, 0], kept["x_m"], atol=1e-6)


@pytest.mark.slow
def test_all_but_the_times_is_the_same_again(recorded):
    folder = recorded[0]
    assert main(["slam", str(folder / "room.npz"), "--out", str(folder / "again"), "-q"]) == 0
    for name in ("map.png", "map.yaml", "trajectory.tum", "trajectory.csv", "graph.g2o", "figures/map.svg"):
        assert (folder / "again" / name).read_bytes() == (folder / "out" / name).read_bytes()


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_matching_closes_no_loops_and_settings_count(recorded, tmp_path, capsys):
    log = str(recorded[0] / "room.npz")
    options = ["--method", "matching", "-s", "key_frame_m=0.6", "-s", "key_frame_deg=90", "--resolution", "0.1"]
    assert main(["slam", log, "--out", str(tmp_path / "m"), *options]) == 0
    scores = json.loads((tmp_path / "m" / "scores.json").read_text())
    assert (scores["method"], scores["loops_accepted"], scores["loops_refused"]) == ("matching", 0, 0)
    kept = json.loads((recorded[0] / "out" / "scores.json").read_text())["key_frames"]
    assert scores["key_frames"] < kept
    assert yaml.safe_load((tmp_path / "m" / "map.yaml").read_text())["resolution"] == 0.1
    out = capsys.readouterr().out
    assert re.search(r"key_frames\s+\d+\s+scans that were kept", out)
    assert out.endswith(f"\nfolder  {tmp_path / 'm'} (report.html shows it)\n")


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_particles_map_the_room_with_the_settings_and_the_seed_that_were_typed(recorded, tmp_path, capsys):
    log, relations = str(recorded[0] / "room.npz"), ["--relations", str(recorded[0] / "room.csv")]
    options = [
        "--method",
        "particles",
        "-s",
        "preset=dat160",
        "-s",
        "particles=20",
        "-s",
        "minimum_score=10",
        *relations,
    ]
    found = {}
    for name, seed in (("a", []), ("c", ["--seed", "4"])):
        assert main(["slam", log, "--out", str(tmp_path / name), *options, *seed]) == 0
        rows = np.genfromtxt(tmp_path / name / "trajectory.csv", delimiter=",", names=True)
        found[name] = np.column_stack((rows["x_m"], rows["y_m"]))
    assert not np.array_equal(found["a"], found["c"])
    settings = ParticleSettings.preset("dat160").model_copy(update={"particles": 20, "minimum_score": 10.0})
    by_hand = follow_with_particles(load_log(log), settings, seed=0).poses  # begins at the pose of the log
    np.testing.assert_allclose(found["a"], relative(by_hand[:1], by_hand)[:, :2], atol=1e-6)
    scores = json.loads((tmp_path / "c" / "scores.json").read_text())
    assert (scores["method"], scores["seed"], scores["scans"], scores["loops_accepted"]) == ("particles", 4, 60, 0)
    assert scores["relations"]["translation_m"] < 0.06 < scores["relations_of_odometry"]["translation_m"]
    assert {path.name for path in (tmp_path / "c").iterdir()} == {
        "map.png", "map.yaml", "trajectory.tum", "trajectory.csv", "scores.json", "report.html", "figures",
    }  # fmt: skip
    page = (tmp_path / "c" / "report.html").read_text()
    assert page.count("<figure>") == 3
    for row in (
        r"particles</td>\s*<td[^>]*>20<",
        r"usable_range_m</td>\s*<td[^>]*>4<",
        r"minimum_score</td>\s*<td[^>]*>10<",
    ):
        assert re.search(row, page), row
    assert rows["key_frame"].sum() == scores["key_frames"] > 20  # a scan each 0.2 m, on 12.6 m


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_the_default_folder_has_the_name_of_the_log(recorded, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["slam", str(recorded[0] / "room.npz"), "-q"]) == 0
    assert re.fullmatch(r"runs/slam-room/[\d-]+\n", capsys.readouterr().out.replace("\\", "/"))


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_a_log_with_odd_stamps_and_empty_scans_is_followed_and_said(tmp_path, capsys):
    _, log = room_log()
    times, ranges = log.times.copy(), log.ranges.copy()
    times[10], times[20] = 3.0, np.nan
    ranges[30], ranges[31, 4] = 0.0, np.nan
    odd = Log("odd", log.laser, ranges, log.odometry, times, log.stream, log.rows)
    save_log(tmp_path / "odd.npz", odd)
    assert main(["slam", str(tmp_path / "odd.npz"), "--out", str(tmp_path / "o")]) == 0
    out = capsys.readouterr().out
    for line in (
        "Stamps step back 1 times, by up to 6 s. The order of the log counts.",
        "1 scans have no stamp.",
        "1 ranges are no numbers, and count as no return.",
        "1 scans have no return; the odometry bridges them.",
    ):
        assert line in out
    assert np.loadtxt(tmp_path / "o" / "trajectory.tum")[:, 0].tolist() == list(range(60))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["no.npz"], "there is no file 'no.npz'"),
        (["no.txt"], "'no.txt' is no log by its name"),
        (["no.bag"], "there is no bag 'no.bag'"),
        (["LOG", "--resolution", "0"], "--resolution is 0; a cell has a side of 0.005 to 10 m"),
        (["LOG", "-s", "key_frame=1"], "key_frame"),
        (["LOG", "-s", "loops.score=7"], "--set.loops.score: must be less than or equal to 1; given: 7"),
        (["LOG", "-s", "loops.score=0.5", "--method", "matching"], "--method matching closes no loops"),
        (["LOG", "--method", "guess"], "Invalid value"),
        (["LOG", "--seed", "3"], "--seed is for --method particles"),
        (
            ["LOG", "--method", "particles", "-s", "preset=gmaping"],
            "no preset 'gmaping' of particles, did you mean 'gmapping'",
        ),
        (["LOG", "--method", "particles", "-s", "key_frame_m=1"], "key_frame_m"),
        (["a.g2o", "--seed", "3"], "--seed is for logs of scans"),
        (["LOG", "--relations", "none.csv"], "there is no file 'none.csv'"),
        (["LOG", "--out", "FULL"], "holds other files; choose another folder"),
        (["LOG", "--out", "OUT"], "already holds a result; choose another folder, or add --force"),
        (["a.g2o", "--relations", "x.csv"], "--relations is for logs of scans, but a.g2o is a pose graph"),
        (["a.g2o", "-s", "x=1"], "--set is for logs of scans"),
        (["a.g2o", "--method", "matching"], "--method is for logs of scans"),
        (["a.g2o"], "there is no file 'a.g2o'"),
    ],
)
def test_what_was_typed_wrong_is_told(recorded, options, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a.txt").write_text("mine")
    places = {"LOG": recorded[0] / "room.npz", "OUT": recorded[0] / "out", "FULL": tmp_path / "full"}
    assert main(["slam", *(str(places.get(word, word)) for word in options)]) == 2
    assert said in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["full"]


def test_relations_of_another_log_are_refused(recorded, tmp_path, capsys):
    (tmp_path / "r.csv").write_text("stream1,stream2,dx,dy,dtheta\n0,60,1,0,0\n")
    log, relations, out = str(recorded[0] / "room.npz"), str(tmp_path / "r.csv"), str(tmp_path / "out")
    assert main(["slam", log, "--relations", relations, "--out", out]) == 2
    assert "the relations name row 60 of a log with rows 0 to 59: they belong to another" in capsys.readouterr().err


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_a_simulated_run_becomes_a_log(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    options = ["robots.scout.localization=odometry", "record={scans_every_s: 0.2}", "stop.timeout_s=15"]
    typed = [word for option in options for word in ("-s", option)]
    assert main(["run", "office", *typed, "--no-pictures", "-q", "--out", "driven"]) == 3
    assert main(["export", "driven", "--format", "log"]) == 2
    assert "choose it with --robot: scout0, scout1" in capsys.readouterr().err
    assert main(["export", "driven", "--robot", "scout1"]) == 2
    assert main(["export", "driven", "--format", "log", "--robot", "scout1"]) == 0
    run, log = covey.Run("driven"), load_log("driven.npz")
    scans = next(iter(run.scans["scout1"].values()))
    eyes = compose(log.reference, np.array(log.laser.mount))
    known = np.isin(scans.times, log.times)
    assert known.sum() == len(log) >= len(scans.times) - 1  # at 0 s no pose is recorded
    np.testing.assert_allclose(eyes[:, :2], scans.poses[known, :2], atol=1e-6)
    np.testing.assert_array_equal(log.ranges, scans.ranges[known])
    assert np.abs(log.odometry - log.reference).max() > 1e-4
    assert main(["slam", "driven.npz", "-q", "--out", "out", "--relations", "driven_relations.csv"]) == 0
    scores = json.loads((tmp_path / "out" / "scores.json").read_text())
    of_odometry, metrics = scores["relations_of_odometry"], run.metrics["displacement_error_by_robot_m"]
    assert of_odometry["translation_m"] == pytest.approx(
        metrics["scout1"], rel=0.2
    )  # of scans, every 0.2 s, and of steps


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_relations_by_stamps(recorded, tmp_path):
    folder, truth, _ = recorded
    x, y, turn = relative(truth[5], truth[50])
    (tmp_path / "room.relations").write_text(f"5.02 49.95 {x} {y} 0 0 0 {turn}\n5 50.3 0 0 0 0 0 0\n")
    options = ["--relations", str(tmp_path / "room.relations"), "--out", str(tmp_path / "out"), "-q"]
    assert main(["slam", str(folder / "room.npz"), *options]) == 0
    scores = json.loads((tmp_path / "out" / "scores.json").read_text())
    assert (scores["relations"]["used"], scores["relations"]["left_out"]) == (1, 1)
    assert scores["relations"]["translation_m"] < 0.05


def square(closing=1.0):
    """Return a graph of a square of 1 m that is closed; its poses are off."""
    step, back = [1.0, 0.0, 0.5 * np.pi], [1.0, 0.0, 0.5 * np.pi]
    poses = np.array([[0, 0, 0], [1.2, 0.1, 1.5], [1.1, 1.1, 3.0], [0.1, 0.8, -1.5]], float)
    motion = np.array([step, step, step, back])
    return PoseGraph(poses, np.array([0, 1, 2, 3]), np.array([1, 2, 3, 0]), motion, np.array([np.eye(3)] * 4))


@pytest.mark.slow
def test_a_pose_graph_is_optimised_and_written_back(tmp_path, capsys):
    write_g2o(tmp_path / "square.g2o", square())
    assert main(["slam", str(tmp_path / "square.g2o"), "--out", str(tmp_path / "out")]) == 0
    after = read_g2o(tmp_path / "out" / "graph.g2o")
    np.testing.assert_allclose(after.poses[:, :2], [[0, 0], [1, 0], [1, 1], [0, 1]], atol=1e-6)
    scores = json.loads((tmp_path / "out" / "scores.json").read_text())
    assert scores["cost_before"] > 0.1 > 1e-9 > scores["cost_after"]
    out = capsys.readouterr().out
    assert re.search(r"cost_before\s+0\.\d+ [^\n]*\ncost_after\s+\d", out)
    assert (tmp_path / "out" / "report.html").read_text().count("<figure>") == 2


def test_a_graph_that_is_not_connected_is_told(tmp_path, capsys):
    lines = [f"VERTEX_SE2 {k} {k} 0 0\n" for k in (0, 1, 5, 6)]
    lines += [f"EDGE_SE2 {a} {b} 1 0 0 1 0 0 1 0 1\n" for a, b in ((0, 1), (5, 6))]
    (tmp_path / "two.g2o").write_text("".join(lines))
    assert main(["slam", str(tmp_path / "two.g2o"), "--out", str(tmp_path / "out")]) == 2
    assert "2 of the 4 poses are not connected with a fixed pose, the first of them is 2" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_numbers_without_end_are_told(tmp_path, capsys):
    graph = square()
    graph.poses[1, 0] = 1e200
    write_g2o(tmp_path / "far.g2o", graph)
    assert main(["slam", str(tmp_path / "far.g2o"), "--out", str(tmp_path / "out")]) == 2
    assert "far.g2o: its numbers are too large; its cost is not finite" in capsys.readouterr().err


def test_help_names_formats_and_outcome(capsys):
    assert main(["slam", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for words in (".npz, CARMEN (.log, .clf, also .gz)", "covey[bags]", ".g2o or .g2o.gz", "runs/slam-NAME/DATE-TIME"):
        assert words in said.replace(" │", "").replace("│ ", "")


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_two_logs_of_a_site_and_a_map_that_is_continued(recorded, tmp_path):
    """A second drive through the room begins elsewhere, with another odometry; both ways give one map."""
    folder, _, log = recorded
    stream = compose(np.array([-20.0, 5.0, 2.0]), log.odometry)[30:]
    later = replace(log[30:], odometry=stream, stream=stream, rows=np.arange(len(stream)), reference=None)
    save_log(tmp_path / "later.npz", later)
    keys = json.loads((folder / "out" / "scores.json").read_text())["key_frames"]
    for typed, first in (([str(folder / "room.npz")], len(log)), (["--continue", str(folder / "out")], keys)):
        main(["slam", *typed, str(tmp_path / "later.npz"), "--out", str(tmp_path / "out"), "--force", "-q"])
        scores = json.loads((tmp_path / "out" / "scores.json").read_text())
        assert (scores["log"], scores["sessions"]) == ("room+later", [0, first])
        assert (scores["scans"], len(scores["pieces"])) == (first + len(later), 2)
    assert (tmp_path / "out" / "graph.npz").is_file()


def test_what_several_logs_cannot_have_is_told(recorded, tmp_path, capsys):
    log = str(recorded[0] / "room.npz")
    assert main(["slam", log, log, "--method", "particles"]) == 2
    assert "follows one log; --method graph joins several" in capsys.readouterr().err
    assert main(["slam", log, log, "--relations", str(recorded[0] / "room.csv")]) == 2
    assert "--relations are those of one log" in capsys.readouterr().err
    assert main(["slam", log, "--continue", str(tmp_path / "none")]) == 2
    assert "there is no file" in capsys.readouterr().err
    write_g2o(tmp_path / "graph.g2o", square())
    assert main(["slam", str(tmp_path / "graph.g2o"), log]) == 2
    assert "a second log" in capsys.readouterr().err
