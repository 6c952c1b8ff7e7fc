"""A domain of its own for each test: a random number, this machine only, and a tag that no other test has."""

import json
import os
import random
import uuid
from pathlib import Path

import pytest
from tests.ros.forks import Covey
from tests.ros.peer import RECEIPTS
from tests.ros.world import PARTICIPANTS, PeerProcess

from covey.ros.dds import Participant

_DATA = next((data for at in Path(__file__).parents if (data := at / "shared/data/ros2").is_dir()), None)
_VARIABLES = ("ROS_DISTRO", "ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_LOCALHOST_ONLY", "ROS_DOMAIN_ID")


@pytest.fixture
def tag():
    return uuid.uuid4().hex


@pytest.fixture
def domain(monkeypatch, tag):
    """Return a domain; the processes that a test starts inherit its tag. Who dies is missed after a second, not ten."""
    join = Participant.__init__

    def register(self, *how, **more):
        join(self, *how, **more)
        PARTICIPANTS.add(self)

    monkeypatch.setattr(Participant, "__init__", register)
    for name in _VARIABLES:
        monkeypatch.delenv(name, raising=False)
    discovery = f"<Discovery><LeaseDuration>1 s</LeaseDuration><Tag>{tag}</Tag></Discovery>"
    monkeypatch.setenv("CYCLONEDDS_URI", f"<CycloneDDS><Domain>{discovery}{RECEIPTS}</Domain></CycloneDDS>")
    return random.Random(os.urandom(8)).randrange(100)  # not of the seeded generator, which other processes share


@pytest.fixture
def peer(domain, tag, capfd):
    """Return the independent peer on the domain; neither side may complain about the bytes of the other."""
    process = PeerProcess(domain, tag)
    yield process
    complaints = process.close() + capfd.readouterr().err
    assert "deserialization" not in complaints, complaints
    assert "invalid type object" not in complaints, complaints


@pytest.fixture
def start(domain, tmp_path):
    """Return a function that starts ``covey`` with some arguments in the folder of the test; all end with the test."""
    environment, started = os.environ | {"ROS_DOMAIN_ID": str(domain)}, []

    def begin(*arguments):
        started.append(Covey(arguments, tmp_path, environment, len(started)))
        return started[-1]

    yield begin
    for process in started:
        process.kill()


@pytest.fixture
def recorded():
    """Return a function that reads a file of what a real ROS 2 Jazzy sent."""
    if _DATA is None:
        pytest.skip("the recordings of a real ROS 2 are not here")
    return lambda name: (_DATA / name).read_text()


@pytest.fixture
def golden(recorded):
    return lambda name: json.loads(recorded(name))
