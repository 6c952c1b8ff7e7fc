"""`vector_env`: many worlds of a scenario as a vector environment of Gymnasium; its agents are flat."""

import os
from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any, Literal

import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from covey.errors import InvalidValueError, UnknownNameError
from covey.learning.environment import Environment, checked_options
from covey.learning.learners import as_array
from covey.learning.libraries import VectorEnv, spaces
from covey.learning.make import env
from covey.learning.together import EpisodesTogether, why_apart
from covey.random import generator
from covey.scenario.batch import Batch, several_seeds
from covey.scenario.load import load_scenario
from covey.scenario.records import Scenario

_MODES = {
    "next_step": AutoresetMode.NEXT_STEP,
    "same_step": AutoresetMode.SAME_STEP,
    "disabled": AutoresetMode.DISABLED,
}


class VectorEnvironment(VectorEnv):
    """Worlds of one scenario; agent k of Gymnasium is robot k % n of world k // n, with n robots in a world.

    Made by `vector_env`. A world begins anew when its run has ended. A robot that fails for good before that is
    terminated once; then it observes what it can, gets no reward, and ``infos["acts"]`` is False.

    Attributes:
        worlds: the environments of the worlds; those with an episode in ``batch`` have none.
        batch: the batch of all worlds in which this is possible, see `why_apart`; None: there is none.
        robots: n, the number of robots that learn in a world.
        num_envs: the number of agents of all worlds.
    """

    def __init__(self, worlds: Sequence[Environment], autoreset: str = "next_step"):
        if autoreset not in _MODES:
            raise InvalidValueError(f"autoreset is {autoreset!r}; give one of {', '.join(_MODES)}")
        self.worlds, self._mode = list(worlds), _MODES[autoreset]
        first = self.worlds[0]
        names = first.possible_agents
        self.robots, self.num_envs = len(names), len(names) * len(self.worlds)
        shown, act = first.observation_space(names[0]), first.action_space(names[0])
        for name in names:
            if first.observation_space(name) != shown or first.action_space(name) != act:
                raise InvalidValueError(
                    f"{name} observes or acts otherwise than {names[0]}; let one kind of robots learn: learn='GROUP'"
                )
        self.single_observation_space, self.single_action_space = shown, act
        self.observation_space = batch_space(shown, self.num_envs)
        self.action_space = batch_space(act, self.num_envs)
        self.metadata = {"autoreset_mode": self._mode, "render_modes": ["rgb_array"]}
        self.render_mode, self.spec = first.render_mode, None
        self._parts = shown.spaces if isinstance(shown, spaces.Dict) else {"": shown}
        self._shown = {
            key: np.zeros((self.num_envs, *(part.shape or ())), part.dtype) for key, part in self._parts.items()
        }
        self._together = None if why_apart(first) else EpisodesTogether(first, len(self.worlds))
        self._here = np.zeros(len(self.worlds), np.bool_)  # worlds with an episode
        self._over = np.zeros(len(self.worlds), np.bool_)
        self._acts = np.ones((len(self.worlds), self.robots), np.bool_)

    # -- episodes ------------------------------------------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in each world, or in those of ``options["reset_mask"]``, bool (agents,).

        Args:
            seed: world k gets seed + k; or a seed for each world; None: each goes on with its own.
            options: see `Environment.reset`.

        Returns:
            Observations of all agents, arrays of this object that the next step overwrites, and infos.
        """
        given = dict(checked_options(options))
        mask = given.pop("reset_mask", None)
        which = np.ones(len(self.worlds), np.bool_)
        if mask is not None:
            chosen = np.asarray(mask)
            if chosen.shape != (self.num_envs,) or chosen.dtype != np.bool_:
                raise InvalidValueError(
                    f"reset_mask has the shape {chosen.shape} and the type {chosen.dtype}; "
                    f"give a truth value for each of {self.num_envs} agents"
                )
            which = np.asarray(chosen.reshape(len(self.worlds), self.robots).any(axis=1))
        if seed is None or (isinstance(seed, (int, np.integer)) and not isinstance(seed, bool)):
            seeds: Sequence[int | None] = [None if seed is None else int(seed) + k for k in range(len(self.worlds))]
        else:
            several = several_seeds(seed)
            if several is None:
                raise InvalidValueError(f"seed is {seed!r:.60}; give a whole number, one for each world, or None")
            seeds = several
            if len(seeds) != len(self.worlds):
                raise InvalidValueError(
                    f"there are {len(seeds)} seeds for {len(self.worlds)} worlds; give one for each"
                )
        if self._together is not None and not given.get("scenario"):
            self._begin(which, [seeds[k] for k in np.flatnonzero(which).tolist()])
            self._together.look(self._shown)
        else:
            for k in np.flatnonzero(which).tolist():
                self._reset(k, seeds[k], given)
        return self._whole(), {"acts": self._acts.reshape(-1).copy()}

    @property
    def batch(self) -> Batch | None:
        """The batch of the worlds."""
        return None if self._together is None else self._together.batch

    def _begin(self, which: np.ndarray, seeds: Sequence[int | None]) -> None:
        """Begin episodes of some worlds, bool (worlds,), in the batch."""
        assert self._together is not None
        chosen = [self.worlds[k] for k in np.flatnonzero(which).tolist()]
        self._together.begin(which, [one.next_seed(seed) for one, seed in zip(chosen, seeds, strict=True)])
        for one in chosen:
            one.close()
        self._here |= which
        self._over[which], self._acts[which] = False, True

    def _reset(self, k: int, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        world = self.worlds[k]
        world.begin(seed, options)
        if len(world.agents) != self.robots:
            raise InvalidValueError(
                f"world {k} has {len(world.agents)} robots that learn and the first one {self.robots}; "
                "in a vector of environments all worlds have the same number of robots"
            )
        if self._together is not None:
            self._together.leave(k)
        self._over[k], self._acts[k], self._here[k] = False, True, True
        self._look(k)

    def _look(self, k: int) -> None:
        """Put what the robots of a world observe into the arrays."""
        first = k * self.robots
        for parts in self.worlds[k].observe_all():
            whole = parts if len(parts) > 1 else {"": next(iter(parts.values()))}
            count = len(next(iter(whole.values())))
            for key, rows in whole.items():
                self._shown[key][first : first + count] = rows
            first += count

    def _whole(self) -> Any:
        return self._shown.get("", self._shown)

    # -- steps ---------------------------------------------------------------------------------------------------------

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Let all agents act until the next decision.

        Args:
            actions: (agents, k) of a box, (agents,) of a discrete space.

        Returns:
            Observations, see `reset`; rewards, float64 (agents,); whether agents are terminated, and truncated, bool
            (agents,); infos: ``acts``, which agents act on, bool (agents,); with ``same_step`` also ``final_obs`` and
            ``_final_obs``, the last observations of the worlds that began anew, and of which agents they are.

        Raises:
            InvalidValueError: there is no episode, or the actions are not finite or of another shape.
        """
        if not self._here.all():
            raise InvalidValueError("there is no episode; call reset() before the first step")
        chosen = self._chosen(actions)
        size = (len(self.worlds), self.robots)
        rewards, terminated, truncated = np.zeros(size), np.zeros(size, np.bool_), np.zeros(size, np.bool_)
        infos: dict[str, Any] = {}
        if self._mode is AutoresetMode.DISABLED and self._over.any():
            k = int(np.argmax(self._over))
            raise InvalidValueError(f"the run of world {k} is over; reset it: options={{'reset_mask': …}}")
        final: dict[str, np.ndarray] | None = None
        together = np.zeros(len(self.worlds), np.bool_) if self._together is None else self._together.here.copy()
        if self._together is not None and together.any():
            final = self._step_together(self._together, chosen, rewards, terminated, truncated, infos)
        for k in np.flatnonzero(~together).tolist():
            world = self.worlds[k]
            if self._over[k]:
                self._reset(k)
                continue
            gain, ended, late = world.advance(world.parts_of(chosen[k]))
            rewards[k], terminated[k], truncated[k] = gain * self._acts[k], ended & self._acts[k], late & self._acts[k]
            self._acts[k] &= ~(ended | late)
            self._look(k)
            self._over[k] = not self._acts[k].any()
            if self._over[k] and self._mode is AutoresetMode.SAME_STEP:
                if final is None:
                    final = {key: np.zeros_like(rows) for key, rows in self._shown.items()}
                    infos["_final_obs"] = np.zeros(self.num_envs, np.bool_)
                rows = slice(k * self.robots, (k + 1) * self.robots)
                for key, shown in self._shown.items():
                    final[key][rows] = shown[rows]
                infos["_final_obs"][rows] = True
                self._reset(k)
        if final is not None:
            infos["final_obs"] = final.get("", final)
        infos["acts"] = self._acts.reshape(-1).copy()
        return self._whole(), rewards.reshape(-1), terminated.reshape(-1), truncated.reshape(-1), infos

    def _step_together(
        self,
        together: EpisodesTogether,
        chosen: np.ndarray,
        rewards: np.ndarray,
        terminated: np.ndarray,
        truncated: np.ndarray,
        infos: dict[str, Any],
    ) -> dict[str, np.ndarray] | None:
        """Let the worlds in the batch act, see `step`; return their last observations if some began anew."""
        before, final = self._over & together.here, None
        acting = together.here & ~before
        if acting.any():
            gain, ended, late = together.advance(chosen)
            rewards[acting] = gain[acting]
            terminated[ended], truncated[late] = True, True
            self._over |= ended | late
            self._acts[ended | late] = False
        else:
            ended = late = before & False
        if before.any():
            self._begin(before, [None] * np.count_nonzero(before))
        together.look(self._shown)
        if (over := ended | late).any() and self._mode is AutoresetMode.SAME_STEP:
            rows = np.repeat(over, self.robots)
            final = {key: np.zeros_like(shown) for key, shown in self._shown.items()}
            for key, shown in self._shown.items():
                final[key][rows] = shown[rows]
            infos["_final_obs"] = rows
            self._begin(over, [None] * np.count_nonzero(over))
            together.look(self._shown)
        return final

    def _chosen(self, actions: Any) -> np.ndarray:
        """Return the actions by world and robot."""
        space = self.single_action_space
        shape, is_discrete = (self.num_envs, *(space.shape or ())), isinstance(space, spaces.Discrete)
        try:
            given = as_array(actions)
            fits = given.shape == shape and given.dtype.kind in ("iu" if is_discrete else "iuf")
            if isinstance(space, spaces.Discrete):
                fits = fits and bool(((given >= 0) & (given < space.n)).all())
            else:
                fits = fits and bool(np.isfinite(given).all())
        except (TypeError, ValueError):
            fits, given = False, np.empty(0)
        if not fits:
            raise InvalidValueError(
                f"the actions have the shape {given.shape} and the type {given.dtype}, or a value that is not allowed; "
                f"give {shape}, each one of {space}"
            )
        return given.astype(np.int64 if is_discrete else np.float32).reshape(len(self.worlds), self.robots, *shape[1:])

    def render(self) -> list[np.ndarray]:
        """Return a picture of each world.

        Raises:
            InvalidValueError: the worlds were not made with ``render_mode="rgb_array"``, and are in a batch.
        """
        if self._together is not None:
            raise InvalidValueError("these worlds are in a batch; make them with render_mode='rgb_array'")
        return [world.render() for world in self.worlds]

    def close(self, **_: Any) -> None:
        """End all episodes."""
        for world in self.worlds:
            world.close()
        if self._together is not None:
            self._together = EpisodesTogether(self.worlds[0], len(self.worlds))
        self._here[:], self.closed = False, True


def vector_env(
    scenario: str | os.PathLike[str] | Scenario,
    worlds: int,
    *,
    autoreset: Literal["next_step", "same_step", "disabled"] = "next_step",
    **settings: Any,
) -> VectorEnvironment:
    """Return many worlds of a scenario as a vector environment of Gymnasium.

    Args:
        scenario: see `covey.env`.
        worlds: how many.
        autoreset: when a world whose run is over begins anew, see `gymnasium.vector.AutoresetMode`.
        settings: those of `covey.env`, such as ``observe`` and ``action``; not ``record``.

    Raises:
        CoveyError: the scenario or an argument is wrong, or robots that learn differ.

    Examples:
        >>> import numpy as np
        >>> from covey.learning import vector_env
        >>> both = vector_env("hello", 2, observe="velocity")
        >>> shown, _ = both.reset(seed=1)
        >>> shown, rewards, *_ = both.step(np.ones((2, 2)))
        >>> shown.shape, rewards.shape
        ((2, 2), (2,))
        >>> both.close()
    """
    if isinstance(worlds, bool) or not isinstance(worlds, (int, np.integer)) or worlds < 1:
        raise InvalidValueError(f"worlds is {worlds!r}; give a whole number from 1 on")
    known = [name for name in signature(env).parameters if name not in ("scenario", "record")]
    if unknown := next((name for name in settings if name not in known), None):
        raise UnknownNameError("setting of an environment", unknown, known)
    loaded = scenario if isinstance(scenario, Scenario) else load_scenario(scenario)
    first = env(loaded, **settings)
    seeds = generator(loaded.seed, "worlds").integers(2**31, size=int(worlds) - 1).tolist()
    return VectorEnvironment([first, *(first.twin(seed) for seed in seeds)], autoreset)
