"""Pipes, devices, folders, sockets and endlessly packed files in every place where a command takes a file.

A case returns the exit code; what waits for ever, or unpacks without a bound, breaks the limits of `attacks.bounded`.
"""

import gzip
import io
import os
import shutil
import socket
import struct
import sys
import zipfile
import zlib
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random

import yaml
from attacks.bounded import main
from attacks.commands import SCENARIO, run

_PLACES = {
    "check {}.yaml": (),
    "run {}.yaml --out new -q --no-pictures": (),
    "run d_{}.yaml --out new --dry-run": (),
    "run s.yaml --out new -q --no-pictures --commands {}.txt": (),
    "run s.yaml --out new -q --no-pictures --commands={}": (),
    "run d.yaml --out new --dry-run --cluster {}.yaml": (),
    "check with_map.yaml": ("{}.png", "hall.png"),
    "check with_ros_map.yaml": ("{}.yaml", "hall.yaml"),
    "check with_plan.yaml": ("{}.svg", "hall.svg"),
    "check with_code.yaml": ("{}.py", "mine.py"),
    "run with_code.yaml --out new -q --no-pictures": ("{}.py", "mine.py"),
    "show mine.py": ("{}.py", "mine.py"),
    "map {}.png": (),
    "map {}.pgm": (),
    "map {}.yaml": (),
    "map {}.svg": (),
    "map {}.dxf": (),
    "map {}.geojson": (),
    "slam {}.npz --out new -q": (),
    "slam {}.log --out new -q": (),
    "slam {}.log.gz --out new -q": (),
    "slam {}.clf.gz --out new -q": (),
    "slam {}.g2o --out new -q": (),
    "slam {}.g2o.gz --out new -q": (),
    "slam {}.bag --out new -q": (),
    "slam {}.mcap --out new -q": (),
    "replay-robot {}.jsonl.gz": (),
    "replay-robot {}.jsonl": (),
    "plot {}": (),
    "results {}": (),
    "report {}": (),
    "export {} --out new.html": (),
    "compare {} {}": (),
    "tournament {} {}": (),
    "plot run overview": ("{}.parquet", "run/measurements.parquet"),
    "plot run overview ": ("{}.npz", "run/maps.npz"),
    "export run --out new.html": ("{}.parquet", "run/events.parquet"),
    "export run --out new.html ": ("{}.json", "run/manifest.json"),
    "results study": ("{}.yaml", "study/design.yaml"),
}
"""Where a file belongs: its name in the command, or as a second the file that it replaces."""
_KINDS = ("pipe", "zeros", "full", "random", "null", "terminal", "socket", "folder", "itself", "nothing", "packed",
          "long line", "many lines", "deep", "aliases", "claims")  # fmt: skip
_ENDLESS = 3_000_000_000
_CLAIMS = (
    b"P5 99999 99999 255\n",
    b"PK\x03\x04" + bytes(99),
    b"PAR1" + b"\xff" * 60 + b"PAR1",
    b"#ROSBAG V2.0\n" + b"\xff\xff\xff\x7f" * 9,
    b"\x89MCAP0\r\n\x01" + b"\xff" * 99,
)
"""Heads of files that say more than there is."""


def case(number: int) -> str:
    """Return the exit code of a command that was given something else than a file."""
    random, folder = Random(number), Path(f"case{number}")
    shutil.copytree("template", folder)
    try:
        with chdir(folder):
            place, kind = random.choice(sorted(_PLACES)), random.choice(_KINDS)
            name = _name(place)
            _make(Path(name), kind, random)
            if kind != "nothing" and _PLACES[place]:
                target = Path(_PLACES[place][1])
                target.unlink(missing_ok=True)
                os.rename(name, target)
            typed = place.replace("{}", "wrong").split()
            return f"exit {run(typed, f'{kind} as {name}')}"
    finally:
        shutil.rmtree(folder)


def warm() -> None:
    """Write what is right, and the packed files."""
    from covey import cli
    from covey.cli.exit_codes import NOT_REACHED, REACHED

    Path("template").mkdir()
    with chdir("template"), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        design = {"design": "d", "scenario": SCENARIO, "parameters": {"robots.a.count": [1, 2]}, "iterations": 1}
        robots = [{"name": "a", "controller": "./mine.py:go"}]
        files = {
            "s.yaml": SCENARIO,
            "d.yaml": design,
            "with_map.yaml": SCENARIO | {"world": {"file": "hall.png", "resolution_m": 0.1}},
            "with_ros_map.yaml": SCENARIO | {"world": {"file": "hall.yaml"}},
            "with_plan.yaml": SCENARIO | {"world": {"file": "hall.svg"}},
            "with_code.yaml": SCENARIO | {"robots": robots},
        }
        for name, content in files.items():
            Path(name).write_text(yaml.safe_dump(content))
        Path("mine.py").write_text("async def go(robot):\n    await robot.sleep(9.0)\n")
        for typed in ("run s.yaml --out run --no-pictures", "run d.yaml --out study --jobs 1"):
            assert cli.main(typed.split()) in (REACHED, NOT_REACHED), typed
    Path("packed").mkdir()
    zeros = bytes(10**7)
    with gzip.open("packed/gz", "wb", 1) as packed, zipfile.ZipFile("packed/zip", "w", zipfile.ZIP_DEFLATED) as archive:
        header = str({"descr": "|u1", "fortran_order": False, "shape": (_ENDLESS * 2,)}).ljust(117).encode() + b"\n"
        with archive.open("ranges.npy", "w", force_zip64=True) as member:
            member.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
            for _ in range(_ENDLESS // 20 // len(zeros)):
                packed.write(zeros)
                packed.write(b"\n" * len(zeros))
                member.write(zeros)
    Path("packed/png").write_bytes(_png())


def _name(place: str) -> str:
    named = _PLACES[place][0] if _PLACES[place] else next(word for word in place.split() if "{}" in word)
    return named.rpartition("=")[2].replace("{}", "wrong")


def _make(path: Path, kind: str, random: Random) -> None:
    devices = {"zeros": "/dev/zero", "full": "/dev/full", "random": "/dev/urandom", "null": "/dev/null",
               "terminal": "/dev/tty", "itself": path.name}  # fmt: skip
    if kind in devices:
        path.symlink_to(devices[kind])
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(path))
    elif kind == "folder":
        path.mkdir()
    elif kind == "packed":
        how = {".gz": "gz", ".png": "png", ".npz": "zip"}.get(path.suffix) or random.choice(("gz", "zip", "png"))
        path.symlink_to(Path("../packed", how).absolute())
    elif kind == "long line":
        path.write_bytes(b"0 " * 30_000_000)
    elif kind == "many lines":
        path.write_bytes(random.choice((b"\n", b"a: 1\n", b"#\n", b"ODOM 0 0 0 0 0 0 0 a 0\n")) * 1_000_000)
    elif kind == "deep":
        path.write_bytes(random.choice((b"[", b'{"a":', b"(", b"<g>", b"- ")) * 300_000)
    elif kind == "aliases":
        lines = [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 30)]
        path.write_text("\n".join(["a0: &a0 [x, x]", *lines]))
    elif kind == "claims":
        path.write_bytes(random.choice(_CLAIMS))


def _png() -> bytes:
    """Return a small image of 30 000 x 30 000 pixels."""

    def part(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 0, 0, 0, 0)
    pixels = zlib.compress(bytes(30_001) * 300, 1)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", pixels) + part(b"IEND", b"")


if __name__ == "__main__":
    sys.exit(main("attacks.wrong_files", 400))
