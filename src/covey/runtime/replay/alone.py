"""Replay of the recorded steps of one robot with its software alone: no world, no other robots, no physics."""

import json
import os
import sys
from dataclasses import dataclass
from pdb import Pdb
from typing import Any

from covey.onboard.step import Requests
from covey.runtime.local.watchdog import Watchdog
from covey.runtime.remote.agent import RobotAgent, answered_localize, answered_map
from covey.runtime.replay.log import StepLog
from covey.runtime.replay.plain import decode, encode
from covey.runtime.replay.recorded import repeatable

_ENDLESS_S = 1e9  # in a debugger a step may take long
_SENSED = {"sensed": ("localization", answered_localize), "scan": ("map", answered_map)}


@dataclass(frozen=True)
class Difference:
    """A step at which a robot answers differently than recorded.

    Attributes:
        step: number of the step, from 1.
        time_s: simulated time [s].
        field: field of `StepOutput` or `Requests`; ``map`` if the changes by a scan differ,
            ``localization`` if it finds itself elsewhere.
        recorded, now: both answers, as text.
    """

    step: int
    time_s: float
    field: str
    recorded: str
    now: str


@dataclass(frozen=True)
class Replayed:
    """The comparison of replayed and recorded answers.

    Attributes:
        steps: number of steps.
        differ: number of steps with different answers.
        first: the first difference; None if there is none.
        end_s: time of the last step [s].
    """

    steps: int
    differ: int
    first: Difference | None
    end_s: float


def replay(log: StepLog, break_at_s: float | None = None) -> Replayed:
    """Give the recorded inputs to the software of a robot, and compare its answers.

    The inputs stay those recorded, even after a different answer. The replay ends if the controller fails.

    Args:
        log: the recorded steps.
        break_at_s: stop in the debugger, inside the controller, at the first step at this time [s].

    Raises:
        InvalidValueError: the controller cannot be loaded.
    """
    spawn, watchdog = log.spawn(), Watchdog(_ENDLESS_S)
    agent = RobotAgent(spawn, watchdog)
    debugger: _InController | None = None
    steps = differ = 0
    time_s, first = 0.0, None
    try:
        for entry in log.entries():
            if entry.kind in _SENSED:
                name, answered = _SENSED[entry.kind]
                field = _difference({name: entry.answer}, {name: encode(repeatable(answered(agent, entry.shown)))})
                first = first or (Difference(steps + 1, time_s, *field) if field else None)
                continue
            steps, time_s = steps + 1, entry.shown.time_s
            if break_at_s is not None and time_s >= break_at_s - 1e-9:
                break_at_s = None
                debugger = _pause(spawn.program.factory.__module__)
            answer = repeatable(agent.step(entry.shown))
            if debugger is not None and not debugger.is_there:
                debugger.message(f"the controller is waiting at {time_s:g} s; the debugger stops where it goes on")
            debugger = None
            field = _difference(_by_field(entry.answer), _by_field(encode(answer)))
            differ += field is not None
            first = first or (Difference(steps, time_s, *field) if field else None)
            if answer.requests is not None and answer.requests.failure is not None:
                break
    finally:
        agent.close()
        watchdog.close()
    return Replayed(steps, differ, first, time_s)


def _by_field(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an encoded `StepOutput`, including those of its requests."""
    fields = dict(answer["fields"])
    requests = fields.pop("requests") or encode(Requests())
    return fields | requests["fields"]


def _difference(recorded: dict[str, Any], now: dict[str, Any]) -> tuple[str, str, str] | None:
    """Return the first field that differs, with its old and new value; None if all are the same."""
    for name, value in recorded.items():
        was, becomes = json.dumps(value), json.dumps(now[name])  # as text, so that NaN equals NaN
        if was != becomes:
            return name, _text(value), _text(now[name])
    return None


def _text(value: Any, most: int = 200) -> str:
    """Return encoded data as readable text."""
    if isinstance(value, dict) and value:
        what, inside = next(iter(value.items()))
        if what == "record":
            fields = ", ".join(f"{name}={_text(item)}" for name, item in value["fields"].items())
            text = f"{str(inside).rpartition(':')[2]}({fields})"
        elif what == "array":
            text = f"array of {inside['shape']}, {_text(decode(value).ravel().tolist(), 60)}"
        elif what in ("scalar", "bytes"):
            text = repr(decode(value))
        elif what == "dict":
            text = "{" + ", ".join(f"{_text(key)}: {_text(item)}" for key, item in value["dict"]) + "}"
        else:
            text = f"({', '.join(map(_text, inside))})" if isinstance(inside, list) else str(inside)
    else:
        text = f"[{', '.join(map(_text, value))}]" if isinstance(value, list) else repr(value)
    return text if len(text) <= most else f"{text[:most]}…"


class _InController(Pdb):
    """A debugger that stops first in the controller, not in the software around it."""

    def __init__(self, module: str):
        super().__init__()
        self._module, self.is_there = module, False

    def stop_here(self, frame: Any) -> bool:
        self.is_there = self.is_there or frame.f_globals.get("__name__") == self._module
        return self.is_there and super().stop_here(frame)


def _pause(module: str) -> _InController | None:
    """Enter the debugger and return it; None if it is one that the user has configured for `breakpoint`."""
    if sys.breakpointhook is not sys.__breakpointhook__ or "PYTHONBREAKPOINT" in os.environ:
        breakpoint()
        return None
    debugger = _InController(module)
    debugger.set_trace()
    return debugger
