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
