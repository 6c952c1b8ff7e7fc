"""A program ends in words, whatever a controller has left behind in it."""

import os
import subprocess
import sys

import pytest

THREADS = 'threading.Thread(target=time.sleep, args=(600,), name="listens to nobody").start()'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("does", "code", "said"),
    [
        (THREADS, 3, ["ending threads that a controller left running: listens to nobody"]),
        (
            "os.closerange(3, 4096)",
            1,
            ["were closed during the run", "A controller must close only what it has opened"],
        ),
    ],
)
def test_a_program_ends_in_words_after(tmp_path, does, code, said):
    (tmp_path / "bad.py").write_text(
        f"import os, threading, time\ndef leaves(robot):\n    if robot.time == 0.0:\n        {does}\n"
    )
    (tmp_path / "s.yaml").write_text(
        "world: {empty_m: [8, 8]}\nrobots: [{robot: disc, controller: './bad.py:leaves'}]\nstop: {timeout_s: 1}\n"
    )
    command = [sys.executable, "-m", "covey", "run", "s.yaml", "--out", "out", "--quiet", "--no-pictures"]
    path = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, cwd=tmp_path, env=path, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == code
    assert all(text in done.stderr for text in said)
    assert "Traceback" not in done.stderr
    assert (tmp_path / "out" / "metrics.json").is_file() == (code == 3)
