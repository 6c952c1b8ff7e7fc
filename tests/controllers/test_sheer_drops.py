"""Nobody drives off a sheer drop that a lip hides, static or dug across the way."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("mujoco", reason="MuJoCo, of the extra covey[terrain], is not installed")
FILE = Path(__file__).parents[2] / "benchmarks" / "cliffs.py"


@pytest.mark.parametrize(
    ("place", "strategy"),
    [("trench", "minpos"), ("cliff", "leap_of_faith"), ("cliff", "look_before_leap"), ("dug", "nearest_frontier")],
)
def test_no_robot_is_lost_at_a_drop_that_it_cannot_see(place, strategy):
    spec = importlib.util.spec_from_file_location("cliffs", FILE)
    assert spec is not None
    assert spec.loader is not None
    cliffs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cliffs)
    row = cliffs.run(place, strategy, 0, 25.0)
    assert row["lost"] == 0
    assert row["explored"] > 0.2  # they did go there
