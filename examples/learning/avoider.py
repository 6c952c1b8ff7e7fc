"""Train a small network to drive to goals among other robots, and write it for the controller ``onnx``.

    python examples/learning/avoider.py [--rounds N] [--out avoider.onnx]

Eight robots in a room with four pillars (avoider.yaml) see twelve distances, their speed, the three nearest robots, and
where their goals are. The reward is the way that a robot comes nearer to its goal, less 1 for each contact.
"""

from pathlib import Path

import numpy as np
from evolution import Network, arguments, train

from covey import load_scenario
from covey.learning import vector_env

SCENARIO = Path(__file__).with_name("avoider.yaml")
NETWORK = Network({"goal": 3, "velocity": 2, "ranges": 12, "neighbours": 15}, hidden=24, outputs=2)


def act(weights: np.ndarray, shown: dict[str, np.ndarray]) -> np.ndarray:
    """Return the twists of all robots."""
    return NETWORK(weights, shown)


def main() -> None:
    """Train, and write the network, its record and its learning curve."""
    options = arguments(__doc__, rounds=50, worlds=128, out="avoider.onnx")
    changes = {"mission": "exploration", "stop.timeout_s": 20, "robots.robot.controller": "still"}
    scenario = load_scenario(SCENARIO, changes)
    worlds = vector_env(scenario, options.worlds, goals=True, observe=list(NETWORK.sizes), every_s=0.2)
    train(NETWORK, worlds, act, options, discount=0.99)
    worlds.close()


if __name__ == "__main__":
    main()
