"""`Environment`: a scenario as a parallel environment of PettingZoo."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np

from covey.controllers.policies.actions import Action
from covey.controllers.policies.knowledge import Knowledge, Numbers
from covey.controllers.policies.observations import Observation, observed
from covey.controllers.policies.onnx import RECORD
from covey.errors import InvalidValueError, UnknownNameError
from covey.learning.knowledge import KnownInSimulation
from covey.learning.learners import MESSAGE, Learners, as_array
from covey.learning.libraries import ParallelEnv, spaces
from covey.learning.picture import picture
from covey.learning.varied import drawn
from covey.missions.exploration import Exploration
from covey.random import generator
from covey.records import as_record
from covey.runtime.simulation import Simulation
from covey.scenario.build import build
from covey.scenario.controller import ControllerReference
from covey.scenario.dump import plain
from covey.scenario.overrides import override
from covey.scenario.records import Scenario
from covey.world.placement.goals import drawn_goals

Reward = Mapping[str, float] | Callable[[Knowledge], Any]

THERE_M = 0.3
"""A robot this near to its goal has reached it [m]; when all have, the episode is over."""


class Environment(ParallelEnv):
    """A scenario as an environment: its robots are agents, and a policy decides for them.

    Made by `covey.env`. An episode is a run of the scenario: the same seed and the same actions give the same bytes as
    the run in which controllers decide so. A robot that fails for good is terminated. All are terminated when the goal
    of the run is reached, and truncated when its time is over.

    Attributes:
        sim: the simulation of the episode; None before the first `reset`.
        scenario, learn, action, observe, reward, goals, vary, record: what it was made of, see `covey.env`; ``observe``
            by group. ``steps``: control steps between two decisions.
        possible_agents: names of all robots that learn; ``agents``: of those that act now.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "covey_v0", "render_modes": ["rgb_array"], "is_parallelizable": True}

    def __init__(
        self,
        scenario: Scenario,
        *,
        learn: Sequence[str] = (),
        action: Any = "twist",
        observe: Any = (),
        reward: Reward | None = None,
        goals: bool = False,
        every_s: float | None = None,
        vary: Mapping[str, Any] | None = None,
        record: str | os.PathLike[str] | None = None,
        render_mode: str | None = None,
    ):
        known = [group.name for group in scenario.robots]
        for name in learn:
            if name not in known:
                raise UnknownNameError("group of robots", name, known)
        if render_mode not in (None, "rgb_array"):
            raise InvalidValueError(f"render_mode is {render_mode!r}; give rgb_array, or None")
        self.scenario = scenario.model_copy(
            update={"execution": scenario.execution.model_copy(update={"controllers": "in_process"})}
        )
        self.learn = tuple(learn) or tuple(known)
        self.action = as_record(Action, action, "action")
        self.goals, self.vary, self.render_mode = bool(goals), dict(vary or {}), render_mode
        self.record, self._episode = None if record is None else Path(record), -1
        self._given = observe
        self.observe: dict[str, list[Observation]] = {}
        self.reward = reward
        step_s = scenario.execution.step_s
        every_s = (self.action.every_s or step_s) if every_s is None else every_s
        is_number = (
            isinstance(every_s, (int, float, np.number)) and not isinstance(every_s, bool) and np.isfinite(every_s)
        )
        self.steps = round(every_s / step_s) if is_number else 0
        if self.steps < 1 or abs(self.steps * step_s - every_s) > 1e-9 * max(every_s, 1):
            raise InvalidValueError(f"every_s is {every_s!r}; give a multiple of the control step, {step_s:g} s")
        self.sim: Simulation | None = None
        self._teams: list[Learners] = []
        self._shown: list[KnownInSimulation] = []
        self._seeds = generator(scenario.seed, "environment")
        self._next_seed: int | None = scenario.seed
        self.agents: list[str] = []
        folder, self.record = self.record, None  # this is no episode
        try:
            self._begin(scenario.seed, {})
            self.possible_agents = self._names
            self._describe()
        finally:
            self.close()
        self.record, self._episode = folder, -1

    @property
    def _names(self) -> list[str]:
        """The robots of this episode that learn, group by group."""
        return [name for learners in self._teams for name in learners.names]

    # -- spaces --------------------------------------------------------------------------------------------------------

    def _describe(self) -> None:
        """Find the spaces of all agents."""
        self._spaces: dict[str, tuple[spaces.Space, spaces.Space]] = {}
        for learners, known in zip(self._teams, self._known(), strict=True):
            parts = {one.key: _space(one.space(known)) for one in self.observe[known.name]}
            shown = next(iter(parts.values())) if len(parts) == 1 else spaces.Dict(cast(dict[str, spaces.Space], parts))
            act = _space(self.action.space(known))
            for name in learners.names:
                self._spaces[name] = shown, act

    def observation_space(self, agent: str) -> spaces.Space:
        """Return the space of what an agent observes: a box, or a dict of boxes if it observes several things."""
        return self._space_of(agent)[0]

    def action_space(self, agent: str) -> spaces.Space:
        """Return the space of an agent's actions."""
        return self._space_of(agent)[1]

    def _space_of(self, agent: str) -> tuple[spaces.Space, spaces.Space]:
        if agent not in self._spaces:
            raise UnknownNameError("agent", agent, self._spaces)
        return self._spaces[agent]

    # -- episodes ------------------------------------------------------------------------------------------------------

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Begin an episode, and return the observations and infos of the agents by name.

        Args:
            seed: of the episode; the first one of which none is given has the seed of the scenario, later ones have
                drawn ones.
            options: ``{"scenario": {…}}`` are changes of the scenario for this episode, as ``vary`` of `covey.env`;
                other keys are for wrappers.

        Raises:
            CoveyError: the robots do not fit, or an option is wrong.
        """
        self.begin(seed, options)
        return self._observations(), {name: {} for name in self.agents}

    def begin(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin an episode without observing anything; see `reset`."""
        changes = dict(checked_options(options).get("scenario") or {})
        now = self.next_seed(seed)
        self.close()
        self._begin(now, changes)
        here = self._names
        if more := [name for name in here if name not in self._spaces]:
            raise InvalidValueError(
                f"the options make a robot {more[0]!r} that was not there when the environment was made; "
                "make it with the largest number of robots, and let options make fewer"
            )
        self.agents = here

    def next_seed(self, seed: int | None = None) -> int:
        """Return the seed of the next episode, given that of `reset`."""
        if seed is not None:
            if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**63:
                raise InvalidValueError(f"seed is {seed!r}; give a whole number from 0 to 2^63 - 1, or None")
            self._seeds, self._next_seed = generator(int(seed), "environment"), int(seed)
        now = self._next_seed if self._next_seed is not None else int(self._seeds.integers(2**31))
        self._next_seed = None
        return now

    def twin(self, seed: int) -> "Environment":
        """Return an environment like this one, with another seed of its first episode, and no episode."""
        other = copy(self)
        other._seeds, other._next_seed, other.sim, other.agents = generator(seed, "environment"), seed, None, []
        other._teams, other._shown = [], []
        return other

    def _begin(self, seed: int, options: dict[str, Any]) -> None:
        """Build the simulation of an episode, up to its first decision."""
        changes = drawn(self.vary | options, seed)
        scenario = self.scenario.model_copy(update={"seed": seed})
        if changes:
            scenario = override(scenario, changes)
        scenario, teams = self.with_learners(scenario)
        self._episode += 1
        folder = None if self.record is None else self.record / f"episode-{self._episode:04}"
        self.sim = sim = build(scenario, folder=folder, written=folder is not None)
        self._teams = teams
        self._places = (
            drawn_goals(sim.world, sim.state.pose, sim.model.radius, seed) if self.goals else sim.tracker.goals
        )
        self.has_ground = sim.world.ground is not None
        for learners, known in zip(teams, self._known(), strict=True):
            learners.commanded = np.zeros((len(learners.names), 3))
            learners.known = known.later()
        sim.sense()
        self._shown = self._known()
        self._members = [i for known in self._shown for i in known.members]
        self._counted = self._measures()

    def with_learners(self, scenario: Scenario) -> tuple[Scenario, list[Learners]]:
        """Return a scenario in which a policy commands the robots that learn, and these, by group."""
        teams, robots = list[Learners](), list[Any]()
        for group in scenario.robots:
            if group.name in self.learn:
                observe = [one.of_robot(group.robot) for one in self._observed(scenario, group)]
                self.observe[group.name] = observe
                read = dict.fromkeys(name for one in observe for name in one.reads)
                learners = Learners(self.action, list(read), group.names, _own_frames(scenario) or self.action.says > 0)
                teams.append(learners)
                group = group.model_copy(update={"controller": ControllerReference.model_validate(learners.controller)})
            robots.append(group)
        return scenario.model_copy(update={"robots": tuple(robots)}), teams

    def _observed(self, scenario: Scenario, group: Any) -> list[Observation]:
        """Return what the robots of a group observe; by default what they can."""
        if self._given:
            return observed(self._given)
        chosen: list[Any]
        if lost := _own_frames(scenario):
            chosen = ["velocity"]
        else:
            chosen = ["goal" if self.goals else "pose", "velocity"]
        if any(getattr(sensor, "kind", "") in ("lidar", "proximity") for sensor in group.robot.sensors):
            chosen.append("ranges")
        if sum(one.count for one in scenario.robots) > 1 and not lost:
            chosen.append("neighbours")
        if self.action.moves == "goals":
            chosen.append("frontiers")
        if self.action.says:
            chosen.append({"messages": {"size": self.action.says}})
        return observed(chosen)

    def _goals_of(self, first: int, count: int) -> np.ndarray | None:
        """Return the goals of some robots."""
        return None if self._places is None else self._places[first : first + count]

    def _known(self) -> list[KnownInSimulation]:
        """Return what the robots of each group that learns know now."""
        assert self.sim is not None
        first, found = 0, []
        for group in self.sim.groups:
            count = len(group.start)
            if group.name in self.learn:
                heard = self._heard(range(first, first + count)) if self.action.says else None
                found.append(KnownInSimulation(self.sim, group, first, self._goals_of(first, count), heard))
            first += count
        return found

    def _heard(self, members: range) -> list[list[np.ndarray]]:
        """Return the numbers that some robots have received since this was last asked, newest first."""
        assert self.sim is not None
        boxes = self.sim.communication.mailboxes
        return [[message.payload for message in boxes[i].pop(MESSAGE)[::-1]] for i in members]

    def observe_all(self) -> list[dict[str, np.ndarray]]:
        """Return what the robots of each group that learns observe, by name: arrays whose first axis is the robot."""
        return [{one.key: one.of(known) for one in self.observe[known.name]} for known in self._shown]

    def _observations(self) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for learners, parts in zip(self._teams, self.observe_all(), strict=True):
            if len(parts) == 1:
                (whole,) = parts.values()
                rows = list(whole)
            else:
                rows = [dict(zip(parts, row, strict=True)) for row in zip(*parts.values(), strict=True)]
            out |= zip(learners.names, rows, strict=True)
        return {name: out[name] for name in self.agents}

    # -- steps ---------------------------------------------------------------------------------------------------------

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Let all agents act until the next decision.

        Args:
            actions: the choice of each agent, by name.

        Returns:
            By agent: observations, rewards, whether it is terminated, whether it is truncated, and infos.

        Raises:
            InvalidValueError: there is no episode; or an action is missing, not finite, of another shape, or of an
                agent that acts no more.
        """
        self._running()
        if not isinstance(actions, Mapping):
            raise InvalidValueError(f"actions is {type(actions).__name__}; give a mapping, {{{self.agents[0]!r}: …}}")
        if unknown := next((name for name in actions if name not in self._spaces), None):
            raise UnknownNameError("agent", str(unknown), self._spaces)
        if late := next((name for name in actions if name not in self.agents), None):
            raise InvalidValueError(f"{late!r} does not act now; give actions only for {self.agents}")
        chosen = [self._chosen(learners, actions) for learners in self._teams]
        acting = self.agents
        rewards, terminated, truncated = self.advance(chosen)
        shown, number = self._observations(), {name: i for i, name in enumerate(self._names)}
        self.agents = [name for name in acting if not (terminated[number[name]] or truncated[number[name]])]
        status = self.sim.status if self.sim is not None else None
        return (
            shown,
            {name: float(rewards[number[name]]) for name in acting},
            {name: bool(terminated[number[name]]) for name in acting},
            {name: bool(truncated[number[name]]) for name in acting},
            {name: {} if status is None else {"status": status} for name in acting},
        )

    def parts_of(self, chosen: np.ndarray) -> list[np.ndarray]:
        """Return choices of all robots that learn, (m, …), group by group, as `advance` takes them."""
        ends = np.cumsum([len(learners.names) for learners in self._teams])
        return np.split(chosen, ends[:-1])

    def advance(self, chosen: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Let the robots act until the next decision, given valid choices as arrays.

        Args:
            chosen: of the robots of each group that learns, float32 (n, k) or int64 (n,).

        Returns:
            Of all robots that learn, group by group: rewards, float64 (m,), and whether each is terminated, and
            truncated, bool (m,).
        """
        sim = self._running()
        for learners, known, choice in zip(self._teams, self._shown, chosen, strict=True):
            learners.choose(choice)
            if self.action.moves == "goals":
                learners.commanded = self.action.command(choice, known)
        for _ in range(self.steps):
            if not sim.done:
                sim.step()
                if self.goals and (self._distances()[self._members] <= THERE_M).all():
                    sim.status = "reached"
        if sim.done and self.record is not None:
            sim.close()
        sim.sense()
        self._shown = self._known()
        lost = sim.deciding.lost | sim.deciding.failed
        gone = np.isin(self._members, list(lost))
        over = sim.done and sim.status != "timeout"
        return self._rewards(), gone | over, ~gone & (sim.done and not over)

    def _running(self) -> Simulation:
        if self.sim is None:
            raise InvalidValueError("there is no episode; call reset() before the first step")
        if not self.agents:
            raise InvalidValueError("the episode is over: no agent is left; call reset() to begin another one")
        return self.sim

    def _chosen(self, learners: Learners, actions: Mapping[str, Any]) -> np.ndarray:
        """Return the choices of the robots of a group; those that act no more choose nothing."""
        space = self._spaces[learners.names[0]][1]
        shape, is_discrete = space.shape or (), isinstance(space, spaces.Discrete)
        chosen = np.zeros((len(learners.names), *shape), np.int64 if is_discrete else np.float32)
        for i, name in enumerate(learners.names):
            if name not in self.agents:
                continue
            if name not in actions:
                raise InvalidValueError(f"there is no action for {name!r}; give one for each of {self.agents}")
            try:
                one = as_array(actions[name])
                fits = one.shape == shape and one.dtype.kind in ("iub" if is_discrete else "iufb")
                fits = fits and (
                    0 <= int(one) < space.n if isinstance(space, spaces.Discrete) else np.isfinite(one).all()
                )
            except (TypeError, ValueError):
                fits, one = False, np.zeros(shape)
            if not fits:
                raise InvalidValueError(f"the action of {name!r} is {actions[name]!r:.80}; give one of {space}")
            chosen[i] = one
        return chosen

    # -- rewards -------------------------------------------------------------------------------------------------------

    def _distances(self) -> np.ndarray:
        """Return how far the robots of the team are from their goals [m], float64 (n,)."""
        assert self.sim is not None
        assert self._places is not None
        return np.hypot(*(self._places - self.sim.state.pose[:, :2]).T)

    def weights(self) -> Mapping[str, float]:
        """Return the weights of the measurements that are rewarded, if the reward is no function."""
        if self.reward is not None and not callable(self.reward):
            return self.reward
        if self.goals:
            return {"goal_m": -1.0, "collisions_robot": -1.0, "collisions_wall": -1.0}
        mission = self.scenario.mission
        return Exploration.rewards if mission is None else mission.rewards

    def _measures(self) -> dict[str, np.ndarray]:
        """Return the present values of what is rewarded, float64 (n,) of the team each."""
        assert self.sim is not None
        if callable(self.reward):
            return {}
        scoring = self.sim.scoring
        values = scoring.values | {
            "distance_m": self.sim.state.distance_m,
            "energy_j": scoring.energy_j,
            "collisions_robot": scoring.collisions_robot,
            "collisions_wall": scoring.collisions_wall,
        }
        if self._places is not None:
            values["goal_m"] = self._distances()
        if unknown := next((name for name in self.weights() if name not in values), None):
            raise UnknownNameError("measurement to reward", unknown, values)
        n = len(self.sim.names)
        return {name: np.array(np.broadcast_to(np.asarray(values[name], float), n)) for name in self.weights()}

    def _rewards(self) -> np.ndarray:
        """Return the reward of each robot that learns since the last decision, float64 (m,)."""
        assert self.sim is not None
        if callable(self.reward):
            found = list[np.ndarray]()
            for known in self._shown:
                value = np.asarray(self.reward(known), float)
                if value.shape not in ((), (len(known.members),)) or not np.isfinite(value).all():
                    raise InvalidValueError(
                        f"the reward function returned {value!r:.80} for {len(known.members)} robots; "
                        "return a finite number, or one for each"
                    )
                found.append(np.broadcast_to(value, len(known.members)))
            return np.concatenate(found)
        now, total = self._measures(), np.zeros(len(self.sim.names))
        if now and all(np.isnan(value).all() for value in now.values()):
            raise InvalidValueError(
                f"the reward is the increase of {' and '.join(now)}, which is not measured: these robots have no "
                "sensor for it; give them one, such as a lidar, or another reward: reward={'distance_m': 1}"
            )
        for name, weight in self.weights().items():
            total += weight * np.nan_to_num(
                now[name] - self._counted[name]
            )  # what was not measured before adds nothing
        self._counted = now
        return total[self._members]

    # -- the end -------------------------------------------------------------------------------------------------------

    def render(self) -> np.ndarray:
        """Return a picture of the world and the robots, uint8 (height, width, 3).

        Raises:
            InvalidValueError: there is no episode.
        """
        if self.sim is None:
            raise InvalidValueError("there is no episode to show; call reset() first")
        return picture(self.sim, self._places)

    def save_record(self, policy: str | os.PathLike[str]) -> Path:
        """Write the record of a policy beside its file, ``policy.onnx.json``, for the controller ``onnx``.

        Returns:
            The file of the record.

        Raises:
            InvalidValueError: groups that learn observe different things, or a function that no file can name; or they
                send messages.
        """
        if self.action.says:
            raise InvalidValueError("a controller from a file sends nothing; train without message")
        first, *more = self.observe.values()
        if any(one != first for one in more):
            raise InvalidValueError("groups that learn observe different things; let one learn: learn='GROUP'")
        every_s = self.steps * self.scenario.execution.step_s
        record = {"observe": [plain(one) for one in first], "action": plain(self.action), "every_s": every_s}
        path = Path(f"{os.fspath(policy)}{RECORD}")
        path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        return path

    def close(self) -> None:
        """End the episode; its record is written if it has a folder, else nothing remains."""
        if self.sim is not None:
            if self.record is not None:
                self.sim.close()
            else:
                self.sim.discard()
        self.sim, self.agents, self._shown = None, [], []


def _space(part: Any) -> spaces.Box | spaces.Discrete:
    """Return the space of Gymnasium for what a robot observes or chooses."""
    if not isinstance(part, Numbers):
        return spaces.Discrete(part.count)
    kind: Any = part.dtype
    return spaces.Box(part.low, part.high, part.shape, kind)


def checked_options(options: Any) -> Mapping[str, Any]:
    """Return the options of a reset; {} for None.

    Raises:
        InvalidValueError: they are no mapping, or their changes of the scenario are none.
    """
    for name, one in (
        ("options", options),
        ("scenario", options.get("scenario") if isinstance(options, Mapping) else None),
    ):
        if one is not None and not isinstance(one, Mapping):
            raise InvalidValueError(f"{name} is {one!r:.60}; give a mapping, {{'scenario': {{'stop.timeout_s': 60}}}}")
    return options or {}


def _own_frames(scenario: Scenario) -> bool:
    """Return whether robots do not know where the others started."""
    return scenario.share_maps is not None and scenario.share_maps.start_poses == "unknown"
