"""Tracebacks of scripts and notebooks: the user's own lines and the sentence, without Covey's calls between them."""

import os
import sys
import sysconfig
from types import TracebackType
from typing import Any

from covey.notebook import shell

DEBUG = "COVEY_DEBUG"
"""Set in the environment, to anything but 0: tracebacks show every call."""
_COVEY = os.path.dirname(__file__) + os.sep
_LIBRARIES = tuple({_COVEY, *(sysconfig.get_path(name) + os.sep for name in ("stdlib", "purelib", "platlib"))})


def trimmed(error: BaseException, trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the calls of Covey and of libraries that it calls.

    It stays whole if the error is not one of Covey's own and Covey or a library raised it: then Covey is to blame.

    Args:
        error: the error.
        trace: its traceback, or a part of it.
    """
    steps = list(_steps(trace))
    first = next((k for k, step in enumerate(steps) if _file(step).startswith(_COVEY)), None)
    if first is None or os.environ.get(DEBUG, "0") not in ("", "0"):
        return trace
    known: Any = sys.modules.get("covey.errors")
    is_of_covey = known is not None and isinstance(error, known.CoveyError)
    if not is_of_covey and not _is_of_user(steps[-1]):
        return trace
    kept = [*steps[:first], *(step for step in steps[first:] if _is_of_user(step))]
    if not kept:
        return trace
    shown: TracebackType | None = None
    for step in reversed(kept):
        shown = TracebackType(shown, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return shown


def install() -> None:
    """Let uncaught errors be shown with `trimmed` tracebacks: in programs, and in notebooks if this is one.

    What another program has installed to show errors goes on showing them.
    """
    before = sys.excepthook
    if not getattr(before, "of_covey", False):

        def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
            shown = trimmed(error, trace)
            if shown is not trace:
                _show_alone(error, shown)
            before(kind, error, shown)

        hook.of_covey = True  # pyright: ignore[reportFunctionMemberAccess]
        sys.excepthook = hook
    if (running := shell()) is not None:
        _install_in(running)


def _install_in(running: Any) -> None:
    """Let a shell of IPython show errors with `trimmed` tracebacks, unless somebody else shows them already."""
    if running.custom_exceptions:
        return

    def show(shell: Any, kind: type[BaseException], error: BaseException, trace: Any, tb_offset: Any = None) -> Any:
        shown = trimmed(error, trace)
        if shown is not trace:
            _show_alone(error, shown)
        return shell.showtraceback((kind, error, shown), tb_offset=tb_offset)

    running.set_custom_exc((Exception,), show)


def _show_alone(error: BaseException, trace: TracebackType | None) -> None:
    """Let an error be shown with this traceback, and without its cause: its sentence says it."""
    error.__traceback__, error.__cause__, error.__suppress_context__ = trace, None, True


def _steps(trace: TracebackType | None) -> Any:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _file(step: TracebackType) -> str:
    return step.tb_frame.f_code.co_filename


def _is_of_user(step: TracebackType) -> bool:
    file = _file(step)
    return not (file.startswith((*_LIBRARIES, "<frozen")) or "site-packages" in file)
