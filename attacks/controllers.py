"""Hostile controllers beside a good one, in process and in processes of their own.

::

    python -m attacks.controllers             # all, both ways
    python -m attacks.controllers hangs --ways processes
    python -m attacks.controllers --seed 7    # strikes at other times, other robots stand first

A case passes when the run ends by itself within its time, with an exit code of Covey's, without a traceback of ours and
with less than 2 GB in each process.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from itertools import product
from pathlib import Path
from random import Random

import psutil

BUDGET_S = 1.0
"""What a controller may take for one step [s]."""
BEYOND_S, MOST_MB = 10.0, 2000.0
START_S = 30.0
"""How long a run without anything hostile may take on a busy machine [s]."""
WAYS = ("in_process", "processes")
_LIMITS = {"in_process": "", "processes": ", processes: {memory_mib: 1500}"}
_TRACEBACK = "Traceback (most recent call last)"

_RAISES = ("ValueError('x')", "KeyError()", "SystemExit(0)", "SystemExit('bye')", "KeyboardInterrupt()",
           "GeneratorExit()",
           "StopIteration()", "StopAsyncIteration()", "MemoryError()", "RecursionError()", "BaseException('b')",
           "BaseExceptionGroup('g', [SystemExit(1)])", "asyncio.CancelledError()", "OSError(28, 'No space')",
           "UnicodeDecodeError('utf-8', b'\\xff', 0, 1, 'bad')", "ValueError('\\udcff \\x1b[2J')",
           "BrokenPipeError()", "ValueError('x' * 10**8)")  # fmt: skip
_BODIES = {
    "hangs": "while True: pass",
    "hangs_and_catches": "while True:\n        try:\n            while True: pass\n        except BaseException: pass",
    "sleeps": "time.sleep(3600)",
    "waits_for_lock": "threading.Lock().acquire() and threading.Event().wait()",
    "loop_in_c": "sum(range(10**10))",
    "grows": "held = []\n    while True: held.append(bytearray(2**24))",
    "one_huge_array": "np.ones(10**10)",
    "prints": "print('flood ' * 10**5)",
    "prints_to_fd": "os.write(1, b'\\xff' * 10**5)",
    "changes_folder": "os.chdir('/')",
    "closes_files": "os.closerange(3, 4096)",
    "closes_streams": "sys.stdout.close(); sys.stderr.close()",
    "forks": "os.fork()",
    "forks_and_sleeps": "os.fork() or time.sleep(3600)",
    "thread_without_end": "threading.Thread(target=lambda: time.sleep(3600)).start()",
    "daemons": "[threading.Thread(target=time.sleep, args=(9,), daemon=True).start() for _ in range(20)]",
    "signals": "signal.signal(signal.SIGINT, signal.SIG_IGN); signal.alarm(1)",
    "interrupts": "signal.raise_signal(signal.SIGINT)",
    "kills_itself": "os.kill(os.getpid(), signal.SIGSEGV) if APART else None",
    "patches_robot": "type(robot).drive = None; robot.pose = 'here'",
    "patches_covey": "import covey.runtime.simulation as s; s.Simulation._observe = lambda *_: 1 / 0",
    "patches_time": "time.monotonic = lambda: float('nan')",
    "huge_note": "robot.note('x' * 10**8)",
    "note_of_bytes": "robot.note('\\udcff' * 50)",
    "huge_message": "robot.send('x' * 10**9)",
    "many_messages": "[robot.send(i) for i in range(10**4)]",
    "message_of_itself": "a = []; a.append(a); robot.send(a)",
    "huge_tag": "robot.leave_tag('x' * 10**9)",
    "huge_board": "robot.blackboard['x'] = 'x' * 10**9",
    "nan": "robot.drive(float('nan'), 0)",
    "infinite": "robot.drive(float('inf'), -float('inf'))",
    "complex": "robot.drive(1j, 0)",
    "text_command": "robot.drive('fast', None)",
    "array_command": "robot.drive(np.ones((3, 3)), np.ones(2))",
    "huge_integer": "robot.drive(10**400, 0)",
    "writes_arrays": "[a.fill(0) for r in robot.readings.values() for a in vars(r).values() if hasattr(a, 'fill')]",
    "recursion": "f = lambda: f()\n    f()",
    "deep_recursion": "sys.setrecursionlimit(10**9)\n    f = lambda: f()\n    f()",
    "garbage": "import gc; gc.disable(); [setattr(o, 'x', 1) for o in gc.get_objects()[:99] if hasattr(o, '__dict__')]",
    "finish_twice": "robot.finish(); robot.finish()",
    "removes_folder": "import shutil; shutil.rmtree(OUT, ignore_errors=True)",
    "new_modules": "sys.modules.clear()",
}  # fmt: skip
ENDS = {"end_exits": "sys.exit(5)", "end_hangs": "while True: pass", "end_raises": "raise ValueError('\\udcff')"}
"""What is done when the run ends, in ``finally``."""
HOSTILE = {f"raises {text}": f"raise {text}" for text in _RAISES} | _BODIES | ENDS

ANYTHING = {"patches_covey", "new_modules"}
"""These replace code of their process, which may then end with a traceback."""
NOT_INTERRUPTED = {"loop_in_c"}
"""In process nothing ends these, as docs/processes.md says."""

_HEAD = """\
import asyncio, os, signal, sys, threading, time
import numpy as np
OUT, APART = {out!r}, {apart}

def hostile(robot):
    if robot.time < {when}:
        return
    {body}

async def untidy(robot):
    try:
        await robot.sleep(1e9)
    finally:
        {last}
"""
_SCENARIO = """\
world: {{empty_m: [8, 8]}}
robots: [{robots}]
execution: {{controllers: {way}, step_budget_s: {budget}{limits}}}
stop: {{timeout_s: 1}}
"""


def attack(name: str, way: str, folder: Path, seed: int = 0, beyond_s: float = BEYOND_S) -> tuple[str, str, float]:
    """Run one hostile controller; the seed decides at which step it strikes, and which robot stands first.

    Returns:
        How it ended, what was wrong with that (empty: nothing), and the most memory of any of its processes [MB].
    """
    random = Random(f"{seed} {name}")
    function, when = "untidy" if name in ENDS else "hostile", 0.1 * random.randrange(9) - 0.05
    robots = [
        "{name: good, robot: disc, controller: wander}",
        f"{{name: bad, robot: disc, controller: './bad.py:{function}'}}",
    ]
    random.shuffle(robots)
    body, last = ("pass", ENDS[name]) if name in ENDS else (HOSTILE.get(name, "pass"), "pass")
    filled = {"out": str(folder / "out"), "apart": way == "processes", "when": when, "body": body, "last": last}
    (folder / "bad.py").write_text(_HEAD.format(**filled))
    (folder / "s.yaml").write_text(
        _SCENARIO.format(way=way, budget=BUDGET_S, limits=_LIMITS[way], robots=", ".join(robots))
    )
    command = [
        sys.executable,
        "-P",
        "-m",
        "covey",
        "run",
        "s.yaml",
        "--out",
        str(folder / "out"),
        "-q",
        "--no-pictures",
    ]
    until, most = time.monotonic() + START_S + BUDGET_S + beyond_s, 0.0
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True)
        try:
            while process.poll() is None and time.monotonic() < until:
                most = max(most, _largest_mb(process.pid))
                time.sleep(0.05)
            hangs = process.poll() is None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, 9)  # what a case has forked goes, too
            process.wait()
    text = (folder / "said").read_bytes().decode(errors="replace")
    if hangs and way == "in_process" and name in NOT_INTERRUPTED:
        return "hangs, as the docs say", "", most
    wrong = "hangs" if hangs else f"takes {most:.0f} MB" if most > MOST_MB else ""
    if name in ANYTHING:
        return "ends", wrong, most
    if not wrong and process.returncode not in (0, 1, 2, 3, 130):
        wrong = f"exit code {process.returncode}"
    if not wrong and _TRACEBACK in text:
        wrong = "traceback: " + " | ".join(text.strip().splitlines()[-4:])
    return f"exit code {process.returncode}", wrong[:400], most


def _largest_mb(pid: int) -> float:
    sizes = [0.0]
    with suppress(psutil.Error):
        root = psutil.Process(pid)
        for one in (root, *root.children(recursive=True)):
            with suppress(psutil.Error):
                sizes.append(one.memory_info().rss / 1e6)
    return max(sizes)


def main() -> int:
    """Run them, and say what became of them, or, after Ctrl-C, of those so far."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(HOSTILE), help="which; all when none is named")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--seed", type=int, default=0, help="of when they strike, and of the order of the robots")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="covey-attack-") as folder:
        for way in given.ways:  # compiles what is not compiled
            attack("none", way, Path(folder), beyond_s=600.0)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ends: Counter[str] = Counter()
    failed, largest = 0, 0.0
    with suppress(KeyboardInterrupt):
        for way, name in product(given.ways, given.names):
            with tempfile.TemporaryDirectory(prefix="covey-attack-", ignore_cleanup_errors=True) as folder:
                end, wrong, most = attack(name, way, Path(folder), given.seed)
            ends[f"{way}: {end}"] += 1
            largest = max(largest, most)
            if wrong:
                failed += 1
                print(f"{way} {name}: {wrong}", flush=True)
    counts = ", ".join(f"{n} {end}" for end, n in sorted(ends.items()))
    print(f"{ends.total()} cases: {counts}; {failed} failed; most {largest:.0f} MB")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
