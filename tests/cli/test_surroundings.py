"""Commands in odd environments: no docstrings, a terminal that is narrow or knows no UTF-8, settings of libraries."""

import errno
import io
import os
import subprocess
import sys

import pytest

import covey
from covey.cli import main
from covey.cli.exit_codes import BAD_INPUT, FAILED, REACHED
from covey.controllers.rescue.rescue_team import takes_settings


def test_a_terminal_that_is_not_utf_8_gets_question_marks(monkeypatch):
    shown = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(shown, encoding="ascii", write_through=True))
    assert main(["list", "controllers"]) == REACHED
    assert b"nearest_frontier" in shown.getvalue()
    assert shown.getvalue().isascii()


@pytest.mark.parametrize("columns", ["0", "1"])
def test_help_ends_on_a_terminal_without_width(columns):
    """In a process of its own: what prints help keeps the width of its first time for all that the process prints."""
    command = [sys.executable, "-m", "covey", "run", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"COLUMNS": columns}, timeout=240)
    assert done.returncode == REACHED
    assert "--trusted-only" in done.stdout


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("NUMBA_NUM_THREADS", "0", "numba refuses a setting of the environment, NUMBA_NUM_THREADS=0: "),
        ("NUMBA_OPT", "x", "numba refuses a setting of the environment, NUMBA_OPT=x: "),  # it warns with a traceback
        ("NUMBA_DISABLE_JIT", "1", "NUMBA_DISABLE_JIT=1 lets numba compile nothing"),
        ("NUMBA_CPU_FEATURES", "avx2", "NUMBA_CPU_FEATURES='avx2': write + or - before each"),  # LLVM aborts
    ],
)
def test_a_setting_that_a_library_cannot_use_is_one_sentence(name, value, said):
    done = subprocess.run(
        [sys.executable, "-m", "covey", "run", "nothing.yaml"],
        capture_output=True,
        text=True,
        env={k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")} | {name: value},
    )
    assert done.returncode == BAD_INPUT
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_setting_at_which_a_library_panics_is_named(tmp_path):
    covey.Simulation(
        covey.World.empty(4, 4), 1, "wander", stop=covey.Stop(timeout_s=0.2), recording=tmp_path / "run"
    ).run()
    done = subprocess.run(
        [sys.executable, "-m", "covey", "compare", str(tmp_path / "run"), str(tmp_path / "run")],
        capture_output=True,
        text=True,
        env=os.environ | {"POLARS_MAX_THREADS": "0"},
    )
    assert done.returncode == BAD_INPUT
    assert "polars refuses a setting of the environment, POLARS_MAX_THREADS=0: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["--version", "show maze"])
def test_an_output_that_takes_nothing_is_told(command):
    with open("/dev/full", "w") as full:
        typed = [sys.executable, "-m", "covey", *command.split()]
        done = subprocess.run(typed, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == FAILED
    assert done.stderr.startswith("cannot write: No space left on device")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("value", ["x", "1e99", "-1", "9" * 30, ""])
def test_a_time_of_files_that_is_none_is_ignored_and_told(value, monkeypatch, capsys):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", value)
    assert main(["--version"]) == REACHED
    assert "SOURCE_DATE_EPOCH" not in os.environ
    assert "is no number of seconds since 1970: it is ignored" in capsys.readouterr().err


def test_a_time_of_files_stays(monkeypatch, capsys):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert main(["--version"]) == REACHED
    assert os.environ["SOURCE_DATE_EPOCH"] == "1700000000"
    assert not capsys.readouterr().err


def test_controllers_load_without_docstrings():
    """As with ``python -OO``."""

    def bare(robot, **settings):
        pass

    assert "report_at" in takes_settings(bare).__signature__.parameters


class Full(io.StringIO):
    """A file on a full disk."""

    def write(self, text):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_no_bad_input(tmp_path, monkeypatch, capsys):
    def write_bytes(path, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr("pathlib.Path.write_bytes", write_bytes)
    assert main(["lessons", str(tmp_path / "course")]) == FAILED
    assert "course: No space left on device" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdout", Full())
    assert main(["list", "controllers"]) == FAILED  # nobody has made a word of this error
    assert capsys.readouterr().err.startswith("cannot write: No space left on device; make room")


@pytest.mark.parametrize(
    "typed",
    [["check", ".", "{}"], ["check", "--{}", "x"], ["{}"], ["run", "x", "--seed", "{}"], ["view", "r", "--port", "{}"]],
)
def test_what_was_typed_comes_back_without_control_characters(typed, capsys):
    assert main([word.replace("{}", "\x1b[31mred") for word in typed]) == 2
    said = "".join(capsys.readouterr())
    assert "red" in said
    assert "\x1b" not in said
