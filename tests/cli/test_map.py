"""`covey map`, as it is typed."""

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import covey
from covey.cli import main
from covey.world.io.floor_plans import layers_of, read_floor_plan

FLOOR = Path(__file__).parents[2] / "examples" / "plans" / "second_floor.dxf"


def test_a_floor_plan_is_told_drawn_and_saved(tmp_path, monkeypatch, capsys):
    pytest.importorskip("ezdxf", reason="ezdxf, of the extra covey[lab], is not installed")
    monkeypatch.chdir(tmp_path)
    assert main(["map", str(FLOOR), "-s", "layers=[A-WALL]", "--save", "floor.yaml"]) == 0
    said = capsys.readouterr().out
    for line in (
        r"a unit of the drawing is 0\.001 m, as the file says",
        r"A-DOOR +left out +10 LINE, 10 ARC",
        r"A-WALL +read +31 LWPOLYLINE",
        r"ignored: 10 TEXT",
        r"11 rooms, 0 of them closed",
        r"1 +69\.\d m² +\(",  # the corridor: 29.9 m x 2.3 m and half of the ten doors
    ):
        assert re.search(line, said), line
    picture = np.asarray(Image.open("second_floor_map.png"))[..., :3].astype(int)
    blue = (abs(picture - (0, 0x72, 0xB2)) < 40).all(axis=-1)
    assert blue.any(axis=0).sum() > 0.7 * picture.shape[1], (
        "the walls, in the colour of their layer, all along the picture"
    )
    saved = covey.World.from_file("floor.yaml")
    assert np.array_equal(saved.grid.cells, covey.World.from_file(FLOOR, layers=["A-WALL"]).grid.cells)
    assert main(["map", "floor.yaml", "--out", "again.svg", "--door", "0.5"]) == 0
    assert "1 room, 1 of them closed" in capsys.readouterr().out
    assert Path("again.svg").read_text().startswith("<?xml")


def test_the_floor_of_the_example_is_what_its_script_draws(tmp_path):
    pytest.importorskip("ezdxf", reason="ezdxf, of the extra covey[lab], is not installed")
    script = FLOOR.with_suffix(".py").read_text(encoding="utf-8")
    exec(script, {"__file__": str(tmp_path / "second_floor.py")})
    drawn, shipped = (read_floor_plan(path) for path in (tmp_path / FLOOR.name, FLOOR))
    assert layers_of(drawn.drawing) == layers_of(shipped.drawing)
    assert np.array_equal(drawn.world.grid.cells, shipped.world.grid.cells)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["nothing.dxf"], "there is no file"),
        ([str(FLOOR), "-s", "layer=[A-WALL]"], "layer"),
        ([str(FLOOR), "-s", "layers=[WALLS]"], "no layer 'WALLS' has lines"),
        ([str(FLOOR), "--out", "plan.yaml"], "a picture ends in .png"),
        ([str(FLOOR), "--save", "plan.png"], "a map ends in .yaml"),
        ([str(FLOOR), "--door", "0"], "--door is 0"),
    ],
)
def test_what_is_wrong_is_said(arguments, why, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["map", *arguments]) == 2
    assert why in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_law_is_no_map(tmp_path, capsys):
    (tmp_path / "law.py").write_text("def law(team):\n    return 0.2, 0.0\n")
    assert main(["map", str(tmp_path / "law.py")]) != 0
    assert re.search(r"law.py is Python and no map; covey play .*law.py plays a law", capsys.readouterr().err)
