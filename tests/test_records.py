"""Records made in Python: wrong values are refused in Covey's own words, and the place of each is named."""

import pickle
from typing import Any

import numpy as np
import pytest
from pydantic import Field, ValidationError

import covey
from covey.records import Record
from covey.scenario.load import parse_scenario


class Inner(Record):
    size_m: float


class Outer(Record):
    inner: Inner


@pytest.mark.parametrize(
    ("record", "given", "says"),
    [
        (covey.Stop, {"explored": 95}, "Stop.explored: must be less than or equal to 1; given: 95"),
        (covey.ShareMaps, {"every_s": "yes"}, "ShareMaps.every_s: must be a number; given: 'yes'"),
        (covey.ShareMaps, {"polcy": "every"}, "ShareMaps: unknown key 'polcy', did you mean 'policy'?"),
        (covey.Radio, {"links": ["dosc"]}, "Radio.links.0: unknown link 'dosc', did you mean 'disc'?"),
        (
            covey.Execution,
            {"processes": {"pase": "real_time"}},
            "Execution.processes: unknown key 'pase', did you mean 'pace'?",
        ),
        (
            covey.Stop,
            {"explored": 0, "timeout_s": "soon"},
            "Stop.explored: must be greater than 0; given: 0; Stop.timeout_s: must be a number; given: 'soon'",
        ),
        (Outer, {"inner": {"size_m": "big"}}, "Outer.inner.size_m: must be a number; given: 'big'"),
        (Outer, {}, "Outer.inner: 'inner' is missing"),
    ],
)
def test_a_record_names_itself_the_value_and_what_is_allowed(record: Any, given, says):
    with pytest.raises(covey.InvalidValueError) as caught:
        record(**given)
    assert str(caught.value) == says


class Amounts(Record):
    any_m: float = 1.0
    not_negative_m: float = Field(default=1.0, ge=0)
    positive_m: float = Field(default=1.0, gt=0)
    points_m: tuple[tuple[float, float], ...] = ()


def test_what_rounding_left_over_is_zero_where_zero_is_allowed():
    left = 4 * np.cos(np.pi / 2)
    assert 0 < left < 1e-15
    made = Amounts(any_m=-left, not_negative_m=left, points_m=((4.0, left), (-left, 4.0)))  # pyright: ignore
    assert (made.any_m, made.not_negative_m, made.points_m) == (0.0, 0.0, ((4.0, 0.0), (0.0, 4.0)))
    with pytest.raises(covey.InvalidValueError, match=r"positive_m: .*e-16 is too small or too large; give .* 1e-12"):
        Amounts(positive_m=left)
    assert Amounts(positive_m=1e-12, any_m=-1e-12).any_m == -1e-12


def test_a_circle_of_robots_starts():
    around = np.arange(8) * np.pi / 4
    starts = np.column_stack((4 * np.cos(around), 4 * np.sin(around), around))
    sim = covey.Simulation(covey.World.empty(12, 12), [covey.Group("a", covey.robots.disc(), starts.tolist())])
    np.testing.assert_allclose(sim.state.pose[:, :2], starts[:, :2], atol=1e-12)
    poses = np.column_stack((starts[:, :2], np.degrees(around))).tolist()
    text = f"world: {{empty_m: [12, 12]}}\nrobots: [{{robot: disc, count: 8, start: {poses}}}]\n"
    np.testing.assert_allclose(parse_scenario(text).build().state.pose, sim.state.pose, atol=1e-12)


def test_what_reads_files_gets_the_places_of_the_errors():
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate({"inner": {"size_m": "big"}})
    assert caught.value.errors()[0]["loc"] == ("inner", "size_m")
    assert pickle.loads(pickle.dumps(Outer(inner=Inner(size_m=1)))) == Outer.model_validate({"inner": {"size_m": 1}})
