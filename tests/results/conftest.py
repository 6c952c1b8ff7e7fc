"""A run whose every number is known beforehand: robots on circles, shares that grow with the clock."""

import numpy as np
import pytest

from covey.geometry.grid import Grid
from covey.results.manifest import build_manifest
from covey.results.maps import Maps
from covey.results.recorder import Recorder
from covey.results.recording import Recording
from covey.results.snapshot import RunEvent, Snapshot

SPEEDS = np.array([1.0, 0.5])  # m/s
OWN = np.array([0.8, 0.4])  # share of what the union has explored that each robot has seen itself


def circle_frame(step, n=2):
    """Robot i drives a circle of radius 2 + i about the origin; the team explores 1 % of G in each step of 0.1 s."""
    time = step / 10
    speed, own = np.resize(SPEEDS, n), np.resize(OWN, n)
    radius = 2.0 + np.arange(n)
    angle = speed * time / radius
    pose = np.stack((radius * np.cos(angle), radius * np.sin(angle), angle + np.pi / 2), axis=-1)
    twist = np.stack((speed, np.zeros(n), speed / radius), axis=-1)
    union = min(step / 100, 1.0)
    touched = np.full(n, int(step >= 50))
    gaps = np.hypot(*(pose[:, None, :2] - pose[None, :, :2]).transpose(2, 0, 1)) + np.diag(np.full(n, np.inf))
    events = [RunEvent(step, time, "collision", "a0", "a1", 1.0, 2.0)] if step == 50 else []
    if step == 1 or step % 50 == 0:
        events += [RunEvent(step, time, "note", f"a{i}", text=f"lap {step // 50}") for i in range(n)]
    return Snapshot(
        step=step,
        time_s=time,
        pose=pose,
        estimate=pose + np.array([0.03, 0.04, 0.0]),
        twist=twist,
        command=twist,
        distance_m=speed * time,
        collisions_robot=touched,
        collisions_wall=3 * touched,
        energy_j=10.0 * speed * time,
        min_separation_m=float(gaps.min()) if n > 1 else float("nan"),
        events=events,
        mission={
            "explored_share": own * union,
            "explored_share_union": union,
            "known_share": np.minimum(1.0, 1.25 * own * union),
            "known_share_union": union,
        },
    )


def square_maps(n=2, yaw=0.0):
    """A 10 m x 10 m room of 0.25 m cells with a wall around; the maps at 0.5 m know the southern half of it."""
    cells = np.ones((40, 40), np.uint8)
    cells[1:-1, 1:-1] = 0
    truth = Grid(cells, 0.25, (-5.0, -5.0, yaw))
    first = np.where(cells == 0, np.arange(40)[:, None] * 2, -1).astype(np.int32)
    covered = np.full((40, 40), -1, np.int32)
    covered[1:20, 1:-1] = 40
    belief = np.full((20, 20), -1, np.int8)
    belief[:10] = 0
    belief[0], belief[:10, 0], belief[:10, -1] = 100, 100, 100
    union = Grid(belief, 0.5, (-5.0, -5.0, 0.0))
    return Maps(truth, cells == 0, first, first, covered, union, [union] * n)


@pytest.fixture
def record():
    """Return a function that records such a run and returns it."""

    def make(folder=None, *, overwrite=False, steps=100, n=2, maps=True, status="reached", goal=None, **options):
        names = [f"a{i}" for i in range(n)]
        recording = Recording(folder=folder, overwrite=overwrite, name="circles", scenario_yaml="name: circles\n")
        recorder = Recorder(recording, names, **options)
        recorder.open(build_manifest(names, 7, recording, goal))
        for step in range(1, steps + 1):
            recorder.observe(circle_frame(step, n))
        return recorder.close(status, square_maps(n) if maps else None)

    return make


@pytest.fixture(name="circle_frame")
def circle_frame_fixture():
    return circle_frame


@pytest.fixture(name="square_maps")
def square_maps_fixture():
    return square_maps
