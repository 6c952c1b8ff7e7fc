"""The pictures of a run on a ground."""

import numpy as np
import pytest
from PIL import Image

import covey
from covey.results.figures import PICTURES, on_ground, save_all, style
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
    return covey.Simulation(world, [group], events=[mound], stop=covey.Stop(timeout_s=2)).run()


def test_all_pictures_are_written(run, tmp_path):
    names = {path.name for path in save_all(run, tmp_path, kinds=("png",))}
    assert {"belief.png", "belief_error.png", "perspective.png", "film.gif"} <= names
    assert np.asarray(Image.open(tmp_path / "perspective.png")).shape == (720, 1280, 3)


def test_the_film_has_as_many_images_as_asked_for(run):
    assert len(list(on_ground.film(run, 5))) == 5


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


def test_the_film_shows_what_is_mapped_by_then_and_little_sky(run):
    first, *_, last = on_ground.film(run, 6)
    assert marked(last) > marked(first) > 20
    pixels = np.asarray(last.convert("RGB")).astype(int)
    assert (pixels[..., 2] > pixels[..., 0] + 12).mean() < 0.4  # sky, and markers, are bluer than the ground


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
    boxes = [t.get_window_extent() for t in axes.texts if t.get_text() in run.names]
    assert len(boxes) == 2
    assert not boxes[0].overlaps(boxes[1])
    for point in axes.transData.transform(run.poses[0, :, :2]):
        assert not any(box.contains(*point) for box in boxes)
