"""A run whose files are closed under it."""

import os
import subprocess
import sys

CLOSES = """\
import os

def closes(robot):
    os.closerange(3, 4096)
"""


def test_a_controller_that_closes_the_files_of_the_run_ends_it_with_a_sentence(tmp_path):
    (tmp_path / "bad.py").write_text(CLOSES)
    (tmp_path / "s.yaml").write_text(
        "world: {empty_m: [8, 8]}\nrobots: [{robot: disc, controller: './bad.py:closes'}]\nstop: {timeout_s: 1}\n"
    )
    command = [sys.executable, "-m", "covey", "run", "s.yaml", "--out", "out", "--quiet", "--no-pictures"]
    path = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, cwd=tmp_path, env=path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "have been closed under the run" in done.stderr
    assert "A controller must close only what it has opened" in done.stderr
    assert "Traceback" not in done.stderr
