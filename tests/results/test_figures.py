import io
import stat
import sys
import threading
import xml.etree.ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from PIL import Image

import covey
from covey.cli.app_results import plot
from covey.cli.run import PICTURE_NAMES
from covey.errors import CoveyError, InvalidValueError, RunFolderError, UnknownNameError
from covey.geometry.grid import Grid
from covey.results.figures import (
    NAMES,
    PICTURES,
    coverage_heat,
    exploration_heat,
    overview,
    robot_maps,
    save_all,
    save_animation,
    trajectories,
    union_map,
)
from covey.results.figures.animation import animation_images
from covey.results.figures.caption import captioned
from covey.results.figures.curves import explored_curve, spread
from covey.results.figures.ground import bounds, show_walls
from covey.results.figures.heat import AGES, NEVER_COLOR, age_s
from covey.results.figures.layout import direct_label, map_picture, name_points
from covey.results.figures.style import COLUMN_IN, INK, LINK_COLOR, PAGE_IN, ROBOTS, rgb, robot_color
from covey.results.maps import WALL


@pytest.mark.slow
def test_save_all_writes_every_picture_whole(record, tmp_path):
    run = record(tmp_path / "run", pose_every=5)
    files = save_all(run)
    assert {p.name for p in files} >= {
        f"{name}.{kind}" for name in PICTURES for kind in ("png", "svg") if not name.startswith(("belief", "finds"))
    }
    assert {p.parent for p in files} == {tmp_path / "run" / "figures"}
    assert not list((tmp_path / "run").rglob("*.part"))
    for path in files:
        if path.suffix == ".png":
            with Image.open(path) as image:
                assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)
                assert image.size[0] in (int(300 * COLUMN_IN), int(300 * PAGE_IN)) or path.stem == "robot_maps"
        if path.suffix == ".svg":
            assert ET.parse(path).getroot().tag.endswith("svg")


def test_only_the_pictures_that_were_asked_for_are_drawn_and_it_says_how_far_it_is(record, tmp_path):
    said = []
    run = record(tmp_path / "run", steps=20)
    files = save_all(run, kinds=("png",), names=["overview", "animation"], progress=lambda *told: said.append(told))
    assert [p.name for p in files if p.suffix != ".mp4"] == ["overview.png", "animation.gif"]
    texts = list(dict.fromkeys(text for text, _ in said))
    assert texts == ["drawing overview (1 of 2)", "drawing animation (2 of 2)"]
    shares = [share for _, share in said]
    assert shares == sorted(shares)
    assert (shares[0], 0 <= shares[-1] <= 1) == (0.0, True)
    with pytest.raises(UnknownNameError, match="unknown picture 'overveiw', did you mean 'overview'"):
        save_all(run, names=["overveiw"])


def test_the_command_line_knows_every_picture():
    assert set(PICTURE_NAMES) == set(NAMES)
    assert f"{', '.join(PICTURE_NAMES)}. Default" in " ".join((plot.__doc__ or "").split())  # its help


def test_an_animation_shows_where_each_robot_is_heading(record):
    run = record(steps=30)
    image = np.asarray(list(animation_images(run, 2))[-1].convert("RGB"))
    for i in range(2):
        x, y, heading = run.poses[-1, i]
        middle = np.array([(x + 5) * 64, (5 - y) * 64 + 26])  # 640 pixels are 10 m, under a head of 26
        ahead = (middle + 10 * np.array([np.cos(heading), -np.sin(heading)])).round().astype(int)
        left = (middle + 10 * np.array([-np.sin(heading), -np.cos(heading)])).round().astype(int)
        assert tuple(image[ahead[1], ahead[0]]) == tuple(rgb(ROBOTS[i]))
        assert tuple(image[left[1], left[0]]) != tuple(rgb(ROBOTS[i]))


async def _leaves_a_tag(robot):
    await robot.goto(robot.home @ (1, 0))
    robot.leave_tag("here")
    await robot.goto(robot.home)


def test_tags_that_robots_left_are_in_pictures_and_films():
    run = covey.Simulation(covey.World.empty(10, 10), controller=_leaves_a_tag, stop=covey.Stop(timeout_s=6)).run()
    x, y = run.tags_left.select("x_m", "y_m").row(0)
    drawn = [line for line in trajectories(run).axes[0].lines if line.get_marker() == "D"]
    assert [(line.get_xdata().tolist(), line.get_ydata().tolist()) for line in drawn] == [([x], [y])]
    pixels = [np.asarray(image.convert("RGB"))[: 26 + 640] for image in animation_images(run)]  # without the legend
    yellow = [(image == rgb(LINK_COLOR)).all(axis=-1).any() for image in pixels]
    assert not yellow[0]
    assert yellow[-1]


def test_the_colours_of_a_heat_map_reach_from_the_start_of_a_short_run_to_its_end(record):
    run = record()  # 10 s
    picture = coverage_heat(run)
    bar = picture.axes[1]
    assert sorted(bar.get_ylim()) == pytest.approx([0.0, 10.0])
    assert bar.get_ylabel() == "last covered [s before the end]"
    blue = tuple(round(255 * c) for c in AGES(154 / 255)[:3])  # covered at 4 s of 10: 0.6 x 255 = 153
    cell = tuple(int(v) for v in picture.axes[0].images[0].get_array()[5, 5])
    assert cell == pytest.approx(blue, abs=3)


def test_the_legend_of_a_heat_map_leaves_the_scale_bar_free():
    floor, closed = [[0, 0], [50, 0], [50, 50], [0, 50]], [[5, 5], [15, 5], [15, 15], [5, 15], [5, 5]]
    world = covey.World.polygons(floor, walls_m=[closed], border="open", wall_m=1, resolution_m=0.5)
    run = covey.Simulation(world, controller=lambda robot: robot.drive(0.5), stop=covey.Stop(timeout_s=0.5)).run()
    axes = coverage_heat(run).axes[0]
    legend, scale = axes.get_legend().get_window_extent(), axes.texts[0].get_window_extent()
    assert len(axes.get_legend().texts) == 3
    assert not legend.overlaps(scale)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["png", "svg"])
def test_picture_has_the_same_bytes_each_time_and_in_threads(record, kind):
    run = record()
    expected = overview(run).to_bytes(kind)
    found = []
    threads = [threading.Thread(target=lambda: found.append(overview(run).to_bytes(kind))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected, expected]


def test_drawing_leaves_matplotlib_as_it_was(record, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = dict(mpl.rcParams)
    record().plot().to_bytes("svg")
    assert dict(mpl.rcParams) == before
    assert mpl.rcParams["svg.hashsalt"] is None


def test_names_of_robots_stand_in_the_picture_up_to_twelve(record):
    texts = {n: {t.get_text() for t in trajectories(record(n=n, steps=5)).axes[0].texts} for n in (12, 13)}
    assert {f"a{i}" for i in range(12)} <= texts[12]
    assert not any(t.startswith("a") for t in texts[13])
    assert "2 m" in texts[12]  # scale bar: a fifth of the 10 m world


@pytest.mark.parametrize("yaw", [0.0, 0.3])
def test_names_hide_no_wall(yaw):
    cells = np.zeros((40, 100), np.uint8)
    cells[:, ::7] = WALL  # a name has no place without one
    world = Grid(cells, 0.1, (0.0, 0.0, yaw))
    points, names = world.to_world([(20, 30), (20, 60)]), ["scout0", "scout1"]

    def drawn(named):
        picture, axes = map_picture((-2.0, 11.0, -1.0, 7.0))
        show_walls(axes, world, zorder=0.0)
        if named:
            name_points(axes, points, names, ["#0072B2", "#D55E00"], cells=world)
        picture.canvas.draw()
        return np.asarray(picture.canvas.buffer_rgba())[..., :3].astype(int)

    plain, named = drawn(False), drawn(True)
    assert (plain != named).any()
    walls = named[plain.sum(axis=2) < 200].sum(axis=1)  # white has 765, the brightest name 364
    assert (walls > 600).mean() < 0.001  # at edges of cells, whose place is rounded


def test_a_name_goes_where_no_wall_is():
    cells = np.zeros((40, 100), np.uint8)
    cells[:, 52:] = WALL
    picture, axes = map_picture((0.0, 10.0, 0.0, 4.0))
    name_points(axes, np.array([(5.0, 2.0)]), ["scout0"], ["#000000"], cells=Grid(cells, 0.1))
    (x, _), *_ = [text.xyann for text in axes.texts]
    assert x < 0  # to the left of its point; without the wall it is to the right
    assert picture is not None


def test_names_of_robots_at_one_place_keep_apart(record):
    picture = trajectories(record(n=1, steps=5))
    axes = picture.axes[0]
    direct_label(axes, 0.0, 0.0, "1", "#000000", xytext=(4.0, 3.0))  # as the number of a target there
    before = len(axes.texts) - 1
    name_points(axes, np.zeros((4, 2)), ["scout0", "scout1", "scout2", "scout3"], ["#000000"] * 4)
    boxes = [t.get_window_extent() for t in axes.texts[before:]]
    apart = [not a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i]]
    assert all(apart)


def test_the_line_from_a_name_to_its_robot_crosses_no_other(record):
    """Three robots near each other, and a number on the right of them."""
    axes = trajectories(record(n=1, steps=5)).axes[0]
    axes.set(xlim=(-6, 6), ylim=(-4, 4))
    for text in [*axes.texts]:
        text.remove()
    direct_label(axes, 5.7, 1.0, "12", "#000000", xytext=(4.0, 3.0))
    points = np.array([(3.9, 1.3), (5.0, 1.27), (4.4, 1.9)])
    name_points(axes, points, ["searcher0", "searcher1", "searcher2"], ["#000000"] * 3)
    axes.figure.canvas.draw()
    pixels = axes.transData.transform(points)
    for i, text in enumerate(axes.texts[1:]):
        if text.arrow_patch is not None:
            robot = np.argmin(np.hypot(*(pixels - axes.transData.transform(text.xy)).T))
            way = text.arrow_patch.get_window_extent()
            others = np.delete(pixels, robot, axis=0)
            assert not any(way.contains(*p) for p in others), i


def test_a_goal_is_drawn_only_if_the_run_has_it(record):
    def lines(goal):
        axes = explored_curve(record(goal=goal)).axes[0]
        return [line.get_ydata()[0] for line in axes.lines if line.get_linestyle() == "--"], axes.get_legend().texts

    dashed, entries = lines({"explored_share": 0.9})
    assert dashed == [pytest.approx(90.0)]
    assert entries[0].get_text().startswith("90 %")
    assert lines({"explored_share": None}) == ([], [])


def test_heat_map_is_red_where_just_seen_blue_where_old_beige_where_never(record, square_maps):
    run = record()
    run.maps = square_maps()
    run.maps.last_explored[5, 5:8] = (100, 0, -1)
    run.times = run.steps * 3.0  # the run took 300 s: step 0 is more than four minutes ago
    image = exploration_heat(run).axes[0].images[0].get_array()
    red, blue = (tuple(round(255 * c) for c in AGES(v)[:3]) for v in (0.0, 1.0))
    assert [tuple(image[5, c]) for c in (5, 6, 7)] == [red, blue, tuple(rgb(NEVER_COLOR))]
    assert red[0] > 2 * red[2]
    assert blue[2] > 2 * blue[0]


def test_age_is_counted_back_from_the_end(record):
    run = record()
    assert age_s(run, np.array([100, 40])).tolist() == pytest.approx([0.0, 6.0])
    assert np.isnan(age_s(run, np.array([-1]))).all()


def test_heat_colours_can_be_told_apart_without_colour():
    r, g, b, _ = AGES(np.linspace(0, 1, 20)).T
    lightness = 0.2126 * r**2.2 + 0.7152 * g**2.2 + 0.0722 * b**2.2
    assert (np.diff(lightness) < 0).all()


def test_pictures_without_maps_are_left_out(record, tmp_path):
    run = record(tmp_path / "run", maps=False, steps=10)
    assert [f(run) for f in (union_map, robot_maps, exploration_heat, coverage_heat)] == [None] * 4
    names = {p.name for p in save_all(run, tmp_path / "pictures")}
    assert names == {f"{n}.{k}" for n in ("overview", "trajectories", "explored_share") for k in ("png", "svg")}


def test_animation_shows_start_to_end(record, tmp_path):
    run = record(tmp_path / "run")
    path = save_animation(run, tmp_path / "a.gif", frames=20)
    with Image.open(path) as image:
        assert image.n_frames == 20
        assert max(image.size) <= 710
        white = []
        for k in (0, 19):
            image.seek(k)
            white.append(np.all(np.asarray(image.convert("RGB")) == 255, axis=-1)[26:].mean())
    assert white[0] < 0.2  # two of 38 rows have been seen after the first step
    assert white[1] > 0.85


def test_a_run_is_animated_into_the_file_that_is_asked_for(record, tmp_path, monkeypatch):
    run = record(steps=5)
    path = run.animate(tmp_path / "run.gif")
    with Image.open(path) as image:
        assert image.n_frames == 5
    with pytest.raises(InvalidValueError, match=r"give a file that ends with .gif or .mp4"):
        run.animate(tmp_path / "run.avi")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CoveyError, match="needs the program ffmpeg, and there is none in PATH; install it"):
        run.animate(tmp_path / "run.mp4")
    with pytest.raises(RunFolderError, match="No such file or directory"):
        run.animate(tmp_path / "missing" / "run.gif")


def test_a_film_has_its_caption_below(record, tmp_path):
    run = record(steps=3)
    plain, told = (
        run.animate(tmp_path / "a.gif"),
        run.animate(tmp_path / "b.gif", caption="Two robots.\n" + "word " * 90),
    )
    with Image.open(plain) as one, Image.open(told) as other:
        assert one.n_frames == other.n_frames
        assert other.width == one.width
        assert other.height > one.height + 5 * 15, "it has several lines"
        pixels = np.asarray(other.convert("RGB"))
        assert np.array_equal(pixels[: one.height], np.asarray(one.convert("RGB")))
        assert 0.02 < (pixels[one.height :] == rgb(INK)).all(axis=-1).mean() < 0.3
    with pytest.raises(InvalidValueError, match="the caption has 501 letters; give at most 500"):
        run.animate(tmp_path / "a.gif", caption="x" * 501)


@pytest.mark.parametrize("mode", ["RGB", "P"])
def test_a_caption_fits_into_any_image(mode):
    image = Image.new("RGB", (90, 40), (200, 30, 30))
    image = image if mode == "RGB" else image.quantize(2)
    (one,) = captioned([image], "W" * 40)
    assert (one.mode, one.width) == (mode, 90)
    assert one.height > 40 + 4 * 14
    assert list(captioned([image], " ")) == [image]


def test_animation_needs_maps_and_an_encoder(record, tmp_path, monkeypatch):
    assert save_animation(record(maps=False), tmp_path / "a.gif") is None
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CoveyError, match="there is none in PATH"):
        save_animation(record(), tmp_path / "a.mp4")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in encoder is a shell script")
@pytest.mark.parametrize("works", [True, False])
def test_mp4_is_piped_to_ffmpeg_and_gets_its_name_when_whole(record, tmp_path, monkeypatch, works):
    program = tmp_path / "bin" / "ffmpeg"
    program.parent.mkdir()
    body = "import sys\ndata = sys.stdin.buffer.read()\nopen(sys.argv[-1], 'wb').write(b'%d' % len(data))\n"
    program.write_text(f"#!{sys.executable}\n{body}" + ("" if works else "sys.exit('no libx264')\n"))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(program.parent))
    if works:
        assert save_animation(record(), tmp_path / "a.mp4", frames=10, per_second=4) == tmp_path / "a.mp4"
    else:
        with pytest.raises(CoveyError, match="ffmpeg failed: no libx264"):
            save_animation(record(), tmp_path / "a.mp4", frames=10, per_second=4)
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == (["a.mp4"] if works else [])
    if works:  # 10 frames, and the last one held for 2.5 s; a head of 26 pixels, a line of notes of 18
        assert int((tmp_path / "a.mp4").read_bytes()) == 20 * 640 * (26 + 640 + 36) * 3


def test_the_animation_shows_what_the_robots_say(record, tmp_path):
    save_animation(record(), tmp_path / "a.gif", frames=3)
    with Image.open(tmp_path / "a.gif") as image:
        image.seek(2)
        notes = np.asarray(image.convert("RGB"))[26 + 640 :]
    assert (notes < 250).any(axis=-1).mean() > 0.005


def test_labels_are_spread_by_the_least():
    assert spread([10.0, 10.0, 10.0, 50.0], 3.0) == [7.0, 10.0, 13.0, 50.0]
    assert spread([], 1.0) == []
    assert spread([1.0, 0.0, 2.0], 3.0) == [3.0, 0.0, 6.0]  # none below the axis


def test_robot_colours_differ_for_any_team():
    for n in (1, 8, 30):
        assert len({robot_color(i, n) for i in range(n)}) == n
    assert robot_color(0, 3) == ROBOTS[0]


def test_turned_world_is_drawn_in_the_world_frame(record, square_maps):
    run = record()
    maps = square_maps(yaw=np.pi / 6)
    assert bounds(maps.truth) == pytest.approx(
        (
            -5 - 10 * np.sin(np.pi / 6),
            -5 + 10 * np.cos(np.pi / 6),
            -5,
            -5 + 10 * (np.sin(np.pi / 6) + np.cos(np.pi / 6)),
        )
    )
    run.maps = maps
    picture = trajectories(run)
    data = np.asarray(Image.open(io.BytesIO(picture.to_bytes("png"))).convert("L"))
    axes = picture.axes[0]
    corner = axes.transData.transform((-5 + 0.1 * np.sqrt(0.75) - 0.05, -5 + 0.05 + 0.1 * np.sqrt(0.75)))
    assert data[data.shape[0] - int(corner[1]), int(corner[0])] < 100  # wall at the turned corner


@pytest.mark.slow
def test_team_that_cannot_see_is_drawn_without_what_was_seen(record, square_maps, tmp_path):
    run = record(tmp_path / "run", steps=20)
    run.maps = square_maps()
    run.maps.explorable[:] = False
    run.maps.robots, run.maps.union = [None, None], None
    assert run.poses.shape == (20, 2, 3)
    run.series = lambda name: np.full(20 if name.endswith("union") else (20, 2), np.nan)
    names = {"overview", "trajectories", "coverage_heat", "explored_share", "animation"}
    assert {p.stem for p in save_all(run)} == names


def test_a_picture_is_chosen_by_name_and_file(record, tmp_path, capsys):
    run = record(steps=20)
    picture = run.plot("trajectories", tmp_path / "paths.pdf")
    assert (tmp_path / "paths.pdf").read_bytes() == picture.to_bytes("pdf")
    assert capsys.readouterr().out == f"picture: {tmp_path / 'paths.pdf'}\n"
    with pytest.raises(UnknownNameError, match="did you mean 'trajectories'"):
        run.plot("trajectory")
    with pytest.raises(InvalidValueError, match=r"\.png, \.svg, \.pdf"):
        run.plot(path=tmp_path / "paths.jpg")
    with pytest.raises(InvalidValueError, match="'belief': this run has no data for it"):
        run.plot("belief", tmp_path / "belief.pdf")
    assert [path.name for path in tmp_path.iterdir()] == ["paths.pdf"]


def test_a_picture_for_ieee_is_a_column_wide_in_vectors_with_fonts_and_without_a_title(record, tmp_path, capsys):
    run = record(tmp_path / "run", steps=20)
    picture = run.plot("explored_share", style="ieee")
    written = (run.folder / "figures" / "explored_share.pdf").read_bytes()
    assert written == picture.to_bytes("pdf")
    assert written.startswith(b"%PDF")
    assert b"/FontFile2" in written
    assert b"/Type3" not in written
    assert picture.get_size_inches()[0] == COLUMN_IN
    assert not [axes.get_title() for axes in picture.axes if axes.get_title()]
    with pytest.raises(UnknownNameError, match="unknown style 'acm'"):
        run.plot(style="acm")
    with pytest.raises(UnknownNameError, match="unknown style '3'"):
        run.plot(style=3)
