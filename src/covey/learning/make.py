"""`env`: any scenario as a parallel environment of PettingZoo."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from covey.scenario.load import load_scenario
from covey.scenario.records import Scenario

if TYPE_CHECKING:
    from covey.learning.environment import Environment, Reward


def env(
    scenario: str | os.PathLike[str] | Scenario,
    *,
    learn: str | Sequence[str] = (),
    action: Any = "twist",
    observe: Any = (),
    reward: "Reward | None" = None,
    goals: bool = False,
    every_s: float | None = None,
    vary: Mapping[str, Any] | None = None,
    record: str | os.PathLike[str] | None = None,
    render_mode: str | None = None,
) -> "Environment":
    """Return a scenario as a parallel environment of PettingZoo.

    Args:
        scenario: a file, a name of the library, or a scenario.
        learn: names of the groups whose robots learn; empty: all. Other groups keep their controllers.
        action: what a policy chooses: ``twist``, ``headings``, ``frontiers``, a mapping ``{name: {parameter: …}}``, or
            a record of `covey.controllers.policies.actions`.
        observe: what robots observe: names, mappings, records or functions of `Knowledge`; see
            `covey.controllers.policies.observations`. Several make a dict. Empty: what fits the robots.
        reward: weights of measurements, columns of ``team.parquet`` or ``measurements.parquet``: the reward is the sum
            of weight times increase since the last decision; or a function of `Knowledge` that returns a number, or one
            for each robot of a group. None: the progress of the mission.
        goals: whether each robot gets a free place to drive to, drawn anew for each episode; then ``goal`` can be
            observed, ``goal_m`` is its distance, and the default reward is the way that comes nearer, less 1 for each
            contact.
        every_s: time between two decisions [s], a multiple of the control step; None: what the action says.
        vary: changes of the scenario for each episode, by dotted path; ``{"robots.scout.count": {"integers": [2, 6]}}``
            draws one; see `covey.learning.varied.drawn`.
        record: a folder for the runs of all episodes; None: nothing is kept.
        render_mode: ``rgb_array``, or None.

    Raises:
        CoveyError: the scenario or an argument is wrong.

    Examples:
        >>> import covey
        >>> world = covey.env("hello", every_s=0.5)
        >>> shown, _ = world.reset(seed=1)
        >>> shown, rewards, *_ = world.step({"robot0": [1.0, 0.0]})
        >>> world.agents
        ['robot0']
        >>> world.close()
    """
    from covey.learning.environment import Environment  # needs the libraries of the extra ``learning``

    loaded = scenario if isinstance(scenario, Scenario) else load_scenario(scenario)
    return Environment(
        loaded,
        learn=(learn,) if isinstance(learn, str) and learn else tuple(learn),
        action=action,
        observe=observe,
        reward=reward,
        goals=goals,
        every_s=every_s,
        vary=vary,
        record=record,
        render_mode=render_mode,
    )
