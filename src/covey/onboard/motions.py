"""The motions of a robot, which can be awaited: drive, go to a point, follow a path, go forward, turn, sleep.

A motion controls the wheels until it ends or another one begins. ``await motion`` returns control to the simulation
until the motion has ended or its ``until`` is true; the await returns an `Outcome`.
"""

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from covey.errors import ControllerError, InvalidValueError, printable
from covey.onboard.outcome import REACHED, Outcome

if TYPE_CHECKING:
    from covey.comms.message import Message
    from covey.onboard.handle import Robot
    from covey.onboard.state import OnboardState

Twist = tuple[float, float, float]
Until = Callable[["Robot"], Any] | None
STILL: Twist = (0.0, 0.0, 0.0)
DURATION = "a duration is a number of seconds"


class Waiting:
    """Something that a coroutine can wait for; `outcome` is None until it is over.

    Raises:
        InvalidValueError: ``until`` is not a function of the robot, or one that has to be awaited.
    """

    __slots__ = ("awaited", "outcome", "until")
    said = "a motion", "if await robot.goto(…)"  # what it is, and how its outcome is asked for

    def __init__(self, until: Until = None):
        if until is not None and (not callable(until) or inspect.iscoroutinefunction(until)):
            hint = "give a plain function of the robot that returns true or false, such as lambda robot: robot.collided"
            raise InvalidValueError(f"until is {until!r:.80}; {hint}")
        self.outcome: Any = None  # an `Outcome`; for a message, a `Received`
        self.until, self.awaited = until, False

    def __await__(self) -> Generator["Waiting", Any, Any]:
        self.awaited = True
        return (yield self)

    def __bool__(self) -> bool:
        """Refuse: only its outcome is true or false.

        Raises:
            ControllerError: always.
        """
        what, how = self.said
        raise ControllerError(f"{what} is neither true nor false: await it, as in: {how}")

    def __eq__(self, other: object) -> bool:
        """Return whether it is the same; only its outcome compares with anything else.

        Raises:
            ControllerError: the other is an outcome or a text.
        """
        if isinstance(other, (str, Outcome)):
            what, how = self.said
            raise ControllerError(f"{what} is not its outcome, so it equals nothing: await it, as in: {how}")
        return self is other

    __hash__ = object.__hash__

    def poll(self, state: "OnboardState") -> None:
        """End the wait if its ``until`` is true.

        Raises:
            ControllerError: what ``until`` returned is neither true nor false.
        """
        if self.outcome is None and self.until is not None and _holds(self.until, state.view):
            self.outcome = Outcome("cancelled", "its `until` became true")


def _holds(until: Callable[["Robot"], Any], view: "Robot") -> bool:
    """Return whether what an ``until`` returns is true.

    Raises:
        ControllerError: it is neither true nor false.
    """
    found = until(view)
    if inspect.iscoroutine(found):
        found.close()
        raise ControllerError("this `until` returned a coroutine, which is never awaited; give a plain function")
    try:
        return bool(found)
    except (TypeError, ValueError):  # such as arrays
        text = f"this `until` returned {printable(repr(found)):.60}, which is neither true nor false"
        error = ControllerError(f"{text}; write, for example, (…).any() or len(…) > 0")
        code = getattr(until, "__code__", None)
        raise (error if code is None else error.about(code)) from None


class Sleep(Waiting):
    """Wait until a simulated time [s]; the last twist stays in force."""

    said = "a sleep", "await robot.sleep(…)"

    def __init__(self, wake_s: float, until: Until = None):
        super().__init__(until)
        self.wake_s = wake_s

    def poll(self, state: "OnboardState") -> None:
        super().poll(state)
        if self.outcome is None and state.shown.time_s >= self.wake_s - 1e-9:
            self.outcome = REACHED


class Receive(Waiting):
    """Wait for a message; the await returns it, or None when the time [s] is over."""

    said = "a wait for a message", "message = await robot.receive(…)"

    def __init__(self, kind: str | None, end_s: float):
        super().__init__()
        self.kind, self.end_s = kind, end_s

    def __await__(self) -> Generator["Waiting", Any, "Message | None"]:
        return (yield from super().__await__()).message

    def poll(self, state: "OnboardState") -> None:
        message = state.mailbox.pop_one(self.kind)
        if message is not None or state.shown.time_s >= self.end_s - 1e-9:
            self.outcome = Received(message)


class ReportAnswer(Waiting):
    """Wait for the answer to a report; the await returns it, or ``no answer`` when the time [s] is over."""

    __slots__ = ("end_s",)
    said = "a report", "if await robot.report(…) == 'accepted'"

    def __init__(self, end_s: float):
        super().__init__()
        self.end_s = end_s

    def __await__(self) -> Generator["Waiting", Any, str]:
        return (yield from super().__await__())


@dataclass(frozen=True, slots=True)
class Received:
    """The result of waiting for a message: the message, or None."""

    message: "Message | None"


class Motion(Waiting, ABC):
    """A wait that controls the wheels; `began` is true once it has chosen a twist.

    Attributes:
        plans: whether the navigator plans a path for it.
        looks_ahead: whether it drives by what its sensors show ahead, so that a blind robot waits with it.
    """

    __slots__ = ("began",)
    label = "driving"
    plans = False
    looks_ahead = False

    def __init__(self, until: Until = None):
        super().__init__(until)
        self.began = False

    @property
    def has_end(self) -> bool:
        """Whether it has an end to reach, other than to stand still."""
        return True

    @abstractmethod
    def twist(self, state: "OnboardState") -> Twist:
        """Return the body twist [m/s, m/s, rad/s] for this step; set `outcome` if the end is reached."""


class Drive(Motion):
    """A constant twist, forever or for ``duration_s``."""

    __slots__ = ("command", "end_s")

    def __init__(self, command: Twist, end_s: float, until: Until):
        super().__init__(until)
        self.command, self.end_s = command, end_s

    @property
    def has_end(self) -> bool:
        return self.command != STILL and self.end_s < math.inf

    def twist(self, state: "OnboardState") -> Twist:
        self.began = True
        if state.shown.time_s < self.end_s - 1e-9:
            return self.command
        self.outcome = REACHED
        return STILL


class Rest(Motion):
    """Stand still until the next command."""

    label = "resting"

    @property
    def has_end(self) -> bool:
        return False

    def twist(self, state: "OnboardState") -> Twist:
        return STILL


class Goto(Motion):
    """Plan to a point, drive there around walls and robots, and optionally turn to a final heading."""

    label = "going"
    plans = True
    looks_ahead = True

    def __init__(self, goal: tuple[float, float], heading: float | None, tolerance_m: float, until: Until):
        super().__init__(until)
        self.goal, self.heading, self.tolerance_m = goal, heading, tolerance_m

    def twist(self, state: "OnboardState") -> Twist:
        navigator, begins = state.navigator, not self.began
        if begins:
            navigator.start(self.goal, self.heading, self.tolerance_m)
            self.began = True
        twist, end = state.navigate()
        state.count_arrivals(begins and end == "reached", self)
        if end == "reached":
            self.outcome = REACHED
        elif end != "driving":
            self.outcome = Outcome(end, navigator.reason)  # type: ignore[arg-type]
            state.give_up(self.goal, navigator.why)
        return twist


class Follow(Motion):
    """Go through points one after another."""

    label = "following"
    plans = True
    looks_ahead = True

    def __init__(self, path: list[tuple[float, float]], tolerance_m: float, until: Until):
        super().__init__(until)
        self.path, self.tolerance_m = list(path), tolerance_m
        self._leg: Goto | None = None

    def twist(self, state: "OnboardState") -> Twist:
        self.began = True
        while True:
            if self._leg is None:
                if not self.path:
                    self.outcome = REACHED
                    return STILL
                self._leg = Goto(self.path.pop(0), None, self.tolerance_m, None)
            twist = self._leg.twist(state)
            if self._leg.outcome is None:
                return twist
            if not self._leg.outcome:
                self.outcome = self._leg.outcome
                return STILL
            self._leg = None


class Manoeuvre(Motion):
    """Go straight by a distance [m] or turn on the spot by an angle [rad], in the estimated frame."""

    def __init__(self, kind: str, amount: float, until: Until):
        super().__init__(until)
        self.label = "turning" if kind == "turn" else "driving"
        self.looks_ahead = kind != "turn"
        self.kind, self.amount = kind, amount

    def twist(self, state: "OnboardState") -> Twist:
        if not self.began:
            getattr(state.navigator, self.kind)(self.amount)
            self.began = True
        twist, end = state.navigate()
        if end != "driving":
            self.outcome = REACHED if end == "reached" else Outcome(end, state.navigator.reason)  # type: ignore[arg-type]
        return twist


def number(
    call: str, value: Any, needed: str, is_right: Callable[[float], bool] = lambda found: not math.isnan(found)
) -> float:
    """Return an argument of a call as a number, which may be infinite.

    Args:
        call: the beginning of the call, as typed.
        value: the argument.
        needed: what it must be, for the message.
        is_right: what else must hold.

    Raises:
        InvalidValueError: it is no number, or not right.
    """
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = math.nan
    if not is_right(found):
        raise InvalidValueError(f"{call}{printable(repr(value)):.60}): {needed}")
    return found


def above_zero(call: str, value: Any) -> float:
    """Return a tolerance [m].

    Raises:
        InvalidValueError: it is no number above 0.
    """
    return number(call, value, "a tolerance is more than 0 m", lambda found: found > 0)


def finite_twist(value: Any) -> Twist | None:
    """Return a twist as three finite floats, or None if it is not one."""
    try:
        vx, vy, omega = value
        vx, vy, omega = float(vx), float(vy), float(omega)
    except (TypeError, ValueError):
        return None
    return (vx, vy, omega) if math.isfinite(vx + vy + omega) else None
