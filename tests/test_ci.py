"""What `.ci/run` does with a test that has failed: once more, alone."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="`.ci/run` is a script of bash")

RACING = """
from pathlib import Path

import pytest


def test_right():
    pass


@pytest.mark.parametrize("way", ["a b"])
def test_racing(way):
    mark = Path(__file__).with_name(way)
    if not mark.exists():
        mark.touch()
        raise AssertionError("the goal was reached before\\tthe command came")
"""


def run(folder: Path, tests: str, *options: str) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Run a file of tests as `make test` would, with `.ci/again` behind it."""
    shutil.copy(ROOT / "tests" / "conftest.py", folder)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -q -p no:cacheprovider -p xdist -p pytest_randomly\n")
    (folder / "test_toy.py").write_text(tests)
    failed = folder / "failed"
    failed.touch()
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    env |= {"COVEY_FAILED": str(failed), "COVEY_PYTHON": sys.executable, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    first = subprocess.run([sys.executable, "-m", "pytest", *options], cwd=folder, env=env, capture_output=True)
    assert first.returncode != 0
    del env["COVEY_FAILED"]
    again = subprocess.run(
        [ROOT / ".ci" / "again", failed], cwd=folder, env=env, capture_output=True, text=True, timeout=300
    )
    return again, failed


@pytest.mark.slow
def test_a_test_that_passes_alone_is_named_and_the_run_is_green(tmp_path):
    again, failed = run(tmp_path, RACING, "-n", "1")  # a worker, as `make test` has them
    assert again.returncode == 0, again.stdout + again.stderr
    racing = sorted(line for line in again.stdout.splitlines() if line.startswith("RACING"))
    why = "first failure: AssertionError: the goal was reached before\tthe command came"
    assert racing == [f"RACING: test_toy.py::test_racing[{way}], {why}" for way in ("a b",)]
    assert len(failed.read_text().splitlines()) == 1


WRONG = """
import random
from pathlib import Path


def test_wrong_with_this_seed():
    drawn, mark = str(random.random()), Path(__file__).with_name("drawn")
    first = mark.read_text() if mark.exists() else drawn
    mark.write_text(first)
    assert drawn != first
"""


@pytest.mark.slow
def test_a_test_that_fails_again_with_the_same_seed_makes_the_run_red(tmp_path):
    again, failed = run(tmp_path, WRONG)
    assert again.returncode == 1
    assert "RACING" not in again.stdout
    assert again.stdout.count("Once more, alone:") == len(failed.read_text().splitlines()) == 1


@pytest.mark.slow
def test_a_file_that_cannot_be_read_makes_the_run_red(tmp_path):
    again, _ = run(tmp_path, "import nothing_of_this_name\n")
    assert again.returncode == 1
    assert "RACING" not in again.stdout


def test_a_run_that_failed_without_a_failed_test_is_red(tmp_path):
    again, _ = run(tmp_path, "", "--no-such-option")
    assert again.returncode == 1
    assert "No test has failed" in again.stdout
