"""The façade: quick to import, and every name leads somewhere."""

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import covey
from covey.geometry.grid import Grid
from covey.mapping.occupancy.frontiers import find_frontiers
from covey.results import run as run_module
from covey.scenario.load import parse_scenario

HEAVY = ("numba", "scipy", "polars", "pyarrow", "numpy", "pydantic", "matplotlib")


def loaded_after(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*[m for m in {HEAVY} if m in sys.modules])"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_importing_covey_imports_nothing_heavy():
    assert loaded_after("import covey") == set()


def test_help_imports_nothing_heavy():
    statement = (
        "import contextlib, io, covey.cli\nwith contextlib.redirect_stdout(io.StringIO()): covey.cli.main(['--help'])"
    )
    code = f"import sys\n{statement}\nprint(*[m for m in {HEAVY} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == []


def test_a_checked_scenario_waits_for_no_library_that_it_does_not_use():
    code = "import sys\nfrom covey.cli import main\nmain(['check', 'hello'])\nprint(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines())
    assert "covey.scenario.load" in loaded
    assert not loaded & {"scipy.ndimage", "polars", "matplotlib", "shapely", "networkx", "PIL"}


@pytest.mark.parametrize("name", covey.__all__)
def test_every_name_of_the_facade_leads_somewhere(name):
    assert getattr(covey, name) is not None
    assert name in dir(covey)


PACKAGES = (
    *("comms", "controllers", "events", "mapping", "missions", "physics", "planning"),
    *("robots", "sensors", "testing", "viewer", "world"),
)


def test_public_packages_are_there_after_import_covey_alone():
    code = f"import covey\nfor p in {PACKAGES}: m = getattr(covey, p); print(*[n for n in m.__all__ if getattr(m, n)])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"Coverage", "check_sensor", "Lidar", "WallEvent", "WheelSticks", "Radio"} <= set(done.stdout.split())


def test_a_name_that_is_nearly_right_is_answered_with_the_right_one():
    with pytest.raises(
        AttributeError, match=r"'covey\.events' has no attribute 'WalEvent', did you mean 'WallEvent'\?"
    ):
        _ = covey.events.WalEvent


def test_what_a_controller_meets_comes_from_covey_with_a_docstring():
    met = []

    def look(robot):
        met.extend((robot, robot.model, robot.pose, robot.frontiers(), robot.map, robot.goto((1, 0))))
        robot.finish()

    scanner = covey.robots.turtlebot3_burger()
    start = [(0.0, 0.0, 0.0)]
    group = covey.Group("scout", scanner, start, look)
    covey.Simulation(covey.World.empty(4, 4), [group], stop=covey.Stop(timeout_s=0.5)).run()
    kinds = (covey.Robot, covey.RobotModel, covey.Pose, covey.Frontiers, covey.Belief, covey.Motion)
    assert [isinstance(thing, kind) for thing, kind in zip(met, kinds, strict=False)] == [True] * 6
    assert all(kind.__doc__ for kind in (*kinds, covey.Group, covey.Message, covey.Sample, covey.TagReading))


def test_worlds_scenarios_and_frontiers_are_shown_in_one_line():
    shown = [repr(covey.World.empty(4, 3)), repr(covey.load_scenario("maze"))]
    assert "4 m x 3 m" in shown[0] or "4.1 m x 3.1 m" in shown[0]
    assert shown[1].startswith("<Scenario maze: 6 ")
    assert all(len(text) < 100 for text in shown)


def test_a_world_is_shown_as_a_picture_with_north_on_top():
    cells = np.zeros((3, 5), np.uint8)
    cells[0, 0] = 1  # a wall in the south-west
    world = covey.World(Grid(cells, 0.5, (0.0, 0.0, 0.0)))
    image = world.plot()
    assert image.size[0] / image.size[1] == 5 / 3
    dark = [image.getpixel((x, y))[0] < 100 for x, y in ((1, image.height - 2), (1, 1), (image.width - 2, 1))]
    assert dark == [True, False, False]
    assert Image.open(io.BytesIO(world._repr_png_())).size == image.size


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'covey' has no attribute 'Simulatoin'"):
        covey.Simulatoin  # noqa: B018


def test_errors_share_one_base():
    assert all(issubclass(getattr(covey, n), covey.CoveyError) for n in covey.__all__ if n.endswith("Error"))


def test_a_scenario_and_frontiers_are_shown_as_pictures_in_notebooks():
    text = "world: {empty_m: [6, 3], resolution_m: 0.1}\nrobots: [{robot: disc, start: [[-2, 1, 0]]}]"
    shown = Image.open(io.BytesIO(parse_scenario(text)._repr_png_()))
    red = np.argwhere(np.asarray(shown)[:, :, 0].astype(int) - np.asarray(shown)[:, :, 2] > 100)
    rows, columns = shown.height, shown.width
    assert red.mean(axis=0) / (rows, columns) == pytest.approx((0.5 / 3, 1.0 / 6), abs=0.03)  # in the north-west

    occupancy = np.full((5, 4), 100, np.int8)
    occupancy[0, 0], occupancy[0, 1], occupancy[4, 3], occupancy[3, 3] = 0, -1, 0, -1
    image = np.asarray(Image.open(io.BytesIO(find_frontiers(occupancy)._repr_png_())))
    assert image.shape[0] / image.shape[1] == 5 / 4
    coloured = (image < 250).any(axis=-1)
    assert coloured.mean() == pytest.approx(2 / 20)
    assert coloured[-1, 0]
    assert coloured[0, -1]
    assert tuple(image[-1, 0]) != tuple(image[0, -1])
    assert Image.open(io.BytesIO(find_frontiers(np.zeros((2, 2), np.int8))._repr_png_())).size


def test_a_plot_in_a_script_is_written_and_said_and_shown_where_there_is_a_display(tmp_path, monkeypatch, capsys):
    opened = tmp_path / "opened"
    for name in ("xdg-open", "open"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "$1" > {opened}.new && mv {opened}.new {opened}\n')
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("DISPLAY", ":0")
    run = covey.Simulation(covey.World.empty(4, 4), 1, "still", recording=tmp_path / "run").run(until_s=0.2)
    run.plot()
    path = capsys.readouterr().out.removeprefix("picture: ").strip()
    with Image.open(path) as image:
        assert image.size
    run_module._VIEWERS[-1].wait()
    assert opened.read_text().strip() == path
    assert Path(path).parent == run.folder / "figures"
