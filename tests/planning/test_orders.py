"""Orders: as entries of the blackboard and back, and what is wrong with others."""

import math

import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.planning.formations import slots
from covey.planning.orders import Order


def test_an_order_is_read_from_whoever_wrote_it():
    order = Order.of({"objective_m": [1, 2], "formation": "rank", "spacing_m": 2.0, "facing_deg": 90.0, "number": 4})
    assert order.facing == pytest.approx(math.pi / 2)
    assert order.mode == "leap_of_faith"
    assert Order.of(order.entry(7)) == order
    assert order.entry(7)["number"] == 7


def test_its_slots_are_those_of_the_formation():
    order = Order(objective_m=(1.0, 2.0), formation="pentagon", spacing_m=3.0, spacing_of="neighbours", facing_deg=30)
    expected = slots("pentagon", 6, (1.0, 2.0), 3.0, math.radians(30), "neighbours")
    assert np.array_equal(order.slots(6), expected)


@pytest.mark.parametrize(
    ("entry", "word"),
    [
        ("go", "is not an order"),
        ({"objective_m": [1]}, "objective_m"),
        ({"objective_m": [1, 2], "spacing": 1}, "spacing"),
    ],
)
def test_what_is_no_order_is_named(entry, word):
    with pytest.raises(InvalidValueError, match=word):
        Order.of(entry)
