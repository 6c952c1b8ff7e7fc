"""Who gives up what, and why: events whose place and reason are data."""

import math
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.legend import Legend

import covey
from covey.onboard.giving_up import Reason
from covey.results.figures.trajectories import draw_trajectories
from covey.results.given_up import places, sentence
from covey.scenario.load import parse_scenario
from covey.world.world import World

HALL = World.empty(12, 12, resolution_m=0.1)


def run_of(starts, controller, world=HALL, model=None, until_s=60.0, **options):
    sim = covey.Simulation(world, [covey.Group("r", model or covey.robots.disc(), starts, controller)], **options)
    return sim, sim.run(until_s=until_s)


def told(run, *kinds):
    events = run.events.filter(run.events["kind"].is_in(kinds))
    return events.select("time_s", "kind", "robot", "other", "x_m", "y_m", "text").rows()


async def to_the_middle(robot):
    outcome = await robot.goto((0.0, 0.0))
    robot.note(f"{outcome.state}: {outcome.reason}")
    robot.finish()


def test_robots_that_are_sent_to_one_point_stop_beside_the_one_that_is_there():
    starts = [(r * math.cos(a), r * math.sin(a), a + math.pi) for r, a in ((2, 0.3), (4, 1.6), (4.5, 2.9), (5, 4.2))]
    sim, run = run_of(starts, to_the_middle)
    away = np.hypot(*sim.state.pose[:, :2].T)
    assert away[0] < 0.12
    assert away.max() < 1.0, "all have stopped near the point"
    gave_up = told(run, "gave_up")
    assert {row[2] for row in gave_up} == {"r1", "r2", "r3"}
    assert {row[3:] for row in gave_up} == {("r0", 0.0, 0.0, "the goal is occupied by r0")}
    assert sentence(run) == "3 goals given up: 3 because the goal is occupied by r0"
    assert places(run).tolist() == [[0.0, 0.0]]


def test_robots_that_come_to_one_point_at_once_do_not_circle_around_it():
    """Each of the five keeps its distance, and none gets through; after 6 s all but one stop, and none circles on."""
    starts = [(2 * math.cos(a), 2 * math.sin(a), a + math.pi) for a in 0.3 + np.arange(5) * math.tau / 5]
    sim, run = run_of(starts, to_the_middle)
    assert all(answer.status == "done" for answer in sim.deciding.answered.values())
    assert sim.time < 30.0
    assert sim.state.distance_m.max() < 8.0
    assert np.hypot(*sim.state.pose[:, :2].T).max() < 1.0
    assert len({row[2] for row in told(run, "gave_up")}) >= 4
    assert all(row[3] in set(sim.names) - {row[2]} for row in told(run, "gave_up"))


def test_a_place_where_a_robot_only_passes_is_not_occupied():
    async def passing(robot):
        await robot.goto((4.0, 0.0) if robot.name == "r0" else (0.0, 0.0))
        robot.finish()

    _, run = run_of([(-4.0, 0.0, 0.0), (0.0, 4.0, -1.57)], passing)
    assert told(run, "gave_up", "stands") == []
    assert sentence(run) == ""


def test_frontiers_behind_a_gap_that_is_too_narrow_are_left_with_both_widths():
    """The ends of the walls, each 0.1 m wide, leave 0.7 m of the 0.8 m between them; the body has 0.9 m."""
    scenario = """
        world: {workspace_m: [[0,0],[12,0],[12,6],[0,6]], walls_m: [[[6,0],[6,2.6]],[[6,3.4],[6,6]]]}
        robots:
          - {name: r, start: [[2,2,0]], robot: {base: disc, radius_m: 0.45, sensors: [{kind: lidar, range_m: 8,
             rays: 180}, odometry]}, controller: nearest_frontier}
        stop: {explored: 0.99, timeout_s: 120}
    """
    run = parse_scenario(scenario).build().run()
    assert run.status == "exhausted"
    left = told(run, "frontier_left")
    assert left
    for _, _, robot, why, x, y, text in left:
        assert (robot, why) == ("r0", "narrow")
        assert x > 6.0
        assert 0.0 < y < 6.0
        gap, body = map(float, re.findall(r"gap is (.+) m, the body (.+) m wide", text)[0])
        assert (gap, body) == (pytest.approx(0.7, abs=0.051), 0.9)
    ((_, _, robot, _, x, _, text),) = told(run, "exhausted")
    share = run.metrics["explored_share"]
    assert text.startswith(f"{share:.1%} explored; {len(left)} frontier")
    assert robot == ""
    assert x > 6.0
    assert text in sentence(run)
    assert len(places(run)) == len(left)


def test_what_the_maps_show_of_the_rest_is_told():
    """A slot of 0.2 m behind a wall lies in cells of 0.5 m, which hold the wall and the floor before it, too."""
    scenario = """
        world: {workspace_m: [[0,0],[6,0],[6,4],[0,4]], walls_m: [[[5.75,0],[5.75,3.2]]], resolution_m: 0.05}
        robots:
          - {name: r, start: [[2,2,0]], robot: {base: disc, mapping: {resolution_m: 0.5}}, controller: nearest_frontier}
        stop: {explored: 0.999, timeout_s: 120}
    """
    sim = parse_scenario(scenario).build()
    run = sim.run()
    assert run.status == "exhausted"
    grid, belief = sim.world.grid, sim.localization.belief_of[0]
    x0, y0, _ = belief.grid.origin
    shown = [
        belief.occupancy()[math.floor((y - y0) / 0.5), math.floor((x - x0) / 0.5)]
        for x, y in grid.to_world(np.argwhere(sim.tracker.unexplored)).tolist()
    ]
    wall, floor = (sum(one == state for one in shown) / len(shown) for state in (100, 0))
    assert wall + floor > 0.9
    ((*_, text),) = told(run, "exhausted")
    assert (
        f"no map has a frontier of 0.3 m or more left: of what is unexplored they show {wall:.0%} as wall and {floor:.0%} "
        "as floor (their cells of 0.5 m are wider than the 0.05 m of the world); the largest unexplored area"
    ) in text


def test_a_robot_that_does_not_move_though_it_wants_to_is_told_once_with_what_is_beside_it():
    async def against_the_wall(robot):
        await robot.drive(0.3, for_s=45.0)
        await robot.forward(-1.0)
        await robot.sleep(40.0)

    _, run = run_of([(5.5, 0.0, 0.0)], against_the_wall, until_s=90.0)
    stands, over = told(run, "stands", "stands_over")
    assert stands[1:4] == ("stands", "r0", "wall")
    assert stands[4] == pytest.approx(6.0 - 0.15, abs=0.01)
    assert stands[0] == pytest.approx(0.35 / 0.3 + 20.0, abs=1.6), "20 s after it has arrived, to a second"
    assert stands[6] == "it has not moved for 20 s, though its controller wants to: a wall is 0.00 m beside it"
    assert over[1:3] == ("stands_over", "r0")
    assert 45.0 < over[0] < 48.0
    assert sentence(run).startswith("1 robot stood for long: r0, it has not moved")


@pytest.mark.parametrize("sees", [(), ("pose", "lidar")])
def test_a_robot_that_a_law_of_a_group_drives_against_a_wall_is_told_too(sees):
    @covey.controller(scope="group", sees=sees)
    def east(team):
        return np.tile((0.3, 0.0), (team.count, 1)) * [[1.0, 0.0], [0.0, 0.0]]

    model = covey.RobotModel(radius_m=0.15) if not sees else None  # nothing but motion: one kernel takes the steps
    sim, run = run_of([(5.5, 0.0, 0.0), (0.0, 0.0, 0.0)], east, model=model, until_s=30.0)
    assert (sim._moving is None) == bool(sees)
    ((time_s, _, robot, other, x, _, text),) = told(run, "stands")
    assert (robot, other) == ("r0", "wall")
    assert x == pytest.approx(6.0 - 0.15, abs=0.01)
    assert time_s == pytest.approx(0.35 / 0.3 + 20.0, abs=1.6)
    assert text.endswith("its controller wants to: a wall is 0.00 m beside it")


def test_who_rests_waits_or_is_dead_does_not_stand():
    faults = [{"kind": "dies", "robot": "r1", "at_s": 1.0}]

    async def ahead(robot):
        await (robot.sleep(50.0) if robot.name == "r0" else robot.drive(0.3, for_s=50.0))

    _, run = run_of([(0.0, 0.0, 0.0), (3.0, 0.0, 0.0)], ahead, until_s=40.0, faults=faults)
    assert run.count("fault") == 1
    assert told(run, "stands") == []


def test_a_goal_behind_a_narrow_gap_is_given_up_with_its_width():
    wall = [[[0.0, -6.0], [0.0, -0.3]], [[0.0, 0.3], [0.0, 6.0]]]
    world = World.polygons([[-6, -6], [6, -6], [6, 6], [-6, 6]], walls_m=wall, wall_m=0.2, resolution_m=0.05)
    model = covey.robots.disc(radius_m=0.4)

    async def through(robot):
        outcome = await robot.goto((3.0, 0.0))
        robot.note(outcome.reason)
        robot.finish()

    _, run = run_of([(-3.0, 0.0, 0.0)], through, world, model)
    ((_, _, _, why, x, y, text),) = told(run, "gave_up")
    assert (why, x, y) == ("narrow", 3.0, 0.0)
    gap, body = map(float, re.findall(r"gap is (.+) m, the body (.+) m wide", text)[0])
    assert (gap, body) == (pytest.approx(0.4, abs=0.101), 0.8), "to a cell of its map"
    assert told(run, "note")[-1][-1] == text
    figure = plt.figure()
    draw_trajectories(axes := figure.add_subplot(), run)
    plt.close(figure)
    legends = [legend for legend in axes.get_children() if isinstance(legend, Legend)]
    words = [text.get_text() for legend in legends for text in legend.get_texts()]
    assert "goal given up" in words
    assert not {"stood", "frontier left"} & set(words)
    marks = [line.get_xydata().tolist() for line in axes.lines if line.get_marker() == "x"]
    assert marks == [[[3.0, 0.0]]] * 2  # the mark, and its edge below


def test_each_reason_is_a_sentence_made_from_its_data():
    assert Reason().text == ""
    assert Reason("occupied", "r3").text == "the goal is occupied by r3"
    assert Reason("robot", "r3").text == "it made no progress: r3 is in the way"
    assert Reason("blocked").text == "it made no progress: something is in the way"
    widths = "the gap is 0.70 m, the body 0.90 m wide"
    assert Reason("narrow", "", 0.7, 0.9).text.endswith(widths)
    assert Reason("blocked", "", 0.7, 0.9).text == f"it made no progress: {widths}"
