"""A domain of its own for each test: a random number, this machine only, and a tag that no other test has."""

import json
import os
import random
import uuid
from pathlib import Path

import pytest

_DATA = next((data for at in Path(__file__).parents if (data := at / "shared/data/ros2").is_dir()), None)
VARIABLES = ("ROS_DISTRO", "ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_LOCALHOST_ONLY", "ROS_DOMAIN_ID")


@pytest.fixture
def domain(monkeypatch):
    """Return a domain; the processes that a test starts inherit its tag."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    tag = f"<CycloneDDS><Domain><Discovery><Tag>{uuid.uuid4().hex}</Tag></Discovery></Domain></CycloneDDS>"
    monkeypatch.setenv("CYCLONEDDS_URI", tag)
    return random.Random(os.urandom(8)).randrange(100)  # not of the seeded generator, which other processes share


@pytest.fixture
def golden():
    """Return a function that reads a file of what a real ROS 2 Jazzy sent."""
    if _DATA is None:
        pytest.skip("the recordings of a real ROS 2 are not here")
    return lambda name: json.loads((_DATA / name).read_text())


@pytest.fixture
def recorded():
    """Return the folder of what a real ROS 2 Jazzy sent."""
    if _DATA is None:
        pytest.skip("the recordings of a real ROS 2 are not here")
    return _DATA
