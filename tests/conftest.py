"""Properties are judged by their truth, not by how fast a loaded machine finds it."""

import compileall
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
    """Keep the tests as pytest rewrote them, which takes half of the time of collecting them."""
    saved, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        return (yield)
    finally:
        sys.dont_write_bytecode = saved
