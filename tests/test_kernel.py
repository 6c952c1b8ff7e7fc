"""Kernels outside Covey: a user's own script and module may use `@kernel`."""

import os
import subprocess
import sys
from pathlib import Path

import covey

HERE = os.environ | {"PYTHONPATH": str(Path(covey.__file__).parents[1])}

SCRIPT = """
from covey.kernel import kernel

@kernel
def double(x):
    return 2.0 * x

print(double(21.0))
"""


BOTH = """
from covey.kernel import kernel

@kernel
def times(x, k):
    return x * k

@kernel
def twice_and_thrice(x):
    return times(x, 2) + times(x, 3)

print(times(4.0, 5), twice_and_thrice(4.0), times(4.0, 6))
"""


def test_a_kernel_is_called_from_python_and_from_another_kernel(tmp_path):
    (tmp_path / "both.py").write_text(BOTH)
    for _ in range(2):  # compiled, then loaded
        done = subprocess.run(
            [sys.executable, "both.py"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
            env=HERE | {"COVEY_CACHE_DIR": str(tmp_path / "cache")},
        )
        assert done.stdout.strip() == "20.0 20.0 24.0"


def test_a_script_may_hold_a_kernel(tmp_path):
    (tmp_path / "mine.py").write_text(SCRIPT)
    for command in (["mine.py"], ["-m", "mine"]):
        done = subprocess.run(
            [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, check=True, env=HERE
        )
        assert done.stdout.strip() == "42.0"


def test_code_from_the_command_line_may_not_be_cached_but_imports_covey():
    code = "import covey.kernel; print(len(covey.kernel._sources('__main__')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=HERE)
    assert done.stdout.strip() == "0"
