"""Properties of every robot of the catalogue, and the figures of its sources."""

import pytest

from covey.errors import UnknownNameError
from covey.robots.catalogue import robots
from covey.robots.model import RobotModel
from covey.robots.team import TeamModel


@pytest.mark.parametrize("name", robots.names())
def test_every_robot_survives_a_file_and_senses(name):
    model = robots.get(name)()
    assert model.name == name
    assert RobotModel.model_validate_json(model.model_dump_json()) == model
    assert model.mapping is not None
    assert len({sensor.name for sensor in model.sensors}) == len(model.sensors) >= 2
    team = TeamModel.of([model])
    assert 0 < team.inscribed[0] <= team.radius[0] < 0.4


def test_pioneer_has_the_figures_of_the_testbed():
    model = robots.get("pioneer3dx")()
    assert (model.max_speed_m_s, model.max_turn_rad_s, 2 * model.wheel_semi_axis_m) == (1.2, 5.24, 0.357)
    xs, ys = zip(*model.footprint_m, strict=True)
    assert max(xs) - min(xs) == pytest.approx(0.508)
    assert max(ys) - min(ys) == pytest.approx(0.3556)


def test_turtlebot_wheels_reach_top_speed_and_the_full_turn():
    for name, separation in (("turtlebot3_burger", 0.160), ("turtlebot3_waffle", 0.287)):
        model = robots.get(name)()
        assert model.max_wheel_speed_m_s == pytest.approx(model.max_turn_rad_s * separation / 2, rel=1e-3)
        assert model.max_wheel_speed_m_s >= model.max_speed_m_s


def test_lidars_of_turtlebots_have_the_rates_of_their_sources():
    rates = {name: robots.get(name)().sensors[0].rate_hz for name in robots.names() if name.startswith("turtlebot3")}
    assert rates == {"turtlebot3_burger": 5.0, "turtlebot3_waffle": 10.0, "turtlebot3_waffle_pi": 5.0}


def test_unknown_robot_gets_the_nearest_name():
    with pytest.raises(UnknownNameError, match="pioneer3dx"):
        robots.get("pioneer")
