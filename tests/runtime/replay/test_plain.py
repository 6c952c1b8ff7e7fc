"""Values in a file of steps come back as they went in."""

import json

import numpy as np
import pytest

from covey.comms.blackboard import Blackboard, BlackboardView
from covey.comms.message import Message
from covey.errors import InvalidValueError
from covey.geometry import Pose
from covey.onboard.step import StepInput, TeamUpdate
from covey.robots.catalogue import pioneer3dx
from covey.runtime.replay.plain import decode, encode


def there_and_back(value):
    return decode(json.loads(json.dumps(encode(value))))


def test_arrays_that_cannot_be_written_stay_so():
    fixed = np.zeros(2)
    fixed.flags.writeable = False
    assert not there_and_back(fixed).flags.writeable
    assert there_and_back(np.zeros(2)).flags.writeable


def test_records_and_containers_come_back():
    message = Message("a", None, "word", {(1, 2): {3}}, 40, 0.1, 0.2, 1, 7)
    shown = StepInput(0.1, Pose(1.0, 2.0, 3.0), received=TeamUpdate((message,)))
    back = there_and_back(shown)
    assert back.pose == shown.pose
    assert isinstance(back.pose, Pose)
    assert back.received.messages[0].payload == {(1, 2): {3}}
    model = pioneer3dx()
    assert there_and_back(model) == model


def test_an_entry_that_was_taken_down_stays_taken_down():
    blackboard = Blackboard({"door": "open"})
    del BlackboardView(blackboard)["door"]
    other = Blackboard({"door": "open"}, there_and_back(blackboard.pending))
    other.turn()
    assert other.entries == {}


def test_what_is_no_data_is_refused():
    with pytest.raises(InvalidValueError, match="a object cannot be recorded in the steps"):
        encode(object())
