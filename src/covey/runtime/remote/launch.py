"""Starting the processes of robots on the machine that this runs on."""

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

import psutil

from covey.errors import InvalidValueError
from covey.registry import import_path

_CODE = "from covey.runtime.remote.serving import main; main()"
KEY_VARIABLE = "COVEY_AUTHKEY"
"""Environment variable with the key that the simulator and the processes share, in hexadecimal digits."""


def start_process(
    address: tuple[str, int], authkey: bytes, name: str, trace: IO[bytes] | None = None
) -> "subprocess.Popen[bytes]":
    """Start the process of a robot, and return it; it comes in at an address.

    Args:
        trace: file where the process writes where it is when a signal ends it, or asks for it.
    """
    environment = os.environ | {"PYTHONPATH": import_path(), KEY_VARIABLE: authkey.hex()}
    files = () if trace is None else (trace.fileno(),)
    command = [sys.executable, "-P", "-c", _CODE, *_place(address), name, *map(str, files)]
    return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, pass_fds=files)


def end_forks(address: tuple[str, int]) -> None:
    """End what the processes that came in at an address, and are gone, have forked."""
    begin = ["-P", "-c", _CODE, *_place(address)]
    for process in psutil.process_iter(["cmdline"]):
        if (process.info["cmdline"] or [])[1 : len(begin) + 1] == begin:
            with suppress(psutil.Error):
                process.kill()


def _place(address: tuple[str, int]) -> list[str]:
    return [address[0], str(address[1])]


def deploy(address: tuple[str, int], authkey: bytes, names: Sequence[str]) -> list[int]:
    """Start the processes of some robots, and return their ids; they end with the simulator that they come in at."""
    return [start_process(address, authkey, name).pid for name in names]


def given_key() -> bytes:
    """Return the key that the user shares with processes that are started by hand.

    Raises:
        InvalidValueError: there is none.
    """
    try:
        key = bytes.fromhex(os.environ.get(KEY_VARIABLE, ""))
    except ValueError:
        key = b""
    if not key:
        raise InvalidValueError(
            f"{KEY_VARIABLE} holds no key; set it to the same hexadecimal digits for the simulator and for each "
            f"`covey robot`, for example from: python -c 'import secrets; print(secrets.token_hex(32))'"
        )
    return key
