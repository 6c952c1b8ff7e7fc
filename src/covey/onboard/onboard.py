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
from covey.onboard.permissions import Declared
from covey.onboard.step import Failed, Requests, StepInput, StepOutput
from covey.robots.computer import Work

_NOTHING, _NONE = StepOutput(), Requests()
_output = partial(tuple.__new__, StepOutput)  # from a tuple; a third of the time of StepOutput(...)


class Sequential:
    """Runs ``async def`` controllers: resumes the coroutine when its wait is over."""

    def __init__(self, program: Program):
        self._program = program
        self._coroutine: CoroutineType[Waiting, Any, Any] | None = None
        self._waiting: Waiting | None = None

    def step(self, robot: Robot) -> None:
        coroutine = self._coroutine
        if coroutine is None:
            coroutine = self._coroutine = self._program.bound()(robot.controller_view)
        robot._move()
        waiting, motion, outcome = self._waiting, robot._motion, None
        if waiting is not None:
            if waiting is not motion:  # a motion has just been checked
                waiting.poll(robot)
            outcome = waiting.outcome
            if outcome is None:
                return
        try:
            waiting = coroutine.send(outcome)
        except StopIteration:
            robot._check_wait()
            last = robot._motion
            if last is not None and last.outcome is None and last.has_end:
                if not last.began:
                    error = ControllerError("it returned before its last motion began; await that motion")
                    raise error.about(*robot._begun_at[:2]) from None
                if not robot.finished:
                    robot._check_motion(last, "the controller ended first")
            robot.finish()
            return
        if not isinstance(waiting, Waiting):
            raise ControllerError(
                f"awaited {waiting!r}; a controller can await robot.goto(…), robot.sleep(…) and the like"
            )
        self._waiting = waiting
        robot._check_wait()
        if robot._motion is not motion:
            robot._move()

    def close(self) -> None:
        if self._coroutine is not None:
            self._coroutine.close()


class Reactive:
    """Runs controllers that are called once per step."""

    def __init__(self, program: Program):
        self._program = program
        self._call: Callable[[Robot], Any] | None = None

    def step(self, robot: Robot) -> None:
        if self._call is None:
            self._call = self._program.bound()
        answer = self._call(robot.controller_view)
        if answer is not None and iscoroutine(answer):
            answer.close()
            name = answer.__qualname__
            text = f"it returned a coroutine, {name}(…), that nobody awaits; make it async def and await"
            raise ControllerError(text).about(answer.cr_code)
        robot._move()

    def close(self) -> None:
        pass


class Onboard:
    """One robot's handle and its controller.

    Attributes:
        robot: the handle.
        shown: its last input.
    """

    __slots__ = ("_camera", "_remember", "_run", "_runner", "robot", "shown")

    def __init__(self, robot: Robot, program: Program):
        self.robot = robot
        # Do not keep what the controller may not read.
        self._remember = robot.history.steps.append if program.sees is None else None
        if program.sees is not None:
            robot.controller_view = Declared(robot, program.name, program.sees)
        self._runner = (Sequential if program.is_sequential else Reactive)(program)
        self._run = self._runner.step
        self.shown = StepInput(robot.time, robot.pose, readings=robot._seen)
        camera = robot._camera()
        self._camera = None if robot.searched is None or camera is None else camera[0]
        if robot.model.computer is not None:
            robot._keep_account(Work())

    def step(self, shown: StepInput) -> StepOutput:
        """Let the controller act on the robot's input; return its output.

        Raises:
            Exception: any exception of the controller, or `ControllerError` for a command that is not a number.
        """
        robot, self.shown = self.robot, shown
        (
            robot.time,
            robot.pose,
            robot.collided,
            robot._seen,
            robot._times,
            robot._older,
            robot._tags,
            _,
            robot._covariance,
            answers,
            robot._odometry,
            moved,
            robot._silent,
        ) = shown
        if moved or robot.corrections:
            robot._correct(moved)
        if answers:
            robot._hear_answers(answers)
        if moved and robot.searched is not None:
            robot.searched.follow(moved)
        if self._camera is not None and shown.come(self._camera):
            robot.searched.look(robot.pose, robot._command[2], robot.time)  # pyright: ignore
        if robot.finished:
            robot._command = STILL
            return self._answer(STILL)
        self._run(robot)
        command = robot._command
        if robot.finished:
            command = robot._command = STILL
        try:
            vx, vy, omega = command
            finite = isfinite(vx + vy + omega)
        except (TypeError, ValueError):
            finite = False
        if not finite:
            raise ControllerError(f"the command is {command!r}; it must be three finite numbers")
        if self._remember is not None:
            self._remember((robot.time, robot._places, robot._seen, command))
        if robot._asked or robot._work is not None or robot.finished:
            return self._answer(command)
        motion = robot._motion  # the rest is `Robot.status` without its call
        if motion is None or motion.outcome is not None:
            return _output((command, robot.status, None))
        return _output((command, motion.label, None))

    def failed(self, failure: Failed, answer: StepOutput = _NOTHING) -> StepOutput:
        """Return the output of a robot whose controller has failed: its requests before the failure.

        Args:
            failure: the failure.
            answer: its output so far.
        """
        late = self._answer(STILL).requests or _NONE
        requests = answer.requests or late
        return StepOutput(STILL, self.robot.status, requests._replace(failure=failure))

    def _answer(self, command: Twist) -> StepOutput:
        robot = self.robot
        if not robot._asked and robot._work is None:
            return _output((command, robot.status, None))
        asked: dict[str, Any] = {name: tuple(values) for name, values in robot._asked.items()}
        robot._asked.clear()
        work = {} if robot._work is None else {kind: n for kind, n in robot._work.pop().items() if n}
        return StepOutput(command, robot.status, Requests(**asked, work=work))

    def close(self) -> None:
        """End the controller (a coroutine's ``finally`` blocks run)."""
        self._runner.close()
