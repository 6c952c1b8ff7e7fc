"""Cases of several modules of ``attacks/`` for one child process, each module in a folder of its own."""

import os
from contextlib import chdir
from importlib import import_module
from pathlib import Path

CASES = {
    "scenarios": 4,
    "maps": 12,
    "event_lines": 1,
    "mjcf": 1,
    "commands": 2,
    "logs": 6,
    "run_folders": 1,
    "wrong_files": 1,
    "full_disks": 1,
}
LEFT_OUT = os.environ.get("COVEY_ATTACKS_LEFT_OUT", "").split()
"""Modules that this machine cannot run."""
LISTED = [(name, k) for name, number in CASES.items() if name not in LEFT_OUT for k in range(number)]


def warm() -> None:
    """Let each module make what its cases need."""
    for name in dict(LISTED):
        Path(name).mkdir()
        with chdir(name):
            getattr(import_module(f"attacks.{name}"), "warm", lambda: None)()


def case(number: int) -> str:
    """Return the word of a case by its place in `LISTED`, with its module."""
    name, k = LISTED[number]
    with chdir(name):
        return f"{name}: {import_module(f'attacks.{name}').case(k)}"
