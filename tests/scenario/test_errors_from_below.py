"""Errors that are raised below the scenario name its file, the line and the field, and say what to write."""

import pytest
from PIL import Image

from covey.cli import main
from covey.errors import ScenarioError
from covey.plain_files import beside
from covey.scenario.load import load_scenario
from covey.world.world import World

HEAD = "world: {empty_m: [6, 6]}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD + "robots: [{name: a, controller: still, robot: {base: disc, radius_m: null, footprint_excess_m: 0.01, "
         "footprint_m: [[0, 0], [1, 0], [1, 1], [0, 1]]}}]\n",
         "s.yaml:2:46: robots[0].robot: footprint_excess_m is 0.01; to cover a polygon 1 m across it must be at least 0.04"),
        (HEAD + "physics: terrain\nrobots: [{name: a, controller: still, robot: {base: disc, kinematics: holonomic}}]\n",
         "s.yaml:3:46: robots[0].robot: robot 'disc' is holonomic, and wheels are not"),
        (HEAD + "robots: [{name: a, controller: still, robot: {base: disc, kinematics: mecanum}}]\n",
         "'mecanum' is called 'holonomic' here; write kinematics: holonomic"),
        (HEAD + "robots:\n\t- {name: a, controller: still, robot: disc}\n", "s.yaml:3:1: not valid YAML: "),
        (HEAD + "robots:\n\t- {name: a, controller: still, robot: disc}\n", "; indent with spaces, not with tabs"),
        ('world: {file: "C:\\maps\\a.yaml"}\nrobots: [{name: a, controller: still, robot: disc}]\n',
         "in double quotes a backslash begins an escape: write a path with / or in single quotes"),
    ],
)  # fmt: skip
def test_the_file_the_line_and_the_field_are_named(text, said, tmp_path, monkeypatch, capsys):
    if "physics: terrain" in text:
        pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(text)
    assert main(["check", "s.yaml"]) == 2
    assert said in capsys.readouterr().err


def test_a_scenario_of_python_has_the_same_error(tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "s.yaml").write_text(HEAD + "physics: terrain\nrobots: [{name: a, robot: disc, controller: still}]\n")
    scenario = load_scenario(tmp_path / "s.yaml", {"robots.a.robot.kinematics": "holonomic"})
    with pytest.raises(ScenarioError, match="is holonomic, and wheels are not"):
        scenario.build()


@pytest.mark.parametrize(
    "name", ["plans\\hall.png", "plans/hall.png", "/home/bob/hall2.png", "C:\\Users\\bob\\hall2.png"]
)
def test_images_of_another_computer_are_found_beside_the_map(name, tmp_path):
    (tmp_path / "plans").mkdir()
    for place in (tmp_path / "plans" / "hall.png", tmp_path / "hall2.png"):
        Image.new("L", (5, 4), 254).save(place)
    (tmp_path / "a.yaml").write_text(f"image: '{name}'\nresolution: 0.1\norigin: [0, 0, 0]\n")
    assert World.from_file(tmp_path / "a.yaml").free_area_m2 == pytest.approx(0.2)
    (tmp_path / "s.yaml").write_text(
        "world: {file: .\\a.yaml}\nrobots: [{name: a, controller: still, robot: {base: disc, radius_m: 0.05}}]\n"
    )
    assert main(["check", str(tmp_path / "s.yaml")]) == 0


def test_a_name_that_is_there_is_taken_as_it_is(tmp_path):
    (tmp_path / "a\\b.png").write_bytes(b"")
    assert beside(tmp_path, "a\\b.png") == tmp_path / "a\\b.png"
    assert beside(tmp_path, "/there/is/none.png").as_posix() == "/there/is/none.png"
