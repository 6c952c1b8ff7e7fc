import io
import math

import numpy as np
import pytest
from PIL import Image

from covey.results.figures import style
from covey.results.figures.animation import save_images
from covey.results.figures.hillshade import SUN, hill_shade, shaded, tinted
from covey.results.figures.landscape import (
    DROP_COLOR,
    OBSTACLE_COLOR,
    PathPicture,
    knowledge_curve,
    landscape_page,
    markers,
)
from covey.results.figures.landscape_film import film_frames, overlooking, shots
from covey.results.figures.scene import Camera, Dots, RobotShapes, still
from covey.results.landscape import Believed
from covey.world.editing.ground_edits import crater
from covey.world.generators.grounds import flat, hills

RED = "#D81020"


def slope(dx, dy, n=9):
    x, y = np.meshgrid(np.arange(n), np.arange(n))
    return dx * x + dy * y.astype(float)


@pytest.mark.parametrize(("dx", "dy"), [(0, 0), (0.5, -0.5), (-0.5, 0.5), (0.2, 0.1), (3.0, -3.0)])
def test_hill_shading_is_the_cosine_of_the_angle_to_the_sun(dx, dy):
    normal = np.array([-dx, -dy, 1]) / math.sqrt(1 + dx * dx + dy * dy)
    light = hill_shade(slope(dx, dy) * 2.0, 2.0)
    np.testing.assert_allclose(light[1:-1, 1:-1], max(float(normal @ SUN), 0.0))


def test_what_is_not_known_has_no_shade_and_darkens_nothing_beside_it():
    altitude = slope(0.1, 0.0)
    altitude[4, 4] = np.nan
    light = hill_shade(altitude, 1.0)
    assert np.isnan(light[4, 4])
    np.testing.assert_allclose(np.delete(light[1:-1, 1:-1].ravel(), 24), light[1, 1])
    assert shaded(altitude, 1.0)[4, 4].tolist() == style.rgb(style.UNKNOWN_COLOR).tolist()
    assert shaded(np.full((3, 3), np.nan), 1.0).tolist() == tinted(np.full((3, 3), np.nan), (0, 1)).tolist()


def near(picture, color, most=90):
    """Pixels whose hue is that of a colour, whatever the light."""
    wanted = style.rgb(color).astype(float)
    share = (picture @ wanted) / (wanted @ wanted)
    off = np.linalg.norm(picture - np.clip(share, 0.3, 1.2)[..., None] * wanted, axis=-1)
    return off < most / 4


def test_a_point_is_where_the_ray_of_its_pixel_goes():
    camera = Camera((3.0, -4.0, 6.0), (0.5, 1.0, 0.0), fov_deg=50, size=(40, 30))
    rays = camera.rays().reshape(30, 40, 3)
    for row, column in ((0, 0), (12, 33), (29, 5)):
        at, ahead = camera.project(camera.eye + 7.5 * rays[row, column][None])
        np.testing.assert_allclose(at, [[column + 0.5, row + 0.5]], atol=1e-9)
        assert 0 < ahead[0] <= 7.5
    assert np.isnan(camera.project(np.array([[6.0, -9.0, 12.0]]))[1])  # behind
    down = Camera((0, 0, 9), (0, 0, 0), size=(40, 30))
    u, v = down.project(np.array([[1.0, 2.0, 0.0]]))[0][0]
    assert (u > 20, v < 15) == (True, True)  # from above, east is right and north is up


def test_a_still_shows_ground_sky_and_robots_where_they_are():
    ground = flat(size_m=(40, 40))
    camera = Camera.over((0, 0, 0), 6.0, size=(160, 90))
    pose = np.array([[0.5, 0.3, 0.2, 0.0, 0.0, 0.7], [-1.0, -1.0, 0.2, 0.3, -0.2, 0.0]])
    robots = RobotShapes(pose, (0.8, 0.6, 0.4), [RED, RED])
    picture = still(ground.altitude, ground.frame, camera, bodies=[robots])
    assert picture.shape == (90, 160, 3)
    red, at = near(picture, RED), camera.project(pose[:, :3])[0]
    assert all(red[int(v), int(u)] for u, v in at)
    assert 0.005 < red.mean() < 0.1
    bare = still(ground.altitude, ground.frame, camera)
    assert np.ptp(bare.reshape(-1, 3), axis=0).max() <= 1  # a level plane in one light
    assert not near(bare, RED).any()
    high = Camera((0, -30, 3), (0, 0, 3), size=(64, 36))
    above, below = still(ground.altitude, ground.frame, high)[[2, -2], 32].astype(int)
    assert above[2] > above[0]  # blue
    assert below[0] > below[2]


def test_what_is_behind_a_ridge_is_hidden():
    ground = flat(size_m=(40, 40))
    altitude = ground.altitude.copy()
    altitude[20:22] = 4.0
    camera = Camera((0.0, -15.0, 2.0), (0.0, 0.0, 1.0), size=(120, 80))
    behind = RobotShapes(np.array([[0.0, 6.0, 0.3, 0, 0, 0]]), (1.0, 1.0, 0.6), [RED])
    dots = Dots(np.array([[2.0, 6.0, 0.3]]), style.rgb(RED)[None], 0.3, 2.0)
    assert near(still(ground.altitude, ground.frame, camera, bodies=[behind]), RED).any()
    assert near(still(ground.altitude, ground.frame, camera, dots=[dots]), RED).any()
    assert not near(still(altitude, ground.frame, camera, bodies=[behind], dots=[dots]), RED).any()


@pytest.mark.parametrize("heading", [0.0, 1.5, 3.0, -1.2])
@pytest.mark.parametrize("wide_m", [6.0, 250.0])
def test_robots_are_seen_from_far_away_too_and_their_white_nose_is_ahead(heading, wide_m):
    ground = flat(size_m=(200, 200))
    camera = Camera.over((0, 0, 0), wide_m, elevation_deg=50.0, size=(320, 200))
    robot = RobotShapes(np.array([[0.0, 0.0, 0.1, 0, 0, heading]]), (0.3, 0.2, 0.1), [RED])
    picture = still(ground.altitude, ground.frame, camera, bodies=[robot])
    bare = still(ground.altitude, ground.frame, camera)
    body = np.abs(picture.astype(int) - bare).max(axis=-1) > 8
    red, white = body & near(picture, RED), body & (np.ptp(picture, axis=-1) < 40)
    assert 60 <= body.sum() <= 400  # a box 12 pixels long at least, 8 wide, seen from above
    assert min(red.sum(), white.sum()) >= 10
    np.testing.assert_allclose(np.argwhere(body).mean(axis=0) + 0.5, (100, 160), atol=4.0)
    ahead = camera.project(np.array([[0.0, 0, 0], [0.01 * math.cos(heading), 0.01 * math.sin(heading), 0]]))[0]
    way = ahead[1] - ahead[0]
    to_nose = (np.argwhere(white).mean(axis=0) - np.argwhere(red).mean(axis=0))[::-1]
    assert to_nose @ way > 0.7 * np.linalg.norm(to_nose) * np.linalg.norm(way)


def test_a_marker_in_a_robot_does_not_hide_it():
    ground = flat(size_m=(20, 20))
    camera = Camera.over((0, 0, 0), 6.0, elevation_deg=50.0, size=(320, 200))
    robot = RobotShapes(np.array([[0.0, 0.0, 0.1, 0, 0, 0.0]]), (0.3, 0.2, 0.1), [RED])
    marker = Dots(np.array([[0.0, 0.0, 0.0]]), style.rgb("#0000FF")[None], 0.6)  # a ball around the robot
    alone = still(ground.altitude, ground.frame, camera, bodies=[robot])
    both = still(ground.altitude, ground.frame, camera, bodies=[robot], dots=[marker])
    red = near(alone, RED)
    assert red.sum() >= 50
    np.testing.assert_array_equal(both[red], alone[red])


def test_a_camera_fills_its_picture_with_what_it_is_to_see():
    points = np.array([[0.0, 0, 1], [30, 2, 4], [12, -6, 0], [5, 9, 2]])
    for size in ((640, 400), (300, 500)):
        at = Camera.seeing(points, size=size).project(points)[0]
        low, high = at.min(axis=0), at.max(axis=0)
        np.testing.assert_allclose((low + high) / 2, np.array(size) / 2, atol=2.0)
        assert ((high - low) / size).max() == pytest.approx(0.9, abs=0.01)


def test_a_film_follows_the_team_and_shows_all_of_it_large():
    # Five robots, at most 5 m apart, on a way of 100 m.
    along = np.linspace(-50, 50, 60)
    around = np.array([(0.0, 0, 0), (3, 0, 0), (-1, 2, 0), (0, -2, 0), (1, 2.5, 0)])
    places = np.stack((along, 5 * np.sin(along / 10), 0 * along), axis=-1)[:, None] + around
    cameras, size = shots(places, (640, 400)), np.array((640, 400))
    assert len(cameras) == 60
    for camera, robots in zip(cameras, places, strict=True):
        at = camera.project(robots)[0]
        assert ((at > 0) & (at < size)).all()
        assert (np.ptp(at, axis=0) / size).max() > 0.1  # all of the way in one picture: below 0.04
    assert 5 <= len(set(map(id, cameras))) <= 12  # it stands still between: what moves are the robots


def test_hills_throw_shadows():
    ground = flat(size_m=(40, 40))
    altitude = ground.altitude.copy()
    altitude[25:27, 15:17] = 6.0  # the sun is in the north-west: the shadow falls to the south-east
    camera = Camera((0.0, -0.1, 60.0), (0.0, 0.0, 0.0), size=(80, 80))
    picture = still(altitude, ground.frame, camera).astype(int)

    def light(x, y):
        (u, v), _ = camera.project(np.array([[x, y, 0.0]]))[0][0], None
        return picture[int(v), int(u)].sum()

    assert light(-1.5, 3.0) < 0.8 * light(-8.0, 9.0)


def known():
    ground = hills(size_m=(30, 20), seed=2)
    x, y = np.meshgrid(np.arange(31), np.arange(21))
    marks = np.where(np.hypot(x - 12, y - 10) < 7, 1, 0)
    marks[10, 20], marks[12, 20] = 2, 3
    altitude = np.where(marks == 1, ground.altitude + 0.01, np.nan)
    return ground, Believed(altitude, np.where(marks == 1, 0.02, 1.0), marks, np.zeros_like(marks))


@pytest.mark.slow
def test_pages_have_the_same_bytes_each_time_and_show_what_is_known():
    ground, belief = known()
    ways = PathPicture(
        np.stack([np.linspace((-8, -3), (2, 1), 20), np.linspace((-6, 3), (3, 2), 20)], axis=1), ["a", "b"]
    )
    page = landscape_page(ground.altitude, ground.frame, belief, ways)
    assert page.to_bytes("png") == landscape_page(ground.altitude, ground.frame, belief, ways).to_bytes("png")
    pixels = np.asarray(Image.open(io.BytesIO(page.to_bytes("png"))).convert("RGB"))
    for color in (DROP_COLOR, OBSTACLE_COLOR, style.UNKNOWN_COLOR):
        assert (pixels == style.rgb(color)).all(axis=-1).sum() > 30
    labels = {text.get_text() for axes in page.axes for text in (axes.yaxis.label, axes.xaxis.label, *axes.texts)}
    assert {"altitude [m]", "belief [m]", "belief minus truth [m]", "± 95 % interval [m]", "a", "b"} <= labels
    left, right = page.axes[0].get_xlim()
    assert -15.5 <= left < -9
    assert 2 < right < 8  # it shows what is mapped, not all of the 30 m


def test_markers_stand_at_the_believed_altitude_lifted_when_above_the_ground():
    ground, belief = known()
    altitude = belief.altitude.copy()
    altitude[10, 20] = ground.altitude[10, 20] - 5.0  # the drop
    dots = markers(belief._replace(altitude=altitude), ground.altitude, ground.frame)
    there = np.argwhere(~np.isnan(altitude))
    np.testing.assert_allclose(dots.points[:, :2], ground.vertices()[there[:, 0], there[:, 1], :2])
    lifted = dots.points[:, 2] - ground.altitude[there[:, 0], there[:, 1]]
    drop = (there == (10, 20)).all(axis=1)
    np.testing.assert_allclose(lifted, np.where(drop, -5.0, 0.51))
    assert (dots.colors[drop] == style.rgb(DROP_COLOR)).all()


@pytest.mark.slow
def test_pages_of_nothing_known_and_of_a_flat_ground():
    ground = flat(size_m=(9, 9))
    nothing = Believed(*2 * [np.full((10, 10), np.nan)], *2 * [np.zeros((10, 10), int)])
    ones = np.ones((10, 10), int)
    for belief in (nothing, Believed(ground.altitude, 0.01 * ones, ones, 0 * ones)):
        assert landscape_page(ground.altitude, ground.frame, belief).to_bytes("png")


def test_the_curves_say_when_the_ground_changed():
    times = np.linspace(0, 20, 50)
    share = np.stack((times / 40, times / 30), axis=1)
    picture = knowledge_curve(times, share, 0.1 - share / 10, ["a", "b"], [12.5])
    assert [line.get_xdata()[0] for line in picture.axes[1].lines if len(set(line.get_xdata())) == 1] == [12.5]
    entries = [text.get_text() for text in picture.axes[0].get_legend().get_texts()]
    assert entries == ["a", "b", "ground changes"]
    assert knowledge_curve(np.empty(0), np.empty((0, 1)), np.empty((0, 1)), ["a"]).to_bytes("png")


def test_a_film_shows_the_ground_as_it_changes(tmp_path):
    before = flat(size_m=(30, 30))
    after = before.edited(crater(before, (0.0, 2.0), 2.0, 5.0))
    steps = np.arange(40)
    poses = np.zeros((40, 2, 6))
    poses[:, :, 0] = np.linspace(-5, 5, 40)[:, None]
    poses[:, 1, 1], poses[:, :, 2] = -2.0, 0.1
    camera = overlooking(poses[..., :3].reshape(-1, 3), (160, 100))

    def at(step):
        return after.altitude if step >= 20 else before.altitude

    def film():
        return list(film_frames(at, before.frame, steps, steps * 0.5, poses, (0.5, 0.4, 0.2), camera=camera, frames=6))

    images = film()
    assert len(images) == 6
    assert [i.tobytes() for i in images] == [i.tobytes() for i in film()]
    early, late = (np.asarray(images[k].convert("RGB")).astype(int) for k in (2, 3))
    other = (np.abs(early - late).max(axis=-1) > 10).sum()
    moved = (np.abs(early - np.asarray(images[1].convert("RGB"))).max(axis=-1) > 10).sum()
    assert other > moved + 300  # besides robots and ways
    assert near(np.asarray(images[-1].convert("RGB")), style.robot_color(0, 2)).sum() > 20
    path = save_images(images, tmp_path / "film.gif", 12.0)
    with Image.open(path) as gif:
        assert gif.n_frames == 6
    assert list(film_frames(at, before.frame, steps[:0], steps[:0], poses[:0], (1, 1, 1))) == []
