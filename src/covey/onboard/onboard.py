"""The software of one robot: its controller, stepped once per control period."""

from collections.abc import Callable
from functools import partial
from inspect import iscoroutine
from math import isfinite
from types import CoroutineType
from typing import Any

from covey.errors import ControllerError
from covey.onboard.controller import Program
from covey.onboard.handle import Robot
from covey.onboard.motions import STILL, Twist, Waiting
from covey.onboard.state import OnboardState
from covey.onboard.step import Failed, Requests, StepInput, StepOutput

_NOTHING, _NONE = StepOutput(), Requests()
_output = partial(tuple.__new__, StepOutput)  # from a tuple; a third of the time of StepOutput(...)


class Sequential:
    """Runs ``async def`` controllers: resumes the coroutine when its wait is over."""

    def __init__(self, program: Program):
        self._program = program
        self._coroutine: CoroutineType[Waiting, Any, Any] | None = None
        self._waiting: Waiting | None = None

    def step(self, state: OnboardState) -> None:
        coroutine = self._coroutine
        if coroutine is None:
            coroutine = self._coroutine = self._program.bound()(state.view)
        state.move()
        waiting, motion, outcome = self._waiting, state.motion, None
        if waiting is not None:
            if waiting is not motion:  # a motion has just been checked
                waiting.poll(state)
            outcome = waiting.outcome
            if outcome is None:
                return
        try:
            waiting = coroutine.send(outcome)
        except StopIteration:
            state.check_wait()
            last = state.motion
            if last is not None and last.outcome is None and last.has_end:
                if not last.began:
                    error = ControllerError("it returned before its last motion began; await that motion")
                    raise error.about(*state.begun_at[:2]) from None
                if not state.finished:
                    state.check_motion(last, "the controller ended first")
            state.finished = True
            return
        if not isinstance(waiting, Waiting):
            raise ControllerError(
                f"awaited {waiting!r}; a controller can await robot.goto(…), robot.sleep(…) and the like"
            )
        self._waiting = waiting
        state.check_wait()
        if state.motion is not motion:
            state.move()

    def close(self) -> None:
        if self._coroutine is not None:
            self._coroutine.close()


class Reactive:
    """Runs controllers that are called once per step."""

    def __init__(self, program: Program):
        self._program = program
        self._call: Callable[[Robot], Any] | None = None

    def step(self, state: OnboardState) -> None:
        if self._call is None:
            self._call = self._program.bound()
        answer = self._call(state.view)
        if answer is not None and iscoroutine(answer):
            answer.close()
            name = answer.__qualname__
            text = f"it returned a coroutine, {name}(…), that nobody awaits; make it async def and await"
            raise ControllerError(text).about(answer.cr_code)
        state.move()

    def close(self) -> None:
        pass


class Onboard:
    """The state of one robot's software and its controller.

    Attributes:
        state: the state.
        robot: a handle that permits everything.
    """

    __slots__ = ("_camera", "_remember", "_run", "_runner", "robot", "state")

    def __init__(self, state: OnboardState, program: Program):
        self.state, self.robot = state, Robot(state)
        state.view = self.robot if program.sees is None else self.robot.declared(program.name, program.sees)
        # Do not keep what the controller may not read.
        self._remember = state.history.steps.append if program.sees is None else None
        self._runner = (Sequential if program.is_sequential else Reactive)(program)
        self._run = self._runner.step
        self._camera = None if state.searched is None or state.camera is None else state.camera[0]

    def step(self, shown: StepInput) -> StepOutput:
        """Let the controller act on the robot's input; return its output.

        Raises:
            Exception: any exception of the controller, or `ControllerError` for a command that is not a number.
        """
        state, moved = self.state, shown.moved
        state.shown = shown
        if moved or state.corrections:
            state.correct(moved)
        if state.reports:
            state.hear_answers(shown.answers)
        if state.searched is not None:
            if moved:
                state.searched.follow(moved)
            if self._camera is not None and shown.come(self._camera):
                state.searched.add_sample(shown.pose, state.command[2], shown.time_s)
        if state.finished:
            state.command = STILL
            return self._answer(STILL)
        self._run(state)
        command = state.command
        if state.finished:
            command = state.command = STILL
        try:
            vx, vy, omega = command
            finite = isfinite(vx + vy + omega)
        except (TypeError, ValueError):
            finite = False
        if not finite:
            raise ControllerError(f"the command is {command!r}; it must be three finite numbers")
        if self._remember is not None:
            self._remember((shown.time_s, state.places, shown.readings, command))
        if state.asked or state.work is not None or state.finished:
            return self._answer(command)
        motion = state.motion  # the rest is `OnboardState.status` without its call
        if motion is None or motion.outcome is not None:
            return _output((command, state.status, None))
        return _output((command, motion.label, None))

    def failed(self, failure: Failed, answer: StepOutput = _NOTHING) -> StepOutput:
        """Return the output of a robot whose controller has failed: its requests before the failure.

        Args:
            failure: the failure.
            answer: its output so far.
        """
        late = self._answer(STILL).requests or _NONE
        requests = answer.requests or late
        return StepOutput(STILL, self.state.status, requests._replace(failure=failure))

    def _answer(self, command: Twist) -> StepOutput:
        state = self.state
        if not state.asked and state.work is None:
            return _output((command, state.status, None))
        asked: dict[str, Any] = {name: tuple(values) for name, values in state.asked.items()}
        state.asked.clear()
        work = {} if state.work is None else {kind: n for kind, n in state.work.pop().items() if n}
        return StepOutput(command, state.status, Requests(**asked, work=work))

    def close(self) -> None:
        """End the controller (a coroutine's ``finally`` blocks run)."""
        self._runner.close()
