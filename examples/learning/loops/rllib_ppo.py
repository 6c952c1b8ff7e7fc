"""PPO of RLlib over `covey.env`, through its wrapper for PettingZoo; all robots share one policy.

pip install 'ray[rllib]' torch
python examples/learning/loops/rllib_ppo.py [--steps 20000]
"""

import gymnasium
import numpy as np
from gymnasium.spaces import flatten, flatten_space
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import ParallelPettingZooEnv
from ray.tune.registry import register_env
from task import arguments, one


class Flat(ParallelPettingZooEnv):
    """A world in which each robot observes one vector."""

    def __init__(self):
        super().__init__(one())
        self.spaces, self.action_spaces = dict(self.observation_space.spaces), dict(self.action_space.spaces)
        self.observation_spaces = {name: flatten_space(space) for name, space in self.spaces.items()}
        self.observation_space = gymnasium.spaces.Dict(self.observation_spaces)

    def _flat(self, shown):
        return {name: flatten(self.spaces[name], rows).astype(np.float32) for name, rows in shown.items()}

    def reset(self, *, seed=None, options=None):
        """Begin an episode."""
        shown, infos = super().reset(seed=seed, options=options)
        return self._flat(shown), infos

    def step(self, action_dict):
        """Let all robots act."""
        shown, *rest = super().step(action_dict)
        return self._flat(shown), *rest


def main() -> None:
    """Train."""
    options = arguments(__doc__ or "", steps=20_000)
    register_env("avoider", lambda _: Flat())
    batch = min(options.steps, 4000)
    config = (
        PPOConfig()
        .environment("avoider")
        .framework("torch")
        .env_runners(num_env_runners=0)
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda *_, **__: "shared")
        .rl_module(rl_module_spec=RLModuleSpec(model_config={"fcnet_hiddens": [64, 64]}))
        .training(train_batch_size_per_learner=batch, minibatch_size=batch // 4, num_epochs=4, lr=1e-3)
        .debugging(seed=0)
    )
    algorithm, decisions = config.build_algo(), 0
    while decisions < options.steps:
        runs = algorithm.train()["env_runners"]
        decisions += batch
        gain = runs.get("episode_return_mean", float("nan"))
        print(f"{decisions} decisions of the team; reward of an episode {gain:.2f}")
    algorithm.stop()


if __name__ == "__main__":
    main()
