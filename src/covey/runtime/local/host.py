"""`LocalHost`: controllers in the simulation's process, which share mailboxes, blackboard and beliefs with it."""

import os
import time
import warnings
import weakref
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Any

import numpy as np

from covey.onboard.group_answer import answer_of, commands_of
from covey.onboard.group_view import GroupView
from covey.onboard.navigator import Navigator
from covey.onboard.step import GroupInput, GroupOutput, StepInput, StepOutput
from covey.runtime.host import NONE, Answers, GroupAnswers, Host, Team
from covey.runtime.local.failures import failed_at_the_end
from covey.runtime.local.watchdog import StepBudgetError, Watchdog, failed


class LocalHost(Host):
    """Controllers in the simulation's process.

    Attributes:
        onboard: the software of each robot with a controller of its own, by team index.
    """

    is_local = True

    def __init__(self, team: Team):
        communication, beliefs = team.communication, team.localization.belief_of
        self.watchdog = Watchdog(team.execution.step_budget_s)
        weakref.finalize(self, self.watchdog.close).atexit = False  # even if nobody closes it
        self.cpu_s = dict[int, float]()
        self.onboard = {
            i: spec.software(
                communication.mailboxes[i], communication.blackboard, beliefs.get(i), team.frames_of.get(i)
            )
            for i, spec in team.specs.items()
        }
        self._states = [(i, onboard.state) for i, onboard in self.onboard.items()]
        warned = set[tuple[str, int, str]]()
        for _, state in self._states:  # a line that many robots run is told of once
            state.warned = warned
        measured = team.computing.machines if team.computing.measures else ()
        self._steps: dict[int, Callable[[StepInput], StepOutput]] = {
            i: partial(self._measured, i) if i in measured else onboard.step for i, onboard in self.onboard.items()
        }
        self._programs = {key: groups[0].program for key, groups in team.programs.items()}
        self._calls: dict[str, Callable[..., Any]] = {}
        self._views = {name: GroupView(facts) for name, facts in team.facts.items()}
        self._process = os.getpid()

    def ask(self, robots: Sequence[int], inputs: Sequence[StepInput]) -> Answers:
        """Let the robots act, one after another; one that fails or takes too long does not stop the others."""
        watchdog, n, k = self.watchdog, len(inputs), 0
        calls, answers, began = [self._steps[i] for i in robots], [StepOutput()] * n, [0.0] * n
        watchdog.ready()
        while k < n:
            try:
                try:
                    while k < n:
                        watchdog.started = began[k] = monotonic()
                        answers[k] = calls[k](inputs[k])
                        k += 1
                finally:
                    watchdog.rest()
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                overdue = watchdog.overdue if isinstance(error, StepBudgetError) else None
                at = k if overdue is None else bisect_right(began, overdue, hi=min(k + 1, n)) - 1  # of an earlier call
                answers[at] = self.onboard[robots[at]].failed(failed(error, watchdog), answers[at])
                k = max(k, at + 1)
        return zip(robots, answers, strict=True)

    def ask_group(self, key: str, inputs: Sequence[GroupInput]) -> GroupAnswers:
        """Let a controller of several robots act."""
        if key in self._views:
            view = self._views[key].at(*inputs[0][2:])
        else:
            view = {shown.name: self._views[shown.name].at(*shown[2:]) for shown in inputs}
        return (([shown.name for shown in inputs], self._watched(answer_of, key, view)),)

    def ask_law(self, group: str, time_s: float, fields: Mapping[str, Any]) -> np.ndarray | GroupOutput:
        """Let the controller of a group without sensors act at a time [s], by what it sees.

        Returns:
            what it commands, see `commands_of`; its output if it failed, or wrote notes.
        """
        return self._watched(commands_of, group, self._views[group].at(time_s, fields))

    def _watched(self, ask: Callable[[Callable[..., Any], Any], Any], key: str, view: Any) -> Any:
        """Return what a function makes of a controller of several robots and its view, or the controller's failure."""
        watchdog = self.watchdog
        watchdog.ready()
        try:
            try:
                watchdog.started = monotonic()
                answer = ask(self._calls.get(key) or self._calls.setdefault(key, self._programs[key].bound()), view)
            finally:
                watchdog.rest()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return GroupOutput(failure=failed(error, watchdog))
        return answer

    def settle(self) -> tuple[Answers, GroupAnswers]:
        """End the step."""
        if os.getpid() != self._process:  # a controller that forked continues in one process only
            os._exit(0)
        return NONE

    def handle(self, robot: int) -> Any:
        """Return the handle of a robot."""
        return self.onboard[robot].robot

    def navigators(self) -> list[tuple[int, Navigator]]:
        """Return the navigators that drive their robots to a goal now."""
        return [
            (i, state.navigator)
            for i, state in self._states  # each step, in runs of any size
            if (motion := state.motion) is not None and motion.plans and motion.outcome is None and not state.finished
        ]

    def close(self) -> None:
        """End every controller; exceptions in ``finally`` blocks become warnings."""
        for onboard in self.onboard.values():
            try:
                with self.watchdog:
                    onboard.close()
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                text = failed(error, self.watchdog).text
                warnings.warn(failed_at_the_end(onboard.state.name, text), stacklevel=2)
        self.watchdog.close()

    def _measured(self, i: int, shown: StepInput) -> StepOutput:
        """Let a robot act, and measure the processor time that it takes."""
        begun = time.thread_time()
        answer = self.onboard[i].step(shown)
        self.cpu_s[i] = time.thread_time() - begun
        return answer
