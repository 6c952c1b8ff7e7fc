"""Train a small network that chooses frontiers, and write it for the controller ``onnx_each``.

    python examples/learning/explorer.py [--rounds N] [--out explorer.onnx]

Three robots (explorer.yaml) explore rooms, others in each episode. Every two seconds each chooses one of its six
nearest frontiers, and its navigator drives there. The network judges each frontier alike: by where it is, its size, and
how far the nearest other robot is from it. At first all are judged equal, and so the nearest
one is chosen. The reward is the share of the rooms that the team has newly explored.
"""

from pathlib import Path

import numpy as np
from evolution import Network, arguments, train

from covey import load_scenario
from covey.learning import vector_env

SCENARIO = Path(__file__).with_name("explorer.yaml")
MOST = 6
NETWORK = Network({"frontiers": 5 * MOST}, hidden=8, outputs=1, squashed=False, alike=MOST)


def act(weights: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """Return the frontiers that all robots choose."""
    return NETWORK(weights, shown).reshape(-1, MOST).argmax(axis=1)


def main() -> None:
    """Train, and write the network, its record and its learning curve."""
    options = arguments(__doc__, rounds=8, worlds=12, out="explorer.onnx")
    scenario = load_scenario(SCENARIO, {"stop.timeout_s": 60, "robots.scout.controller": "still"})
    observe = {"frontiers": {"most": MOST, "mates": True}}
    worlds = vector_env(scenario, options.worlds, action={"frontiers": {"most": MOST}}, observe=observe, every_s=2.0)
    train(NETWORK, worlds, act, options, discount=0.97, noise=0.2, step=0.1, every=2)
    worlds.close()


if __name__ == "__main__":
    main()
