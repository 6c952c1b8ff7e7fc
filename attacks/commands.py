"""Commands of `covey` over good, damaged and strange folders, with odd options: words and an exit code.

A case returns its exit code. What is no word, no code that the docs name, or a traceback, is a failure.
"""

import io
import json
import os
import shlex
import shutil
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random

import yaml
from attacks.bounded import main
from attacks.scenarios import changed_data
from attacks.strange import NUMBERS, WORDS

SCENARIO = {"world": {"empty_m": [5, 5]}, "robots": [{"name": "a", "controller": "wander"}], "stop": {"timeout_s": 1}}
FILES = {
    "s.yaml": SCENARIO,
    "by_path.yaml": SCENARIO | {"robots": [{"name": "a", "controller": "./mine.py:go"}]},
    "d.yaml": {"design": "two", "scenario": SCENARIO, "parameters": {"robots.a.count": [1, 2]}, "iterations": 1},
    "other.yaml": {"design": "other", "scenario": SCENARIO, "parameters": {"seed": [1, 2]}, "iterations": 1},
    "slurm.yaml": {"slurm": {"cores": 1, "memory": "1GB", "interface": "lo"}, "jobs": 1},
}
CONTROLLER = "async def go(robot, v: float = 0.5):\n    await robot.sleep(9.0)\n"
EVENTS = "{wall: {from: [-1, 1], to: [1, 1]}}\n{nothing: 1}\n[\n"

_RUNS, _DESIGNS = ("run", "study/runs/*"), ("study", "d.yaml", "other.yaml", "smoke")
_SCENARIOS = ("s.yaml", "s.yaml", "by_path.yaml", *_RUNS)
_SHOWN = ("hello", "smoke", "maze", "disc", "lidar", "wander", "range", "s.yaml", "d.yaml", "by_path.yaml", "mine.py")
_ANY = (*_SCENARIOS, *_DESIGNS, ".", "nothing", "slurm.yaml", "mine.py", "mine.py:go", "run/manifest.json")
_OUT, _TRUST = ("--out", ("new", "run", "study", "s.yaml", "s.yaml/x")), ("--trusted-only", None)
_SET = ("-s", ("seed=3", "robots.a.count=2", "robots.b.count=2", "robots.a=", "=", "a", "stop.timeout_s=1e-300"))
_SEED = ("--seed", ("0", "7", "-1", "1.7", "true", str(2**64)))
COMMANDS = {
    "run": (
        _SCENARIOS,
        _OUT,
        _TRUST,
        _SET,
        _SEED,
        ("--speed", ("max", "0", "20", "-1", "nan", "1e-300", "x")),
        ("--force", None),
        ("-q", None),
        ("--no-pictures", None),
        ("--commands", ("-", "events.txt", "study", "nothing")),
        ("--jobs", ("1",)),
    ),
    "run ": (
        _DESIGNS[1:3],
        _OUT,
        _TRUST,
        _SEED,
        ("--jobs", ("1", "2", "3", "0", "-1", "1000")),
        ("--shard", ("1/2", "2/2", "3/2", "0/0", "x/y", "1/1000000000000")),
        ("--dry-run", None),
        ("--cluster", ("slurm.yaml", "d.yaml", "nothing", "tcp://127.0.0.1:1", "tcp://:x")),
        ("--retry-failed", None),
        ("--trust", None),
        ("-q", None),
    ),
    "check": (("s.yaml", "by_path.yaml", "d.yaml", "hello"), _SET, _TRUST, ("--trust", None), ("--jobs", ("1", "0"))),
    "show": (_SHOWN, _TRUST),
    "results": (_DESIGNS, ("--format", ("table", "csv", "latex", "json", "xml")), _OUT, _TRUST),
    "report": (_DESIGNS, ("--results", ("study", "run", "nothing")), _OUT, _TRUST),
    "compare": (_DESIGNS, ("--metric", ("simulated_time_s", "nothing", "")), ("--format", ("table", "latex")), _TRUST),
    "plot": (_RUNS, _OUT, ("--format", ("png", "svg", "pdf", "gif")), _TRUST),
    "export": (
        _RUNS,
        ("--format", ("html", "map", "log", "mcap", "ros2", "rrd", "zip")),
        _OUT,
        ("--robot", ("a0", "b")),
    ),
    "replay-robot": (("run", "run/steps", *_RUNS), ("--out", ("new", "run", "s.yaml")), ("--force", None)),
    "list": (("robots", "designs", "links", "things"),),
    "new": (("first", "a b", "s", "run/x", "1"),),
    "schema": (("scenario", "design", "map"),),
    "robot": (("127.0.0.1:1", "127.0.0.1", ":", "[::1]:1"), ("--name", ("a0", ""))),
}
"""Of each command the sources that fit, and its options with values that fit, or nearly."""
_OFTEN = [name for name in COMMANDS for _ in range(1 if name in ("list", "new", "schema", "robot") else 4)]


def case(number: int) -> str:
    """Return the exit code, after one command in a folder that was damaged, or not."""
    random, folder = Random(number), Path(f"case{number}")
    shutil.copytree("template", folder)
    try:
        with chdir(folder):
            damaged = [_damaged(random) for _ in range(random.choice((0, 0, 1, 1, 2)))]
            return f"exit {run(_typed(random), damaged)}"
    finally:
        shutil.rmtree(folder)


def warm() -> None:
    """Make the folder that all cases copy: sources, a run, and a study."""
    from covey import cli
    from covey.cli.exit_codes import NOT_REACHED, REACHED

    Path("template").mkdir()
    with chdir("template"), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        for name, content in FILES.items():
            Path(name).write_text(yaml.safe_dump(content, sort_keys=False))
        Path("mine.py").write_text(CONTROLLER)
        Path("events.txt").write_text(EVENTS)
        for typed in ("run s.yaml --out run --no-pictures", "run d.yaml --out study --jobs 1"):
            assert cli.main(typed.split()) in (REACHED, NOT_REACHED), typed


def run(typed: list[str], after: object) -> int:
    """Run a command within this process; return its exit code, after a look at what it says.

    Args:
        typed: what follows ``covey``.
        after: what was done before, for the error.
    """
    from covey import cli
    from covey.cli.exit_codes import BAD_INPUT, FAILED, NOT_REACHED, REACHED

    out, err = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = cli.main(typed)
        said = out.getvalue() + err.getvalue()
        assert code in (REACHED, FAILED, BAD_INPUT, NOT_REACHED), f"exit code {code}: {said[-300:]}"
        assert said.strip() or code == REACHED, f"exit code {code} without a word"
        assert "Traceback" not in said, said[-1000:]
        assert "\x1b" not in said, f"an escape character: {said[-300:]!r}"
    except BaseException as error:
        error.add_note(f"covey {shlex.join(typed)}, after {after}")
        raise
    return code


def _typed(random: Random) -> list[str]:
    """Return what follows ``covey``."""
    name = random.choice(_OFTEN)
    sources, *options = COMMANDS[name]
    typed = [name.strip()]
    for _ in range(random.choices((1, 0, 2), (20, 1, 1))[0] + (name == "compare")):
        typed.append(_source(random, sources))
    if name == "replay-robot" and random.random() < 0.8:
        typed.append("a0")
    for option, values in random.sample(options, min(len(options), random.choice((0, 1, 1, 2, 3)))):
        typed.append(option)
        if values is not None:
            typed.append(random.choice(values) if random.random() < 0.85 else _odd(random))
    if random.random() < 0.05:
        typed.insert(random.randrange(len(typed) + 1), _odd(random))
    if typed[:1] == ["run"] and "--out" not in typed and random.random() < 0.5:
        typed += ["--out", random.choice(("study", "run", "new"))]
    return typed


def _source(random: Random, fit: tuple[str, ...]) -> str:
    how = random.random()
    source = random.choice(fit if how < 0.85 else _ANY) if how < 0.95 else _odd(random)
    if source.endswith("/*"):
        runs = sorted(Path(source).parent.iterdir()) if Path(source).parent.is_dir() else []
        return str(random.choice(runs)) if runs else "study/runs"
    return source


def _odd(random: Random) -> str:
    """Return what can stand on a command line, and writes nothing outside the folder of the cases."""
    words = [word for word in WORDS if "\x00" not in word and not (word.startswith("/") and word != "/dev/null")]
    return random.choice((*words, *map(str, NUMBERS)))


def _damaged(random: Random) -> str:
    """Damage one file or folder, and return what was done."""
    path = random.choice(sorted(path for path in Path().rglob("*") if path.exists() and not path.is_symlink()))
    how = random.choice(_FOLDER_DAMAGES if path.is_dir() else (*_FILE_DAMAGES, _changed, _changed, _changed))
    how(path, random)
    return f"{how.__name__.strip('_')} {path}"


def _changed(path: Path, random: Random) -> None:
    """Change values of a file of data; another one loses its end."""
    if path.suffix not in (".json", ".yaml"):
        return _cut(path, random)
    content = json.loads(path.read_text()) if path.suffix == ".json" else yaml.safe_load(path.read_text())
    for _ in range(random.choice((1, 1, 2, 5))):
        changed_data(content, random)
    text = json.dumps(content) if path.suffix == ".json" else yaml.dump(content, sort_keys=False)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))


def _cut(path: Path, random: Random) -> None:
    path.write_bytes(path.read_bytes()[: random.randrange(path.stat().st_size + 1)])


def _bytes(path: Path, random: Random) -> None:
    content = bytearray(path.read_bytes() or b"x")
    for _ in range(random.choice((1, 10, 1000))):
        content[random.randrange(len(content))] = random.randrange(256)
    path.write_bytes(content)


def _another(path: Path, random: Random) -> None:
    others = sorted(other for other in Path().rglob("*" + path.suffix) if other.is_file())
    path.write_bytes(random.choice(others).read_bytes())


def _gone(path: Path, _random: Random) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def _link(path: Path, random: Random) -> None:
    _gone(path, random)
    path.symlink_to(random.choice((path.name, "nothing", "/dev/zero", "/dev/full", "..")))


def _fifo(path: Path, random: Random) -> None:
    _gone(path, random)
    os.mkfifo(path)


def _folder(path: Path, random: Random) -> None:
    _gone(path, random)
    path.mkdir()


def _file(path: Path, random: Random) -> None:
    _gone(path, random)
    path.write_bytes(random.choice((b"", b"{}", b"\xff\xfe", b"[[[")))


_FILE_DAMAGES = (_cut, _bytes, _another, _gone, _link, _fifo, _folder, _file)
_FOLDER_DAMAGES = (_gone, _link, _fifo, _folder, _file)


if __name__ == "__main__":
    sys.exit(main("attacks.commands", 1000))
