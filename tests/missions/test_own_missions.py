"""Missions from outside the package: columns, end and orders of their own, from Python and from a scenario file."""

import re
import threading
from pathlib import Path

import numpy as np
import pytest

import covey
from covey.cli import main
from covey.errors import InvalidValueError, ScenarioError
from covey.missions import Coverage, Exploration, Formation, Mission, Patrolling, Tracker, missions
from covey.registry import load_from_file
from covey.results.metrics.headlines import of_interest
from covey.scenario.build import build, inputs
from covey.scenario.dump import to_yaml
from covey.scenario.load import load_scenario, parse_scenario
from covey.scenario.overrides import override
from covey.testing import check_mission

PAGE = (Path(__file__).parents[2] / "docs" / "missions.md").read_text(encoding="utf-8")
STARTS = [(-3.0, 0.0, 0.0), (3.0, 1.0, np.pi)]


@pytest.fixture(autouse=True)
def registered():
    missions.register("gather")(Gather)
    missions.register("aimless")(type("Aimless", (Mission,), {"__module__": __name__}))
    yield
    for name in ("gather", "aimless"):
        del missions._items[name]  # other tests look at what ships


@pytest.fixture
def folder(tmp_path):
    """The two files of the page."""
    for name, kind in (("collect.py", "python"), ("collect.yaml", "yaml")):
        (text,) = re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
        (tmp_path / name).write_text(text)
    return tmp_path


async def straight(robot):
    await robot.drive(1.0)


class Gather(Mission):
    """Come to a point; what counts is how far the robots are from it."""

    at_m: tuple[float, float] = (0.0, 0.0)
    within_m: float = 0.55

    def begin(self, context):
        if not context.world.grid.inside(context.world.grid.to_cells(self.at_m)):
            raise InvalidValueError(f"the point {list(self.at_m)} lies outside the world")
        return Gathering(self.at_m, self.within_m, len(context.state.pose))


class Gathering(Tracker):
    """How far each robot is from the point."""

    columns, robot_columns = ("mean_distance_m",), ("gather_distance_m",)

    def __init__(self, at_m, within_m, robots):
        self.at_m, self.within_m, self.away = at_m, within_m, np.full(robots, np.nan)

    def measure(self, time_s, pose, able):
        self.away = np.hypot(pose[:, 0] - self.at_m[0], pose[:, 1] - self.at_m[1])
        self.reached = bool((self.away[able] <= self.within_m).all())
        return []

    @property
    def values(self):
        return {"mean_distance_m": self.away.mean(), "gather_distance_m": self.away}

    def give(self, order):
        self.at_m = order.objective_m


def collected(run):
    """What a run of the page measures: the steps in which the beacons are visited, and by whom."""
    visited = run.series("beacons_visited")
    return [int(np.argmax(visited >= k)) + 1 for k in range(1, int(visited[-1]) + 1)], run.series("beacons_found")[-1]


def test_the_beacons_of_the_page_are_visited_when_the_arithmetic_says(folder):
    """Robot 0 is at x = -3 + t, robot 1 at x = 3 - t, in steps of 0.1 s; each beacon counts from 0.25 m on.

    Robot 0 comes to (-2, 0) from x = -2.25 on, in step 8, to (0, 0) in step 28, and to (1, 0), which was ordered at
    1.5 s, in step 38, when the run ends; robot 1 comes to (1, 1) from x = 1.25 on, in step 18.
    """
    sim = load_scenario(folder / "collect.yaml").build()
    sim.step()
    assert sim.communication.blackboard.entries["order"] == {"beacons_m": [[-2, 0], [0, 0], [1, 1]]}
    run = sim.run()
    assert collected(run)[0] == [8, 18, 28, 38]
    assert collected(run)[1].tolist() == [3, 1]
    assert (run.status, run.times[-1]) == ("reached", pytest.approx(3.8))
    happened = run.events.filter(run.events["kind"] == "mission")
    assert happened["text"].to_list() == [f"visits beacon {k}" for k in (0, 2, 1, 3)]
    assert run.mission["kind"] == "Collect"
    assert of_interest(run)["beacons_visited"][0] == 4
    assert 0 < run.series("covered_share")[-1] < 1  # counted in every run


def test_the_same_mission_is_given_in_python(folder):
    own = load_from_file("./collect.py:Collect", folder)
    group = covey.Group("robot", covey.robots.disc(), STARTS, straight)
    frames = []
    mission = own(beacons_m=((-2.0, 0.0), (0.0, 0.0), (1.0, 1.0)))
    sim = covey.Simulation(
        covey.World.empty(10, 4), [group], mission=mission, observers=[lambda f: frames.append(dict(f.mission))]
    )
    run = sim.run(until_s=5)
    assert collected(run)[0] == [8, 18, 28]
    assert run.times[-1] == pytest.approx(2.8)
    assert frames[-1]["beacons_visited"] == 3
    check_mission(mission)


@pytest.mark.parametrize("mission", ["gather", "{gather: {at_m: [0, 0]}}"])
def test_robots_that_gather_are_as_far_as_the_arithmetic_says(mission):
    """Both start 2 m from the point and come 0.1 m nearer in each step: 2 - 0.1 k m, at most 0.55 m in step 15."""
    robots = "robots: [{count: 2, start: [[-2, 0, 0], [2, 0, 180]], controller: still}]"
    scenario = parse_scenario(f"world: {{empty_m: [10, 4]}}\n{robots}\nmission: {mission}\n")
    group = covey.Group("robot", covey.robots.disc(), [(-2.0, 0.0, 0.0), (2.0, 0.0, np.pi)], straight)
    run = covey.Simulation(covey.World.empty(10, 4), [group], mission=scenario.mission).run(until_s=5)
    assert run.series("mean_distance_m") == pytest.approx(2 - 0.1 * np.arange(1, 16))
    assert run.series("gather_distance_m")[-1] == pytest.approx([0.5, 0.5])
    assert run.status == "reached"
    assert (run.mission["kind"], run.mission["columns"]) == ("gather", ["mean_distance_m"])
    assert parse_scenario(to_yaml(scenario)).mission == scenario.mission == Gather()


def test_an_order_moves_the_point():
    """The point goes to x = 1 after 0.5 s: robot 0, 1.5 + 1 m from there, is within 0.55 m after 2.5 - 0.5 m more."""
    group = covey.Group("robot", covey.robots.disc(), [(-2.0, 0.0, 0.0)], straight)
    sim = covey.Simulation(covey.World.empty(10, 4), [group], mission=Gather())
    for _ in range(5):
        sim.step()
    sim.order((1.0, 0.0))
    run = sim.run(until_s=9)
    assert run.series("mean_distance_m")[[4, 5]] == pytest.approx([1.5, 2.4])
    assert (run.status, run.times[-1]) == ("reached", pytest.approx(2.5))


def test_a_mission_of_a_file_is_written_read_changed_and_told_in_the_manifest(folder):
    scenario = load_scenario(folder / "collect.yaml")
    again = parse_scenario(to_yaml(scenario, full=True), folder=folder)
    assert again.mission.beacons_m == scenario.mission.beacons_m
    assert folder / "collect.py" in inputs(scenario)
    assert override(parse_scenario(BASE + "mission: gather"), {"mission.gather.within_m": 2}).mission.within_m == 2
    assert override(parse_scenario(BASE + "mission: gather"), {"mission": "coverage"}).mission == Coverage()


BASE = "world: {empty_m: [10, 4]}\nrobots: [{start: [[0, 0, 0]], controller: still}]\n"


@pytest.mark.parametrize(
    ("mission", "problem"),
    [
        ("gathr", "3:10: mission: unknown mission 'gathr', did you mean 'gather'"),
        ("{gather: {at: [0, 0]}}", "3:20: mission.gather: unknown key 'at'"),
        ("{gather: {within_m: far}}", "mission.gather.within_m"),
        ("{gather: {within_m: '2'}}", "must be a number"),
        ("./collect.py:Collecting", "'./collect.py:Collecting' is not a mission"),
        ("aimless", "3:10: mission: mission 'aimless' lacks begin: write def begin(…)"),
        ("{gather: {at_m: [40, 0]}}", "the point [40.0, 0.0] lies outside the world"),
    ],
)
def test_what_is_wrong_with_a_mission_is_said_with_its_place(folder, mission, problem):
    with pytest.raises((ScenarioError, InvalidValueError)) as error:
        build(parse_scenario(f"{BASE}mission: {mission}\n", file="s.yaml", folder=folder))
    assert problem in str(error.value)


@pytest.mark.parametrize("column", ["covered_share", "distance_m", "known_share", "x_m", "robot"])
def test_a_measurement_of_the_team_has_a_name_of_its_own(column):
    """As ``distance_m``: or else the distance of every robot would be what the mission measures."""

    class Again(Gather):
        def begin(self, context):
            tracker = Gathering((0.0, 0.0), 1.0, 1)
            tracker.columns = (column,)
            return tracker

    with pytest.raises(InvalidValueError, match=f"there is a column '{column}' already"):
        covey.Simulation(covey.World.empty(4, 4), mission=Again())


def test_what_is_no_mission_is_refused():
    with pytest.raises(InvalidValueError, match="mission is 'coverage'; give a mission, such as"):
        covey.Simulation(covey.World.empty(4, 4), mission="coverage")  # pyright: ignore[reportArgumentType]


def test_a_tracker_that_measures_nothing_is_refused_before_the_first_step():
    class Blind(Gather):
        def begin(self, context):
            return type("BlindTracker", (Tracker,), {})()

    with pytest.raises(TypeError, match=r"abstract class BlindTracker .*measure"):
        covey.Simulation(covey.World.empty(4, 4), mission=Blind())


def test_a_snapshot_says_where_the_shares_are():
    frames = []
    covey.Simulation(covey.World.empty(4, 4), observers=[frames.append]).step()
    assert 0 < frames[0].mission["covered_share"] < 1
    with pytest.raises(AttributeError, match=r"snapshot.mission\['explored_share_union'\]"):
        _ = frames[0].explored_share_union


@pytest.mark.parametrize(
    "mission",
    [
        Exploration(),
        Coverage(),
        Patrolling(waypoints_m=((1, 1), (-1, -1))),
        Formation(objective_m=(1, 1)),
        Gather(),
    ],
    ids=lambda mission: mission.kind,
)
def test_every_mission_conforms(mission):
    check_mission(mission, seconds=1.0)


class Pushing(Gathering):
    def measure(self, time_s, pose, able):
        pose += 0.01
        return super().measure(time_s, pose, able)


class Pushes(Gather):
    def begin(self, context):
        tracker = super().begin(context)
        return Pushing(tracker.at_m, tracker.within_m, len(context.state.pose))


class Forgets(Gather):
    def begin(self, context):
        tracker = super().begin(context)
        tracker.columns = ("mean_distance_m", "worst_distance_m")
        return tracker


class Secretive(Gather):
    def begin(self, context):
        tracker = super().begin(context)
        tracker.facts = {"secret": object()}
        return tracker


@pytest.mark.parametrize(
    ("mission", "wrong"),
    [
        (Pushes(), "changes what the robots do"),
        (Forgets(), "announces columns"),
        (Secretive(), "facts that the manifest cannot hold: .* give plain data"),
    ],
)
def test_the_check_finds_what_is_wrong(mission, wrong):
    before = set(threading.enumerate())
    with pytest.raises((AssertionError, KeyError), match=wrong) as raised:
        check_mission(mission, seconds=1.0)
    watchdogs = [t for t in set(threading.enumerate()) - before if t.name == "covey-watchdog"]
    for thread in watchdogs:
        thread.join(2.0)
    assert not any(thread.is_alive() for thread in watchdogs), raised


RAISES = """
from covey.missions import Mission, Tracker


class Bad(Mission):
    at: str

    def begin(self, context):
        return 1 / 0 if self.at == "begin" else Scores(self.at)


class Scores(Tracker):
    columns = ("score",)

    def __init__(self, at):
        self.at = at

    def measure(self, time_s, pose, able):
        return [] + {}[0] if self.at == "measure" else []

    @property
    def values(self):
        return {"score": 1.0 if self.at != "values" else math.nan}

    @property
    def reached(self):
        return self.at == "reached" and self.other
"""


@pytest.mark.parametrize(
    ("at", "says"),
    [
        ("begin", "bad.py:9 in begin: ZeroDivisionError: division by zero"),
        ("measure", "bad.py:19 in measure: KeyError: 0"),
        ("values", "bad.py:23 in values: NameError: name 'math' is not defined"),
        ("reached", "bad.py:27 in reached: AttributeError: 'Scores' object has no attribute 'other'"),
    ],
)
def test_an_error_in_the_code_of_a_mission_is_told_with_its_place(tmp_path, capsys, at, says):
    (tmp_path / "bad.py").write_text(RAISES)
    (tmp_path / "a.yaml").write_text(
        f"world: {{empty_m: [6, 6]}}\nrobots: [{{}}]\nmission: {{./bad.py:Bad: {{at: {at}}}}}\n"
    )
    assert main(["run", str(tmp_path / "a.yaml"), "--out", str(tmp_path / "run"), "-q"]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"{tmp_path}/{says}")
    assert "Traceback" not in said
