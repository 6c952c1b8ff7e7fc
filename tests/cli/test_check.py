"""`covey check` says what `covey run` would say, runs nothing of it, and leaves nothing."""

import sys

import pytest

from covey.cli import main
from covey.cli.exit_codes import BAD_INPUT, REACHED


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ball.xml").write_text(
        "<mujoco><worldbody><body><joint name='left' type='ball'/><geom size='.1'/></body></worldbody></mujoco>"
    )
    return tmp_path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("world: {empty_m: [50, 50], resolution_m: 0.5}\n"
         "robots: [{robot: {base: maes, mapping: {resolution_m: 0.001}}, count: 200, controller: tnf}]",
         "a map of 51008 x 51008 cells is too large, at most 40,000,000 are allowed"),
        ("world: {empty_m: [6, 6]}\nrobots: [{robot: maes, count: 900}]", "of 900 robots have room here"),
        ("world: {empty_m: [6, 6]}\nrobots: [{robot: {base: maes, mapping: null}, controller: tnf}]",
         "'tnf' needs map, but 'maes' has only"),
        ("world: {empty_m: [6, 6]}\nrobots: [{robot: maes, controller: cyclic_patrol}]",
         "'cyclic_patrol' needs waypoints, but 'maes' has only"),
        ("world: {empty_m: [6, 6]}\nrobots: [{robot: maes, controller: cyclic_patrol}]\n"
         "mission: {patrolling: {waypoints_m: [[0, 0], [30, 0]]}}", "the waypoint [30.0, 0.0] cannot be reached"),
        ("world: {empty_m: [6, 6]}\nrobots: [{robot: {base: disc, sensors: [{kind: lidar, rate_hz: 500}]}}]",
         "500 Hz is more than one sample"),
        ("world: {empty_m: [6, 6]}\nrobots: [{robot: skid_steer, controller: terrain_team}]",
         "maps the ground, but the world has none"),
        ("world: {generate: flat, size_m: [20, 20]}\nrobots: [{robot: {base: skid_steer, "
         "chassis: {kind: file, file: ball.xml, left: [left], right: [left], "
         "wheel_radius_m: 0.1, half_track_m: 0.2, max_torque_n_m: 5}}}]",
         "joint 'left' of"),
    ],
    ids=["maps", "crowd", "no map", "no waypoints", "a waypoint outside", "fast sensor", "no ground", "a ball joint"],
)  # fmt: skip
def test_what_a_run_would_refuse_is_said_by_check_in_the_same_words(text, said, folder, capsys):
    if "ball.xml" in text:
        pytest.importorskip("mujoco")
    (folder / "mine.yaml").write_text(text)
    assert main(["check", "mine.yaml"]) == BAD_INPUT
    by_check = capsys.readouterr().err
    assert main(["run", "mine.yaml", "--no-pictures", "-q", "--out", "out"]) == BAD_INPUT
    assert said in by_check
    assert by_check.strip().splitlines()[-1] == capsys.readouterr().err.strip().splitlines()[-1]


MINE = """
import covey

@covey.controller(sees=("pose", "map", "shared_map"))
def asks(robot):
    robot.request_maps()
"""
ALONE = "2 robots keep their maps to themselves, but "


@pytest.mark.parametrize(
    ("controller", "more", "is_said"),
    [
        ("minpos", "", True),
        ("boustrophedon", "mission: coverage", True),
        ("minpos", "share_maps: {policy: on_request}", True),
        ("minpos", "share_maps: {every_s: 1}", False),
        ("minpos", "share_maps: {policy: on_meeting}", False),
        ("minpos", "robots.scout.known_map=true", False),
        ("minpos", "robots.scout.count=1", False),
        ("wander", "", False),
        ("tnf", "", True),
        ("lvd", "", False),
        ("still", "", False),
        ("./mine.py:asks", "", False),
    ],
)
def test_check_and_run_say_that_nobody_shares_maps_where_they_are_counted_on(
    controller, more, is_said, folder, capsys, caplog
):
    (folder / "mine.py").write_text(MINE)
    scout = f"{{name: scout, robot: turtlebot3_waffle, count: 2, controller: {controller}}}"
    changes = ["-s", more] if "=" in more else []
    more = "" if changes else f"{more}\n"
    (folder / "mine.yaml").write_text(
        f"world: {{empty_m: [6, 6]}}\nrobots: [{scout}]\n{more}stop: {{timeout_s: 0.2}}\n"
    )
    main(["check", "mine.yaml", "--trust", *changes])
    checked = capsys.readouterr().err
    main(["run", "mine.yaml", "--no-pictures", "--out", "out", *changes])
    ran = caplog.text
    assert [said.count(f"{ALONE}{controller} can use the maps of others") for said in (checked, ran)] == [is_said] * 2
    assert [said.count("write share_maps: {every_s: 1}") for said in (checked, ran)] == [is_said] * 2


BLIND = "no robot of the team has a tag camera, so none sees a target"


@pytest.mark.parametrize(
    ("robot", "controller", "mission", "said"),
    [
        ("turtlebot3_waffle", "rescue_team", "rescue", f"rescue_team can report only what a tag camera reads, but {BLIND}"),
        ("turtlebot3_waffle", "wander", "rescue", f"warning: {BLIND}"),
        ("turtlebot3_waffle_pi", "rescue_team", "rescue", ""),
        ("turtlebot3_waffle", "wander", "exploration", ""),
    ],
    ids=["a searcher", "no searcher", "a camera", "nothing to find"],
)  # fmt: skip
def test_check_and_run_say_that_no_robot_of_a_rescue_sees_targets(
    robot, controller, mission, said, folder, capsys, caplog
):
    (folder / "mine.yaml").write_text(
        "world: {empty_m: [6, 6]}\ntargets: [{draw: victim}]\nshare_maps: {every_s: 1}\nstop: {timeout_s: 0.2}\n"
        f"robots: [{{robot: {robot}, count: 2, controller: {controller}}}]\nmission: {mission}\n"
    )
    main(["check", "mine.yaml"])
    checked = capsys.readouterr().err
    main(["run", "mine.yaml", "--no-pictures", "--out", "out"])
    assert [BLIND in text for text in (checked, caplog.text)] == [bool(said)] * 2
    assert said in checked


@pytest.mark.parametrize(
    ("radio", "controller", "said"),
    [
        ("{range_m: 8}", "connected", "within range_m 20 m for connected, but the radio reaches 8 m; give {name: connected"),
        ("{links: [{disc: {range_m: 8}}]}", "{name: connected, range_m: 9}", "within range_m 9 m for connected"),
        ("{range_m: 8}", "{name: connected, range_m: 8}", ""),
        ("{links: [unlimited]}", "connected", ""),
        ("{range_m: 0}", "connected", ""),
    ],
    ids=["default", "in the links", "right", "everywhere", "no radio"],
)  # fmt: skip
def test_check_and_run_say_that_a_strategy_believes_in_a_longer_range_than_the_radio_has(
    radio, controller, said, folder, capsys, caplog
):
    (folder / "mine.yaml").write_text(
        "world: {empty_m: [6, 6]}\nshare_maps: {every_s: 1}\nstop: {timeout_s: 0.2}\n"
        f"robots: [{{robot: maes, count: 2, controller: {controller}}}]\nradio: {radio}\n"
    )
    main(["check", "mine.yaml"])
    checked = capsys.readouterr().err
    main(["run", "mine.yaml", "--no-pictures", "--out", "out"])
    assert ["for connected" in text for text in (checked, caplog.text)] == [bool(said)] * 2
    assert said in checked


def test_check_calls_no_controller_and_leaves_nothing(folder, capsys, monkeypatch):
    monkeypatch.delitem(sys.modules, "mine", raising=False)  # of another test
    (folder / "mine.py").write_text("raise SystemExit('it ran')\n\ndef go(robot):\n    pass\n")
    (folder / "mine.yaml").write_text(
        "world: {empty_m: [6, 6]}\nrobots: [{robot: maes, count: 3, controller: ./mine.py:go}]\n"
        "execution: {controllers: processes}"
    )
    before = sorted(folder.iterdir())
    assert main(["check", "mine.yaml"]) == REACHED
    assert "mine.yaml: good. 3 robot (maes)" in capsys.readouterr().out
    assert sorted(folder.iterdir()) == before
    assert "mine" not in sys.modules


def test_check_builds_no_simulation_of_a_huge_world_and_says_so(folder, capsys):
    (folder / "huge.yaml").write_text(
        "world: {empty_m: [161, 160], resolution_m: 0.05}\nrobots: [{controller: wander}]\n"
    )
    assert main(["check", str(folder / "huge.yaml")]) == REACHED
    out = capsys.readouterr().out
    assert "good" in out
    assert "not tried: a simulation of 103" in out


TEAM = (
    "world: {named: rescue_1}\n"
    "robots: [{robot: turtlebot3_waffle_pi, count: 2, start: [[0, -1, 0], [0, 1, 0]], controller: CONTROLLER}]\n"
    "share_maps: {every_s: 1}\n"
)


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        ("mission: {rescue: {reports: radio}}",
         "mine.yaml:4:29: mission.rescue.reports: reports by radio need a `base`, the name of a robot, not ''"),
        ("mission: {rescue: {reports: radio, base: robot7}}", "mine.yaml:4:42: mission.rescue.base: reports by radio"),
        ("mission: {rescue: {kinds: {big_fire: {robots: 5}}}}",
         "mine.yaml:4:47: mission.rescue.kinds.big_fire.robots: a meeting at a big_fire needs 5 robots"),
        ("mission: {rescue: {kinds: {gasleak: {points: 3}}}}",
         "mine.yaml:4:37: mission.rescue.kinds.gasleak: the rule kinds.gasleak applies to nothing"),
        ("mission: {patrolling: {waypoints_m: [[99, 0]]}}",
         "mine.yaml:4:37: mission.patrolling.waypoints_m: the waypoint [99.0, 0.0] cannot be reached"),
    ],
)  # fmt: skip
def test_a_mission_that_cannot_be_is_refused_at_its_line(rest, said, folder, capsys):
    (folder / "mine.yaml").write_text(TEAM.replace("CONTROLLER", "still") + rest)
    assert main(["check", "mine.yaml"]) == BAD_INPUT
    assert capsys.readouterr().err.startswith(said)


def test_kinds_of_targets_are_counted_and_a_misspelt_one_is_told(folder, capsys, caplog):
    targets = "targets: [{kind: victm, at: [5.4, 1.1]}, {kind: big_fire, at: [-1.3, -5.1]}, {draw: fire, count: 2}]\n"
    text = TEAM.replace("CONTROLLER", "rescue_team") + targets
    (folder / "mine.yaml").write_text(text + "mission: {rescue: {preset: dat160_2021}}")
    assert main(["check", "mine.yaml"]) == REACHED
    out, err = capsys.readouterr()
    meeting = "1 big_fire (100 points, 300 for a meeting of 2 robots)"
    assert f"targets: 1 victm (100 points), {meeting}, 2 fire (100 points)\n" in out
    warning = "the kind of target 'victm' has no rule and looks like 'victim'"
    assert err == f"warning: {warning}; correct it, or list it among the kinds of the mission\n"
    assert main(["run", "mine.yaml", "-s", "stop.timeout_s=0.1", "--no-pictures", "--out", "out"])
    assert warning in caplog.text
    capsys.readouterr()
    (folder / "mine.yaml").write_text(text + "mission: {rescue: {kinds: {victm: {points: 7}}}}")  # a word of one's own
    assert main(["check", "mine.yaml"]) == REACHED
    out, err = capsys.readouterr()
    assert "1 victm (7 points)" in out
    assert err == ""


def test_robots_meet_at_no_kind_that_no_target_has(folder, capsys):
    for given, said in (
        ("flood gas_leak", "'flood'; known: big_fire, small_fire, victim"),
        ("victims", "'victim'?"),
    ):
        controller = f"{{name: rescue_team, meet_at: {given}}}"
        (folder / "mine.yaml").write_text(TEAM.replace("CONTROLLER", controller) + "mission: rescue")
        assert main(["check", "mine.yaml"]) == BAD_INPUT
        err = capsys.readouterr().err
        assert err.startswith("mine.yaml:2:123: robots[0].controller.meet_at: no target is of the kind ")
        assert said in err
    some = TEAM.replace("CONTROLLER", "{name: rescue_team, meet_at: flood big_fire}") + "mission: rescue"
    (folder / "mine.yaml").write_text(some)
    assert main(["check", "mine.yaml"]) == REACHED
    alone = TEAM.replace("CONTROLLER", "rescue_team") + "targets: [{draw: victim}]\nmission: rescue"
    (folder / "mine.yaml").write_text(alone)  # by default it would meet at big fires
    assert main(["check", "mine.yaml"]) == REACHED
