"""The formation mission: orders on the blackboard, and who is at a place of the formation."""

import numpy as np
import pytest

import covey
from covey.clock import Clock
from covey.errors import InvalidValueError, ScenarioError
from covey.missions import Formation, MissionContext
from covey.missions.formation import FormationTracker
from covey.planning.orders import Order
from covey.robots.team import TeamModel, TeamState
from covey.scenario.build import set_up
from covey.scenario.dump import to_yaml
from covey.scenario.load import parse_scenario
from covey.world.ground import Ground
from covey.world.state import WorldState

ABLE = np.ones(3, bool)
RANK = Order(objective_m=(10.0, 0.0), formation="rank", spacing_m=2.0)
PLACES = np.array([[10.0, -2.0, 0.0], [10.0, 0.0, 0.0], [10.0, 2.0, 0.0]])


def context(robots):
    """An empty world of 40 m, and robots in its middle."""
    model, state = TeamModel.of([covey.robots.disc()] * robots), TeamState.at(np.zeros((robots, 3)))
    return MissionContext(WorldState(covey.World.empty(40, 40)), model, state, Clock(0.01, 0.1))


def test_the_error_is_the_distance_to_the_places_whoever_takes_which():
    tracker = FormationTracker(RANK.model_copy(update={"within_m": 0.51}), 3)
    pose = PLACES[[2, 0, 1]] + [(0.3, 0.4, 0.0), (0.0, 0.0, 1.0), (-3.0, 0.0, 2.0)]
    said = tracker.measure(1.0, pose, ABLE)
    assert tracker.values["formation_error_m"] == pytest.approx((0.5 + 0.0 + 3.0) / 3)
    assert tracker.values["worst_formation_error_m"] == pytest.approx(3.0)
    assert tracker.values["robots_arrived"] == 2
    assert [i for i, _ in said] == [0, 1]
    assert not tracker.accomplished


def test_an_order_is_met_when_all_that_still_drive_are_at_their_places():
    tracker = FormationTracker(RANK, 3)
    tracker.measure(0.0, np.zeros((3, 3)), ABLE)
    pose = PLACES.copy()
    pose[1] = 0.0
    tracker.measure(1.0, pose, ABLE)
    assert tracker.values["orders_met"] == 0
    said = tracker.measure(2.0, pose, np.array([True, False, True]))  # the one in the middle cannot drive any more
    assert tracker.accomplished
    assert tracker.values["orders_met"] == 1
    assert said == [(2, "completes the rank")]
    assert tracker.measure(3.0, pose, np.array([True, False, True])) == []


def test_a_new_order_begins_anew():
    tracker = FormationTracker(RANK, 3)
    tracker.measure(1.0, PLACES, ABLE)
    tracker.give(Order(objective_m=(0.0, 0.0), formation="rank"))
    assert not tracker.accomplished
    tracker.measure(2.0, PLACES, ABLE)
    assert tracker.values["orders_met"] == 1
    tracker.measure(3.0, PLACES - (10.0, 0.0, 0.0), ABLE)
    assert tracker.values["orders_met"] == 2


def test_only_the_first_robots_form_up_where_a_number_is_given():
    tracker = Formation(objective_m=(10.0, 0.0), formation="rank", robots=2).begin(context(3))
    tracker.measure(1.0, np.array([[10.0, 1.0, 0.0], [10.0, -1.0, 0.0], [0.0, 0.0, 0.0]]), ABLE)
    assert tracker.accomplished


def test_an_objective_outside_the_world_is_refused():
    with pytest.raises(InvalidValueError, match=r"objective \[30.0, 0.0\] lies outside the world, x -20.05 to"):
        Formation(objective_m=(30.0, 0.0)).begin(context(1))


class Obeys:
    """Goes to the objective by leaps, says what it has read, and rests there."""

    def step(self, robot):
        order = robot.blackboard.get("order")
        if order is None:
            robot.rest()
            return
        x, y = order["objective_m"]
        robot.note(f"{order['number']} {order['formation']} {x:g} {y:g}")
        if np.hypot(robot.pose.x - x, robot.pose.y - y) < 0.2:
            robot.rest()
        else:
            robot.goto((x, y))


SCENARIO = """\
world: {empty_m: [10, 10]}
robots: [{start: [[0, 0, 0]], controller: still}]
mission: {formation: {objective_m: [3, 0], formation: rank, spacing_m: 1}}
events: [{at_s: 8, order: {objective_m: [0, 2], formation: pentagon, facing_deg: 90, mode: look_before_leap}}]
stop: {timeout_s: 60}
"""


def simulation(controllers="in_process", **changes):
    scenario = parse_scenario(SCENARIO)
    options = {"mission": scenario.mission, "events": scenario.events, "stop": scenario.stop} | changes
    group = covey.Group("robot", covey.robots.disc(), [(0.0, 0.0, 0.0)], Obeys)
    return covey.Simulation(
        covey.World.empty(10, 10), [group], seed=1, execution={"controllers": controllers}, **options
    )


@pytest.mark.slow
@pytest.mark.parametrize("controllers", ["in_process", "processes"])
def test_orders_of_mission_event_and_call_reach_the_robots_and_end_the_run(controllers):
    sim = simulation(controllers)
    while not sim.done:
        if round(sim.time, 1) == 6.0:
            sim.order((2.0, 0.0), "rank", spacing_m=1.0)
        sim.step()
    run = sim.close()
    said = run.events.filter(run.events["kind"] == "note")
    read = dict(zip(said["text"], said["time_s"], strict=True))
    assert list(read) == ["0 rank 3 0", "1 rank 2 0", "2 pentagon 0 2"]
    assert [read["1 rank 2 0"], read["2 pentagon 0 2"]] == pytest.approx([6.1, 8.1])  # in the step after they are given
    assert run.status == "reached"  # with the last one met, and no other declared, the run ends
    assert sim.time < 20
    assert run.metrics["orders_met"] == 3
    assert run.metrics["robots_arrived"] == 1
    assert run.metrics["formation_error_m"] < 0.5
    kinds = run.events["kind"].to_list()
    assert kinds.count("order") == 2
    assert kinds.count("input") == 1
    assert kinds.count("mission") == 6


def test_a_call_is_an_input_and_is_repeated_from_the_recording():
    from covey.events.inputs import recorded_inputs

    sim = simulation(events=())
    sim.step()
    sim.order((0.0, -3.0), "rank", spacing_m=1.0)
    first = sim.run()
    again = simulation(events=recorded_inputs(first)).run()
    assert np.array_equal(first.poses, again.poses)
    assert first.poses[-1, 0, 1] < -2.7


def test_robots_that_rest_short_of_their_places_have_not_reached_the_goal():
    sim = simulation(events=(), mission=Formation(objective_m=(3.0, 0.0)))  # a hexagon of one: 2 m beside its middle
    assert sim.run().status == "exhausted"


def test_scenarios_with_orders_survive_writing_and_reading():
    made = parse_scenario(SCENARIO)
    assert parse_scenario(to_yaml(made)) == made
    assert parse_scenario(to_yaml(made, full=True)).mission == made.mission


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("formation: rank", "formation: rang", "must be 'hexagon', 'pentagon' or 'rank'"),
        ("spacing_m: 1", "spacing_m: 0", "mission.formation.spacing_m"),
        ("objective_m: [3, 0], ", "", "objective_m"),
        ("{objective_m: [0, 2],", "{objective_m: [0, 22],", "the objective [0.0, 22.0] lies outside the world"),
        ("mode: look_before_leap", "mode: look", "leap_of_faith"),
        ("{formation: {", "{formations: {", "unknown mission 'formations', did you mean 'formation'?"),
    ],
)
def test_wrong_orders_are_named_with_their_place(old, new, problem):
    with pytest.raises(ScenarioError) as error:
        set_up(parse_scenario(SCENARIO.replace(old, new), file="s.yaml"))
    assert problem in str(error.value)


def test_a_robot_that_flies_takes_no_place_of_the_formation():
    mission = Formation(objective_m=(0.0, 0.0), formation="rank", spacing_m=2.0)
    places = [(0.0, -1.0, 0.0), (0.0, 1.0, 0.0)]  # of a rank of two, not of three
    groups = [
        covey.Group("s", covey.robots.aerial_scout(), [(-8.0, 3.0, 0.0)], Rests),
        covey.Group("r", covey.robots.disc(), places, Rests),
    ]
    ground = Ground.of(np.zeros((31, 31)))
    run = covey.Simulation(ground.world(), groups, mission=mission, stop=covey.Stop(timeout_s=5), seed=1).run()
    assert run.metrics["robots_arrived"] == 2
    assert run.metrics["orders_met"] == 1
    assert run.metrics["formation_error_m"] == pytest.approx(0.0, abs=1e-6)


class Rests:
    """Stays where it is."""

    def step(self, robot):
        robot.rest()
