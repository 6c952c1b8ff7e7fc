"""Pictures of a search: a robot turns in a room, reads one of two victims, and reports it, and a place without one."""

import math

import numpy as np
import pytest
from matplotlib import font_manager
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from PIL import ImageFont

import covey
from covey.geometry.grid import Grid
from covey.missions import Rescue
from covey.results.figures import overview, save_all, trajectories
from covey.results.figures.animation import animation_images
from covey.results.figures.film_legend import FilmLegend, LegendEntry
from covey.results.figures.search import (
    FALSE_COLOR,
    LEFT_COLOR,
    SEARCHED_COLOR,
    Cones,
    face_segments,
    false_alarms,
    false_reports,
    finds,
    meetings,
    targets_of,
)
from covey.results.figures.style import INK, ROBOTS, rgb
from covey.robots.catalogue import disc
from covey.sensors import TagCamera
from covey.world.world import World

SHARP = TagCamera(detect_near=1, detect_far=1, detect_slant=1, sigma_m=0, sigma_per_m=0, false_per_min=0)
TARGETS = [
    {"kind": "victim", "identity": 7, "at": (2, 0.5)},
    {"kind": "big_fire", "identity": 4, "at": (2, -1)},
    {"kind": "victim", "identity": 8, "at": (-2, 0)},
]


async def look_and_report(robot):
    await robot.drive(0.0, 0.2, for_s=1.0)
    if robot.name == "r0":
        assert await robot.report(7, (2.0, 0.5)) == "accepted"
        assert await robot.report(8, (0.0, 1.0)) == "too far"
        await robot.report(4, (2.0, -1.0))
    await robot.sleep(20)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two robots side by side look east; the big fire needs both, and both are near."""
    robot = disc().model_copy(update={"sensors": (*disc().sensors, SHARP)})
    groups = [covey.Group("r", robot, [(0.5, 0.4, 0.0), (0.5, -0.4, 0.0)], look_and_report)]
    mission = Rescue(kinds={"big_fire": {"robots": 2, "within_m": 3, "meeting_points": 300}})
    folder = tmp_path_factory.mktemp("search") / "run"
    sim = covey.Simulation(World.empty(4, 4, 0.1), groups, targets=TARGETS, mission=mission, recording=folder)
    return sim.run(until_s=4)


def has(image, color):
    return bool((np.abs(image.astype(int) - rgb(color)).max(axis=-1) <= 3).any())


def drawn(picture):
    picture.canvas.draw()
    return np.asarray(picture.canvas.buffer_rgba())[..., :3]


def test_what_was_found_when_and_by_whom(run):
    found = {target.identity: target for target in targets_of(run)}
    assert {i: (t.kind, t.finder) for i, t in found.items()} == {
        7: ("victim", "r0"),
        4: ("big_fire", "r0"),
        8: ("victim", ""),
    }
    assert found[7].found_s == run.reports["time_s"][0] == pytest.approx(1.1, abs=0.2)
    assert math.isnan(found[8].found_s)
    np.testing.assert_allclose(found[8].place, (-1.995, 0.0), atol=1e-3)
    assert [(mark.robot, mark.place) for mark in false_reports(run)] == [("r0", (0.0, 1.0))]
    assert len(meetings(run)) == 1
    assert false_alarms(run) == []


def test_without_reports_a_sight_is_a_find():
    robot = disc().model_copy(update={"sensors": (SHARP.model_copy(update={"false_per_min": 600.0}),)})
    sim = covey.Simulation(World.empty(4, 4, 0.1), [covey.Group("r", robot, [(0, 0, 0)])], targets=TARGETS)
    run = sim.run(until_s=2)
    assert {t.identity for t in targets_of(run) if t.finder} == {7, 4}
    assert {t.found_s for t in targets_of(run) if t.finder} == {0.1}
    assert len(false_alarms(run)) == 3  # one for each identity


def test_segments_of_faces_by_hand():
    grid = Grid(np.zeros((4, 4), np.uint8), 0.5, (1.0, 2.0, 0.0))
    ends = face_segments(grid, np.array([[0, 0, 0, 5], [1, 2, 3, -1]]))
    np.testing.assert_allclose(np.sort(ends[0], axis=0), [(1.5, 2.0), (1.5, 2.5)])
    np.testing.assert_allclose(np.sort(ends[1], axis=0), [(2.0, 2.5), (2.5, 2.5)])


@pytest.mark.slow
def test_the_overview_shows_targets_and_walls(run):
    picture = overview(run)
    image = drawn(picture)
    assert has(image, SEARCHED_COLOR)
    assert has(image, LEFT_COLOR)
    texts = [text.get_text() for text in picture.axes[0].get_legend().get_texts()]
    assert {"searched", "not searched", "false report", "meeting", "victim 1/2", "big fire 1/1"} <= set(texts)
    top = picture.axes[0].get_legend().get_window_extent().y1
    assert top <= picture.bbox.y1  # nothing of it is cut off
    numbers = [text.get_text() for text in picture.axes[0].texts]
    assert {"7", "4", "8"} <= set(numbers)
    curves = [text.get_text() for text in picture.axes[1].get_legend().get_texts()]
    assert curves == ["explored", "searched", "found (2 of 3)", "meeting"]


def test_what_was_found_and_what_was_not_have_their_own_colours(run):
    """Each symbol and each wall, and its entry in the legend."""
    axes = trajectories(run).axes[0]
    looks = {}
    for line in axes.lines:
        if line.get_marker() in ("P", "*") and len(line.get_xdata()) == 1:
            place = round(float(line.get_xdata()[0])), round(float(line.get_ydata()[0]), 1)
            looks[place] = line.get_markerfacecolor(), line.get_markeredgecolor()
    assert looks == {
        (2, 0.5): (SEARCHED_COLOR, "white"),
        (2, -1.0): (SEARCHED_COLOR, "white"),
        (-2, 0.0): ("white", LEFT_COLOR),
    }
    numbers = {text.get_text(): text.get_color() for text in axes.texts if text.get_text() in ("7", "4", "8")}
    assert numbers == {"7": INK, "4": INK, "8": LEFT_COLOR}
    entries = axes.get_legend().legend_handles
    named = {text.get_text(): handle for text, handle in zip(axes.get_legend().get_texts(), entries, strict=True)}
    assert named["searched"].get_color() == SEARCHED_COLOR
    assert named["not searched"].get_color() == LEFT_COLOR
    assert named["victim 1/2"].get_markerfacecolor() == SEARCHED_COLOR
    # The robots stand at x = 0.5 and look east, so the middle of the east wall was searched, and the west wall was not.
    walls = {}
    for collection in axes.collections:
        if isinstance(collection, LineCollection) and to_hex(collection.get_color()[0]).upper() in (
            SEARCHED_COLOR,
            LEFT_COLOR,
        ):
            middles = np.array([segment.mean(axis=0) for segment in collection.get_segments()])
            walls[to_hex(collection.get_color()[0]).upper()] = middles
    east, west = (
        (np.abs(m[:, 0] - x) < 0.05) & (np.abs(m[:, 1]) < 0.3) for x in (2, -2) for m in (walls[SEARCHED_COLOR],)
    )
    assert east.any()
    assert not west.any()
    assert (np.abs(walls[LEFT_COLOR][:, 0] + 2) < 0.05).any()


def test_the_time_line_of_finds(run):
    axes = finds(run).axes[0]
    points = {
        (round(float(line.get_xdata()[0]), 3), float(line.get_ydata()[0]))
        for line in axes.lines
        if line.get_marker() in "P*"
    }
    assert points == {(round(t.found_s, 3), 0.0) for t in targets_of(run) if t.finder}
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["r0", "r1"]


@pytest.fixture(scope="module")
def crowd():
    """A robot reads three pairs of targets, each almost at one place, in a mission without reports."""
    robot = disc().model_copy(update={"sensors": (SHARP,)})
    kinds = ("victim", "small_fire", "big_fire")
    targets = [
        {"kind": kinds[i % 3], "identity": 10 + i, "at": (2, y + side * 0.03)}
        for i, (y, side) in enumerate((y, side) for y in (-0.6, 0.0, 0.6) for side in (-1, 1))
    ]
    sim = covey.Simulation(World.empty(4, 4, 0.1), [covey.Group("r", robot, [(0, 0, 0)])], targets=targets)
    return sim.run(until_s=0.5)


def test_the_numbers_of_targets_do_not_read_as_others(crowd, run):
    for picture, identities in ((trajectories(crowd), {str(i) for i in range(10, 16)}), (finds(run), {"4", "7"})):
        picture.canvas.draw()
        numbers = {text.get_text(): text for text in picture.axes[0].texts if text.get_text().isdigit()}
        assert numbers.keys() == identities
        boxes = [text.get_window_extent().padded(2, 0) for text in numbers.values()]  # [pixel of 1/300 inch]
        assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_symbols_of_finds_at_one_time_all_show(crowd):
    rows = [float(line.get_ydata()[0]) for line in finds(crowd).axes[0].lines if line.get_marker() in ("P", "^", "*")]
    assert {t.found_s for t in targets_of(crowd)} == {0.1}
    assert sorted(set(rows)) == [pytest.approx(-0.35), 0.0]


def test_the_scale_bar_lies_beside_a_legend_of_eight_entries(crowd):
    axes = trajectories(crowd).axes[0]
    axes.figure.canvas.draw()
    shown = [text for text in axes.get_legend().get_texts() if text.get_text().strip()]
    assert len(shown) == 8
    bar = axes.patches[-1].get_window_extent()
    length = next(text for text in axes.texts if text.get_text() == "0.5 m").get_window_extent()
    assert not any(text.get_window_extent().overlaps(box) for text in shown for box in (bar, length))
    assert axes.get_legend().get_window_extent().y1 <= axes.figure.bbox.y1


def test_the_last_find_and_a_meeting_at_the_end_are_whole(run):
    for axes in (overview(run).axes[1], finds(run).axes[0]):
        assert axes.get_xlim()[1] > 1.01 * run.times[-1]


def test_the_film_shows_the_views_of_the_cameras_and_what_was_found(run):
    """The first view begins at the robot, and its ends are on the wall, 1.5 m ahead."""
    (robot, outline), _ = Cones(run).at(np.array([[0.5, 0.4, 0.0], [0.5, -0.4, 0.0]]), run.maps.truth)
    assert robot == 0
    np.testing.assert_allclose(outline[[0, -1]], [(0.5, 0.4)] * 2)
    np.testing.assert_allclose(outline[1:-1, 0], 2.0, atol=1e-6)
    np.testing.assert_allclose(outline[[1, -2], 1], 0.4 + 1.5 * np.tan(np.radians([-31.1, 31.1])), atol=1e-6)
    first, last = (np.asarray(image.convert("RGB")) for image in animation_images(run, 2))
    assert has(last, SEARCHED_COLOR)
    assert (last == rgb(SEARCHED_COLOR)).all(axis=-1).sum() > 100 + (first == rgb(SEARCHED_COLOR)).all(axis=-1).sum()
    x, y = 320, 26 + 320
    cone = last[y - 75 : y + 70, x + 100 : x + 300]
    assert (cone == rgb(ROBOTS[0])).all(axis=-1).sum() > 40


def test_the_film_explains_its_symbols_below_the_world(run, crowd):
    (image,) = animation_images(run, 1)
    below = np.asarray(image.convert("RGB"))[26 + 640 :]
    assert len(below) > 0
    assert has(below, SEARCHED_COLOR)
    assert has(below, FALSE_COLOR)
    (image,) = animation_images(crowd, 1)
    assert not has(np.asarray(image.convert("RGB"))[26 + 640 :], FALSE_COLOR)  # it has no false report


def test_a_film_with_nothing_to_explain_has_no_legend():
    sim = covey.Simulation(World.empty(4, 4, 0.1), [covey.Group("r", disc(), [(0, 0, 0)])])
    (image,) = animation_images(sim.run(until_s=0.5), 1)
    assert image.size == (640, 26 + 640)


def test_a_legend_takes_as_many_rows_as_it_needs():
    font = ImageFont.truetype(font_manager.findfont("DejaVu Sans"), 11)
    entries = [LegendEntry(name, "line", 0) for name in ("searched", "view of a camera", "radio link")]
    heights = [FilmLegend(entries[:n], width, font, 0).height for n, width in ((0, 640), (3, 640), (3, 230), (3, 20))]
    assert heights == [0, 18, 36, 54]


def test_they_are_written(run, tmp_path):
    written = {path.name for path in save_all(run, tmp_path, ("png",), names=["finds", "trajectories"])}
    assert written == {"finds.png", "trajectories.png"}
    assert has(drawn(trajectories(run)), SEARCHED_COLOR)
