"""Sensors made of functions: what they see, their noise, and those that ship against geometry by hand."""

import math

import numpy as np
import pytest

import covey
from covey.errors import ControllerError, InvalidValueError, UnknownNameError
from covey.sensors import beacon, compass, relative_pose, sector_camera, sensor
from covey.testing import check_sensor


@sensor("test_own_gauss", sees="heading")
def gauss(robot, random, sigma: float = 1.0):
    return random.normal(0.0, sigma)


def play(law, sensors, robots=2, **more):
    return covey.play(law, robots=robots, sensors=sensors, stop_s=1, speed="max", **more)


def still(team):
    return 0.0, 0.0


@pytest.mark.parametrize("kind", [compass, beacon, relative_pose, sector_camera, gauss])
def test_it_is_a_sensor_like_any_other(kind):
    check_sensor(kind())


def test_what_it_has_not_declared_it_cannot_see():
    @sensor("test_own_blind", sees="heading")
    def blind(robot, random):
        return robot.others[0, 0]

    with pytest.raises(ControllerError, match=r"test_own.py:\d+: AttributeError: the sensor does not see 'others'"):
        play(still, [blind()])

    @sensor("test_own_walls", sees="pose")
    def through(robot, random):
        return robot.distance_to_wall()

    with pytest.raises(ControllerError, match="does not see the walls"):
        play(still, [through()])


def test_its_arrays_are_copies():
    @sensor("test_own_writes", sees=("pose", "others"))
    def writes(robot, random):
        robot.pose[:] = 0.0
        robot.others[:] = 0.0
        return 1.0

    starts = [(2.0, 2.0, 1.0), (8.0, 8.0, 2.0)]
    assert play(still, [writes()], starts=starts).poses[-1] == pytest.approx(np.array(starts), abs=1e-3)


def test_noise_is_of_the_seed_and_of_each_robot():
    first, again = (play(still, [gauss()], robots=3, seed=4).readings["test_own_gauss"].values for _ in range(2))
    other = play(still, [gauss()], robots=3, seed=5).readings["test_own_gauss"].values
    assert (first == again).all()
    assert not (first == other).any()
    assert len(np.unique(first)) == first.size


def test_noise_has_its_deviation():
    values = covey.play(still, robots=20, sensors=[gauss(sigma=2.0)], stop_s=20, speed="max").readings
    drawn = values["test_own_gauss"].values.ravel()
    n = drawn.size
    assert abs(drawn.mean()) < 4.0 * 2.0 / math.sqrt(n)
    assert abs(drawn.std() / 2.0 - 1.0) < 4.0 / math.sqrt(2.0 * n)


def test_those_that_ship_measure_by_hand():
    starts = [(2.0, 2.0, math.pi / 2), (2.0, 5.0, math.pi), (5.0, 2.0, 0.0)]
    sensors = [
        compass(sigma_deg=0.0),
        beacon(x_m=2.0, y_m=6.0),
        relative_pose(of=0),
        sector_camera(fov_deg=90.0, sectors=3),
    ]
    shown = play(still, sensors, robots=3, starts=starts).readings
    assert shown["compass"].values[-1] == pytest.approx([math.pi / 2, -math.pi, 0.0])
    assert shown["beacon"].values[-1] == pytest.approx(
        np.array([(4.0, 0.0), (1.0, -math.pi / 2), (5.0, math.atan2(4, -3))])
    )
    assert shown["relative_pose"].values[-1] == pytest.approx(
        np.array([(3.0, 0.0, math.pi / 2), (0.0, 3.0, -math.pi / 2), (-3.0, 0.0, math.pi / 2)]), abs=1e-9
    )
    assert shown["sector_camera"].values[-1, 0].tolist() == [math.inf, 3.0, math.inf]


def test_a_wall_hides_a_beacon_and_a_moving_one_moves():
    wall = [[(4.0, 0.0), (4.0, 9.0)]]
    hidden = play(still, [beacon(x_m=8.0, y_m=2.0)], robots=1, starts=[(2.0, 2.0, 0.0)], walls=wall)
    assert np.isnan(hidden.readings["beacon"].values).all()
    moving = play(still, [beacon(x_m=3.0, y_m=2.0, vx_m_s=1.0)], robots=1, starts=[(2.0, 2.0, 0.0)])
    ranges = moving.readings["beacon"].values[:, 0, 0]
    assert np.diff(ranges) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("name", "rate_hz", "said"),
    [
        ("my sensor", 10, "cannot be called 'my sensor'; write a word"),
        ("pose", 10, "cannot be called 'pose'"),
        ("velocity", 10, "cannot be called 'velocity'"),
        ("test_own_r", 0, "rate_hz is 0; give samples per second"),
        ("test_own_s", "5", "rate_hz is '5'"),
        ("test_own_t", float("nan"), "rate_hz is nan"),
    ],
)
def test_wrong_names_and_rates(name, rate_hz, said):
    with pytest.raises(InvalidValueError, match=said):
        sensor(name, rate_hz=rate_hz)


def test_a_decorator_without_its_name_is_told():
    with pytest.raises(InvalidValueError, match=r"above still has no brackets.*@covey.sensor"):
        sensor(still)


def test_numbers_of_unequal_length_are_shown():
    @sensor("test_own_longer")
    def longer(robot, random):
        return [0.0] * (2 + int(robot.pose[0] > 3))

    with pytest.raises(ControllerError, match=r"returned \[0.0, 0.0\] and \[0.0, 0.0, 0.0\]; return a number"):
        play(still, [longer()], robots=2, starts=[(1, 1, 0), (5, 5, 0)])


def test_a_sensor_that_leaves_is_an_error():
    @sensor("test_own_leaves")
    def leaves(robot, random):
        raise SystemExit(2)

    with pytest.raises(ControllerError, match=r"test_own.py:\d+: SystemExit: 2"):
        play(still, [leaves()], robots=1)


def test_mistakes_are_told():
    with pytest.raises(InvalidValueError, match="did you mean 'heading'"):
        sensor("test_own_a", sees="headin")
    with pytest.raises(InvalidValueError, match=r"write def few\(robot, random\)"):

        @sensor("test_own_b")
        def few(robot):
            return 1.0

    @sensor("test_own_nothing")
    def nothing(robot, random):
        pass

    with pytest.raises(ControllerError, match="returned None; return a number"):
        play(still, [nothing()])


@sensor("test_own_dark", sees="position")
def dark(robot, random):
    return robot.position[0] > 5.0


@sensor("test_own_eyes", sees="position", draws="sectors")
def eyes(robot, random, fov_deg: float = 90.0, range_m: float = 3.0):
    return 1.0, 2.0


def test_it_is_drawn_and_recorded_without_another_line(tmp_path):
    starts = [(2.0, 2.0, 0.0), (8.0, 8.0, 0.0)]
    out = play(still, [dark(), gauss(), eyes(), compass(), {"kind": "proximity"}, {"kind": "imu"}], starts=starts)
    words = {name: one.draws and one.draws.word for name, one in out.readings.items()}
    assert words == {
        "test_own_dark": "ring",
        "test_own_gauss": "number",
        "test_own_eyes": "sectors",
        "compass": "heading",
        "proximity": "sectors",
        "imu": None,
    }
    seen = out.readings["test_own_eyes"].draws
    assert (seen.begin_rad, seen.width_rad, seen.range_m) == (-math.pi / 4, math.pi / 2, 3.0)
    assert {mark.by for mark in out.marks_at(10)} == {f"sensor:{name}" for name in words if name != "imu"}
    unlit, lit = [mark for mark in out.marks_at(10) if mark.by == "sensor:test_own_dark"]
    assert (unlit.parts[0].mean(axis=0), lit.parts[0].mean(axis=0)) == (
        pytest.approx([2, 2], abs=0.01),
        pytest.approx([8, 8], abs=0.01),
    )
    for name in ("run.npz", "run.mat", "folder"):
        again = covey.Out.load(out.save(tmp_path / name))
        assert len(again.marks_at(10)) == len(out.marks_at(10))
        assert all(map(lambda a, b: a.same_as(b), again.marks_at(10), out.marks_at(10)))
    size = [out.plot(tmp_path / "with.png"), (tmp_path / "with.png").read_bytes()][1]
    without = play(still, [eyes(), compass()], starts=starts, draw={"sensors": False})
    assert without.marks_at(10) == []
    without.plot(tmp_path / "without.png")
    assert size != (tmp_path / "without.png").read_bytes()
    some = play(still, [eyes(), compass()], starts=starts, draw={"sensors": ["compass"]})
    assert {mark.by for mark in some.marks_at(3)} == {"sensor:compass"}
    wrong = play(still, [compass()], starts=starts, draw={"sensors": ["compas"]})
    with pytest.raises(UnknownNameError, match="did you mean 'compass'"):
        wrong.plot()


def test_what_it_cannot_draw():
    with pytest.raises(InvalidValueError, match=r"cannot draw 'rings', did you mean 'ring'.*words: ring, number"):
        sensor("test_own_rings", draws="rings")

    @sensor("test_own_short", draws="ray")
    def short(robot, random):
        return 1.0

    with pytest.raises(ControllerError, match=r"draws a ray and returned 1.0; return range \[m\] and bearing"):
        play(still, [short()])
