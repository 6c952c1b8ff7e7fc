"""Files of users import modules beside them, from any current folder, and only they."""

import subprocess
import sys

import pytest

from covey.cli import main
from covey.errors import InvalidValueError
from covey.registry import forget_files, load_file, load_from_file


@pytest.fixture(autouse=True)
def forgotten():
    yield
    forget_files()


def written(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder


CONTROLLER = (
    "from speeds import SPEED\n\ndef go(robot):\n    from later import FACTOR\n    robot.drive(FACTOR * SPEED)\n"
)
SCENARIO = """
world: {empty_m: [6, 6]}
robots: [{name: a, robot: turtlebot3_burger, start: [[0, 0, 0]], controller: "./ctrl.py:go"}]
stop: {timeout_s: 1}
"""


@pytest.mark.slow
@pytest.mark.parametrize("controllers", ["in_process", "processes"])
def test_a_run_finds_modules_beside_its_controller(controllers, tmp_path, monkeypatch):
    """At import and later, from another current folder, in a process of its own, too."""
    import covey

    folder = written(tmp_path / "mine", ctrl=CONTROLLER, speeds="SPEED = 0.05\n", later="FACTOR = 2.0\n")
    (folder / "s.yaml").write_text(SCENARIO)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    before = list(sys.path)
    options = ["-s", f"execution.controllers={controllers}", "--out", "out", "-q"]
    assert main(["run", str(folder / "s.yaml"), *options]) == 3  # its time is up
    run = covey.Run(tmp_path / "other" / "out")
    assert run.series("distance_m")[-1, 0] == pytest.approx(0.1, rel=0.1)  # 0.1 m/s for 1 s, but for the acceleration
    assert sys.path == before


def test_two_folders_each_have_their_own_module(tmp_path):
    for name, value in (("a", 1), ("b", 2)):
        folder = written(tmp_path / name, ctrl="import speeds\nVALUE = speeds.SPEED\n", speeds=f"SPEED = {value}\n")
        assert value == load_file(folder / "ctrl.py").VALUE


def test_a_package_beside_it_is_found_with_its_parts(tmp_path):
    parts = {
        "ctrl": "from tools.deep import VALUE\n",
        "tools____init__": "",
        "tools__deep": "from . import near\nVALUE = near.N\n",
    }
    folder = written(tmp_path, **{k: v for k, v in parts.items() if k != "tools____init__"}, tools__near="N = 3\n")
    (folder / "tools" / "__init__.py").write_text("")
    assert load_file(folder / "ctrl.py").VALUE == 3


def test_what_is_installed_comes_first_and_others_find_nothing(tmp_path):
    folder = written(tmp_path, ctrl="import wave\nimport speeds\n", wave="raise SystemExit\n", speeds="")
    module = load_file(folder / "ctrl.py")
    assert str(folder) not in module.wave.__file__
    del sys.modules["speeds"]
    with pytest.raises(ModuleNotFoundError):
        import speeds  # noqa: F401  # this test is not beside it


def test_a_module_that_is_nowhere_is_told_without_a_guess(tmp_path):
    """No module of the standard library that is not on this machine, or is not like it, is proposed."""
    folder = written(tmp_path, ctrl="from winrig import SPEED\n")
    with pytest.raises(InvalidValueError, match="No module named 'winrig'; correct the name, or install it"):
        load_from_file("./ctrl.py:go", folder)


def test_whether_code_of_a_user_is_loaded_is_known(tmp_path):
    """Then Python looks for its garbage at the end: it may hold open files."""
    (tmp_path / "mine.py").write_text("x = 1\n")
    code = (
        "import sys\nfrom pathlib import Path\nfrom covey.registry import has_code_of_users, load_file\n"
        "assert not has_code_of_users()\nload_file(Path(sys.argv[1]))\nassert has_code_of_users()\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "mine.py")], check=True)
