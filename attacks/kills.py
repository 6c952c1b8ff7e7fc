"""Kills of a study: its runner, a worker, all of them at once, by -9, -15 or Ctrl-C. The table is as undisturbed."""

import os
import signal
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from random import Random

import psutil
from attacks.bounded import main

EACH = 5
"""Kills of a case."""
DESIGN = """\
design: killed
scenario: {world: {empty_m: [8, 8]}, robots: [{name: scout, robot: disc, controller: wander}]}
parameters: {robots.scout.count: [1, 2, 3]}
stop: {timeout_s: 5}
iterations: 2
"""
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
TARGETS = ("runner", "worker", "tree")
_WAIT_S, _TRIES = 300.0, 3  # long enough for a machine with much else to do
_took: list[float] = []  # how long a study takes undisturbed, by which the moments of the kills are drawn


def case(number: int) -> str:
    """Return ``same`` after some kills, with a word for how often the study had to be told to go on."""
    random, studies = Random(number), (f"case{number}-{i}" for i in count())
    out = next(studies)
    for _ in range(EACH):
        while not _hit(out, random):  # it was ready before that moment
            _compare(out)
            out = next(studies)
    _compare(out)
    return "same"


def warm() -> None:
    """Run the study undisturbed."""
    from covey.experiments.workers.supervisor import compile_if_cold

    compile_if_cold()
    Path("design.yaml").write_text(DESIGN)
    begin = time.monotonic()
    code, said = _ended(_start("undisturbed"))
    assert code == 0, said
    _took.append(time.monotonic() - begin)


def _start(out: str) -> subprocess.Popen:
    """Start the study, with workers that stay in the same group; what a worker lost twice is tried again."""
    command = [sys.executable, "-P", "-m", "covey", "run", "design.yaml", "--out", out, "--jobs", "2", "-q"]
    return subprocess.Popen([*command, "--retry-failed"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)


def _ended(runner: subprocess.Popen) -> tuple[int, str]:
    """Return exit code and errors of a runner, of which no process may be left."""
    said = runner.communicate(timeout=_WAIT_S)[1].decode()
    assert "Traceback" not in said, said
    return runner.returncode, said


def _hit(out: str, random: Random) -> bool:
    """Start the study and kill once; return whether there was still something to kill."""
    how, target, moment = random.choice(SIGNALS), random.choice(TARGETS), random.uniform(0.2, 1.0) * _took[0]
    runner = _start(out)
    time.sleep(moment)
    try:
        tree = [psutil.Process(runner.pid), *psutil.Process(runner.pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        tree = []
    victims = {"runner": tree[:1], "worker": [random.choice(tree[1:] or tree)] if tree else [], "tree": tree}[target]
    hit = runner.poll() is None and bool(victims)
    for victim in victims if hit else ():
        try:
            victim.send_signal(how)
        except psutil.NoSuchProcess:
            continue
    _ended(runner)
    left = psutil.wait_procs(tree, timeout=_WAIT_S)[1]
    assert not left, f"{target} was sent {how.name}, and {len(left)} processes are left"
    return hit


def _compare(out: str) -> None:
    """Let the study end, and compare its table with the undisturbed one."""
    from covey.experiments.analysis.table import deterministic, read_results

    said = ""
    for _ in range(_TRIES):
        code, said = _ended(_start(out))
        if code == 0:
            break
    else:
        raise AssertionError(f"it does not end: {said}")
    found, expected = (deterministic(read_results(Path(folder))) for folder in (out, "undisturbed"))
    assert found.write_csv() == expected.write_csv()
    runs = sorted(os.listdir(Path(out, "runs")))
    assert runs == sorted(os.listdir("undisturbed/runs")), f"what is left over: {runs}"


if __name__ == "__main__":
    sys.exit(main("attacks.kills", 40))
