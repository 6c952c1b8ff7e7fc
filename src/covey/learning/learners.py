"""The robots of a group that learn: controllers that do what a policy has chosen for them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from covey.controllers.policies.actions import Action
from covey.controllers.policies.knowledge import Knowledge
from covey.onboard.controller import controller
from covey.onboard.handle import Robot

MESSAGE = "policy"
"""Kind of the messages of learned policies."""


class Learners:
    """The robots of a group that learn, in one episode.

    Attributes:
        chosen: what the policy has chosen for them, as `covey.controllers.policies.actions.Action.command` takes it.
        commanded: what follows from it: twists (n, 3), or goals (n, 2).
        to_say: what they are still to send, by index.
    """

    def __init__(self, action: Action, sensors: Sequence[str], names: Sequence[str], alone: bool):
        self.action, self.names = action, names
        self.chosen: np.ndarray | None = None
        self.commanded = np.zeros((len(names), 3))
        self.numbers = {name: i for i, name in enumerate(names)}
        self.known: Callable[[], Knowledge] | None = None
        self.time_s, self.to_say = -1.0, dict[int, np.ndarray]()
        if action.moves == "goals":
            self.controller = self._drives()
        else:
            self.controller: Any = self._steps() if alone else self._moves(tuple(sensors))

    def choose(self, chosen: np.ndarray) -> None:
        """Take what the policy has chosen."""
        self.chosen, self.time_s = chosen, -1.0
        self.to_say = dict(enumerate(self.action.said(chosen))) if self.action.says else {}

    def command(self, time_s: float) -> np.ndarray:
        """Return the twists of all robots at this time [s], float64 (n, 3)."""
        if time_s != self.time_s and self.chosen is not None and self.known is not None:
            self.time_s, self.commanded = time_s, self.action.command(self.chosen, self.known())
        return self.commanded

    def _moves(self, sensors: tuple[str, ...]) -> Any:
        learners = self

        @controller(scope="group", sees=("pose", *sensors), many_worlds=True)
        class Policy:
            """Moves the robots of a group as a policy has chosen."""

            def step(self, group: Any) -> np.ndarray:
                """Return the twists."""
                return learners.command(group.time).reshape((*group.pose.shape[:-1], 3))

        return Policy

    def _steps(self) -> Any:
        learners = self

        class Policy:
            """Moves a robot as a policy has chosen."""

            def step(self, robot: Robot) -> None:
                """Drive, and send its message."""
                i = learners.numbers[robot.name]
                if (numbers := learners.to_say.pop(i, None)) is not None:
                    robot.send(numbers, kind=MESSAGE)
                vx, vy, omega = learners.command(robot.time)[i].tolist()
                robot.drive(vx, omega, vy=vy)

        return controller(Policy)

    def _drives(self) -> Any:
        learners = self

        async def policy(robot: Robot) -> None:
            """Drive to the place that a policy has chosen."""
            i = learners.numbers[robot.name]
            while True:
                goals = learners.commanded
                if learners.chosen is None:
                    await robot.sleep(0.0)
                    continue
                await robot.goto(
                    tuple(goals[i, :2].tolist()), until=lambda _, goals=goals: learners.commanded is not goals
                )
                while learners.commanded is goals:
                    await robot.sleep(0.0)

        return controller(policy)


def as_array(value: Any) -> np.ndarray:
    """Return what a policy has chosen as an array; given as one of NumPy, by DLPack, or as lists.

    Raises:
        TypeError, ValueError: it is none, or lies on another device.
    """
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        try:
            return np.from_dlpack(value)
        except (BufferError, RuntimeError) as error:
            raise ValueError(str(error)) from None
    return np.asarray(value)
