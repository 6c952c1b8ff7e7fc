"""SVG drawings as worlds: geometry by hand, and files that are damaged or meant to do harm."""

import math

import numpy as np
import pytest
import shapely

from covey import MapFileError, World
from covey.world.io import floor_plans
from covey.world.io.drawings import drawing as drawings
from covey.world.io.floor_plans import layers_of, read_floor_plan
from covey.world.rooms import rooms

pytest.importorskip("svgelements", reason="svgelements, of the extra covey[lab], is not installed")
INKSCAPE = 'xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape" xmlns:xlink="http://www.w3.org/1999/xlink"'


def svg(folder, content, head='width="10m" viewBox="0 0 10 8"'):
    """Return the path of an SVG file; by default its user unit has no length, and its page is 10 x 8 units."""
    path = folder / "plan.svg"
    head = head.replace('width="10m" ', "")
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" {INKSCAPE} {head}>{content}</svg>', encoding="utf-8")
    return path


def points_of(path):
    """Return the points of each line of a drawing, in its own units, y down; curves within 0.002."""
    return [stroke.points(0.002, path) for stroke in read_floor_plan(path, units="m").drawing.strokes]


BOX = '<rect width="10" height="8"/>'


@pytest.mark.parametrize(
    ("head", "metres"),
    [
        ('width="20000mm" height="16000mm" viewBox="0 0 10 8"', 2.0),
        ('width="300cm" viewBox="0 0 10 8"', 0.3),
        ('height="160in" viewBox="0 0 10 8"', 0.508),
        ('width="100%" height="1600mm" viewBox="0 0 10 8"', 0.2),
        ('width="5000mm" height="5000mm"', 0.0254 / 96),
    ],
)
def test_the_size_of_the_page_gives_the_unit(tmp_path, head, metres):
    plan = read_floor_plan(
        svg(tmp_path, BOX.replace("10", "10000") + BOX, head), wall_m=0.05, resolution_m=max(0.2, metres)
    )
    assert plan.unit_m == pytest.approx(metres)


@pytest.mark.parametrize("head", ['viewBox="0 0 10 8"', 'width="100%" viewBox="0 0 10 8"', 'width="10px" height="8"'])
def test_pixels_and_per_cent_say_no_unit(tmp_path, head):
    path = svg(tmp_path, BOX, head)
    with pytest.raises(MapFileError, match=r"does not say in which unit.*m: 10 m"):
        World.from_file(path)
    world = World.from_file(path, units="m")
    assert world.free_area_m2 == pytest.approx(9.9 * 7.9)
    assert world.grid.extent == pytest.approx((-0.1, 10.1, -0.1, 8.1), abs=1e-6)


def test_a_size_on_paper_is_told_apart(tmp_path):
    with pytest.raises(MapFileError, match=r"only 0.2 m x 0.16 m.*perhaps its size on paper.*scale: "):
        World.from_file(svg(tmp_path, BOX, 'width="200mm" viewBox="0 0 10 8"'))
    known = {"from": [0, 0], "to": [10, 0], "length_m": 20}
    plan = read_floor_plan(svg(tmp_path, BOX, 'width="200mm" viewBox="0 0 10 8"'), scale=known)
    assert plan.world.free_area_m2 == pytest.approx(19.9 * 15.9)


def test_y_points_up_from_the_lower_edge_of_the_page(tmp_path):
    path = svg(tmp_path, '<line x1="5" y1="12" x2="8" y2="14"/>', 'viewBox="3 10 10 8"')
    assert np.allclose(read_floor_plan(path, units="m").lines["no layer"], [[(2, 6), (5, 4)]])
    moved = read_floor_plan(path, units="m", origin=[5, 12])
    assert np.allclose(moved.lines["no layer"], [[(0, 0), (3, -2)]])


def test_shapes_transforms_and_uses_are_where_theory_has_them(tmp_path):
    content = """
      <g transform="translate(5 5) rotate(90)"><g transform="scale(2, 1)">
        <polyline points="0,0 1,0  1 1"/></g></g>
      <polygon points="0 0 1 0 1 1" transform="matrix(1 0 0 1 6 1) skewX(45)"/>
      <defs><symbol id="chair"><path d="M 0 0 h 1 v 1"/></symbol><g id="pair"><use xlink:href="#chair"/>
        <use href="#chair" x="2" y="1"/></g></defs>
      <use href="#pair" transform="translate(1,3)"/>
      <svg x="2" y="6" width="2" height="1" viewBox="0 0 4 2"><line x1="0" y1="0" x2="100%" y2="2"/></svg>
      <line x1="10%" x2="50%" y1="25%" y2="25%"/>
    """
    expected = [
        [(5, 5), (5, 7), (4, 7)],
        [(6, 1), (7, 1), (8, 2), (6, 1)],
        [(1, 3), (2, 3), (2, 4)],
        [(3, 4), (4, 4), (4, 5)],
        [(2, 6), (7, 7)],  # per cent are of the page: 10 of the units of the inner page
        [(1, 2), (5, 2)],
    ]
    found = points_of(svg(tmp_path, content))
    assert len(found) == len(expected)
    for points, wanted in zip(found, expected, strict=True):
        assert np.allclose(points, wanted)


def test_curves_are_where_theory_has_them(tmp_path):
    content = """<circle cx="2" cy="2" r="1.5"/><ellipse cx="6" cy="2" rx="2" ry="1"/>
      <path d="M 0 6 A 2 1 0 0 1 4 6 m 1 0 C 5 4 7 8 8 6 Q 9 4 10 6 z"/>
      <rect x="1" y="4" width="3" height="1" rx="0.5"/>"""
    circle, ellipse, arc, bezier, rounded = points_of(svg(tmp_path, content))
    for points, (x, y), (rx, ry) in ((circle, (2, 2), (1.5, 1.5)), (ellipse, (6, 2), (2, 1)), (arc, (2, 6), (2, 1))):
        radii = np.hypot(*((points - (x, y)) / (rx, ry)).T)
        assert np.allclose(radii, 1, atol=1e-9)
        chords = (points[1:] + points[:-1]) / 2
        assert np.hypot(*((chords - (x, y)) / (rx, ry)).T).min() > 1 - 0.004 / min(rx, ry), "no chord is far inside"
    assert arc[:, 1].max() < 6 + 1e-9, "the upper half"
    t = np.linspace(0, 1, 500)[:, None]
    cubic = (1 - t) ** 3 * [5, 6] + 3 * t * (1 - t) ** 2 * [5, 4] + 3 * t**2 * (1 - t) * [7, 8] + t**3 * [8, 6]
    quadratic = (1 - t) ** 2 * [8, 6] + 2 * t * (1 - t) * [9, 4] + t**2 * [10, 6]
    line = shapely.LineString(np.concatenate((cubic, quadratic, [[5, 6]])))
    assert shapely.LineString(bezier).hausdorff_distance(line) < 0.004
    area = shapely.Polygon(rounded).area
    assert area == pytest.approx(2 + math.pi * 0.25, abs=0.01)


def test_layers_are_groups_by_label_or_id(tmp_path):
    content = f"""{BOX}
      <g inkscape:label="Walls" id="layer1"><line x1="5" x2="5" y2="8"/><g id="doors"><line x1="3" x2="3" y2="8"/></g></g>
      <g id="gone" style="display:none"><line x1="4" x2="4" y2="8"/></g>
      <path d="M 0 4 h 10" visibility="hidden"/><text>Hall</text><image href="http://example.org/a.png"/>
      <use href="other.svg#x"/><use href="#missing"/><style>path {{}}</style>"""
    path = svg(tmp_path, content)
    plan = read_floor_plan(path, units="m")
    assert layers_of(plan.drawing) == {"Walls": {"line": 1}, "doors": {"line": 1}, "no layer": {"rect": 1}}
    assert plan.drawing.ignored == {
        "hidden g": 1,
        "hidden path": 1,
        "text": 1,
        "image": 1,
        "use of another file": 1,
        "use of a missing element": 1,
    }
    assert len(rooms(plan.world)) == 3
    assert len(rooms(World.from_file(path, units="m", without_layers=["doors"]))) == 2
    assert len(rooms(World.from_file(path, units="m", without_layers=["walls"]))) == 1, "doors are in the group Walls"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (
            '<g id="W"><path id="p7" d="M 0 0 L 1 x"/></g>',
            r"path \(id p7, layer 'W'\): its path cannot be read: 'M 0 0 L 1 x'",
        ),
        ('<g id="W"><path id="p7" d="hello"/></g>', r"path \(id p7, layer 'W'\): its path cannot be read: 'hello'"),
        ('<path d="M 0 0 L 1e999 1"/>', r"path \(element 2, layer 'no layer'\): it has the coordinate inf"),
        ('<polyline points="0 0 1"/>', r"polyline .*: points has 3 numbers; each point needs two"),
        ('<polygon points="0 0 nan 1"/>', r"polygon .*'0 0 nan 1' must be numbers"),
        ('<circle cx="1" r="two"/>', r"circle .*: r is 'two'; it must be a number, with a unit such as mm"),
        ('<g id="W" transform="rotate(abc)"/>', r"g \(id W\): transform is 'rotate\(abc\)'; it must be such as"),
        ('<use id="u" href="#g"/><g id="g"><use href="#g"/></g>', r"use \(element \d\): #g contains itself"),
        ('<svg viewBox="0 0 0 1"/>', r"viewBox is '0 0 0 1'; it must be four numbers, the last two above 0"),
    ],
)
def test_an_element_that_is_wrong_is_named(tmp_path, content, why):
    with pytest.raises(MapFileError, match=why):
        World.from_file(svg(tmp_path, BOX + content), units="m")


def test_files_that_are_no_svg_say_what_they_are(tmp_path):
    path = tmp_path / "plan.svg"
    for text, why in (
        ("", "is empty"),
        ("hello", "a damaged SVG"),
        ("<html></html>", "is no SVG file; its first element is 'html'"),
        ('<svg viewBox="0 0 1 1"><g>', "a damaged SVG"),
        ('<svg viewBox="a"/>', "'a' must be numbers"),
        ('<svg width="3 apples"/>', "size is '3 apples'"),
        ('<svg viewBox="0 0 9 9"/>', "has no lines to read|does not say"),
        ('<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg>&x;</svg>', "a damaged SVG"),
    ):
        path.write_text(text)
        with pytest.raises(MapFileError, match=why):
            World.from_file(path, units="m" if "9 9" not in text else None)


def test_files_that_explode_are_refused(tmp_path, monkeypatch):
    entities = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
    path = tmp_path / "plan.svg"
    path.write_text(f'<!DOCTYPE svg [<!ENTITY a0 "aaaaaaaaaa">{entities}]><svg>&a11;</svg>')
    with pytest.raises(MapFileError, match="a damaged SVG"):
        World.from_file(path)
    levels = "".join(f'<g id="u{i}">{f"""<use href="#u{i - 1}"/>""" * 10}</g>' for i in range(1, 20))
    monkeypatch.setattr(drawings, "MAX_ENTITIES", 5_000)  # of 10**19
    with pytest.raises(MapFileError, match="more than 5,000 entities"):
        World.from_file(svg(tmp_path, f'<defs><path id="u0" d="M0 0h1"/>{levels}</defs><use href="#u19"/>'))
    with pytest.raises(MapFileError, match="nested more than 200 deep"):
        World.from_file(svg(tmp_path, "<g>" * 500 + "</g>" * 500))
    monkeypatch.setattr(drawings, "MAX_ENTITIES", 20)
    with pytest.raises(MapFileError, match="more than 20 entities"):
        World.from_file(svg(tmp_path, BOX * 21), units="m")
    monkeypatch.undo()
    monkeypatch.setattr(floor_plans, "MAX_PIECES", 20)
    with pytest.raises(MapFileError, match="more than 20 straight pieces"):
        World.from_file(svg(tmp_path, BOX * 6), units="m")
