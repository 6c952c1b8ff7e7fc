"""Pose graphs in the text format of g2o: ``VERTEX_SE2`` and ``EDGE_SE2``, also compressed as ``.g2o.gz``.

In this format the information belongs to the error as seen in the frame of the measured pose. `PoseGraph` has it for
the numbers of the relation themselves. Both differ by the heading of the relation, and are converted here.

References:
    R. Kümmerle, G. Grisetti, H. Strasdat, K. Konolige, W. Burgard: g2o: a general framework for graph optimization.
    ICRA 2011; the file format as its wiki describes it.
"""

import gzip
import zlib
from pathlib import Path

import numpy as np

from covey.errors import InvalidValueError, near_file
from covey.mapping.slam.pose_graph import PoseGraph, along_relations, positive_definite
from covey.plain_files import text_lines

_UPPER = np.triu_indices(3)
_NUMBERS = {"VERTEX_SE2": (1, 3), "EDGE_SE2": (2, 9)}  # ids, then numbers


def read_g2o(path: str | Path) -> PoseGraph:
    """Read a pose graph.

    Its rows are in ascending order of the ids. Without any vertex the poses follow the edges from the lowest id. Lines
    that begin with ``FIX`` or ``#`` count for nothing: who optimises says what is fixed.

    Raises:
        InvalidValueError: the file is missing, cut off, or has a line that is wrong; the message says which.
    """
    path = Path(path)
    vertices: dict[int, list[float]] = {}
    ends: list[list[int]] = []
    values: list[list[float]] = []
    places: list[int] = []
    for number, words in _lines(path):
        ids, numbers = _parse(words, f"{path}, line {number}")
        if words[0] == "EDGE_SE2":
            ends.append(ids)
            values.append(numbers)
            places.append(number)
        elif ids[0] in vertices:
            raise InvalidValueError(f"{path}, line {number}: vertex {ids[0]} is there already")
        else:
            vertices[ids[0]] = numbers
    if not ends and not vertices:
        raise InvalidValueError(f"{path} has neither VERTEX_SE2 nor EDGE_SE2")
    edges, found = np.array(ends, np.int64).reshape(-1, 2), np.array(values, float).reshape(-1, 9)
    names = np.array(sorted(vertices)) if vertices else np.unique(edges)
    known = np.isin(edges, names)
    for bad, why in (
        (~known.all(axis=1), "one of its vertices has no line of its own"),
        (edges[:, 0] == edges[:, 1], "it connects a vertex with itself"),
    ):
        if bad.any():
            raise InvalidValueError(f"{path}, line {places[int(np.argmax(bad))]}: {why}")
    rows, motion = np.searchsorted(names, edges), found[:, :3]
    information = np.empty((len(found), 3, 3))
    information[:, _UPPER[0], _UPPER[1]] = information[:, _UPPER[1], _UPPER[0]] = found[:, 3:]
    good = positive_definite(information)
    if not good.all():
        line = places[int(np.argmin(good))]
        raise InvalidValueError(f"{path}, line {line}: the information is not positive definite")
    if vertices:
        poses = np.array([vertices[name] for name in names.tolist()])
    else:
        poses = along_relations(len(names), rows[:, 0], rows[:, 1], motion)
    turn = _turn(motion[:, 2])
    return PoseGraph(poses, rows[:, 0], rows[:, 1], motion, _symmetric(turn @ information @ turn.transpose(0, 2, 1)))


def write_g2o(path: str | Path, graph: PoseGraph) -> None:
    """Write a pose graph, with its rows as ids. Equal graphs give equal bytes."""
    path, turn = Path(path), _turn(graph.motion[:, 2])
    information = _symmetric(turn.transpose(0, 2, 1) @ graph.information @ turn)[:, _UPPER[0], _UPPER[1]]
    lines = [f"VERTEX_SE2 {row} {_text(pose)}\n" for row, pose in enumerate(graph.poses)]
    for first, second, motion, upper in zip(graph.first, graph.second, graph.motion, information, strict=True):
        lines.append(f"EDGE_SE2 {first} {second} {_text(motion)} {_text(upper)}\n")
    text = "".join(lines).encode()
    path.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)


def _lines(path: Path):
    """Yield the number and the words of each line that says something."""
    number = 0
    try:
        for number, line in enumerate(text_lines(path), 1):
            words = line.partition("#")[0].split()
            if words and words[0] != "FIX":
                yield number, words
    except FileNotFoundError as error:
        raise InvalidValueError(f"there is no file {str(path)!r}{near_file(path)}") from error
    except EOFError as error:
        raise InvalidValueError(f"{path} is cut off after line {number}") from error
    except (OSError, UnicodeDecodeError, zlib.error) as error:
        raise InvalidValueError(f"{path} cannot be read after line {number}: {error}") from error


def _parse(words: list[str], where: str) -> tuple[list[int], list[float]]:
    kind, *rest = words
    if kind not in _NUMBERS:
        raise InvalidValueError(f"{where}: {kind!r} is not read, only {' and '.join(_NUMBERS)} are")
    ids, numbers = _NUMBERS[kind]
    if len(rest) != ids + numbers:
        raise InvalidValueError(f"{where}: {kind} has {ids + numbers} numbers, not {len(rest)}; is the file cut off?")
    try:
        found = [int(word) for word in rest[:ids]], [float(word) for word in rest[ids:]]
    except ValueError as error:
        raise InvalidValueError(f"{where}: {error}") from error
    if not np.isfinite(found[1]).all():
        raise InvalidValueError(f"{where}: a number is not finite")
    return found


def _turn(heading: np.ndarray) -> np.ndarray:
    """Return turns (m, 3, 3) of x and y that leave the heading."""
    c, s = np.cos(heading), np.sin(heading)
    turn = np.zeros((len(heading), 3, 3))
    turn[:, 0, 0], turn[:, 0, 1], turn[:, 1, 0], turn[:, 1, 1], turn[:, 2, 2] = c, -s, s, c, 1.0
    return turn


def _symmetric(a: np.ndarray) -> np.ndarray:
    return 0.5 * (a + a.transpose(0, 2, 1))


def _text(numbers: np.ndarray) -> str:
    return " ".join(map(repr, numbers.tolist()))
