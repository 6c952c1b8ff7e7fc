"""Commands in odd environments: no docstrings, terminals without width or letters, settings of libraries, few files.

A case is one command in a process of its own: words, an exit code that the docs name, no traceback, and an end.
"""

import os
import resource
import shlex
import signal
import subprocess
import sys
import time
from contextlib import chdir
from pathlib import Path
from random import Random

import yaml
from attacks.bounded import Waiting, main
from attacks.commands import SCENARIO

_COMMANDS = (
    "run s.yaml --out new --no-pictures",
    "run s.yaml --out new -q",
    "run two.yaml --out new -q --jobs 2",
    "run --help",
    "--help",
    "run nothing.yaml",
    "list",
    "list controllers",
    "show hello",
    "show disc",
    "check s.yaml",
    "check hello",
    "plot run overview --out new",
    "export run --out new.html",
    "results study",
    "report study --out new",
    "compare run run",
    "map hall.png",
    "schema scenario",
    "new first",
    "lessons new",
    "doctor",
)
_SETTINGS = {
    "PYTHONOPTIMIZE": ("1", "2"),
    "PYTHONIOENCODING": ("ascii", "latin-1", "utf-16", "ascii:strict", "cp1252", "utf-8:surrogateescape", "cp037"),
    "PYTHONUTF8": ("0", "1"),
    "LC_ALL": ("C", "POSIX", "nonsense", "tr_TR.UTF-8", ""),
    "COLUMNS": ("0", "1", "2", "7", "39", "-5", "x", "", "100000", "1e3", " 1"),
    "LINES": ("0", "-1", "x"),
    "TERM": ("", "dumb", "nonsense"),
    "NO_COLOR": ("1",),
    "FORCE_COLOR": ("1",),
    "NUMBA_NUM_THREADS": ("0", "-1", "x", "1", "100000", ""),
    "NUMBA_CACHE_DIR": ("/dev/null/x", "/dev/full", "cache"),
    "NUMBA_THREADING_LAYER": ("nonsense",),
    "NUMBA_OPT": ("0", "x", "7"),
    "NUMBA_DISABLE_JIT": ("0", "1", "x"),
    "NUMBA_BOUNDSCHECK": ("1", "x"),
    "NUMBA_CPU_NAME": ("nonsense", "generic"),
    "NUMBA_CPU_FEATURES": ("nonsense", ""),
    "NUMBA_DEBUG": ("x",),
    "NUMBA_DEVELOPER_MODE": ("1",),
    "NUMBA_CAPTURED_ERRORS": ("x",),
    "OMP_NUM_THREADS": ("0", "x", "-3"),
    "OPENBLAS_NUM_THREADS": ("0", "x"),
    "POLARS_MAX_THREADS": ("0", "x", "1"),
    "MPLBACKEND": ("nonsense", "", "TkAgg", "svg", "module://nonsense"),
    "MPLCONFIGDIR": ("/dev/null/x", "s.yaml"),
    "MATPLOTLIBRC": ("nothing", "s.yaml"),
    "HOME": ("", "/nowhere", "/dev/null", "s.yaml"),
    "XDG_CACHE_HOME": ("/dev/null", "", "s.yaml"),
    "XDG_CONFIG_HOME": ("/dev/null",),
    "TMPDIR": ("/nowhere", "", "s.yaml"),
    "TZ": ("nonsense", ":"),
    "PYTHONWARNINGS": ("error", "nonsense"),
    "PYTHONHASHSEED": ("0",),
    "PYTHONDEVMODE": ("1",),
    "PYTHONUNBUFFERED": ("1",),
    "PYTHONDONTWRITEBYTECODE": ("1",),
    "PYTHONNOUSERSITE": ("1",),
    "SOURCE_DATE_EPOCH": ("x", "0", "1e99"),
    "SLURM_CPUS_PER_TASK": ("0", "x", "-1"),
    "SLURM_JOB_ID": ("7",),
    "NSLOTS": ("0", "x"),
    "DISPLAY": ("nowhere:7",),
    "PATH": ("", "/nowhere"),
}
_LIMIT_S = 120.0  # without processor time


def case(number: int) -> str:
    """Return the exit code of a command."""
    from covey.cli.exit_codes import BAD_INPUT, FAILED, NOT_REACHED, REACHED

    random, folder = Random(number), Path(f"case{number}")
    folder.mkdir()
    for path in Path("template").iterdir():
        (folder / path.name).symlink_to(path.resolve())
    given = {
        name: random.choice(_SETTINGS[name]) for name in random.sample(sorted(_SETTINGS), random.choice((1, 1, 2, 3)))
    }
    flags = random.choice(([], [], [], ["-O"], ["-OO"], ["-OO"], ["-I"], ["-X", "utf8=0"]))
    streams, files = random.choice(("pipes", "pipes", "pipes", "no stdin", "no stdout", "no stderr", "full")), 0
    if random.random() < 0.1:
        files = random.choice((16, 32, 64))
    command = random.choice(_COMMANDS)
    settings = shlex.join([f"{name}={value}" for name, value in given.items()])
    kind = f"{settings} python {shlex.join(flags)} covey {command}, {streams}, {files} files"
    code, told = _ended(
        [sys.executable, *flags, "-P", "-m", "covey", *shlex.split(command)], folder, given, streams, files
    )
    assert "Traceback" not in told, f"{kind}: {told[-1500:]}"
    wrote_nowhere = streams in ("no stdout", "no stderr", "full")
    assert code in (REACHED, FAILED, BAD_INPUT, NOT_REACHED), f"{kind}: exit code {code}: {told[-600:]}"
    assert code in (REACHED, NOT_REACHED) or told.strip() or wrote_nowhere, f"{kind}: exit code {code} without a word"
    return f"exit {code}"


def warm() -> None:
    """Write sources, a run and a study, with kernels compiled."""
    from PIL import Image

    Path("template").mkdir()
    with chdir("template"):
        Path("s.yaml").write_text(yaml.safe_dump(SCENARIO))
        design = {"design": "two", "scenario": SCENARIO, "parameters": {"robots.a.count": [1, 2]}, "iterations": 1}
        Path("two.yaml").write_text(yaml.safe_dump(design))
        Image.new("L", (40, 30), 255).save("hall.png")
        for typed in ("run s.yaml --out run --no-pictures", "run two.yaml --out study --jobs 1"):
            code, told = _ended([sys.executable, "-P", "-m", "covey", *typed.split()], Path(), {}, "pipes", 0)
            assert code in (0, 3), told


def _ended(command: list[str], folder: Path, given: dict[str, str], streams: str, files: int) -> tuple[int, str]:
    """Run a process until its end; return its exit code and what it wrote, undecoded letters as ``?``."""

    def prepare() -> None:
        os.setpgid(0, 0)
        if files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        closed = {"no stdin": 0, "no stdout": 1, "no stderr": 2}.get(streams)
        if closed is not None:
            os.close(closed)

    with Path("/dev/full").open("wb") as full:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | given,
            stdin=subprocess.DEVNULL,
            stdout=full if streams == "full" else subprocess.PIPE,
            stderr=subprocess.STDOUT if streams != "full" else subprocess.PIPE,
            preexec_fn=prepare,
        )
    waits, begin = Waiting(process.pid, _LIMIT_S), time.monotonic()
    while True:
        try:
            told, errors = process.communicate(timeout=1.0)
            break
        except subprocess.TimeoutExpired:
            if waits.for_ever() or time.monotonic() - begin > 10 * _LIMIT_S:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                raise AssertionError(f"{shlex.join(command)} with {given}, {streams}: does not end") from None
    return process.returncode, ((told or b"") + (errors or b"")).decode(errors="replace").replace("\x00", "")


if __name__ == "__main__":
    sys.exit(main("attacks.environments", 200))
