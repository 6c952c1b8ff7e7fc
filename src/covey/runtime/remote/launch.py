"""Start of the processes of robots on this machine."""

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

import psutil

from covey.errors import InvalidValueError
from covey.registry import import_path

_CODE = """from covey.lazy import loading
with loading():
    from covey.runtime.remote.serving import main
main()"""
KEY_VARIABLE = "COVEY_AUTHKEY"
"""Environment variable with the key shared by the simulator and the processes, in hexadecimal digits."""


def start_process(
    address: tuple[str, int], authkey: bytes, name: str, trace: IO[bytes] | None = None
) -> "subprocess.Popen[bytes]":
    """Start the process of a robot, and return it; it connects to an address.

    Args:
        trace: file to which the process writes its stack when a signal ends it or asks for it.
    """
    environment = (
        {"PYDANTIC_DISABLE_PLUGINS": "__all__"}
        | os.environ
        | {"PYTHONPATH": import_path(), KEY_VARIABLE: authkey.hex()}
    )
    files = () if trace is None else (trace.fileno(),)
    command = [sys.executable, "-P", "-c", _CODE, *_place(address), name, *map(str, files)]
    return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, pass_fds=files)


def end_forks(address: tuple[str, int]) -> None:
    """End the forks of processes that connected to an address and are gone."""
    begin = ["-P", "-c", _CODE, *_place(address)]
    for process in psutil.process_iter(["cmdline"]):
        if (process.info["cmdline"] or [])[1 : len(begin) + 1] == begin:
            with suppress(psutil.Error):
                process.kill()


def _place(address: tuple[str, int]) -> list[str]:
    return [address[0], str(address[1])]


def deploy(address: tuple[str, int], authkey: bytes, names: Sequence[str]) -> list[int]:
    """Start the processes of robots, and return their ids; they end with the simulator to which they connect."""
    return [start_process(address, authkey, name).pid for name in names]


def given_key() -> bytes:
    """Return the key from the environment, for processes that the user starts.

    Raises:
        InvalidValueError: there is no key.
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
