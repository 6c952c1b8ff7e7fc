"""The decisions, on a grid, take the rounds that Linardakis et al. (2024) published; the whole study is a benchmark."""

import importlib.util
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "grid_rounds.py"
spec = importlib.util.spec_from_file_location("grid_rounds", FILE)
grid_rounds = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = grid_rounds  # compiled code is loaded by the name of its module
spec.loader.exec_module(grid_rounds)


@pytest.mark.parametrize(
    ("agents", "density", "rounds", "spread"),
    [(1, 0.15, 68.664, 5.3344), (1, 0.85, 88.009, 11.7624), (4, 0.15, 24.016, 3.8645), (4, 0.85, 28.025, 5.4118)],
)
def test_nearest_frontier_takes_the_published_rounds(agents, density, rounds, spread):
    mean = grid_rounds.measure(15, agents, density, "nf", submaps=False, runs=20)
    assert mean[0] == pytest.approx(rounds, abs=spread)
