"""Train a small network by which three robots pursue a faster one, and write it for the controller ``onnx``.

    python examples/learning/pursuers.py [--rounds N] [--out pursuers.onnx]

Pursuers (pursuers.yaml) see where they are, their speed, their mates and the evader. The reward is that of the mission:
the way that the nearest one comes nearer to the evader, less a tenth for each second in which the evader is free.
Worlds with a controller are stepped one after another, and those in which all robots learn in one batch; so here the
evader is moved by `Game`, by the rule of the controller ``evader``.
"""

from pathlib import Path
from typing import Any

import numpy as np
from evolution import Network, Shown, arguments, train

from covey import load_scenario
from covey.learning import vector_env

SCENARIO = Path(__file__).with_name("pursuers.yaml")
OBSERVE = ["pose", "velocity", {"mates": {"most": 2, "within_m": 6}}, {"others": {"most": 1, "within_m": 6}}]
NETWORK = Network({"pose": 4, "velocity": 2, "mates": 10, "others": 5}, hidden=8, outputs=3)
PURSUERS, HALF_M, EVERY_S, NEAR_M, CAUGHT_M = 3, 5.0, 0.2, 3.0, 0.31
CORNERS = 0.8 * HALF_M * np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)])  # clockwise


class Game:
    """Pursuit in many worlds: the pursuers are the agents, and the evader flees from corner to corner."""

    def __init__(self, count: int):
        changes = {"mission": "exploration", "stop.timeout_s": 20, "robots.pursuer.controller": "still"}
        scenario = load_scenario(SCENARIO, changes | {"robots.evader.controller": "still"})
        self.env = vector_env(scenario, count, observe=OBSERVE, every_s=EVERY_S, reward={"distance_m": 0})
        self.worlds, self.single_observation_space = self.env.worlds, self.env.single_observation_space
        self.num_envs = PURSUERS * count

    def reset(self, seed: list[int]) -> tuple[Shown, dict[str, Any]]:
        """Begin a game in each world."""
        whole, infos = self.env.reset(seed=seed)
        self.corner, self.free = np.zeros(len(seed), np.int64), np.ones(len(seed), bool)
        shown = self.see(whole)
        self.before = self.away.min(axis=1)
        return shown, infos

    def see(self, whole: Shown) -> Shown:
        """Return what the pursuers observe, and keep where all robots are."""
        of_world = {key: rows.reshape(len(self.worlds), PURSUERS + 1, -1) for key, rows in whole.items()}
        place = HALF_M * of_world["pose"][..., :2]
        self.evader, self.heading = place[:, -1], np.arctan2(*of_world["pose"][:, -1, [3, 2]].T)
        self.pursuers, self.away = place[:, :-1], np.hypot(*(place[:, :-1] - place[:, -1:]).transpose(2, 0, 1))
        return {key: rows[:, :-1].reshape(self.num_envs, -1) for key, rows in of_world.items()}

    def flee(self) -> np.ndarray:
        """Return the twists of the evaders, (worlds, 3): on to the next corner when a pursuer is near."""
        waits = np.hypot(*(CORNERS[self.corner] - self.evader).T) < 1e-3
        self.corner = (self.corner + (waits & (self.away.min(axis=1) < NEAR_M))) % len(CORNERS)
        way = CORNERS[self.corner] - self.evader
        velocity = way / np.maximum(np.hypot(*way.T), EVERY_S)[:, None]
        c, s = np.cos(self.heading), np.sin(self.heading)
        (x, y), still = velocity.T, np.zeros(len(way))
        return np.column_stack((c * x + s * y, c * y - s * x, still))

    def step(self, actions: np.ndarray) -> tuple[Shown, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Let all act; returns what `vector_env` returns, of the pursuers."""
        whole = np.concatenate((actions.reshape(-1, PURSUERS, 3), self.flee()[:, None]), axis=1)
        seen, _, _, late, infos = self.env.step(whole.reshape(-1, 3))
        shown, late = self.see(seen), late.reshape(-1, PURSUERS + 1)[:, 0]
        nearest = self.away.min(axis=1)
        reward, self.before = self.free * (self.before - nearest - 0.1 * EVERY_S), nearest
        self.free = self.free & (nearest > CAUGHT_M)
        return shown, *(np.repeat(one, PURSUERS) for one in (reward, ~self.free, late)), infos


def act(weights: np.ndarray, shown: Shown) -> np.ndarray:
    """Return the twists of all pursuers."""
    return NETWORK(weights, shown)


def main() -> None:
    """Train, and write the network, its record and its learning curve."""
    options = arguments(__doc__, rounds=120, worlds=64, out="pursuers.onnx")
    game = Game(options.worlds)
    train(NETWORK, game, act, options, discount=0.99, noise=0.2, step=0.1)
    game.env.close()


if __name__ == "__main__":
    main()
