"""Nobody drives off a sheer drop that a lip hides, static or dug across the way."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("mujoco", reason="MuJoCo, of the extra covey[terrain], is not installed")
FILE = Path(__file__).parents[2] / "benchmarks" / "cliffs.py"


@pytest.fixture(scope="module")
def cliffs():
    spec = importlib.util.spec_from_file_location("cliffs", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "strategy"),
    [("static", "minpos"), ("static", "leap_of_faith"), ("static", "look_before_leap"), ("ahead", "nearest_frontier")],
)
def test_no_robot_is_lost_at_a_drop_that_it_cannot_see(cliffs, place, strategy):
    row = cliffs.run(place, strategy, 0)
    assert row["lost"] == 0
    assert row["way_m"] > 4.0 * row["robots"]  # they did go there
    assert (row["dug_s"] is None) == (place == "static")


def test_a_crater_is_dug_on_the_way_of_a_robot_and_3_m_or_more_from_all(cliffs):
    sim = cliffs.simulation("ahead", "nearest_frontier", 1, 20.0)
    while (at := cliffs.crater_at(sim, "ahead")) is None:
        sim.step()
    x, y, heading = sim.state.pose.T
    sim.close()
    away, bearing = ((at[0] - x) ** 2 + (at[1] - y) ** 2) ** 0.5, cliffs.np.arctan2(at[1] - y, at[0] - x)
    assert away.min() - cliffs.RADIUS_M == pytest.approx(3.0)  # from a robot to the rim
    nearest = away.argmin()
    assert bearing[nearest] == pytest.approx(heading[nearest])
