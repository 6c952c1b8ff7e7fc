"""Conversion of a user's ``robots`` argument to groups with start poses."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.onboard.controller import Program
from covey.onboard.group import Group
from covey.random import generator
from covey.robots.catalogue import disc
from covey.world.placement.placing import place
from covey.world.records.starts import Together, TogetherStart
from covey.world.world import World


def as_groups(robots: int | Sequence[Group], controller: Any, world: World, seed: int) -> list[Group]:
    """Return the groups of a team; a number gives that many generic discs, together near the middle of the world.

    Raises:
        InvalidValueError: there are no robots, or ``controller`` is given for groups that have their own.
    """
    if not isinstance(world, World):
        hint = (
            "give a covey.World, such as covey.World.empty(10, 10); a scenario that ships: covey.load_scenario('maze')"
        )
        raise InvalidValueError(f"world is {world!r}; {hint}")
    if not isinstance(seed, (int, np.integer)):
        raise InvalidValueError(f"seed is {seed!r}; give a whole number")
    program = controller if controller is None or isinstance(controller, Program) else Program(controller)
    if isinstance(robots, int):
        if robots < 1:
            raise InvalidValueError(f"robots is {robots}; a team has at least one")
        model = disc()
        radii = np.full(robots, model.outer_radius_m)
        start = place(TogetherStart(together=Together()), world, radii, generator(seed, "start/robot"))
        return [Group("robot", model, start, program)]
    groups = list(robots) if isinstance(robots, Iterable) else []
    if not groups or not all(isinstance(g, Group) for g in groups):
        raise InvalidValueError(f"robots is {robots!r}; give a whole number, or a list of covey.Group")
    if program is not None:
        own = [g.name for g in groups if g.program is not None]
        if own:
            raise InvalidValueError(f"groups {own} have controllers already; leave out controller=…")
        groups = [replace(g, program=program) for g in groups]
    return groups
