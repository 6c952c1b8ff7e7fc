"""Arguments of a wrong type are refused in words that say what is allowed."""

import pytest

import covey
from covey.errors import InvalidValueError

WORLD = covey.World.empty(6, 6)


@pytest.mark.parametrize(
    ("arguments", "options", "match"),
    [
        ((WORLD, 2.5), {}, "robots is 2.5; give a whole number, or a list of covey.Group"),
        (("maze", 2), {}, "world is 'maze'; give a covey.World"),
        ((WORLD, 2), {"seed": "x"}, "seed is 'x'; give a whole number"),
        ((WORLD, 2), {"seed": 1.5}, "seed is 1.5; give a whole number"),
        ((WORLD, 2), {"radio": "20"}, "radio is '20'; give a range"),
        ((WORLD, 2), {"radio": [20]}, r"radio is \[20\]; give a range"),
        ((WORLD, 2), {"radio": -5}, "Radio.range_m: must be greater than or equal to 0; given: -5"),
        ((WORLD, 2), {"share_maps": "yes"}, "share_maps is 'yes'; give a period above 0"),
        ((WORLD, 2), {"stop": 5}, r"stop is 5; give a covey.Stop, such as covey.Stop\(timeout_s=60\)"),
        ((WORLD, 2), {"stop": {"timeout_s": 5}}, "stop is {'timeout_s': 5}; give a covey.Stop"),
        ((WORLD, 2), {"tags": 3.0}, r"tags is 3.0; give a covey.Tags, such as covey.Tags\(range_m=2\)"),
        ((WORLD, 2), {"controller": "./mine.py:go"}, "in Python give the function or class itself"),
        ((WORLD, 2), {"share_maps": 0}, "share_maps is 0; give a period above 0"),
        ((WORLD, 2), {"timeout_s": 9}, r"write stop=covey.Stop\(timeout_s=9\)"),
    ],
)
def test_a_simulation_says_what_it_takes(arguments, options, match):
    with pytest.raises(InvalidValueError, match=match):
        covey.Simulation(*arguments, **options)


def test_a_simulation_is_shown_with_its_world_robots_and_time():
    sim = covey.Simulation(WORLD, 2)
    sim.step()
    assert repr(sim) == "<Simulation empty: 2 robots, 0.1 s, not ended>"


def test_a_group_has_a_model():
    with pytest.raises(InvalidValueError, match=r"robot is 'pioneer3dx'; give a covey\.RobotModel, such as"):
        covey.Group("scout", "pioneer3dx", [(0, 0, 0)])  # pyright: ignore


def test_a_world_has_a_size_in_numbers():
    with pytest.raises(InvalidValueError, match="width_m is '6'; it must be a positive number of metres"):
        covey.World.empty("6", 6)  # pyright: ignore


def test_a_mistyped_name_of_the_package_is_corrected():
    with pytest.raises(AttributeError, match="no attribute 'Simulaton', did you mean 'Simulation'"):
        covey.Simulaton  # noqa: B018
