"""Add-ons of `covey.play`."""

import sys

import numpy as np
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
