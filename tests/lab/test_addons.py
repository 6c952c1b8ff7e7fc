"""Add-ons of `covey.play`."""

import sys
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

import covey
from covey import registry

SQUARE = [(0, 0), (10, 0), (10, 10), (0, 10)]
TWO = [(2, 5, 0), (8, 5, 0)]


def play(law, addons, starts=TWO, **settings):
    return covey.play(
        law, addons=addons, **({"starts": starts, "robots": len(starts), "stop_s": 0.3, "speed": "max"} | settings)
    )


def stand(team):
    return 0.0, 0.0


class Ahead:
    """Each robot's x after one more second."""

    def begin(self, team):
        self.count = 0

    def step(self, team):
        self.count += 1
        return team.position[:, 0] + team.velocity[:, 0] + 100 * self.count

    def draw(self, canvas):
        canvas.points([(1, 2), (3, 4)], "red", 5)
        canvas.lines([(0, 0), (1, 1), (2, 0)])
        canvas.polygons([[(0, 0), (1, 0), (0, 1)], [(5, 5), (6, 5), (5, 6), (4, 6)]], "blue", fill=0.2)
        canvas.arrows([(1, 1)], [(0.5, 0)])
        canvas.field([[1.0, 2.0]], within=(0, 2, 0, 1))
        canvas.text((4, 4), f"{canvas.data[0]:.1f}")


def test_a_law_reads_what_an_addon_gives_at_the_same_time():
    seen = []

    def law(team):
        seen.append(team.ahead.tolist())
        return 0.5, 0.0

    out = play(law, [Ahead])
    # at 0 s they stand; then they go 0.5 m/s east, 0.05 m in each step of 0.1 s
    assert np.allclose(seen, [[102, 108], [202.55, 208.55], [302.6, 308.6]])
    assert np.allclose(out.data["ahead"], [*seen, [402.65, 408.65]])


def test_what_is_drawn_is_recorded_at_each_time():
    out = play(stand, [Ahead()])
    assert len(out.marks) == len(out.time) == 4
    assert [mark.text for marks in out.marks for mark in marks if mark.kind == "text"] == [
        "102.0",
        "202.0",
        "302.0",
        "402.0",
    ]
    points, lines, polygons, arrows, field, _ = out.marks[-1]
    assert (points.parts[0].tolist(), points.color, points.width) == ([[1, 2], [3, 4]], "red", 5)
    assert lines.parts[0].tolist() == [[0, 0], [1, 1], [2, 0]]
    assert ([len(part) for part in polygons.parts], polygons.fill) == ([3, 4], 0.2)
    assert [part.tolist() for part in arrows.parts] == [[[1, 1]], [[0.5, 0]]]
    assert [part.tolist() for part in field.parts] == [[[1, 2]], [0, 2, 0, 1]]


def test_pictures_and_films_show_what_is_drawn(tmp_path):
    out = play(stand, [Ahead()])
    axes = out.plot().axes[0]
    assert "402.0" in [text.get_text() for text in axes.texts]
    corners = [patch.get_xy()[:-1].tolist() for patch in axes.patches if hasattr(patch, "get_xy")]
    assert [[5, 5], [6, 5], [5, 6], [4, 6]] in corners
    assert [0, 2, 0, 1] in [list(image.get_extent()) for image in axes.images]
    assert out.film(tmp_path / "run.gif", 0.2).stat().st_size > 0


def test_only_declared_data_are_seen():
    @covey.law(sees=("position", "centroid"))
    def declared(team):
        assert team.centroid.tolist() == [5, 5]
        return 0.0, 0.0

    @covey.law(sees=("position",))
    def undeclared(team):
        assert "centroid" not in team.fields
        return 0.0 * team.centroid[0], 0.0

    play(declared, ["centroid"])
    with pytest.raises(covey.ControllerError, match="does not see 'centroid', only: position; declare it"):
        play(undeclared, ["centroid"])


def test_the_law_of_a_robot_sees_declared_data_whole():
    met = []

    @covey.law(graph=covey.graphs.complete(), sees=("centroid",))
    def declared(me):
        met.append(me.centroid.tolist())
        return 0.0, 0.0

    @covey.law(graph=covey.graphs.complete())
    def undeclared(me):
        return me.centroid[0], 0.0

    play(declared, ["centroid"], stop_s=0.1)
    assert met == [[5, 5], [5, 5]]
    with pytest.raises(covey.ControllerError, match="does not see 'centroid'"):
        play(undeclared, ["centroid"])


def test_a_law_cannot_change_the_data():
    def law(team):
        team.centroid[0] = 7.0
        return 0.0, 0.0

    with pytest.raises(covey.ControllerError, match="read-only"):
        play(law, ["centroid"])


def test_a_mixed_team_has_one_set_of_data():
    seen = []

    def law(team):
        seen.append(team.centroid.tolist())
        return 0.0, 0.0

    robots = [{"starts": [(2, 5, 0)]}, {"starts": [(8, 6, 0)], "kinematics": "holonomic"}]
    covey.play(law, robots, addons=["centroid"], stop_s=0.1, speed="max")
    assert seen == [[5, 5.5]]


@pytest.mark.parametrize("part", ["begin", "step", "draw"])
def test_an_error_names_the_file_and_the_line(tmp_path, monkeypatch, part):
    file = tmp_path / "mine.py"
    file.write_text(f"class Mine:\n    def {part}(self, given):\n        x = 1\n        return x / 0\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(covey.ControllerError) as caught:
        play(stand, ["mine.py:Mine"])
    assert str(caught.value) == f"add-on 'mine': {file}:4 in {part}: ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        ("canvas.points([1, 2, 3])", "give x, y [m] of each"),
        ("canvas.lines([(0, 0)], 'reddish')", "'reddish' is no colour"),
        ("canvas.arrows([(0, 0)], [(1, 1), (2, 2)])", "1 beginnings and 2 ways"),
        ("canvas.field(3)", "give a function of points"),
        ("canvas.text((1, 1), 'a' * 201)", "201 letters; at most 200 are drawn"),
        ("canvas.text([(1, 1), (2, 2)], 'a')", "2 places; give one"),
        ("canvas.points([(1, 1)], size=float('nan'))", "nan is no width; give 0 to 100 points"),
        ("canvas.lines([(1, 1), (2, 2)], width='wide')", "'wide' is no number"),
        ("canvas.polygons([(1, 1), (2, 2), (3, 1)], fill=2)", "fill is 2.0; give an opacity from 0 to 1"),
        ("canvas.points([(1, 1)] * 600000)", "1200000 numbers; at most 1000000 are drawn"),
        ("list(map(canvas.points, [(1, 1)] * 10001))", "more than 10000 marks at one time"),
    ],
)
def test_wrong_marks(tmp_path, monkeypatch, draw, said):
    (tmp_path / "mine.py").write_text(f"class Mine:\n    def draw(self, canvas):\n        {draw}\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(covey.ControllerError) as caught:
        play(stand, ["mine.py:Mine"])
    assert "mine.py:3 in draw" in str(caught.value)
    assert said in str(caught.value)


class Position:
    def step(self, team):
        return 0


@pytest.mark.parametrize(
    ("addons", "said"),
    [
        (["centroyd"], "did you mean 'centroid'"),
        ([Position], "cannot be called 'position'"),
        (["centroid", covey.addons.Centroid], "two add-ons are called 'centroid'"),
        ([stand], "is no add-on"),
        (["obstacles"], "'obstacles' cannot be made"),
    ],
)
def test_wrong_addons(addons, said):
    with pytest.raises(covey.CoveyError, match=said):
        play(stand, addons)


def test_an_installed_package_hands_on_an_addon(tmp_path, monkeypatch):
    (tmp_path / "outside.py").write_text("class Twice:\n    def step(self, team):\n        return 2 * team.position\n")
    info = tmp_path / "outside-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[covey.addon]\ndoubled = outside:Twice\n")
    monkeypatch.syspath_prepend(tmp_path)
    registry._installed.cache_clear()
    try:
        out = play(stand, ["doubled"], stop_s=0.1)
    finally:
        covey.lab.addon.registry._items.pop("doubled", None)
        sys.modules.pop("outside", None)
        registry._installed.cache_clear()
    assert out.data["doubled"][0].tolist() == [[4, 10], [16, 10]]


def test_voronoi_cells_of_two_robots_are_halves():
    out = play(stand, ["voronoi", "delaunay"])
    cells = out.data["voronoi"][-1]
    assert cells.area == pytest.approx([50, 50])
    assert cells.centroid == pytest.approx(np.array([[2.5, 5], [7.5, 5]]))
    assert out.data["delaunay"][-1].tolist() == [[False, True], [True, False]]
    (edges,) = [mark for mark in out.marks[-1] if mark.kind == "lines"]
    assert edges.parts[0].tolist() == [[2, 5], [8, 5]]


def test_lloyd_with_a_density_by_an_addon():
    def law(team):
        return team.voronoi.centroid - team.position

    # one robot goes to the centre of mass of the weight x on [0, 10]: 20/3
    voronoi = covey.addons.Voronoi(lambda at: at[:, 0])
    out = play(law, [voronoi], [(2, 3, 0)], kinematics="holonomic", stop_s=20)
    assert out.poses[-1, 0, :2] == pytest.approx([20 / 3, 5], abs=1e-3)


def test_who_hears_whom():
    starts = [(1, 1, 0), (3, 1, 0), (8, 1, 0)]
    heard = [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert play(stand, ["communication"], starts, radio=3).data["communication"][-1].astype(int).tolist() == heard
    near = covey.addons.Communication(covey.graphs.proximity(3))
    assert play(stand, [near], starts).data["communication"][-1].astype(int).tolist() == heard


def test_a_wake_lasts_its_seconds():
    out = play(lambda team: (1.0, 0.0), [covey.addons.Wake(0.2)], [(2, 5, 0)], stop_s=0.5)
    (mark,) = out.marks[-1]
    assert mark.parts[0] == pytest.approx(np.array([[2.3, 5], [2.4, 5], [2.5, 5]]))


def test_a_potential_points_downhill():
    out = play(
        stand, [covey.addons.Potential(lambda at: (at**2).sum(axis=1)), covey.addons.Density(lambda at: at[:, 0])]
    )
    assert out.data["potential"][-1] == pytest.approx(np.array([[-4, -10], [-16, -10]]), abs=1e-6)
    assert out.data["density"][-1].tolist() == [2, 8]
    field, arrows = out.marks[-1][:2]
    x, y = arrows.parts[0].T
    assert np.allclose(arrows.parts[1][:, 0] * y, arrows.parts[1][:, 1] * x)  # towards the origin
    assert field.parts[0].shape == (60, 60)
    assert field.parts[0][0, 0] == pytest.approx(2 * (5 / 60) ** 2)


def test_drawn_obstacles_can_be_read_and_not_felt():
    def law(team):
        assert team.obstacles[0].tolist() == [[2, 4], [3, 4], [3, 6], [2, 6]]
        return 1.0, 0.0

    walls = covey.addons.Obstacles([[(2, 4), (3, 4), (3, 6), (2, 6)]])
    out = play(law, [walls], [(1, 5, 0)], stop_s=3)
    assert out.poses[-1, 0, 0] == pytest.approx(4.0)
    assert out.marks[0] == out.marks[-1]


class Record(NamedTuple):
    area: float
    near: list


@dataclass
class Facts:
    at: np.ndarray
    word: str


class Everything:
    """Gives something of each kind."""

    def step(self, team):
        k = round(10 * team.time)
        self.given = {
            "place": team.position,
            "ragged": np.arange(k),
            "record": Record(k / 3, list(range(k))),
            "facts": Facts(np.full((k, 2), k), "ä" * k),
            "flag": k > 1,
            "nothing": None,
            "with space": [{"a": (1, k)}],
            "empty": {},
        }
        return self.given

    def draw(self, canvas):
        canvas.points(canvas.data["place"])


class Number:
    def step(self, team):
        return team.time


def alike(a, b):
    """Return whether values are the same; records may come back as ones of another type, with the same fields."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype.kind == b.dtype.kind and np.array_equal(a, b)
    if isinstance(a, (Record, Facts)):
        own = a._asdict() if isinstance(a, Record) else vars(a)
        return own.keys() == vars(b).keys() and all(alike(own[name], vars(b)[name]) for name in own)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(alike(a[name], b[name]) for name in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(alike, a, b))
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("name", ["run.npz", "run.mat", "folder"])
def test_what_addons_gave_and_drew_is_saved_and_comes_back(tmp_path, name):
    out = play(stand, [Everything, "voronoi", "delaunay", Number], starts=[*TWO, (5, 2, 0), (5, 8, 0)])
    again = covey.Out.load(out.save(tmp_path / name))
    assert again.data.keys() == out.data.keys()
    assert alike(out.data["everything"], again.data["everything"])
    assert alike(out.data["delaunay"], again.data["delaunay"])
    assert alike(out.data["number"], again.data["number"])
    assert np.array_equal(again.data["voronoi"][-1].cell(1), out.data["voronoi"][-1].cell(1))
    assert [len(now) for now in again.marks] == [len(now) for now in out.marks]
    for now, then in zip(out.marks, again.marks, strict=True):
        assert all(one.same_as(other) for one, other in zip(now, then, strict=True))
    again.draw = out.draw.model_copy(update={"title": out.title})
    assert again.plot().to_bytes("png") == out.plot().to_bytes("png")


def test_arrays_in_a_file_have_the_names_of_addons(tmp_path):
    play(stand, ["voronoi", "centroid"]).save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as found:
        assert found["data_centroid"].tolist() == [[5, 5]] * 4
        assert found["data_voronoi.area"].shape == (4, 2)


def test_a_table_has_the_numbers_of_addons(tmp_path, caplog):
    out = play(stand, ["centroid", "delaunay", Number, "voronoi"])
    again = covey.Out.load(out.save(tmp_path / "run.csv"))
    assert "no columns for the data of voronoi" in caplog.text
    assert again.data.keys() == {"centroid", "delaunay", "number"}
    assert alike(again.data["number"], out.data["number"])
    assert alike(again.data["centroid"], out.data["centroid"])
    assert alike(again.data["delaunay"], out.data["delaunay"])
    head = (tmp_path / "run.csv").read_text().partition("\n")[0]
    assert head.endswith("data_centroid[0],data_centroid[1],data_delaunay[robots],data_number")


def test_a_table_has_one_row_of_a_robot_not_all_rows_in_each(tmp_path):
    class Far:
        def step(self, team):
            return 10.0 * team.position

    class Nearer:
        def step(self, team):
            return team.neighbours(covey.graphs.proximity(3.5))

    out = play(stand, [Far, Nearer], [(1, 1, 0), (4, 1, 0), (7, 1, 0), (9, 9, 0)])
    table = pl.read_csv(out.save(tmp_path / "run.csv"))
    assert table["data_far[robot][0]"].to_list()[:4] == [10, 40, 70, 90]
    assert table["data_nearer[robots]"].to_list()[:4] == ["1", "0 2", "1", ""]
    again = covey.Out.load(tmp_path / "run.csv")
    assert (again.data["far"] == out.data["far"]).all()
    assert (again.data["nearer"] == out.data["nearer"]).all()


class Odd:
    def step(self, team):
        return object()


def test_data_that_no_file_holds_are_left_out_and_said(tmp_path, caplog):
    out = play(stand, [Odd, "centroid"])
    again = covey.Out.load(out.save(tmp_path / "run.npz"))
    assert "the data of add-on 'odd' are not saved: values of the kind object" in caplog.text
    assert again.data.keys() == {"centroid"}


@pytest.mark.parametrize(
    "layout",
    [
        "[]",
        "{}x",
        '{"a": {"is": "what", "name": "time"}}',
        '{"a": {"is": "arrays", "name": "poses"}}',
        '{"a": {"is": "list", "name": "time", "of": {"is": "array", "name": "time"}}}',
        '{"a": {"is": "record", "names": ["x"], "of": []}}',
        '{"a": {"is": "array", "name": "missing"}}',
        '{"a": ' + '{"is": "mapping", "names": ["x"], "of": [' * 40 + "]}" * 40 + "}",
    ],
)
def test_a_damaged_file_is_refused(tmp_path, layout):
    from covey.lab.files import arrays_of
    from covey.results.archive import npz_bytes

    arrays = arrays_of(play(stand, ["centroid"])) | {"data_layout": np.array([layout])}
    (tmp_path / "run.npz").write_bytes(npz_bytes(arrays))
    with pytest.raises(covey.InvalidValueError, match=r"it holds no run of covey\.play"):
        covey.Out.load(tmp_path / "run.npz")


def test_pickles_are_not_read(tmp_path):
    np.savez(tmp_path / "run.npz", data_layout=np.array([Odd()], object))
    with pytest.raises(covey.InvalidValueError, match="it holds no run"):
        covey.Out.load(tmp_path / "run.npz")
