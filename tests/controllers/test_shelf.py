"""Everything on the shelf keeps to what every controller must keep to."""

import pytest

from covey.controllers import controllers
from covey.testing import check_controller


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name for name in controllers.names() if "onnx" not in name]
)  # it needs a file: test_onnx
def test_controllers_pickle_repeat_themselves_and_know_no_truth(name):
    check_controller(controllers.get(name), seconds=1.0)


def test_the_shelf_is_complete():
    assert {
        "cost_frontier",
        "first_frontier",
        "nearest_frontier",
        "random_ballistic_walk",
        "still",
        "wander",
    } <= set(controllers.names())
