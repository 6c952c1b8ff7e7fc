"""The pictures of a run on a ground."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

import covey
from covey.missions import Formation
from covey.results.figures import PICTURES, on_ground, save_all, saving, style
from covey.results.figures.animation import animation_images
from covey.results.figures.landscape import MEASURED_COLOR
from covey.robots.catalogue import skid_steer
from covey.world.ground import Ground


@pytest.fixture(scope="module")
def run():
    x, y = np.meshgrid(np.arange(21.0), np.arange(21.0))
    world = Ground.of(0.05 * x + 0.1 * np.sin(y)).world()
    group = covey.Group("rover", skid_steer(), [(-2.0, 0.0, 0.0), (2.0, 0.0, 1.0)], lambda robot: robot.drive(0.3, 0.3))
    mound = {"at_s": 1, "mound": {"centre_m": [5, 5], "height_m": 0.5, "radius_m": 2}}
    return covey.Simulation(world, [group], events=[mound], stop=covey.Stop(timeout_s=1.2)).run()


@pytest.mark.slow
def test_all_pictures_are_written(run, tmp_path, monkeypatch):
    monkeypatch.setitem(saving.FILMS, "film", lambda run: on_ground.film(run, 2))
    wanted = ("belief", "belief_error", "perspective", "film")
    names = {path.name for path in save_all(run, tmp_path, kinds=("png",), names=wanted)}
    assert names - {"film.mp4"} == {"belief.png", "belief_error.png", "perspective.png", "film.gif"}  # with ffmpeg
    assert np.asarray(Image.open(tmp_path / "perspective.png")).shape == (720, 1280, 3)


def test_the_robot_that_has_measured_most_is_shown(run):
    _, name, believed = on_ground._most(run)
    others = [(b.marks == 1).sum() for b in run.landscape.beliefs.values()]
    assert (believed.marks == 1).sum() == max(others)
    assert name in run.names


def test_a_run_in_the_plane_has_none_of_them():
    plain = covey.Simulation(covey.World.empty(4, 4), stop=covey.Stop(timeout_s=0.3)).run()
    assert on_ground.belief_maps(plain) is None
    assert on_ground.belief_curve(plain) is None
    assert on_ground.perspective(plain) is None
    assert not list(on_ground.film(plain))


def marked(image):
    """How many pixels have the hue of the markers of what is mapped."""
    pixels = np.asarray(image.convert("RGB")).astype(int)
    return int((np.abs(pixels - style.rgb(MEASURED_COLOR)).max(axis=-1) < 40).sum())


@pytest.mark.slow
def test_the_film_shows_what_is_mapped_by_then_and_little_sky(run):
    first, last = on_ground.film(run, 2)  # as many images as asked for
    assert marked(last) > marked(first) > 20
    pixels = np.asarray(last.convert("RGB")).astype(int)
    assert (pixels[..., 2] > pixels[..., 0] + 12).mean() < 0.4  # sky, and markers, are bluer than the ground


@pytest.mark.slow
def test_tags_are_in_the_perspective_and_in_the_film_from_when_they_were_left():
    def leaves(robot):
        if 1.0 <= robot.time < 1.05:
            robot.leave_tag("here")
        robot.drive(0.5, 0.0)

    def seen(image):
        pixels = np.asarray(image.convert("RGB")).astype(int)
        return int((np.abs(pixels - style.rgb(style.LINK_COLOR)).max(axis=-1) < 40).sum())

    group = covey.Group("rover", skid_steer(), [(0.0, 0.0, 0.0)], leaves)
    run = covey.Simulation(Ground.of(np.zeros((21, 21))).world(), [group], stop=covey.Stop(timeout_s=3)).run()
    assert len(run.tags_left) == 1
    first, last = on_ground.film(run, 2)
    assert seen(first) == 0
    assert seen(last) > 20
    assert seen(on_ground.perspective(run)) > 20


def test_every_picture_shows_the_team_and_not_all_of_a_large_ground():
    group = covey.Group("rover", skid_steer(), [(-2.0, 0.0, 0.0), (2.0, 0.0, 1.0)], lambda robot: robot.drive(0.3, 0.3))
    large = covey.Simulation(Ground.of(np.zeros((81, 81))).world(), [group], stop=covey.Stop(timeout_s=1)).run()
    for name in ("overview", "trajectories", "union_map", "robot_maps", "exploration_heat", "coverage_heat"):
        axes = PICTURES[name](large).axes[0]
        assert np.ptp(axes.get_xlim()) < 15, name  # the robots are 4 m apart, the ground 80 m wide
        assert axes.get_xlim()[0] < -2 < 2 < axes.get_xlim()[1], name
    image = next(animation_images(large, 1)).convert("RGB")
    seen = (np.asarray(image) == style.rgb(style.robot_color(0, 2))).all(axis=-1).nonzero()[1]
    other = (np.asarray(image) == style.rgb(style.robot_color(1, 2))).all(axis=-1).nonzero()[1]
    assert abs(seen.mean() - other.mean()) > 0.25 * image.width  # all of the ground: 0.05


def test_names_cover_no_other_name_and_no_start(run):
    picture = PICTURES["trajectories"](run)
    axes = picture.axes[0]
    picture.to_bytes("png")
    named = {t.get_text(): t for t in axes.texts if t.get_text() in run.names}  # each lies upon its own halo
    boxes = [t.get_window_extent() for t in named.values()]
    assert len(boxes) == 2
    assert not boxes[0].overlaps(boxes[1])
    for point in axes.transData.transform(run.poses[0, :, :2]):
        assert not any(box.contains(*point) for box in boxes)


def test_the_legend_names_a_wall_only_where_there_is_one(run):
    walls = covey.World.polygons([(-3, -3), (3, -3), (3, 3), (-3, 3)])
    within = covey.Simulation(walls, stop=covey.Stop(timeout_s=0.3)).run()
    for name in ("overview", "trajectories", "exploration_heat", "coverage_heat"):
        for one, has_walls in ((run, False), (within, True)):
            texts = [text.get_text() for text in PICTURES[name](one).axes[0].get_legend().get_texts()]
            assert ("wall" in texts) == has_walls, (name, texts)


@pytest.mark.slow
def test_a_run_in_the_plane_does_not_say_that_it_draws_the_belief_of_a_ground(run, tmp_path):
    def said(one):
        texts = []
        names = ["overview", "belief_error"]
        save_all(one, tmp_path, ("png",), names=names, progress=lambda text, _: texts.append(text))
        return texts

    plain = covey.Simulation(covey.World.empty(4, 4), stop=covey.Stop(timeout_s=0.3)).run()
    assert said(plain) == ["drawing overview (1 of 1)"]
    assert said(run) == ["drawing overview (1 of 2)", "drawing belief_error (2 of 2)"]


def written(run, monkeypatch):
    """Return what the last image of the animation of a run says, and where each text ends [pixel]."""
    said, draw_text = [], ImageDraw.ImageDraw.text

    def text(draw, at, text, **options):
        said.append((text, draw.textbbox(at, text, font=options["font"], anchor=options.get("anchor"))[2]))
        draw_text(draw, at, text, **options)

    monkeypatch.setattr(ImageDraw.ImageDraw, "text", text)
    image = list(animation_images(run, 1))[-1]
    return said, image.width


def test_the_animation_of_a_formation_shows_who_is_at_its_place_and_notes_that_end_within_it(monkeypatch):
    note = "drives to its place, which is far away and hard to come by, for there are hills on the way, and " * 2

    def stand(robot):
        robot.note(note)
        robot.stop()

    group = covey.Group("rover", skid_steer(), [(-2.0, 0.0, 0.0), (2.0, 0.0, 0.0)], stand)
    mission = Formation(objective_m=(0.0, 0.0), spacing_m=2.0)  # both stand on the ring, on opposite sides
    stop = covey.Stop(timeout_s=0.5)
    ground = Ground.of(np.zeros((21, 21))).world()
    formed = covey.Simulation(ground, [group], mission=mission, stop=stop).run()
    said, width = written(formed, monkeypatch)
    texts = [text for text, _ in said]
    assert texts[1] == "orders met: 1   robots at their places: 2"
    assert not any("explored" in text for text in texts)
    assert [text for text in texts if text.startswith("rover")] != []
    for text, end in said:
        assert end <= width
        assert not text.startswith("rover") or (text.endswith("…") and len(text) > 80)
