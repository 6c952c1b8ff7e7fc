"""The rescue mission: reports of real robots, meetings, ends, presets, and bad input."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

import covey
from covey.cli import main
from covey.clock import Clock
from covey.errors import CoveyError, InvalidValueError, ScenarioError
from covey.missions import MissionContext, Rescue
from covey.onboard.controller import Program
from covey.results.metrics.headlines import of_interest
from covey.robots.team import TeamModel, TeamState
from covey.scenario.dump import to_yaml
from covey.scenario.load import parse_scenario
from covey.testing import check_mission
from covey.world.placement.targets import lay
from covey.world.state import WorldState

TARGETS = [
    {"kind": "victim", "at": (2.0, 0.0), "on": "floor"},
    {"kind": "big_fire", "at": (0.0, 3.0), "on": "floor"},
]
STARTS = [(-1.0, 0.0, 0.0), (1.0, 0.0, 0.0)]


async def rescuer(robot):
    """Drives off at 1 s, reports all it knows at 2 s, and goes to the big fire."""
    await robot.sleep(1.0)
    await robot.drive(0.5, for_s=0.5)
    await robot.sleep(0.5)
    if robot.name == "robot0":
        for identity, place in ((0, (2.0, 0.1)), (9, (2.0, 0.1)), (1, (0.0, 2.9, 0.2))):
            await robot.report(identity, place)
    await robot.goto((0.8 if robot.name == "robot0" else -0.8, 3.0))


def simulation(mission, controller=rescuer, starts=STARTS, targets=TARGETS, **changes):
    group = covey.Group("robot", covey.robots.disc(), starts, controller)
    stop = changes.pop("stop", covey.Stop(timeout_s=60))
    world = covey.World.empty(10, 10)
    return covey.Simulation(world, [group], seed=1, mission=mission, targets=targets, stop=stop, **changes)


@pytest.mark.slow
@pytest.mark.parametrize("controllers", ["in_process", "processes"])
def test_a_team_finds_meets_and_is_scored_as_in_the_course(controllers):
    sim = simulation(Rescue(preset="dat160_2021"), execution={"controllers": controllers})
    run = sim.run()
    assert run.status == "reached"
    assert run.reports["answer"].to_list() == ["accepted", "unknown identity", "accepted"]
    told = run.events.filter(run.events["kind"] == "mission")["text"].to_list()
    assert told[0] == "starts the clock"
    assert told[-2:] == ["completes the meeting at big_fire 1", "completes the mission"]
    metrics = run.metrics
    started_s = run.events.filter(run.events["text"] == "starts the clock")["time_s"][0]
    assert 1.0 < started_s <= 2.0
    elapsed_s = int(metrics["meeting_s"] - started_s + 1e-9)
    assert metrics["rescue_score"] == 100 + 100 + 300 + 600 - elapsed_s
    found = run.reports.filter(run.reports["answer"] == "accepted")["time_s"].to_list()
    assert metrics["first_target_s"] == metrics["victims_s"] == found[0]
    assert metrics["all_targets_s"] == metrics["big_fires_s"] == found[1]
    assert metrics["kind_found_s"] == {"victim": found[0], "big_fire": found[1]}
    assert metrics["small_fires_s"] is None
    assert metrics["rescue_done_s"] == metrics["meeting_s"] == run.times[-1]
    assert metrics["found_auc"] == pytest.approx((600 - found[0] + 600 - found[1]) / 1200)
    assert (metrics["targets_found"], metrics["targets_found_share"]) == (2, 1.0)
    assert (metrics["false_reports"], metrics["refused_reports"]) == (1, 1)
    assert metrics["report_precision"] == pytest.approx(2 / 3)
    assert run.series("targets_found_by")[-1].tolist() == [2.0, 0.0]


def test_a_team_may_go_on_after_all_is_done():
    run = simulation(Rescue(preset="dat160_2021", end_when_done=False), stop=covey.Stop(timeout_s=40)).run()
    assert run.times[-1] > run.metrics["meeting_s"] + 1
    assert run.metrics["rescue_done_s"] == run.metrics["meeting_s"]
    score = run.series("score")
    assert score[-1] == score[run.times >= run.metrics["meeting_s"] + 0.5][0]


def test_the_time_limit_ends_the_run():
    run = simulation(Rescue(time_limit_s=3, clock="start", kinds={"victim": {"points": 70}}), "still").run()
    assert run.status == "timeout"
    assert run.times[-1] == pytest.approx(3.0)
    names = ("rescue_score", "all_targets_s", "rescue_done_s", "report_precision")
    assert [run.metrics[name] for name in names] == [0, None, None, None]


def test_a_mission_without_meetings_has_no_meeting_time():
    run = simulation(Rescue(), rescuer).run()
    assert run.status == "reached"
    assert run.metrics["meeting_s"] is None
    assert run.metrics["rescue_done_s"] == run.metrics["all_targets_s"]
    assert run.metrics["rescue_score"] == pytest.approx(200 + 600 - elapsed(run) - 10)  # one false report


def test_who_gives_up_is_paid_for_no_time():
    async def finds_one(robot):
        await robot.drive(0.2, for_s=0.3)
        await robot.report(0, (1.9, 0.0))

    ended = simulation(Rescue(preset="dat160_2021"), finds_one).run()
    assert ended.status == "exhausted"
    assert (ended.series("score")[-1], ended.series("points")[-1]) == (100 + 600, 100)
    assert ended.metrics["rescue_score"] == 100

    def fails(robot):
        raise ValueError("no")

    assert simulation(Rescue(), fails).run().metrics["rescue_score"] == 0
    stopped = simulation(Rescue(), "still", stop=covey.Stop(timeout_s=1)).run()
    assert (stopped.series("score")[-1], stopped.metrics["rescue_score"]) == (600, 0)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"preset": ["dat160_2021"]}, "preset: must be 'dat160_2021' or 'dat160_2025'"),
        ({"preset": "dat160_2020"}, "preset: must be"),
        ({"preset": "dat160_2021", "kinds": 5}, "must be a mapping"),
        ({"preset": "dat160_2021", "kinds": ["big_fire"]}, "must be a mapping"),
        ({"prest": "dat160_2021"}, "did you mean 'preset'"),
        ({"kinds": {"victim": {"meeting_points": 300}}}, "meeting_points is a rule of meetings, and none is asked for"),
        ({"look_every_s": 600}, "the referee would not look before time_limit_s, 600"),
    ],
)
def test_rules_that_cannot_hold_are_refused(rules, said):
    with pytest.raises(InvalidValueError, match=re.escape(said)):
        Rescue(**rules)


def test_meetings_are_switched_off_by_no_robots():
    rules = Rescue(preset="dat160_2021", kinds={"big_fire": {"robots": 0, "meeting_points": 300}})
    assert rules.of("big_fire").robots == 0


def test_goals_that_were_not_reached_are_among_the_main_metrics():
    some = simulation(Rescue(preset="dat160_2021"), "still", stop=covey.Stop(timeout_s=1)).run()
    assert {name: of_interest(some)[name][0] for name in ("all_targets_s", "meeting_s")} == dict.fromkeys(
        ("all_targets_s", "meeting_s"), "not reached"
    )
    assert some.metrics["meeting_s"] is None
    without_meetings = simulation(Rescue(), "still", stop=covey.Stop(timeout_s=1)).run()
    assert of_interest(without_meetings)["all_targets_s"][0] == "not reached"
    assert "meeting_s" not in of_interest(without_meetings)


def test_a_run_whose_controllers_finish_too_early_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "idle.py").write_text("async def idle(robot):\n    await robot.drive(0.2, for_s=0.5)\n")
    text = PLAIN.replace("controller: still", "controller: ./idle.py:idle")
    (tmp_path / "idle.yaml").write_text(f"{text}stop: {{timeout_s: 5}}\n")
    main(["run", "idle.yaml", "--no-pictures"])
    out = " ".join(capsys.readouterr().out.split())
    assert "status exhausted how the run ended: every controller had finished before the goal" in out
    assert "meeting_s not reached when the last meeting was held" in out


def elapsed(run):
    """Time from the first motion to the last find [s]."""
    text = run.events["text"].to_list()
    times = run.events["time_s"].to_list()
    return times[text.index("completes the mission")] - times[text.index("starts the clock")]


@pytest.mark.parametrize(("poses", "state"), [("true", "waiting"), ("estimated", "running")])
def test_motion_may_be_judged_by_estimates(poses, state):
    world, start = covey.World.empty(10, 10), np.zeros((1, 3))
    context = MissionContext(
        WorldState(world, lay(TARGETS, world, start, np.array([0.2]), 1)),
        TeamModel.of([covey.robots.disc()]),
        TeamState.at(start),
        Clock(0.01, 0.1),
        maps=SimpleNamespace(pose=start.copy()),
        names=("robot0",),
    )
    tracker = Rescue(poses=poses).begin(context)
    context.maps.pose[0, 0] = 0.2
    tracker.measure(1.0, start, np.ones(1, bool))
    assert tracker.referee.state == state


@pytest.mark.parametrize(
    ("range_m", "answers"), [(20.0, ["accepted", "accepted", "twice", "twice"]), (1.0, [])], ids=["near", "far"]
)
def test_reports_by_radio_need_the_base(range_m, answers):
    async def reports(robot):
        await robot.drive(0.5, for_s=1.0)
        robot.note(await robot.report(0, (2.0, 0.0)))
        robot.note(await robot.report(1, (0.0, 3.0)))

    mission = Rescue(preset="dat160_2021", reports="radio", base="base0")
    groups = [
        covey.Group("robot", covey.robots.disc(), STARTS, reports),
        covey.Group("base", covey.robots.disc(), [(0.0, -3.0, 0.0)], "still"),
    ]
    world = covey.World.empty(10, 10)
    run = covey.Simulation(
        world, groups, seed=1, mission=mission, targets=TARGETS, stop=covey.Stop(timeout_s=5), radio=range_m
    ).run()
    assert run.metrics["targets_found"] == len(set(answers) & {"accepted"}) * 2
    assert sorted([] if run.reports is None else run.reports["answer"].to_list()) == answers


@pytest.mark.parametrize(("base", "meetings"), [("robot1", 0), ("base0", 1)])
def test_the_base_counts_in_no_meeting(base, meetings):
    async def reports(robot):
        if robot.name == "robot0":
            await robot.report(1, (0.0, 3.0))

    groups = [
        covey.Group("robot", covey.robots.disc(), [(-0.6, 3.0, 0.0), (0.6, 3.0, 0.0)], reports),
        covey.Group("base", covey.robots.disc(), [(0.0, -3.0, 0.0)], "still"),
    ]
    mission = Rescue(preset="dat160_2021", clock="start", reports="radio", base=base)
    options = {"mission": mission, "targets": TARGETS, "radio": 20.0, "stop": covey.Stop(timeout_s=4)}
    run = covey.Simulation(covey.World.empty(10, 10), groups, seed=1, **options).run()
    assert run.reports["answer"].to_list() == ["accepted"]
    assert run.series("meetings_held")[-1] == meetings


PLAIN = """\
world: {empty_m: [10, 10]}
robots: [{count: 2, start: [[-1, 0, 0], [1, 0, 0]], controller: still}]
targets: [{kind: big_fire, at: [0, 3], on: floor}]
mission: {rescue: {preset: dat160_2021, time_limit_s: 300, kinds: {big_fire: {robots: 2, meeting_points: 50}}}}
"""


def test_a_preset_can_be_changed_and_comes_back_from_a_file():
    scenario = parse_scenario(PLAIN)
    rules = scenario.mission
    assert (rules.time_limit_s, rules.look_every_s, rules.of("victim").points) == (300, 0.5, 100)
    assert (rules.of("big_fire").points, rules.of("big_fire").meeting_points) == (100, 50)
    assert parse_scenario(to_yaml(scenario)).mission == rules


def test_rescue_is_a_proper_mission():
    with pytest.raises(InvalidValueError, match="the world has no targets"):
        check_mission(Rescue())
    check_mission(Rescue(preset="dat160_2021"), targets=TARGETS)


@pytest.mark.parametrize(
    ("mission", "words"),
    [
        ({"kinds": {"victim": {"robots": 3}}}, "a meeting at a victim needs 3 robots, and the team has 2"),
        ({"reports": "radio"}, "reports by radio need a `base`, the name of a robot, not ''"),
        ({"reports": "radio", "base": "robot7"}, "not 'robot7', did you mean"),
        (
            {"reports": "radio", "base": "robot1", "kinds": {"victim": {"robots": 2}}},
            "needs 2 robots, and the team has 1",
        ),
        ({"time_limit_s": 0}, "time_limit_s"),
        (
            {"kinds": {"big_fir": {"robots": 2}}},
            "the rule kinds.big_fir applies to nothing: no target is of this kind, did you mean 'big_fire'?",
        ),
        ({"kinds": {"gas": {}}}, "no target is of this kind; known: big_fire, victim"),
        ({"kinds": {"small_fire": {"points": 5}}}, "the rule kinds.small_fire applies to nothing"),
        ({"base": "robot1"}, "'robot1' takes reports only with reports: radio; set that, or leave base out"),
    ],
)
def test_what_makes_no_sense_is_refused(mission, words):
    with pytest.raises(InvalidValueError) as error:
        simulation(Rescue(**mission)).close()
    assert words.replace(", did you mean", "") in str(error.value).replace(", did you mean", "")


def test_rules_of_a_preset_for_kinds_that_are_missing_are_fine_also_after_a_round_through_a_file():
    scenario = parse_scenario(PLAIN)  # its only target is a big fire
    again = parse_scenario(to_yaml(scenario, full=True))
    for one in (scenario, again):
        sim = one.build()
        assert sim.scoring.tracker.facts["targets"] == {"big_fire": 1}
        sim.close()
    assert "victim" in again.mission.kinds


def test_a_rule_may_be_for_a_kind_that_only_drawn_targets_have():
    drawn = PLAIN.replace("{kind: big_fire, at: [0, 3], on: floor}", "{draw: leak, count: 2}")
    parse_scenario(drawn.replace("kinds: {big_fire:", "kinds: {leak:")).build().close()
    with pytest.raises(ScenarioError, match=r"kinds\.leek: .* applies to nothing: .*, did you mean 'leak'"):
        parse_scenario(drawn.replace("kinds: {big_fire:", "kinds: {leek:")).build()


def test_a_base_that_is_not_used_is_told_with_its_line():
    text = PLAIN.replace("time_limit_s: 300", "base: nosuch")
    with pytest.raises(CoveyError, match=r"mine\.yaml:4:\d+: mission\.rescue\.base: 'nosuch' takes reports only with"):
        parse_scenario(text, file="mine.yaml")


FLOOR = {"world": {"empty_m": [6, 4]}, "robots.searcher.start": [[-1, -1, 0], [-1, 1, 0]]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"targets": [{"kind": "victim", "at": [9, 9], "on": "floor"}]}, "victim at (9, 9) is outside the world, x -3.05 to 3.05 m, y -2.05 to 2.05 m; move it"),
        ({"targets": [{"kind": "victim", "at": [2.95, 0], "on": "floor", "side_deg": 0}]}, "no robot can see victim at (2.95, 0) from a place that it can reach"),
        ({"targets": [{"kind": "victim", "identity": 3, "at": [2, y], "on": "floor"} for y in (0, 1)]}, "targets[1]: the identity 3 is that of targets[0]; each needs its own"),
        ({"robots.searcher.known_map": "{folder}/larger.yaml"}, "larger.yaml covers x, y of -4.05 to 4.05 m and -2.05 to 2.05 m, but the world -3.05 to 3.05 m"),
        ({"robots.searcher.count": 1, "robots.searcher.start": [[0, 0, 0]]}, "a meeting at a big_fire needs 2 robots, and the team has 1; add robots"),
    ],
    ids=["outside", "unseeable", "one identity", "plan of another size", "too few robots"],
)  # fmt: skip
def test_the_scenario_refuses_what_cannot_be(tmp_path, changes, words):
    covey.World.empty(8, 4).save(tmp_path / "larger.yaml")
    fire = [{"kind": "big_fire", "at": [2.9, 0], "on": "wall"}]
    filled = {k: v.format(folder=tmp_path) if isinstance(v, str) else v for k, v in changes.items()}
    with pytest.raises(CoveyError) as error:
        covey.load_scenario("rescue", FLOOR | {"targets": fire} | filled).build().close()
    assert words in str(error.value)
    covey.load_scenario("rescue", FLOOR | {"targets": fire}).build().close()


def test_a_team_in_python_meets_at_no_kind_that_no_target_has():
    group = covey.Group(
        "r", covey.robots.turtlebot3_waffle_pi(), [(0, 0, 0)], Program("rescue_team", {"meet_at": "gas"})
    )
    with pytest.raises(InvalidValueError, match=r"robots.0.controller.meet_at: no target is of the kind 'gas'"):
        covey.Simulation(covey.World.empty(6, 6), [group], targets=[{"kind": "leak", "at": (2.9, 0)}])
