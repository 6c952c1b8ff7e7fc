"""Connections to the page of a live run that say nothing, little, or slowly, with few files: the run ends with all.

A case is a run in a process of its own; it returns its exit code.
"""

import re
import resource
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random

import yaml
from attacks.bounded import main

_LIMIT_S, _OPENING_S = 100.0, 20.0
_SCENARIO = {
    "world": {"empty_m": [6, 6]},
    "robots": [{"name": "a", "controller": "wander", "count": 2}],
    "stop": {"timeout_s": 600},
}
_SAID = (
    b"",
    b"G",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",  # TLS
    b"X" * 9000,
)


def _begin(files: int) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell lets what runs in the background ignore it


def case(number: int) -> str:
    """Return the exit code of a run whose page is full of connections, after Ctrl-C."""
    from covey import Run
    from covey.cli.exit_codes import INTERRUPTED

    random, folder = Random(number), Path(f"case{number}")
    folder.mkdir()
    (folder / "s.yaml").write_text(yaml.safe_dump(_SCENARIO))
    files, count = random.choice((64, 100, 128, 256)), random.choice((20, 100, 270, 400))
    says, drops = random.choice((*_SAID, None)), random.random() < 0.3
    what = f"{files} files, {count} connections that say {says!r}{', some of which go' * drops}"
    command = [
        sys.executable,
        "-P",
        "-m",
        "covey",
        *["run", "s.yaml", "--live", "--out", "run", "--no-pictures", "--speed", "5"],
    ]
    said = folder / "said.txt"
    with said.open("w") as stream:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stream,
            preexec_fn=lambda: _begin(files),
        )
    try:
        while not (port := re.search(r"http://127\.0\.0\.1:(\d+)", said.read_text())):
            assert process.poll() is None, f"{what}: no page: {said.read_text()[-600:]}"
            time.sleep(0.1)
        while not (folder / "run/manifest.json").exists():
            assert process.poll() is None, f"{what}: the run does not begin: {said.read_text()[-600:]}"
            time.sleep(0.1)
        until = time.monotonic() + _OPENING_S
        with ExitStack() as opened:
            for k in range(count):
                if time.monotonic() > until:
                    break
                with suppress(OSError):
                    one = socket.create_connection(("127.0.0.1", int(port[1])), timeout=1.0)
                    opened.enter_context(one)
                    one.sendall(random.choice(_SAID) if says is None else says)
                    if drops and k % 3 == 0:
                        one.close()
            assert process.poll() is None, f"{what}: the run ended with {process.returncode}"
            process.send_signal(signal.SIGINT)
            try:
                process.wait(_LIMIT_S)
            except subprocess.TimeoutExpired:
                raise AssertionError(f"{what}: the run does not end after Ctrl-C") from None
        told = said.read_text()
        assert len(told) < 5000, f"{what}: {len(told)} letters: {told[-600:]}"
        assert "Traceback" not in told, f"{what}: {told[-1500:]}"
        assert process.returncode == INTERRUPTED, f"{what}: exit code {process.returncode}: {told[-600:]}"
        recorded = Run(folder / "run")
        assert recorded.measurements.height == 2 * recorded.team.height, f"{what}: rows of the record are lost"
    finally:
        process.kill()
        process.wait()
    return f"exit {process.returncode}"


if __name__ == "__main__":
    sys.exit(main("attacks.idle", 40))
