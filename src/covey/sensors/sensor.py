"""Base of all sensors: a record with a name and a rate that reads the truth for many robots at once."""

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import Field

from covey.draws import Draws
from covey.named import OfKind
from covey.random import stream_key
from covey.registry import Registry
from covey.sensors.degradation import Degradation
from covey.sensors.truth import Truth


@dataclass(frozen=True, eq=False)
class Readings(ABC):
    """The readings of one sensor of many robots at one time: arrays whose first axis is the robot.

    Attributes:
        shared: names of the fields that are the same for all robots and have no robot axis.
        truth: additional data for the scoring that no robot may see.
    """

    shared: ClassVar[tuple[str, ...]] = ()
    truth: Any = field(default=None, kw_only=True)

    @abstractmethod
    def row(self, i: int) -> Any:
        """Return the reading of the i-th robot; its arrays are copies."""

    def degrade(self, i: int, worse: Degradation) -> None:
        """Make the reading of the i-th robot worse, in place; what does not say how stays as it is."""

    @classmethod
    def made(cls, **values: Any) -> Self:
        """Return readings with these fields, in a third of the time of the constructor of a frozen record."""
        readings = object.__new__(cls)
        vars(readings).update(values)
        return readings

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all that robots may see of the readings, as arrays by name."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "truth"}
        arrays = {name: np.asarray(value) for name, value in values.items() if value is not None}
        return {name: array for name, array in arrays.items() if array.dtype != object and array.ndim}

    def of(self, rows: slice) -> Self:
        """Return the part of the readings that these robots may see: read-only copies, without the truth."""
        shown = {
            f.name: _own(value if f.name in self.shared else value[rows])
            for f in dataclasses.fields(self)
            if f.name != "truth" and (value := getattr(self, f.name)) is not None
        }
        return dataclasses.replace(self, truth=None, **shown)

    def by_world(self, worlds: int) -> Self:
        """Return readings whose arrays have the world as their first axis: (worlds, robots of a world, …)."""
        shaped = {
            f.name: value.reshape(worlds, -1, *value.shape[1:])
            for f in dataclasses.fields(self)
            if f.name not in self.shared and isinstance(value := getattr(self, f.name), np.ndarray)
        }
        return dataclasses.replace(self, **shaped)


def _own(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.copy()
        value.flags.writeable = False
    return value


FEEDS = ("scan", "ground", "targets", "mates", "motion", "turn")
"""What readings can be good for, see `SensorRecord.feeds`."""
sensors: Registry[Any] = Registry("sensor", shelf="covey.sensors.catalogue")
"""Names for sensors in files: a kind (the record's class) or a preset (a function without arguments)."""


class SensorRecord(OfKind, ABC):
    """Base of all sensors. The noise depends only on (seed, sensor name, robot name, sample).

    A class says by these attributes, and by `drawn`, how the rest of Covey uses it.

    Attributes:
        feeds: what its readings are good for: ``scan``, distances along the rays of a lidar, for maps, exploration and
            localization; ``ground``, altitudes, for maps of the ground and their exploration; ``targets``, for the
            search; ``mates``, for what scans hide, and for avoidance; ``motion``, of odometry; ``turn``, of a gyro.
        degrades: whether a fault can make it worse: its readings have a method `Readings.degrade`.
        form: of its ROS messages, on a topic with its name: a word of `covey.ros.sensor_topics`; empty: none of its
            own.
        between_steps: whether ROS gets a reading at its own time in real time; others come with the transforms of the
            step.
        in_many_worlds: whether `read` takes robots of several worlds at once, see `Truth.world_id`: the reading of each
            is that of its world alone, and does not follow from `Truth.touches`. A batch takes no other sensors.
        begins_anew: whether, besides, the runs of some worlds may have begun later than those of others: it needs
            nothing of the sample before, and takes the number of the sample of each robot.
    """

    registry = sensors
    feeds: ClassVar[tuple[str, ...]] = ()
    degrades: ClassVar[bool] = False
    form: ClassVar[str] = "numbers"
    between_steps: ClassVar[bool] = False
    in_many_worlds: ClassVar[bool] = False
    begins_anew: ClassVar[bool] = False

    name: str = Field(default="sensor", min_length=1, description="Name of the sensor, unique on its robot.")
    rate_hz: float = Field(default=10.0, gt=0, le=1e6, description="Samples per second [Hz].")
    latency_s: float = Field(default=0.0, ge=0, le=60, description="Delay of a reading [s].")

    @classmethod
    def of_function(cls, function: Any, reference: str) -> Any:
        """Return the sensor that a function without arguments makes."""
        made = function()
        return made if isinstance(made, SensorRecord) else super().of_function(function, reference)

    @abstractmethod
    def read(self, truth: Truth, members: np.ndarray, keys: np.ndarray, sample: int) -> Readings:
        """Return the reading of each member.

        Args:
            truth: the true state.
            members: int64 (m,), indices of the robots that carry this sensor.
            keys: uint64 (m,), their noise streams, see `sensor_keys`.
            sample: number of the sample since the start of the run; with `begins_anew` also that of each member, int64
                (m,), see `numbers_of`.
        """

    def reading(self, numbers: np.ndarray) -> Any:
        """Return the reading of a message of the form ``numbers``: a number, or an array of several."""
        return float(numbers[0]) if len(numbers) == 1 else np.array(numbers, float)

    def drawn(self, readings: Any = None) -> Draws | None:
        """Return how readings are drawn; those of None: any; None: they are not drawn."""
        return None

    def after(self, readings: Readings, before: Any) -> Readings:
        """Return the readings of a sample, given those of the previous sample (None: it is the first)."""
        return readings


def sensor_keys(seed: int | Sequence[int], sensor_name: str, robot_names: Sequence[str]) -> np.ndarray:
    """Return the keys of the noise streams of one sensor on each robot, uint64 (m,).

    Args:
        seed: of the run; or that of the world of each robot.
        sensor_name: name of the sensor.
        robot_names: names of the robots.
    """
    seeds = repeat(seed, len(robot_names)) if isinstance(seed, (int, np.integer)) else seed
    pairs = zip(seeds, robot_names, strict=True)
    return np.array([stream_key(own, f"{sensor_name}/{robot}") for own, robot in pairs], np.uint64)


def numbers_of(sample: int | np.ndarray, members: np.ndarray) -> np.ndarray:
    """Return the number of the sample of each member, int64 (m,), see `SensorRecord.read`."""
    return sample if isinstance(sample, np.ndarray) else np.full(len(members), sample)


def fan_angles(rays: int, fov_rad: float) -> np.ndarray:
    """Return the angles [rad] of a fan of rays, ascending, shape (rays,).

    Both ends of the field of view have a ray; a full circle starts at -pi and has no second ray at +pi.
    """
    if rays == 1:
        return np.zeros(1)
    if fov_rad >= 2.0 * math.pi:
        return -math.pi + 2.0 * math.pi / rays * np.arange(rays)
    return np.linspace(-0.5 * fov_rad, 0.5 * fov_rad, rays)
