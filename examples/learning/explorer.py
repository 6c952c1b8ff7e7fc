"""Train a small network that chooses frontiers, and write it for the controller ``onnx_each``.

    python examples/learning/explorer.py [--rounds N] [--out explorer.onnx]

Three robots (explorer.yaml) explore rooms, others in each episode. Every two seconds each chooses one of its eight
nearest frontiers, and its navigator drives there. The network judges each frontier alike: by where it is, its size, and
how far the nearest other robot is from it. At first it imitates a rule, see `rule`; evolution goes on from there. The
reward is the share of the rooms that the team has newly explored.
"""

from pathlib import Path

import numpy as np
from evolution import Network, arguments, train

from covey import load_scenario
from covey.learning import vector_env

SCENARIO = Path(__file__).with_name("explorer.yaml")
MOST = 8
NETWORK = Network({"frontiers": 5 * MOST}, hidden=16, outputs=1, squashed=False, alike=MOST)


def rule(rows: np.ndarray) -> np.ndarray:
    """Return how good frontiers are, (m,), by what is observed of each, (m, 5): near, large, and nobody is nearer."""
    there, x, y, size, mate = rows.T
    away = np.hypot(x, y)
    return 3 * (np.minimum(mate - away, 0) - away + 0.1 * size) - 3 * (1 - there)


def imitating(random: np.random.Generator) -> np.ndarray:
    """Return weights by which the network judges as the rule does."""
    away, bearing = random.uniform(0, 0.8, 2000), random.uniform(-np.pi, np.pi, 2000)
    numbers = np.cos(bearing) * away, np.sin(bearing) * away, random.uniform(0, 1, (2000, 2))
    rows = np.column_stack((np.ones(2000), *numbers))
    rows[::50] = 0.0  # no frontier
    return NETWORK.imitating(rows, rule(rows), random)


def act(weights: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """Return the frontiers that all robots choose."""
    return NETWORK(weights, shown).reshape(-1, MOST).argmax(axis=1)


def main() -> None:
    """Train, and write the network, its record and its learning curve."""
    options = arguments(__doc__, rounds=3, worlds=16, out="explorer.onnx")
    scenario = load_scenario(SCENARIO, {"stop.timeout_s": 90, "robots.scout.controller": "still"})
    observe = {"frontiers": {"most": MOST, "mates": True}}
    worlds = vector_env(scenario, options.worlds, action={"frontiers": {"most": MOST}}, observe=observe, every_s=2.0)
    first = imitating(np.random.default_rng(options.seed))
    train(NETWORK, worlds, act, options, discount=0.95, noise=0.05, step=0.02, every=3, decay=0, first=first)
    worlds.close()


if __name__ == "__main__":
    main()
