"""Sensors by name and in files, and the same laws over everything registered."""

import dataclasses
import pickle

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from covey.errors import InvalidValueError
from covey.sensors import Lidar, Neighbours, maes_360, sensor_keys, sensors, sick_lms500, turtlebot3_lds
from covey.sensors.sensor import SensorRecord
from covey.world.ground import Ground

FILE = TypeAdapter(list[SensorRecord])


def test_presets_have_the_published_numbers():
    sick = sick_lms500()
    assert (sick.rays, sick.fov_deg, sick.range_m, sick.rate_hz, sick.sigma_m) == (180, 190, 26, 25, 0.01)
    np.testing.assert_allclose(np.degrees(sick.angles[[0, -1]]), [-95, 95])
    lds = turtlebot3_lds()
    assert (lds.rays, lds.min_range_m, lds.range_m, lds.rate_hz, lds.sigma_m) == (360, 0.12, 3.5, 5, 0.01)
    assert turtlebot3_lds(rate_hz=10).rate_hz == 10
    maes = maes_360()
    assert (maes.rays, maes.range_m, maes.sees_robots, maes.sigma_m) == (int(2 * np.pi * 7 * 2), 7, False, 0)


def test_a_file_names_kinds_and_presets_and_changes_them():
    text = ["sick_lms500", {"kind": "sick_lms500", "rate_hz": 50}, "bumper", {"kind": "lidar", "rays": 5}, Neighbours()]
    got = FILE.validate_python(text)
    assert got[0] == sick_lms500()
    assert got[1] == sick_lms500().model_copy(update={"rate_hz": 50.0})
    assert got[3] == Lidar(rays=5)
    assert FILE.validate_python(FILE.dump_python(got)) == got
    assert FILE.validate_json(FILE.dump_json(got)) == got
    assert "lidar" in str(FILE.json_schema())


def test_a_sensor_of_a_package_is_taken_as_it_is():
    class Magnetometer(SensorRecord):
        kind: str = "magnetometer"

        def read(self, truth, members, keys, sample):
            return truth.pose[members, 2]

    sensors.register("magnetometer")(Magnetometer)
    try:
        (got,) = FILE.validate_python([{"kind": "magnetometer", "rate_hz": 4}])
        assert isinstance(got, Magnetometer)
        assert FILE.dump_python([got]) == [{"name": "sensor", "rate_hz": 4.0, "latency_s": 0.0, "kind": "magnetometer"}]
    finally:
        del sensors._items["magnetometer"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("sick_lms50", "unknown sensor 'sick_lms50', did you mean 'sick_lms500'"),
        ({"kind": "lidr"}, "did you mean 'lidar'"),
        ({"kind": "lidar", "rate_hz": 0}, "greater than 0"),
        ({"kind": "lidar", "rate_hz": float("nan")}, "finite"),
        ({"kind": "lidar", "rays": 10_001}, "less than or equal to 10000"),
        ({"kind": "lidar", "rays": 0}, "greater than or equal to 1"),
        ({"kind": "lidar", "fov_deg": 361}, "less than or equal to 360"),
        ({"kind": "lidar", "range_m": -1}, "greater than 0"),
        ({"kind": "lidar", "dropout": 1.1}, "less than or equal to 1"),
        ({"kind": "lidar", "min_range_m": 20}, "min_range_m is 20 m; it must be less than range_m, 10 m"),
        ({"kind": "lidar", "range": 3}, "unknown key"),
        ({"kind": "proximity", "sectors": 1000, "rays_per_sector": 11}, "at most 10000 rays"),
        ({"kind": "neighbours", "max_count": 0}, "greater than or equal to 1"),
    ],
)
def test_nonsense_is_refused_with_its_reason(given, message):
    with pytest.raises(ValidationError, match=message):
        FILE.validate_python([given])


@pytest.mark.parametrize("name", sensors.names())
def test_every_registered_sensor_repeats_its_readings_and_survives_pickling(make_truth, name):
    sensor = pickle.loads(pickle.dumps(sensors.get(name)()))
    walls, ground = np.pad(np.zeros((40, 40), bool), 1, constant_values=True), Ground.of(np.zeros((9, 9)), 0.5)
    truth = make_truth([[1, 1, 0], [2, 1, 3], [1.5, 3, -2]], walls, ground=ground)
    members, keys = np.arange(3), sensor_keys(0, sensor.name, ["a", "b", "c"])
    first, again = sensor.read(truth, members, keys, 2), sensor.read(truth, members, keys, 2)
    for i in range(3):
        if not dataclasses.is_dataclass(first.row(i)):
            np.testing.assert_array_equal(first.row(i), again.row(i))
            continue
        one, two = dataclasses.asdict(first.row(i)), dataclasses.asdict(again.row(i))
        assert one.keys() == two.keys()
        for field, value in one.items():
            np.testing.assert_array_equal(value, two[field])
            told = getattr(first.row(i), field)
            assert not isinstance(value, np.ndarray) or told.base is None or not told.flags.writeable


def test_a_registered_name_cannot_be_taken_twice():
    with pytest.raises(InvalidValueError, match="registered already"):
        sensors.register("lidar")(Neighbours)
