"""The answers of group controllers: what they may return, and what it means."""

import contextlib
import dis
import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import Any

import numpy as np

from covey.errors import ControllerError, InvalidValueError
from covey.kernel import kernel
from covey.onboard.group_view import GroupView, is_finished, notes_of
from covey.onboard.step import Failed, GroupOutput

Views = GroupView | Mapping[str, GroupView]
_FLOAT = np.dtype(float)
_MOST_NOTES, _LONGEST_NOTE = 100, 1000  # of a group in a step, in characters


def answer_of(call: Callable[[Any], Any], view: Views) -> GroupOutput:
    """Call a group or team controller, and return what it commands, see `twists_of`, and its notes.

    Raises:
        ControllerError: it returned no commands; the error has the place of the controller.
    """
    answer = call(view)
    try:
        return GroupOutput(twists_of(answer, view), notes=notes_of(view), is_done=is_finished(view))
    except ControllerError as error:
        raise placed(error, call) from None


def commands_of(call: Callable[[Any], Any], view: GroupView) -> np.ndarray | GroupOutput:
    """Call a group controller, and return what it commands, float64 (n, 3) or (n, 2), see `twists_of`.

    If it wrote notes, they are returned, too.

    Raises:
        ControllerError: it returned no commands; the error has the place of the controller.
    """
    answer = call(view)
    try:
        commands = _commands(answer, view)
    except ControllerError as error:
        raise placed(error, call) from None
    if view.notes or view.finished:
        return GroupOutput({view.name: commands}, notes=notes_of(view), is_done=view.finished)
    return commands


def columns_of(call: Callable[[Any], Any], view: GroupView) -> np.ndarray:
    """Call a group controller, and return the columns that it answers, float64 (n, 2) or (n, 3), see `twists_of`.

    Raises:
        ControllerError: it returned no commands; the error has the place of the controller.
    """
    answer = call(view)
    try:
        return _columns_of(answer, view)
    except ControllerError as error:
        raise placed(error, call) from None


def checked(
    answer: GroupOutput, names: Sequence[str], counts: Mapping[str, int], is_local: bool = False
) -> GroupOutput:
    """Return an answer, or its failure if the law has forged it: by changing its view, or from its own process.

    Args:
        answer: the output of a controller of several robots.
        names: its groups.
        counts: the number of robots in each group.
        is_local: whether it comes from `twists_of` in this process, which returns finite float64 arrays.
    """
    if answer.failure is not None:
        return answer
    try:
        for name in names:
            n, twists = counts[name], answer.twists[name]
            if twists.shape != (n, 3) and twists.shape != (n, 2):
                raise ValueError
            if is_local:
                continue
            if not twists.flags.carray:  # another layout would be another compilation
                twists = twists.copy()
            if twists.dtype != _FLOAT or not are_finite(twists):
                raise ValueError
        if answer.notes and (
            len(answer.notes) > _MOST_NOTES * len(names)
            or not all(
                name in names and 0 <= int(i) < counts[name] and len(text) <= _LONGEST_NOTE
                for name, i, text in answer.notes
            )
        ):
            raise ValueError
    except Exception:
        what = (
            f"its answer is not one of {', '.join(names)}: the law changed its view, or wrote more than {_MOST_NOTES} "
            f"notes in a step or a note of more than {_LONGEST_NOTE} characters; return commands and change only "
            "team.memory"
        )
        return GroupOutput(failure=Failed(what, error=ControllerError(what)))
    return answer


def check_arguments(law: Callable[..., Any], gets: str) -> None:
    """Check that a law can be called with one argument.

    Args:
        law: a function.
        gets: what it gets, for the error.

    Raises:
        InvalidValueError: it cannot; the error has the file and the line of its first line.
    """
    try:
        signature = inspect.signature(law)
        signature.bind(None)
    except ValueError:  # callables that are not written in Python may have no signature
        return
    except TypeError:
        name, where = getattr(law, "__name__", "law"), place_of(law)
        others = [p.name for p in signature.parameters.values() if p.default is p.empty][1:]
        hint = f", and give {' and '.join(others)} a default" if others else ""
        raise InvalidValueError(
            f"{where}{name}{signature} cannot be called with the {gets} alone; write: def {name}({gets}){hint}"
        ) from None


def placed(error: ControllerError, call: Callable[..., Any]) -> ControllerError:
    """Return an error about what a controller returned, with the place of its return statement, or of its beginning."""
    code = _code_of(call)
    return error if code is None else error.about(code, _line_of_return(code))


def twists_of(answer: Any, view: Views) -> dict[str, np.ndarray]:
    """Return the commands of a group controller, by group.

    They are body twists vx, vy [m/s], turn rate [rad/s], float64 (n, 3); or for holonomic robots velocities in the
    world frame [m/s], float64 (n, 2), if the controller returned two columns.

    Args:
        answer: its return value: a pair ``speed, turn`` or a triple ``vx, vy, turn``, each a number or (n,); or an
            array (n, 2) or (n, 3) of these columns. A pair means vx, vy in the world frame for holonomic robots. A team
            controller returns a dict of such answers.
        view: its argument: a `GroupView`, or a dict of them.

    Raises:
        ControllerError: it is nothing of this kind, or not finite.
    """
    if isinstance(view, GroupView):
        return {view.name: _commands(answer, view)}
    if not isinstance(answer, Mapping):
        raise ControllerError(f"the controller of a team returned {_what(answer)}; return a dict with {sorted(view)}")
    if missing := [name for name in view if name not in answer]:
        raise ControllerError(f"the returned dict lacks {missing[0]!r}; it needs an answer for each of {sorted(view)}")
    return {name: _commands(answer[name], one) for name, one in view.items()}


def _commands(answer: Any, view: GroupView) -> np.ndarray:
    if view.robot.kinematics == "holonomic":
        return _columns_of(answer, view)
    n = view.count
    twists = np.zeros((n, 3))
    if type(answer) is tuple and len(answer) == 2:  # what most laws return
        speed, turn = answer
        if (isinstance(speed, float) or _is_column(speed, n)) and (isinstance(turn, float) or _is_column(turn, n)):
            twists[:, 0], twists[:, 2] = speed, turn
            if are_finite(twists):
                return twists
    given = _columns_of(answer, view)
    if given.shape[1] == 3:
        return given
    twists[:, ::2] = given
    return twists


def _is_column(part: Any, n: int) -> bool:
    """Return whether a part of a pair is an array of n floats."""
    return type(part) is np.ndarray and part.dtype is _FLOAT and part.shape == (n,)


def _columns_of(answer: Any, view: GroupView) -> np.ndarray:
    n, pair = view.count, "vx, vy" if view.robot.kinematics == "holonomic" else "speed, turn"
    if answer is None:
        raise ControllerError(f"the law returned nothing; end it with: return {pair}")
    given = _columns(answer, n, pair) if isinstance(answer, (tuple, list)) else _array(answer, pair)
    if not given.ndim:
        raise ControllerError(f"the law returned {answer!r:.60} alone; write: return {pair}")
    if given.shape not in ((n, 2), (n, 3)):
        is_turned = given.ndim == 2 and given.shape[::-1] in ((n, 2), (n, 3))
        hint = "transpose it, one row for each robot" if is_turned else f"each a number or an array of {n}"
        raise ControllerError(
            f"the law returned an array of shape {given.shape} for {n} robots; write: return {pair}, {hint}"
        )
    if given is answer or given.dtype != _FLOAT:
        given = np.array(given, float, order="C")
    if not are_finite(given):
        i, k = np.argwhere(~np.isfinite(given))[0]
        names = pair.split(", ") if given.shape[1] == 2 else ["vx", "vy", "turn"]
        raise ControllerError(
            f"{names[k]} of {view.names[i]} is {given[i, k]} at {view.time:g} s; commands must be finite, so look for "
            "a division by 0"
        )
    return given


def _columns(answer: Any, n: int, pair: str) -> np.ndarray:
    """Return the array of a pair, of a triple, or of a list of rows."""
    if isinstance(answer, list):
        with contextlib.suppress(ValueError, TypeError):
            rows = np.asarray(answer, float)
            if rows.ndim == 2 and len(rows) == n:
                return rows
    if len(answer) not in (2, 3):
        raise ControllerError(f"the law returned {len(answer)} values; write: return {pair}")
    columns = np.empty((n, len(answer)))
    for k, part in enumerate(answer):
        if type(part) is not float:
            part = _array(part, pair)
            if part.shape not in ((n,), (), (1,)):
                name = (pair.split(", ") if len(answer) == 2 else ["vx", "vy", "turn"])[k]
                raise ControllerError(
                    f"{name} has the shape {part.shape}; give a number or an array of {n}, one per robot"
                )
        columns[:, k] = part
    return columns


def _array(value: Any, pair: str) -> np.ndarray:
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.array(None)
    if array.dtype.kind not in "biuf":
        raise ControllerError(f"the law returned {_what(value)} where numbers belong; write: return {pair}")
    return array


@kernel
def are_finite(values):
    """Return whether all values, float64 (n, m), are finite."""
    for i in range(values.shape[0]):
        for k in range(values.shape[1]):
            if not math.isfinite(values[i, k]):
                return False
    return True


def _what(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}"
    if inspect.iscoroutine(value):
        value.close()
        return "a coroutine (leave out async: it is called in each step, and awaits nothing)"
    if inspect.isgenerator(value):
        return "a generator (write return in the place of yield)"
    if inspect.isroutine(value):
        return f"{value.__name__} itself (call it: {value.__name__}(…))"
    return f"{value!r:.60}" if isinstance(value, (str, int, float, complex, type(None))) else type(value).__name__


def place_of(law: Any) -> str:
    """Return the file and the first line of a function, or of the step of a class, as the beginning of a message."""
    code = _code_of(getattr(law, "step", law) if isinstance(law, type) else law)
    return "" if code is None else f"{code.co_filename}:{code.co_firstlineno}: "


def _code_of(call: Any) -> CodeType | None:
    """Return the code of a controller; None if it is not written in Python."""
    while isinstance(call, functools.partial):
        call = call.func
    call = inspect.unwrap(call)
    return getattr(getattr(call, "__func__", call), "__code__", None)


def _line_of_return(code: CodeType) -> int:
    """Return the line of the only return statement of a function, or the line on which it begins."""
    returns = [step for step in dis.get_instructions(code) if step.opname in ("RETURN_VALUE", "RETURN_CONST")]
    lines = {step.positions.lineno for step in returns if step.positions is not None}
    return (lines.pop() if len(lines) == 1 else None) or code.co_firstlineno
