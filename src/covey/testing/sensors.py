"""Checks of sensors."""

import dataclasses
from typing import Any

import numpy as np

from covey.geometry.constant import is_constant
from covey.geometry.grid import Grid
from covey.geometry.raycast import skip_field
from covey.sensors.sensor import SensorRecord, sensor_keys
from covey.sensors.truth import Truth
from covey.world.ground import Ground
from covey.world.targets import Targets


def check_sensor(record: SensorRecord) -> None:
    """Check a sensor: one row per robot, copies, the same reading for the same seed, independent of the batch."""
    truth, names = scene(), ["a0", "a1", "a2", "a3"]
    keys, everyone = sensor_keys(7, record.name, names), np.arange(4)
    whole = record.read(truth, everyone, keys, 5)
    again = record.read(truth, everyone, keys, 5)
    part = record.read(truth, everyone[2:], keys[2:], 5)
    for i in range(4):
        fields, repeated = _arrays(whole.row(i)), _arrays(again.row(i))
        for name, value in fields.items():
            where = f"{type(record).__name__}.{name}"
            same = np.array_equal(value, repeated[name], equal_nan=value.dtype.kind == "f")
            assert same, f"{where} differs between two reads of one sample; draw noise from covey.random"
            assert value.base is None or is_constant(value), f"{where} shares memory with the batch; return a copy"
        if i >= 2:
            for name, value in _arrays(part.row(i - 2)).items():
                same = np.array_equal(value, fields[name], equal_nan=value.dtype.kind == "f")
                assert same, f"{type(record).__name__}.{name} depends on which other robots are read with it"


def _arrays(reading: Any) -> dict[str, np.ndarray]:
    if not dataclasses.is_dataclass(reading):
        return {"reading": np.asarray(reading)}
    return {f.name: np.asarray(getattr(reading, f.name)) for f in dataclasses.fields(reading)}


def scene() -> Truth:
    """Return four robots in a room of 8 m x 8 m with a pillar and three targets, on a wavy ground."""
    solid = np.ones((82, 82), bool)
    solid[1:-1, 1:-1] = False
    solid[40:45, 40:45] = True
    pose = np.array([[1.0, 1.0, 0.3], [2.0, 1.0, 2.0], [1.0, 2.5, -1.0], [6.0, 6.5, 0.0]])
    discs = np.zeros((4, 1, 3))
    discs[:, 0, 2] = 0.2
    return Truth(
        skip=skip_field(solid),
        frame=Grid(solid, 0.1, (-0.1, -0.1, 0.0)).frame,
        pose=pose,
        pose_before=pose - (0.02, 0.01, 0.05),
        twist=np.tile([0.2, 0.0, 0.5], (4, 1)),
        discs=discs,
        disc_count=np.ones(4, np.int64),
        felt=np.array([[9.0, 1.0, 0.5], [10.0, 3.0, -2.0], [10.0, 1.0, 3.0]]),
        felt_since=(0, 10),
        identity=np.arange(4),
        dt_s=0.1,
        ground=Ground.of(0.3 * np.sin(np.arange(17) + np.arange(17)[:, None]), 0.5, origin=(0.0, 0.0)),
        targets=Targets(
            ("victim", "big_fire", "victim"),
            np.array([3, 0, 8]),
            np.array([[2.0, 1.3, 0.25], [1.0, 1.6, 0.25], [7.0, 6.5, 0.25]]),
            np.array([[-1.0, 0.0], [0.0, 0.0], [-1.0, 0.0]]),
            np.full(3, 0.5),
        ),
        altitude_roll_pitch=np.array([[0.3, 0.1, 0.0], [0.0, 0.0, 0.2], [2.0, 0.0, 0.0], [0.3, 0.0, -0.1]]),
    )
