"""The patrolling mission: the graph that it gives, and the idleness that it measures."""

from types import SimpleNamespace

import numpy as np
import pytest

import covey
from covey.controllers import controllers
from covey.errors import InvalidValueError
from covey.missions import Patrolling
from covey.missions.patrolling import IdlenessTracker
from covey.planning.waypoints import Waypoints
from covey.results.metrics.headlines import of_interest

PAIR = Waypoints(np.array([[0.0, 0.0], [10.0, 0.0]]), np.array([[0.0, 10.0], [10.0, 0.0]]), np.array([[0, 1]]), 0.5)
ALL = np.ones(1, bool)


def test_idleness_is_the_time_since_the_last_visit():
    tracker = IdlenessTracker(PAIR, 1)
    # At the first waypoint at 1 s, on the way until 5 s, at the second from 6 s to 7 s, and away again.
    for time_s, x in ((1, 0.2), (2, 2), (5, 9), (6, 9.6), (7, 10.0), (9, 8)):
        happened = tracker.measure(float(time_s), np.array([[x, 0.0, 0.0]]), ALL)
        assert bool(happened) == (time_s in (1, 6))
        if time_s == 5:
            assert tracker.values == {
                "graph_idleness_s": (4 + 5) / 2,
                "worst_graph_idleness_s": 5.0,
                "completed_cycles": 0.0,
                "visits": 1.0,
            }
    assert tracker.values["graph_idleness_s"] == ((9 - 1) + (9 - 7)) / 2
    assert tracker.values["worst_graph_idleness_s"] == 8.0
    assert (tracker.values["completed_cycles"], tracker.values["visits"]) == (1.0, 2.0)


def test_a_robot_that_stands_at_a_waypoint_keeps_it_fresh_but_visits_it_once_and_a_dead_one_does_not():
    tracker = IdlenessTracker(PAIR, 1)
    for time_s in range(1, 6):
        tracker.measure(float(time_s), np.array([[0.0, 0.0, 0.0]]), ALL)
    assert tracker.last_s.tolist() == [5.0, 0.0]
    assert tracker.visits.tolist() == [1, 0]
    tracker.measure(8.0, np.array([[0.0, 0.0, 0.0]]), ~ALL)
    assert tracker.last_s[0] == 5.0


def test_metrics_of_a_patrol_that_never_arrives():
    mission = Patrolling(waypoints_m=((2.0, 0.0), (-2.0, 0.0)))
    group = covey.Group("g", covey.robots.disc(), [(0.0, 0.0, 0.0)], controllers.get("still"))
    run = covey.Simulation(covey.World.empty(6, 2), [group], mission=mission, seed=1).run(until_s=10)
    # Nobody comes: the idleness is the time, its mean over the steps 0.1 ... 10 s is 5.05 s.
    assert run.metrics["average_graph_idleness_s"] == pytest.approx(5.05)
    assert run.metrics["settled_graph_idleness_s"] == pytest.approx(np.arange(5.1, 10.05, 0.1).mean())
    assert run.metrics["worst_graph_idleness_s"] == pytest.approx(10.0)
    assert (run.metrics["completed_cycles"], run.metrics["waypoint_visits"]) == (0, 0)
    assert run.mission["waypoints_m"] == [[2.0, 0.0], [-2.0, 0.0]]


def test_visits_are_events_and_other_missions_have_no_idleness():
    mission = Patrolling(waypoints_m=((2.0, 0.0), (-2.0, 0.0)))
    group = covey.Group("g", covey.robots.disc(), [(0.0, 0.0, 0.0)], controllers.get("conscientious_reactive"))
    run = covey.Simulation(covey.World.empty(6, 2), [group], mission=mission, seed=1).run(until_s=20)
    visits = run.events.filter(run.events["kind"] == "mission")
    assert visits["text"].to_list()[:3] == [f"visits waypoint {k}" for k in (0, 1, 0)]
    assert run.metrics["waypoint_visits"] == len(visits)
    assert run.metrics["completed_cycles"] >= 2
    other = covey.Simulation(covey.World.empty(4, 4), seed=1).run(until_s=0.2)
    assert other.metrics["average_graph_idleness_s"] is None
    assert other.mission == {"kind": "exploration"}


def test_generated_waypoints_see_every_free_cell_and_hang_together():
    world = covey.World.office(seed=5)
    start = world.grid.to_world(np.argwhere(world.free & (world.clearance > 0.5))[:1])
    graph = Patrolling(sight_m=None).graph(world, start, 0.2)
    seen = np.zeros(world.grid.shape, bool)
    for row, column in world.grid.to_cells(graph.points):
        seen |= _seen_from(world, row, column)
    # Seen are the middles of the tiles of 1 m; what lies in the shadow of a piece of furniture may be missed.
    assert seen[world.free].mean() > 0.95
    assert np.isfinite(graph.distance).all()
    assert all(len(n) for n in graph.neighbours)


def _seen_from(world, row, column):
    """The cells whose centres a ray from a cell's centre reaches, by points along 720 rays."""
    seen = np.zeros(world.grid.shape, bool)
    steps = np.arange(0.0, 600.0, 0.5)
    for angle in np.linspace(0, 2 * np.pi, 720, endpoint=False):
        r = np.floor(row + 0.5 + steps * np.sin(angle)).astype(int)
        c = np.floor(column + 0.5 + steps * np.cos(angle)).astype(int)
        inside = (r >= 0) & (c >= 0) & (r < seen.shape[0]) & (c < seen.shape[1])
        free = np.zeros(len(r), bool)
        free[inside] = world.free[r[inside], c[inside]]
        end = len(free) if free.all() else int(np.argmin(free))
        seen[r[:end], c[:end]] = True
    return seen


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"waypoints_m": ((9.0, 0.0),)}, r"\[9.0, 0.0\] cannot be reached"),
        ({"waypoints_m": ()}, "is empty"),
        ({"waypoints_m": ((1.0, 0.0), (0.0, 1.0)), "edges": ((0, 2),)}, r"\[0, 2\] does not join"),
        ({"spacing_m": 0.001}, "are too many"),
    ],
)
def test_what_cannot_be_patrolled_is_refused(options, message):
    world = covey.World.empty(8, 8, resolution_m=0.04)  # 190 x 190 places to stand
    with pytest.raises(InvalidValueError, match=message):
        Patrolling(**options).graph(world, np.zeros((1, 3)), 0.2)


def test_robots_without_a_patrol_are_told_so():
    with pytest.raises(InvalidValueError, match=r"'expected_idleness' needs waypoints.*patrolling"):
        covey.Simulation(covey.World.empty(4, 4), controller=controllers.get("expected_idleness"), seed=1)


def test_a_patrol_of_planned_length_did_not_run_out_of_time():
    facts = {"metrics": {"status": "timeout", "worst_graph_idleness_s": 30.0}, "times": (), "landscape": None}
    patrol = SimpleNamespace(status="timeout", mission={"kind": "patrolling"}, goal={"explored_share": None}, **facts)
    assert of_interest(patrol)["status"] == ("timeout", "it has no goal to reach and lasted its planned time")
    searching = SimpleNamespace(status="timeout", mission={"kind": "patrolling"}, goal={"explored_share": 0.9}, **facts)
    assert of_interest(searching)["status"] == ("timeout", "how the run ended")
