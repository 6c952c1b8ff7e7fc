"""PPO of Stable-Baselines3 over `covey.learning.vector_env`, as a VecEnv of its own.

pip install stable-baselines3
python examples/learning/loops/sb3_ppo.py [--worlds 32] [--steps 1000000]
"""

from typing import Any

import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv, VecMonitor
from task import arguments, many


class Worlds(VecEnv):
    """Worlds as a VecEnv: each robot is an environment of Stable-Baselines3; a world begins anew in the same step."""

    def __init__(self, worlds: Any):
        self.worlds, self.render_mode = worlds, None
        super().__init__(worlds.num_envs, worlds.single_observation_space, worlds.single_action_space)

    def reset(self) -> Any:
        """Begin an episode in each world."""
        seeds = [seed for seed in self._seeds if seed is not None]
        shown, _ = self.worlds.reset(seed=seeds[0] if seeds else None)
        self._reset_seeds()
        return {key: rows.copy() for key, rows in shown.items()}

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions."""
        self.actions = actions

    def step_wait(self) -> Any:
        """Let all robots act."""
        shown, rewards, terminated, truncated, more = self.worlds.step(self.actions)
        over = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for k in np.flatnonzero(over).tolist():
            last = {key: rows[k] for key, rows in more["final_obs"].items()}
            infos[k] = {"terminal_observation": last, "TimeLimit.truncated": bool(truncated[k] & ~terminated[k])}
        return {key: rows.copy() for key, rows in shown.items()}, rewards.astype(np.float32), over, infos

    def close(self) -> None:
        """End all episodes."""
        self.worlds.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the worlds, for each robot."""
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the worlds."""
        setattr(self.worlds, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call a method of the worlds, once."""
        return [getattr(self.worlds, method_name)(*args, **kwargs)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return that no robot is wrapped."""
        return [False] * len(list(self._get_indices(indices)))


def main() -> None:
    """Train."""
    options = arguments(__doc__ or "", steps=1_000_000)
    worlds = VecMonitor(Worlds(many(options.worlds, "same_step")))
    length = min(64, max(options.steps // worlds.num_envs, 2))
    learner = PPO(
        "MultiInputPolicy", worlds, n_steps=length, batch_size=length * worlds.num_envs // 2, seed=0, device="cpu"
    )
    learner.learn(options.steps)
    ended = [episode["r"] for episode in learner.ep_info_buffer or ()]
    print(f"{learner.num_timesteps} decisions; reward of an episode: {np.mean(ended) if ended else float('nan'):.2f}")
    worlds.close()


if __name__ == "__main__":
    main()
