"""Records made in Python: wrong values are refused in Covey's own words, and the place of each is named."""

import pickle
from typing import Any

import pytest
from pydantic import ValidationError

import covey
from covey.records import Record


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


def test_what_reads_files_gets_the_places_of_the_errors():
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate({"inner": {"size_m": "big"}})
    assert caught.value.errors()[0]["loc"] == ("inner", "size_m")
    assert pickle.loads(pickle.dumps(Outer(inner=Inner(size_m=1)))) == Outer.model_validate({"inner": {"size_m": 1}})
