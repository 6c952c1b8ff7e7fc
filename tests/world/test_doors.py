import math

import pytest

from covey.errors import InvalidValueError
from covey.world.doors import Door
from covey.world.world import World


@pytest.mark.parametrize("corners", [(1, 0, 1, 2), (0, 2, 1, 1), (0, 0, math.inf, 1), (math.nan, 0, 1, 1)])
def test_a_door_is_a_rectangle(corners):
    with pytest.raises(InvalidValueError, match="door 'd7' has the corners"):
        Door("d7", *corners)


def test_two_doors_of_a_name_are_refused():
    door = Door("d0", 0, 0, 1, 1)
    with pytest.raises(InvalidValueError, match="'d0' first"):
        World.empty(2, 2).replace(doors=(door, door))
