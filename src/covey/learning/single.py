"""`single_env`: a scenario in which one robot learns, as an environment of Gymnasium."""

import os
from collections.abc import Mapping
from typing import Any, ClassVar

from covey.errors import InvalidValueError
from covey.learning.environment import Environment
from covey.learning.libraries import Env
from covey.learning.make import env
from covey.scenario.records import Scenario


class SingleEnvironment(Env):
    """An environment whose only agent is one robot: without names, as libraries for single agents take it.

    Made by `single_env`. Other groups of the scenario keep their controllers.

    Attributes:
        world: the environment of PettingZoo that it shows.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 10}

    def __init__(self, world: Environment):
        names = world.possible_agents
        if len(names) != 1:
            raise InvalidValueError(
                f"{len(names)} robots learn: {', '.join(names[:5])}; let a group of one robot learn: learn='GROUP', or "
                "take covey.env or covey.learning.vector_env"
            )
        self.world, self._name = world, names[0]
        self.observation_space = world.observation_space(self._name)
        self.action_space = world.action_space(self._name)
        self.render_mode, self.spec = world.render_mode, None

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode, and return what the robot observes, and infos; see `Environment.reset`."""
        super().reset(seed=seed)
        shown, infos = self.world.reset(seed, options)
        return shown[self._name], infos[self._name]

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Let the robot act until the next decision.

        Returns:
            What it observes, its reward, whether the episode is terminated, whether it is truncated, and infos.

        Raises:
            InvalidValueError: there is no episode, or the action is not finite or of another shape.
        """
        shown, rewards, terminated, truncated, infos = self.world.step({self._name: action})
        name = self._name
        return shown[name], rewards[name], terminated[name], truncated[name], infos[name]

    def render(self) -> Any:
        """Return a picture of the world and the robots, uint8 (height, width, 3); None without a render mode."""
        return None if self.render_mode is None else self.world.render()

    def close(self) -> None:
        """End the episode."""
        self.world.close()


def single_env(scenario: str | os.PathLike[str] | Scenario, **settings: Any) -> SingleEnvironment:
    """Return a scenario in which one robot learns as an environment of Gymnasium.

    Args:
        scenario: see `covey.env`.
        settings: those of `covey.env`, such as ``learn``, ``observe`` and ``action``.

    Raises:
        CoveyError: the scenario or an argument is wrong, or not exactly one robot learns.

    Examples:
        >>> from covey.learning import single_env
        >>> world = single_env("hello", observe="velocity", every_s=0.5)
        >>> shown, _ = world.reset(seed=1)
        >>> shown, reward, terminated, truncated, infos = world.step([1.0, 0.0])
        >>> shown.shape, terminated
        ((2,), False)
        >>> world.close()
    """
    return SingleEnvironment(env(scenario, **settings))
