"""What is drawn is what was recorded: each place, each colour, and the words that explain it."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import covey
from covey.geometry.grid import Grid
from covey.results.figures import coverage_heat, robot_maps, search, trajectories, union_map
from covey.results.figures.animation import animation_images, links_at
from covey.results.figures.curves import explored_curve
from covey.results.figures.missions import WORST_COLOR, draw_formation, draw_graph, draw_idleness
from covey.results.figures.plan import plan_picture
from covey.results.figures.search import Cones, SearchMark, finds
from covey.results.figures.style import FREE_COLOR, INK, LINK_COLOR, ROBOTS, UNKNOWN_COLOR, WALL_COLOR, rgb
from covey.world.world import World


def axes_with(draw, run):
    axes = Figure().add_subplot()
    draw(axes, run)
    return axes


def by_color(axes):
    """Return the values of the long lines of axes, by colour."""
    return {line.get_color(): line.get_ydata().tolist() for line in axes.lines if len(line.get_xdata()) > 2}


def colors_of_legend(axes):
    legend = axes.get_legend()
    return {
        text.get_text(): to_hex(one.get_facecolor() if hasattr(one, "get_facecolor") else one.get_color()).upper()
        for text, one in zip(legend.get_texts(), legend.legend_handles, strict=True)
    }


def test_each_way_begins_at_a_ring_and_ends_at_a_disc_in_its_colour(record):
    run = record(steps=30)
    drawn = {
        (line.get_markerfacecolor(), line.get_markeredgecolor()): line.get_xydata()[0].tolist()
        for line in trajectories(run).axes[0].lines
        if line.get_marker() == "o"
    }
    assert drawn == {
        **{("white", ROBOTS[i]): run.poses[0, i, :2].tolist() for i in range(2)},
        **{(ROBOTS[i], "white"): run.poses[-1, i, :2].tolist() for i in range(2)},
    }


def test_each_curve_and_its_name_have_the_colour_of_their_robot(record):
    run = record()
    axes = explored_curve(run).axes[0]
    own = 100 * run.series("explored_share")
    curves = by_color(axes)
    for i, color in enumerate(ROBOTS[:2]):
        assert curves[color][-1] == pytest.approx(own[-1, i])
    assert own[-1, 0] != own[-1, 1]
    assert {text.get_text(): text.get_color() for text in axes.texts} == {
        "union": INK,
        "a0": ROBOTS[0],
        "a1": ROBOTS[1],
    }


def test_each_robots_map_is_below_its_name_and_the_legend_has_the_colours_of_the_cells(record):
    run = record(steps=5)
    known = run.maps.robots[1]
    run.maps.robots[0] = Grid(np.full(known.shape, -1, np.int8), known.resolution, known.origin)
    shown = {
        axes.get_title("left").split()[0]: {to_hex(c / 255).upper() for c in axes.images[0].get_array().reshape(-1, 3)}
        for axes in robot_maps(run).axes
        if axes.images
    }
    assert shown == {"a0": {UNKNOWN_COLOR}, "a1": {UNKNOWN_COLOR, FREE_COLOR, WALL_COLOR}}
    expected = {"occupied": WALL_COLOR, "free": FREE_COLOR, "unknown": UNKNOWN_COLOR}
    assert colors_of_legend(union_map(run).axes[0]) == expected


def test_the_bar_of_a_heat_map_has_the_end_of_the_run_on_top(record):
    assert coverage_heat(record()).axes[1].yaxis_inverted()


def test_mean_and_worst_have_their_own_colours_and_words():
    series = {"graph_idleness_s": [1.0, 2.0, 3.0], "worst_graph_idleness_s": [4.0, 5.0, 9.0]}
    series |= {"formation_error_m": [0.1, 0.2, 0.3], "worst_formation_error_m": [0.4, 0.5, 0.9]}
    events = pl.DataFrame({"kind": ["order"], "time_s": [1.5]})
    run = SimpleNamespace(times=np.arange(1.0, 4.0), series=lambda name: np.array(series[name]), events=events)
    idle, formation = axes_with(draw_idleness, run), axes_with(draw_formation, run)
    assert by_color(idle) == {INK: [0.0, 1.0, 2.0, 3.0], WORST_COLOR: [0.0, 4.0, 5.0, 9.0]}
    assert colors_of_legend(idle) == {"mean (2 s over time)": INK, "worst waypoint": WORST_COLOR}
    assert by_color(formation) == {INK: [0.1, 0.2, 0.3], WORST_COLOR: [0.4, 0.5, 0.9]}
    words = colors_of_legend(formation)
    assert (words["mean"], words["worst"]) == (INK, WORST_COLOR)
    (order,) = (line for line in formation.lines if len(line.get_xdata()) == 2)
    assert order.get_xdata() == [1.5, 1.5]


def test_the_graph_of_a_patrol_is_at_its_waypoints():
    axes = axes_with(draw_graph, SimpleNamespace(mission={"waypoints_m": [[0.0, 1.0], [2.0, 5.0]], "edges": [[0, 1]]}))
    (dots,), (edges,) = axes.lines, axes.collections
    assert dots.get_xydata().tolist() == [[0.0, 1.0], [2.0, 5.0]]
    assert edges.get_segments()[0].tolist() == [[0.0, 1.0], [2.0, 5.0]]


async def _speaks_at_a_tag(robot):
    if robot.name == "r1":
        robot.note("here")
        robot.leave_tag("here")
    await robot.drive(0.5, for_s=9.0)


def test_a_film_has_tags_at_their_places_and_notes_in_the_colours_of_their_robots():
    group = covey.Group("r", covey.robots.disc(), [(0.0, 0.0, 0.0), (1.0, 2.0, 0.0)], _speaks_at_a_tag)
    run = covey.Simulation(World.empty(10, 10), [group], stop=covey.Stop(timeout_s=1.5)).run()
    *_, last = animation_images(run, 2)
    image = np.asarray(last.convert("RGB"))
    world, below = image[: 26 + 640], image[26 + 640 :]
    around = np.argwhere((world == rgb(LINK_COLOR)).all(axis=-1)).mean(axis=0)
    assert around == pytest.approx([(5 - 2) * 64 + 26, (1 + 5) * 64], abs=2)
    assert (below == rgb(ROBOTS[1])).all(axis=-1).any()
    assert not (below == rgb(ROBOTS[0])).all(axis=-1).any()


def test_the_layers_of_a_plan_have_the_colours_of_the_legend_the_largest_first():
    lines = {
        "few": [np.array([[0.0, 1.0], [2.0, 1.0]])],
        "many": [np.array([[1.0, 0.0], [1.0, k]]) for k in (1.0, 2.0)],
    }
    (axes,) = plan_picture(World.empty(4, 4), lines, []).axes
    drawn = {
        to_hex(part.get_color()[0]).upper(): [line.tolist() for line in part.get_segments()]
        for part in axes.collections
    }
    assert drawn == {
        color: [line.tolist() for line in lines[name]] for color, name in zip(ROBOTS[:2], ("many", "few"), strict=True)
    }
    assert list(colors_of_legend(axes).items()) == [("many", ROBOTS[0]), ("few", ROBOTS[1])]


def test_a_link_is_drawn_until_it_is_lost():
    links = pl.DataFrame(
        {"time_s": [1.0, 1.0, 2.0], "robot": ["a", "a", "a"], "other": ["b", "c", "b"], "up": [True, True, False]}
    )
    run = SimpleNamespace(names=["a", "b", "c"], links=links)
    assert [links_at(run, time_s) for time_s in (0.5, 1.0, 2.0)] == [set(), {(0, 1), (0, 2)}, {(0, 2)}]


def test_a_false_report_is_in_the_row_of_its_robot(record, monkeypatch):
    target = search.Target("victim", 3, (1.0, 0.0), 2.0, "a0")
    for name, value in (
        ("targets_of", [target]),
        ("false_reports", [SearchMark(1.0, "a1", (0.0, 0.0))]),
        ("meetings", []),
    ):
        monkeypatch.setattr(search, name, lambda _run, value=value: value)
    crosses = [line.get_xydata().tolist() for line in finds(record()).axes[0].lines if line.get_marker() == "x"]
    assert crosses == [[[1.0, 1.0]]]


def test_the_view_of_a_camera_begins_where_it_is_mounted():
    truth = World.empty(8, 8, 0.1).grid
    camera = {"fov_deg": 60.0, "range_m": 1.0, "mount": [0.5, 0.0, np.pi / 2], "robots": [1]}
    run = SimpleNamespace(manifest={"cameras": [camera]}, maps=SimpleNamespace(truth=truth))
    poses = np.array([[0.0, 0.0, 0.0], [1.0, -1.0, np.pi / 2]])
    ((robot, outline),) = Cones(run).at(poses, truth)
    assert robot == 1
    assert outline[0] == pytest.approx([1.0, -0.5])  # ahead of the robot, which looks up; its camera looks left
    assert outline[1:-1].mean(axis=0)[0] < 0.2
    assert outline[1:-1].mean(axis=0)[1] == pytest.approx(-0.5)
