"""Signals end a command, also those that come where Python lets no exception out."""

import subprocess
import sys

import pytest

CODE = """
import signal, sys, threading
from covey.cli.signals import like_ctrl_c

class Ends:
    def __del__(self):
        signal.raise_signal(getattr(signal, sys.argv[1]))

with like_ctrl_c() as came:
    try:
        one = Ends()
        del one
        threading.Event().wait()
    except KeyboardInterrupt:
        print(*map(int, set(came)))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a wait cannot be interrupted there")
@pytest.mark.parametrize(("name", "came"), [("SIGTERM", "15"), ("SIGINT", "")])
def test_a_signal_that_comes_in_a_finalizer_is_not_lost(name, came):
    done = subprocess.run([sys.executable, "-c", CODE, name], capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout.strip() == came
    assert not done.stderr
