"""Properties are judged by their truth, not by how fast a loaded machine finds it."""

import compileall
import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("covey", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("covey")

if "PYTEST_XDIST_WORKER" not in os.environ:  # once, as hundreds of processes import it, some without leave to write
    compileall.compile_dir(Path(__file__).parents[1] / "src", quiet=2)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep the tests as pytest rewrote them, which takes half of the time of collecting them.

    What has been collected stays: looking for garbage in it would take a third of that time, and go on through all tests.
    """
    saved, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    gc.disable()
    try:
        return (yield)
    finally:
        sys.dont_write_bytecode = saved
        gc.freeze()
        gc.enable()
