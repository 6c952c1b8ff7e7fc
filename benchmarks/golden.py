"""Whether another commit computes the same bytes: shipped scenarios, designs, logs, laws of the lab, a tournament.

Each case is computed with both trees, in processes of their own, and its files are compared: tables and archives by
what is in them, so that only results count. A case that is new, or fails in one tree, is a difference, too. What
differs is printed by case, and the exit code is 1.

Run: python benchmarks/golden.py [COMMIT]         # against the working tree; default: HEAD
     python benchmarks/golden.py --only scenarios lab --seconds 5
     python benchmarks/golden.py --record golden.json ; … ; python benchmarks/golden.py --against golden.json
"""

import argparse
import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

HERE = Path(__file__).resolve()
TABLES = ("measurements", "team", "events", "radio", "links", "traffic", "reports", "localization", "computers")
ARCHIVES = ("maps", "plans", "scans", "readings", "map_changes")
DESIGNS = (
    *("coordination", "cpu_speed", "engines", "fault_tolerance", "map_resolution", "radio_ranges", "rescue_2025"),
    *("slam_worlds", "start_layouts", "strategies_terrains", "table1", "terrain_team_study"),
)
LAWS = {"lloyd": 8, "cyclic_pursuit": 5, "reynolds": 8, "consensus": 6, "olfati_saber": 6, "wander": 6}
"""Laws, with numbers of robots."""
Hashes = dict[str, str]


def of_run(folder: Path) -> Hashes:
    """Return the hashes of what a run recorded, by table and column, and by array."""
    import numpy as np
    import polars as pl

    hashes = {}
    for name in TABLES:
        if (path := folder / f"{name}.parquet").is_file():
            table = pl.read_parquet(path)
            hashes |= {f"{name}.{c}": _hash(table[c].to_arrow().to_pylist()) for c in table.columns}
    for name in ARCHIVES:
        if (path := folder / f"{name}.npz").is_file():
            with np.load(path) as arrays:
                hashes |= {f"{name}:{key}": _hash(arrays[key].tolist()) for key in arrays.files}
    return hashes


def _hash(values: object) -> str:
    return hashlib.sha256(repr(values).encode()).hexdigest()[:16]


def scenarios(seconds: float) -> Iterator[tuple[str, Callable[[Path], Hashes]]]:
    """Yield the shipped scenarios, cut short."""
    from covey.scenario.shipped import library

    for name in sorted(library()):

        def one(folder: Path, name: str = name) -> Hashes:
            _typed("run", name, "-s", f"stop.timeout_s={seconds}", "--no-pictures", "-q", "--out", folder / "run")
            return of_run(folder / "run")

        yield name, one


def designs(seconds: float) -> Iterator[tuple[str, Callable[[Path], Hashes]]]:
    """Yield the first runs of shipped designs, cut short."""
    import covey
    from covey.experiments.design.plan import plan

    for name in DESIGNS:

        def one(folder: Path, name: str = name) -> Hashes:
            scenario = plan(covey.load_design(name))[0].load().replace("stop.timeout_s", seconds)
            scenario.build(folder / "run").run()
            return of_run(folder / "run")

        yield name, one


def logs(seconds: float) -> Iterator[tuple[str, Callable[[Path], Hashes]]]:
    """Yield SLAM over the log of a robot in an office, by each method."""

    def one(folder: Path, method: str) -> Hashes:
        sets = (f"stop.timeout_s={3 * seconds}", "record.scans_every_s=0.2", "robots.scout.localization=odometry")
        given = [word for one in sets for word in ("-s", one)]
        _typed("run", "office", *given, "--no-pictures", "-q", "--out", folder / "run")
        _typed("export", folder / "run", "--format", "log", "--robot", "scout0", "--out", folder / "log.npz")
        _typed("slam", folder / "log.npz", "--method", method, "-q", "--out", folder / "out")
        files = [path for path in (folder / "out").iterdir() if path.suffix in (".csv", ".g2o", ".pgm", ".txt")]
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in sorted(files)}

    for method in ("graph", "matching", "particles"):
        yield method, lambda folder, method=method: one(folder, method)


def lab(seconds: float) -> Iterator[tuple[str, Callable[[Path], Hashes]]]:
    """Yield laws of the lab."""
    import covey

    for law, robots in LAWS.items():

        def one(folder: Path, law: str = law, robots: int = robots) -> Hashes:
            out = covey.play(law, robots, stop_s=seconds, speed="max")
            return {"poses": _hash(out.poses.tolist()), "commands": _hash(out.commands.tolist())}

        yield law, one


def tournaments(seconds: float) -> Iterator[tuple[str, Callable[[Path], Hashes]]]:
    """Yield the games of a small tournament."""

    def one(folder: Path) -> Hashes:
        for side, count in (("pursuers", 2), ("evaders", 2)):
            (folder / side).mkdir()
            for path in sorted((HERE.parents[1] / "examples/tournament" / side).glob("*.py"))[:count]:
                (folder / side / path.name).write_bytes(path.read_bytes())
        _typed("tournament", folder / "pursuers", folder / "evaders", "--jobs", 1, "-q", "--out", folder / "out")
        games = {path.name: json.loads(path.read_text()) for path in sorted((folder / "out").rglob("*.json"))}
        return {name: _hash(game) for name, game in games.items()}

    yield "pursuit", one


KINDS = {"scenarios": scenarios, "designs": designs, "logs": logs, "lab": lab, "tournaments": tournaments}


def _typed(*words: object) -> None:
    from covey.cli import main

    with redirect_stdout(io.StringIO()) as said:
        code = main([str(word) for word in words])
    assert code in (0, 3), f"covey {' '.join(map(str, words))} ends with {code}: {said.getvalue()[-500:]}"


def record(kinds: list[str], seconds: float) -> dict[str, Hashes]:
    """Return the hashes of all cases of some kinds, with the tree that is imported; of one that fails the reason."""
    found: dict[str, Hashes] = {}
    for kind in kinds:
        for name, compute in KINDS[kind](seconds):
            begun = time.process_time()
            with tempfile.TemporaryDirectory() as folder:
                try:
                    found[f"{kind}/{name}"] = compute(Path(folder))
                except Exception as error:
                    found[f"{kind}/{name}"] = {"failed": f"{type(error).__name__}: {error}"}
            told = found[f"{kind}/{name}"].get("failed", f"{len(found[f'{kind}/{name}'])} parts")
            print(f"{kind}/{name}: {told}, {time.process_time() - begun:.1f} s", file=sys.stderr, flush=True)
    return found


@contextmanager
def _tree(commit: str) -> Iterator[Path]:
    """Yield a folder with the files of a commit."""
    root = HERE.parents[1]
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", commit], cwd=root, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        yield Path(folder)


def _apart(source: Path, kinds: list[str], seconds: float) -> dict[str, Hashes]:
    """Return the hashes of a tree, from a process that imports it."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "golden.json"
        command = [sys.executable, str(HERE), "--record", str(target), "--seconds", str(seconds), "--only", *kinds]
        subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": str(source / "src")})
        return json.loads(target.read_text())


def differences(before: dict[str, Hashes], now: dict[str, Hashes]) -> dict[str, list[str]]:
    """Return the parts that differ, by case; empty: none."""
    found = {}
    for case in sorted(before.keys() | now.keys()):
        a, b = before.get(case, {}), now.get(case, {})
        if parts := [part for part in sorted(a.keys() | b.keys()) if a.get(part) != b.get(part)]:
            found[case] = parts
        elif "failed" in a:
            found[case] = ["failed in both trees"]
    return found


def main() -> int:
    """Compare, print what differs, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", nargs="?", default="HEAD")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--seconds", type=float, default=10.0, help="simulated time of each run [s]")
    parser.add_argument("--record", type=Path, help="write the hashes of this tree into a file, and compare nothing")
    parser.add_argument("--against", type=Path, help="compare with the hashes in a file instead of a commit")
    given = parser.parse_args()
    if given.record:
        given.record.write_text(json.dumps(record(given.only, given.seconds), indent=1))
        return 0
    if given.against:
        before = json.loads(given.against.read_text())
    else:
        with _tree(given.commit) as tree:
            before = _apart(tree, given.only, given.seconds)
    now = _apart(HERE.parents[1], given.only, given.seconds)
    differ = differences(before, now)
    for case, parts in differ.items():
        shown = ", ".join(parts[:6]) + (f" and {len(parts) - 6} more" if len(parts) > 6 else "")
        reasons = [h["failed"][:300] for h in (before.get(case, {}), now.get(case, {})) if "failed" in h]
        print(f"{case}: {shown}" + "".join(f"\n    {reason}" for reason in reasons))
    print(f"{len(now)} cases, {sum(map(len, now.values()))} parts: {len(differ)} cases differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
