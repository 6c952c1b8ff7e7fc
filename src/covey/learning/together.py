"""Episodes of many worlds in one batch."""

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from covey.clock import exact
from covey.learning.environment import Environment
from covey.learning.knowledge import KnownInBatch
from covey.learning.learners import Learners
from covey.missions import Exploration, Navigation
from covey.missions.navigation import NavigationInWorlds
from covey.onboard.group import Group
from covey.scenario.batch import Batch
from covey.scenario.refusals import is_still, refused, sensors_of

_MEASURED = ("distance_m", "energy_j", "collisions_robot", "collisions_wall", "goal_m", "taken")
"""What a batch measures."""
_EXPLORED = ("explored_share", "explored_share_union")
"""What it measures with maps."""


def why_apart(one: Environment) -> str:
    """Return why worlds like this one cannot be in one batch; empty if they can."""
    scenario, _ = one.with_learners(one.scenario)
    if one.goals and type(one.scenario.mission) is not Exploration:
        return "goals beside a mission"
    if one.vary or one.record is not None or one.render_mode is not None:
        return "worlds that vary, are recorded or rendered"
    if callable(one.reward) or {*one.weights()} - {*_MEASURED, *_EXPLORED}:
        return "the reward is measured in each world"
    maps = needs_maps(one)
    seeing = [sensor for group in scenario.robots for sensor in sensors_of(group, maps) if "scan" in sensor.feeds]
    if {*one.weights()} & {*_EXPLORED} and not seeing:
        return "the reward is not measured"
    if one.action.moves != "twists" or not one.action.in_many_worlds:
        return "the action"
    if not all(observed.in_many_worlds for parts in one.observe.values() for observed in parts):
        return "an observation"
    if one.has_ground or refused(scenario, maps):
        return refused(scenario, maps) or "the ground"
    if not all(is_still(group) for group in scenario.robots if group.name not in one.learn):
        return "controllers of robots that do not learn"
    step_s = exact(scenario.execution.step_s)
    for sensor in (sensor for group in scenario.robots for sensor in sensors_of(group, maps)):
        due = exact(sensor.rate_hz) * step_s
        is_alone = due == 1 or not (maps and "scan" in sensor.feeds)
        if not sensor.begins_anew or sensor.latency_s or due.denominator != 1 or not is_alone:
            return f"the sensor {sensor.name}"
    return ""


def needs_maps(one: Environment) -> bool:
    """Return whether a batch of worlds like this one needs maps, for what is observed, rewarded or reached."""
    observed = any("map" in part.sees for parts in one.observe.values() for part in parts)
    return observed or one.scenario.stop.explored is not None or bool({*one.weights()} & {*_EXPLORED})


class EpisodesTogether:
    """The episodes of B worlds in a batch; each has the bytes that its environment has alone.

    Args:
        one: an environment of the worlds, which are alike, see `why_apart`.
        worlds: B.

    Attributes:
        batch: the batch; None before the first episode.
        here: worlds with an episode in the batch, bool (B,).
    """

    def __init__(self, one: Environment, worlds: int):
        self._one, self._worlds = one, worlds
        self.batch: Batch | None = None
        self.here = np.zeros(worlds, bool)
        self._teams: list[tuple[Group, Learners]] = []
        self._counted: dict[str, np.ndarray] = {}

    def begin(self, which: np.ndarray, seeds: Sequence[int]) -> None:
        """Begin episodes in some worlds, bool (B,), with these seeds."""
        batch = self.batch
        if batch is None:
            own = np.full(self._worlds, seeds[0])
            own[which] = seeds
            batch = self._made(own.tolist())
            batch.end(~which)
        else:
            batch.begin_anew(which, seeds)
        self.here |= which
        self._counted = self._measures()

    def leave(self, world: int) -> None:
        """Leave a world out, whose episode is elsewhere from now on."""
        self.here[world] = False
        if self.batch is not None:
            self.batch.end(np.arange(self._worlds) == world)

    def _made(self, seeds: list[int]) -> Batch:
        scenario, teams = self._one.with_learners(self._one.scenario)
        if self._one.goals:
            scenario = scenario.model_copy(update={"mission": Navigation()})
        self.batch = batch = Batch(scenario, seed=seeds, maps=needs_maps(self._one))
        groups = {group.name: group for group in batch.groups}
        self._teams = [(groups[name], own) for name, own in zip(self._one.observe, teams, strict=True)]
        for group, learners in self._teams:
            learners.known = self._later(group)
            learners.commanded = np.zeros((len(group.names), 3))
        members = [batch.members[group.name] for group, _ in self._teams]
        self._columns = np.concatenate([np.flatnonzero(np.isin(batch.index[0], own)) for own in members])
        self._learning = batch.index[:, self._columns]
        if self._one.goals and isinstance(batch.tracker, NavigationInWorlds):
            batch.tracker.who = self._columns
        return batch

    def _later(self, group: Group) -> Callable[[], KnownInBatch]:
        """Return a function that returns what robots know then; it keeps no batch alive, as caches may keep it."""
        batch = weakref.ref(self.batch)  # pyright: ignore[reportArgumentType]

        def known() -> KnownInBatch:
            here = batch()
            assert here is not None
            return KnownInBatch(here, group)

        return known

    def advance(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Let the robots of all worlds act until the next decision; those whose episode is over stand.

        Args:
            chosen: choices of the robots that learn, (B, n, …).

        Returns:
            Rewards, float64 (B, n); which episodes have reached their goal, and which are late, bool (B,).
        """
        batch, first, over = self.batch, 0, self.batch.over  # pyright: ignore[reportOptionalMemberAccess]
        assert batch is not None
        for group, learners in self._teams:
            own = chosen[:, first : first + group.count]
            learners.choose(np.ascontiguousarray(own).reshape(-1, *own.shape[2:]))
            first += group.count
        for _ in range(self._one.steps):
            if batch.done:
                break
            batch.step()
        ended = batch.over & ~over
        return self._rewards(), ended & batch.reached, ended & ~batch.reached

    def look(self, into: dict[str, np.ndarray]) -> None:
        """Put what all robots observe into arrays (B · n, …), by name; "" if they observe one thing."""
        assert self.batch is not None
        self.batch.sense(at_the_end=True)
        first, n = 0, self._learning.shape[1]
        for group, _ in self._teams:
            known = KnownInBatch(self.batch, group)
            for one in self._one.observe[group.name]:
                rows = into[one.key if len(into) > 1 else ""]
                if group.count == n and self.here.all():
                    one.into(known, rows)
                    continue
                whole = rows.reshape(self._worlds, n, *rows.shape[1:])[:, first : first + group.count]
                whole[self.here] = one.of(known).reshape(whole.shape)[self.here]
            first += group.count

    def _measures(self) -> dict[str, np.ndarray]:
        """Return the present values of what is rewarded, float64 (B, n) each."""
        batch: Any = self.batch
        found = dict[str, np.ndarray]()
        scored = {} if batch.tracker is None else batch.tracker.values(batch.pose)
        for name in self._one.weights():
            if name in scored:
                found[name] = scored[name][:, self._columns]
            elif name == "explored_share_union":
                found[name] = np.repeat(batch.explored_share_union[:, None], len(self._columns), axis=1)
            else:
                found[name] = getattr(batch, name)[:, self._columns].astype(float)
        return found

    def _rewards(self) -> np.ndarray:
        """Return the reward of each robot that learns since the last decision, float64 (B, n)."""
        now, total = self._measures(), np.zeros(self._learning.shape)
        for name, weight in self._one.weights().items():
            total += weight * np.nan_to_num(now[name] - self._counted[name])
        self._counted = now
        return total
