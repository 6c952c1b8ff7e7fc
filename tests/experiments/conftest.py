"""Designs that take next to no time, and kernels that are compiled before any clock runs."""

import pytest

from covey.experiments import run
from covey.experiments.design.records import Design
from covey.experiments.workers.execute import execute

PLAIN = {
    "design": "two sizes",
    "scenario": {
        "world": {"empty_m": [8, 8]},
        "robots": [{"name": "scout", "robot": "disc", "controller": "wander"}],
        "stop": {"timeout_s": 1},
    },
    "parameters": {"robots.scout.count": [1, 2]},
    "iterations": 2,
}


ROOM = """\
world: {empty_m: [8, 8]}
robots: [{name: scout, count: 2, controller: wander}]
stop: {timeout_s: 3}
"""


@pytest.fixture(scope="session")
def plain():
    return lambda **changes: Design.model_validate(PLAIN | changes)


@pytest.fixture
def in_this_process(monkeypatch):
    return executed_here(monkeypatch)


def executed_here(patch):
    """Have runs executed by the threads themselves, without a process of their own; return the list of their ids."""
    executed = []

    def keep(planned, folder, limits, software):
        executed.append(planned.run_id)
        return execute(planned, folder)

    patch.setattr(run, "keep", keep)
    return executed


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write files into an empty folder, which becomes the current one; room.yaml is there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "room.yaml").write_text(ROOM, encoding="utf-8")

    def writer(**texts):
        for name, text in texts.items():
            (tmp_path / name.replace("_yaml", ".yaml").replace("_py", ".py").replace("_csv", ".csv")).write_text(text)
        return tmp_path

    return writer
