"""A program ends, whatever threads a controller has left."""

import os
import subprocess
import sys
import time

THREADS = """\
import threading, time

def leaves(robot):
    if robot.time == 0.0:
        threading.Thread(target=time.sleep, args=(600,), name="listens to nobody").start()
"""


def test_a_thread_that_does_not_end_does_not_keep_the_program_from_ending(tmp_path):
    (tmp_path / "mine.py").write_text(THREADS)
    (tmp_path / "s.yaml").write_text(
        "world: {empty_m: [8, 8]}\nrobots: [{robot: disc, controller: './mine.py:leaves'}]\nstop: {timeout_s: 1}\n"
    )
    command = [sys.executable, "-m", "covey", "run", "s.yaml", "--out", "out", "--quiet", "--no-pictures"]
    path = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    begin = time.monotonic()
    done = subprocess.run(command, cwd=tmp_path, env=path, capture_output=True, text=True, timeout=100, check=False)
    assert time.monotonic() - begin < 60
    assert done.returncode == 3
    assert "threads that a controller has left are ended: listens to nobody" in done.stderr
    assert (tmp_path / "out" / "metrics.json").is_file()
