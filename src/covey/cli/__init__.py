"""The command line: each command parses, calls one public function, and prints what it returns."""

import errno
import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import nullcontext

from covey.cli.exit_codes import BAD_INPUT, FAILED, INTERRUPTED, REACHED
from covey.cli.signals import like_ctrl_c
from covey.cli.surroundings import full_disk, make_fit, refused_settings
from covey.current_folder import ignore_settings

_LAST_S = 2.0  # for threads that still run at the end


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code.

    Args:
        arguments: what was typed after ``covey``; default, the arguments of this process.
    """
    make_fit()
    often = gc.get_threshold()
    gc.set_threshold(100_000, *often[1:])  # garbage collection of modules, which stay loaded, took a tenth of the start
    try:
        with like_ctrl_c() if arguments is None else nullcontext([]) as came:
            code = _main_until_interrupted(arguments)
    finally:
        gc.set_threshold(*often)
    if came and code == INTERRUPTED:
        code = 128 + came[0]
    if arguments is None:
        _leave_threads(code)
        _end_soon()
    return code


def _main_until_interrupted(arguments: Sequence[str] | None) -> int:
    try:
        code = _main(arguments)
        _ignore_interrupts(arguments)
    except KeyboardInterrupt:  # also while modules are still loading
        _ignore_interrupts(arguments)
        print("interrupted", file=sys.stderr)
        code = INTERRUPTED
    return code


def _ignore_interrupts(arguments: Sequence[str] | None) -> None:
    """Let Ctrl-C, SIGTERM and alarms that a controller has set do nothing from now on: the program is about to end."""
    if arguments is None:
        for name in ("SIGINT", "SIGTERM", "SIGALRM", "SIGVTALRM", "SIGPROF"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_IGN)


def _leave_threads(code: int) -> None:
    """End the program if a controller left threads running, because Python would wait for them forever."""
    left = [thread for thread in threading.enumerate() if not thread.daemon and thread is not threading.main_thread()]
    for thread in left:
        thread.join(_LAST_S / len(left))
    names = sorted(_printable(thread.name) for thread in left if thread.is_alive())
    if names:
        print(f"ending threads that a controller left running: {', '.join(names)}", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _end_soon() -> None:
    """Let Python search for no garbage at its end, a fifth of a short command, unless code of a user's has run."""
    registry = sys.modules.get("covey.registry")
    if registry is None or not registry.has_code_of_users():
        gc.freeze()


def _main(arguments: Sequence[str] | None) -> int:
    from cyclopts import CycloptsError

    from covey.errors import OF_THE_DISK, ControllerError, CoveyError, MachineError

    try:
        ignore_settings()
        from covey.cli.app import app

        typed = list(sys.argv[1:] if arguments is None else arguments)
        code = app(typed, exit_on_error=False, print_error=True, result_action="return_value") or REACHED
        if sys.stdout is not None:
            sys.stdout.flush()  # what cannot be written is told here, and not by Python at its end
        return code
    except CycloptsError:
        return BAD_INPUT
    except CoveyError as error:
        print(_printable(str(error)), file=sys.stderr)
        of_the_machine = isinstance(error, (ControllerError, MachineError)) or full_disk(error)
        return FAILED if of_the_machine else BAD_INPUT
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        _print_nowhere()
        return REACHED
    except OSError as error:
        if said := full_disk(error):
            if error.filename is None:
                _print_nowhere()
            print(_printable(said), file=sys.stderr)
            return FAILED
        if error.filename is None:
            raise
        if error.errno == errno.ENAMETOOLONG:
            said = f"{_printable(str(error.filename))[:60]!r}… is too long for a file name"
        else:
            said = _printable(f"cannot read or write {str(error.filename)!r}: {error.strerror}")
        print(said, file=sys.stderr)
        return FAILED if error.errno in OF_THE_DISK else BAD_INPUT
    except BaseException as error:  # a panic of a library is no Exception
        if said := full_disk(error):
            print(_printable(said), file=sys.stderr)
            return FAILED
        if said := refused_settings(error):
            print(_printable(said), file=sys.stderr)
            return BAD_INPUT
        from covey.runtime.local.failures import line_of_user

        line = (
            line_of_user(error) if isinstance(error, Exception) else ""
        )  # of a mission, a link or another extension from a file
        if not line:
            raise
        print(_printable(line), file=sys.stderr)
        return FAILED


def _print_nowhere() -> None:
    """Let what is still to be printed go nowhere, if the output can take no more."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _printable(text: str) -> str:
    from covey.errors import printable

    encoding = sys.stderr.encoding or "utf-8"
    return printable(text).encode(encoding, "backslashreplace").decode(encoding)
