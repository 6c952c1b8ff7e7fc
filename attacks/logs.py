"""Recorded logs and pose graphs, changed at random, byte by byte and in what they say."""

import gzip
import sys
from pathlib import Path
from random import Random

import numpy as np
from attacks.bounded import main
from attacks.scenarios import said
from attacks.strange import NUMBERS, WORDS

SCANS, BEAMS = 12, 9


def case(number: int) -> str:
    """Return ``good`` or ``refused``, after a log was read and followed, or a graph was read and optimised."""
    from covey.errors import CoveyError
    from covey.experiments.logs.scores import scores_of
    from covey.mapping.map_of_scans import map_of
    from covey.mapping.slam.following import follow
    from covey.mapping.slam.g2o import read_g2o
    from covey.mapping.slam.graph_slam import GraphSettings
    from covey.mapping.slam.pose_graph import optimise
    from covey.mapping.slam.reading import read_log
    from covey.mapping.slam.scores import load_relations

    random = Random(number)
    folder = Path(f"case{number}")
    folder.mkdir()
    try:
        path = _written(folder, random)
        try:
            if ".g2o" in path.name:
                optimise(read_g2o(path), iterations=5)
                return "good"
            log = read_log(path)
            relations = load_relations(_relations(folder, random)) if random.random() < 0.5 else None
            found = follow(log, GraphSettings(key_frame_m=0.1, local_key_frames=3))
            assert np.isfinite(found.poses).all(), "a pose that is no number"
            map_of(log[found.key_rows], found.slam.poses, 0.1, 15.0)
            scores_of(log, found, relations)
        except CoveyError as error:
            said(error)
            return "refused"
        return "good"
    finally:
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


def _written(folder: Path, random: Random) -> Path:
    """Write a log or a graph that was changed; return its path."""
    kind = random.choice(("npz", "clf", "g2o"))
    path = folder / f"a.{kind}"
    if kind == "npz":
        np.savez(path, **_arrays(random))
    else:
        lines = (_carmen() if kind == "clf" else _graph()).splitlines()
        for _ in range(random.choice((0, 1, 1, 3))):
            k = random.randrange(len(lines))
            words = lines[k].split()
            words[random.randrange(len(words))] = str(random.choice((*NUMBERS, *WORDS))).split("\n")[0]
            lines[k] = " ".join(words)
        path.write_bytes("\n".join(lines).encode(errors="replace"))
    data = bytearray(path.read_bytes())
    if random.random() < 0.3:
        for _ in range(random.choice((1, 3, 20))):
            data[random.randrange(len(data))] = random.randrange(256)
    if random.random() < 0.2:
        data = data[: random.randrange(len(data))]
    path.write_bytes(data)
    if kind != "npz" and random.random() < 0.2:
        path = path.with_name(f"{path.name}.gz")
        path.write_bytes(gzip.compress(bytes(data))[: random.choice((None, -5))])
    return path


def _arrays(random: Random) -> dict[str, np.ndarray]:
    turn = np.arange(SCANS)
    arrays = {
        "ranges": np.full((SCANS, BEAMS), 2.0, np.float32),
        "odom": np.column_stack((0.1 * turn, 0.0 * turn, 0.0 * turn)),
        "t": 1.0 * turn,
        "angle_min": np.array(-1.0),
        "angle_increment": np.array(0.25),
        "range_max": np.array(8.0),
        "laser_xytheta": np.zeros(3),
        "stream_odom": np.column_stack((0.1 * turn, 0.0 * turn, 0.0 * turn)),
        "stream_index": turn,
        "ref_graph": np.zeros((SCANS, 3)),
    }
    for _ in range(random.choice((0, 1, 1, 2))):
        name = random.choice(sorted(arrays))
        one, how = arrays[name], random.randrange(5)
        if how == 0:
            del arrays[name]
        elif how == 1:
            arrays[name] = np.asarray(random.choice((one[None], one.ravel(), one.ravel()[:1], one.ravel()[:0])))
        elif how == 2:
            arrays[name] = one.astype(random.choice(("U5", "i4", "c16", "?", "f2")))
        else:
            changed = np.array(one, float)
            changed.flat[random.randrange(changed.size)] = random.choice(NUMBERS)
            arrays[name] = changed
    return arrays


def _carmen() -> str:
    ranges = " ".join(["2.0"] * BEAMS)
    lines = ["PARAM robot_frontlaser_offset 0.1 host 0", "ODOM 0 0 0 0 0 0 0 host 0"]
    lines += [f"FLASER {BEAMS} {ranges} {0.1 * k} 0 0 {0.1 * k} 0 0 {k} host {k}" for k in range(SCANS)]
    head = f"ROBOTLASER1 0 -1.0 2.0 0.25 8.0 0.01 0 {BEAMS} {ranges} 0"
    lines += [f"{head} {0.1 * k} 0 0 {0.1 * k} 0 0 0 0 0 0 0 {k} host {k}" for k in range(SCANS)]
    return "\n".join(lines)


def _graph() -> str:
    lines = [f"VERTEX_SE2 {k} {k} 0 0" for k in range(6)]
    return "\n".join([*lines, *(f"EDGE_SE2 {k} {(k + 1) % 6} 1 0 1.0 2 0 0 2 0 5" for k in range(6))])


def _relations(folder: Path, random: Random) -> Path:
    lines = ["stream1,stream2,dx,dy,dtheta", "0,5,0.5,0,0", "-1,3,0,0,0", "2,11,0.9,0,0"]
    if random.random() < 0.7:
        k = random.randrange(4)
        words = lines[k].split(",")
        words[random.randrange(5)] = str(random.choice((*NUMBERS, *WORDS))).split("\n")[0]
        lines[k] = ",".join(words)
    (folder / "r.csv").write_bytes("\n".join(lines).encode(errors="replace"))
    return folder / "r.csv"


if __name__ == "__main__":
    sys.exit(main("attacks.logs", 500))
