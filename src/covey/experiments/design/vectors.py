"""The vectors of a design: combinations of one value of each parameter."""

import csv
import itertools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from covey.errors import CoveyError, InvalidValueError, Problem, ScenarioError, did_you_mean
from covey.experiments.design.parameters import MAX_VECTORS, Choice, Range, choices
from covey.experiments.design.records import Design, LatinHypercube, Listed, Sobol
from covey.lazy import stats
from covey.random import generator
from covey.registry import is_looking, load_from_file
from covey.scenario.yaml12 import Path, parse_yaml

MAX_BYTES = 10_000_000
"""Largest file with a list of vectors [bytes]."""


@dataclass(frozen=True)
class Vector:
    """One value of each parameter.

    Attributes:
        choices: choice by the name of the parameter.
        alone: whether it has one robot, to stand beside the vectors of the team; see `Design.alone`.
    """

    choices: dict[str, Choice]
    alone: bool = False

    @property
    def values(self) -> dict[str, Any]:
        """The value or label of each parameter, for tables and figures."""
        return {name: choice.shown for name, choice in self.choices.items()}

    @property
    def changes(self) -> dict[str, Any]:
        """Values of the scenario by dotted path."""
        return {path: value for choice in self.choices.values() for path, value in choice.changes.items()}

    def place_of(self, path: str) -> Path:
        """Return the place in the design of the value of a dotted path."""
        for choice in self.choices.values():
            if path in choice.changes:
                return (*choice.place, path) if choice.place[-1] == "set" else choice.place
        return ("parameters",)


def vectors(design: Design) -> list[Vector]:
    """Return the vectors of a design, each once; in a full factorial the last parameter varies fastest.

    Raises:
        ScenarioError: a range has no list of values, a file of vectors is invalid, or a value is given twice.
    """
    if isinstance(design.vectors, Listed):
        found = _listed(design, design.vectors)
    elif isinstance(design.vectors, (LatinHypercube, Sobol)):
        found = _sampled(design, design.vectors)
    elif ".py:" in design.vectors:
        found = _from_rows(design, [(row, ("vectors",)) for row in _made(design, design.vectors)])
    else:
        found = _factorial(design)
    if not found:
        raise ScenarioError([design.document.problem("the design has no vector; list at least one", ("vectors",))])
    unique = {key_of(vector.values): vector for vector in reversed(found)}
    return list(reversed(unique.values()))


def is_known(design: Design) -> bool:
    """Return whether the vectors of a design are known; vectors made by code are unknown if a command runs no code.

    Raises:
        ScenarioError: the code does not exist.
    """
    if not is_looking() or not isinstance(design.vectors, str) or ".py:" not in design.vectors:
        return True
    try:
        load_from_file(design.vectors, design.folder)
    except CoveyError as error:
        raise ScenarioError([design.document.problem(f"vectors: {error}", ("vectors",))]) from None
    return False


def _factorial(design: Design) -> list[Vector]:
    problems: list[Problem] = []
    lists: list[list[Choice]] = []
    for name, parameter in design.parameters.items():
        try:
            lists.append(choices(name, parameter))
        except InvalidValueError as error:
            problems.append(design.document.problem(f"parameters.{name}: {error}", ("parameters", name)))
            continue
        seen: set[str] = set()
        for one in lists[-1]:
            if key_of(one.shown) in seen:
                message = f"parameters.{name}: {one.shown!r} is given twice"
                problems.append(design.document.problem(message, one.place))
            seen.add(key_of(one.shown))
    if math.prod(map(len, lists)) > MAX_VECTORS:
        message = f"{math.prod(map(len, lists))} combinations, the most is {MAX_VECTORS}; sample them: {{sobol: 1024}}"
        problems.append(design.document.problem(message, ("vectors",)))
    if problems:
        raise ScenarioError(problems)
    return [Vector(dict(zip(design.parameters, one, strict=True))) for one in itertools.product(*lists)]


def _sampled(design: Design, sample: LatinHypercube | Sobol) -> list[Vector]:
    """Return vectors at the points of a sample: ranges by value, lists by index."""
    varied = [n for n, p in design.parameters.items() if isinstance(p, (Range, list))]
    if not varied:
        raise ScenarioError([design.document.problem("no parameter has a range or a list to sample", ("vectors",))])
    random = np.random.default_rng(generator(design.seed, "vectors").integers(2**63))
    if isinstance(sample, LatinHypercube):
        points = stats.qmc.LatinHypercube(len(varied), rng=random).random(sample.size)
    else:
        powers = (sample.size - 1).bit_length()
        points = stats.qmc.Sobol(len(varied), rng=random).random_base2(powers)[: sample.size]
    found = []
    for point in points.tolist():
        shares = dict(zip(varied, point, strict=True))
        found.append(Vector({n: _at(n, p, shares.get(n, 0.0)) for n, p in design.parameters.items()}))
    return found


def _at(name: str, parameter: Any, share: float) -> Choice:
    if isinstance(parameter, Range):
        value = parameter.at(min(share, 1 - 1e-12))
        return Choice(value, {name: value}, ("parameters", name))
    known = choices(name, parameter)
    return known[min(int(share * len(known)), len(known) - 1)]


def _listed(design: Design, listed: Listed) -> list[Vector]:
    if not isinstance(listed.list_, str):
        rows = [(row, ("vectors", "list", i)) for i, row in enumerate(listed.list_)]
        return _from_rows(design, rows)
    return _from_rows(design, [(row, ("vectors", "list")) for row in _read_csv(design, listed.list_)])


def _read_csv(design: Design, file: str) -> list[dict[str, Any]]:
    path = design.folder / file
    try:
        if path.suffix.lower() != ".csv" or not path.is_file() or path.stat().st_size > MAX_BYTES:
            raise ValueError(f"vectors are listed in a .csv file of at most {MAX_BYTES} bytes")
        with path.open(encoding="utf-8-sig", newline="") as stream:
            lines = [line for line in csv.reader(stream) if any(cell.strip() for cell in line)]
    except (OSError, ValueError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        problem = design.document.problem(f"{file} cannot be read: {reason}", ("vectors", "list"))
        raise ScenarioError([problem]) from None
    if not lines:
        raise ScenarioError([Problem("is empty; its first line names the parameters", file)])
    header = [cell.strip() for cell in lines[0]]
    problems = [Problem(f"there are two columns {name!r}", file, 1, 1) for name in header if header.count(name) > 1]
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(header):
            problems.append(Problem(f"has {len(line)} cells; the first line has {len(header)}", file, number, 1))
            continue
        try:
            rows.append({name: parse_yaml(cell.strip()).data for name, cell in zip(header, line, strict=True)})
        except ScenarioError as error:
            problems += [Problem(problem.message, file, number, 1) for problem in error.problems]
    if problems:
        raise ScenarioError(problems)
    return rows


def _made(design: Design, reference: str) -> list[Any]:
    """Return the vectors from the function that the design names."""
    try:
        rows = load_from_file(reference, design.folder)(design)
    except CoveyError as error:
        raise ScenarioError([design.document.problem(f"vectors: {error}", ("vectors",))]) from None
    except Exception as error:
        message = f"vectors: {reference} failed: {type(error).__name__}: {error}"
        raise ScenarioError([design.document.problem(message, ("vectors",))]) from error
    good = isinstance(rows, Iterable) and not isinstance(rows, (str, Mapping))
    made = list(rows) if good else []
    if not good or not all(isinstance(row, Mapping) for row in made):
        message = f"vectors: {reference} must return a list of {{parameter: value}}; it gave {type(rows).__name__}"
        raise ScenarioError([design.document.problem(message, ("vectors",))])
    return made


def _from_rows(design: Design, rows: Sequence[tuple[Mapping[str, Any], Path]]) -> list[Vector]:
    """Return listed vectors; a parameter that a row does not name has its only value in the design."""
    problems: dict[Problem, None] = {}
    found: list[Vector] = []
    menus = {n: [] if isinstance(p, Range) else choices(n, p) for n, p in design.parameters.items()}
    for row, place in rows:
        picked: dict[str, Choice] = {}
        for name in dict.fromkeys([*design.parameters, *row]):
            try:
                picked[name] = _picked(name, row, menus.get(name, []), (*place, name))
            except InvalidValueError as error:
                problems[design.document.problem(f"vectors: {error}", (*place, name))] = None
        found.append(Vector(picked))
    if problems:
        raise ScenarioError(problems)
    return found


def _picked(name: str, row: Mapping[str, Any], menu: list[Choice], place: Path) -> Choice:
    """Return the choice that a row names: one of the design's choices, or the row's own value."""
    if name not in row:
        if len(menu) != 1:
            raise InvalidValueError(f"{name!r} has several values, but a vector gives none")
        return menu[0]
    value = row[name]
    known = next((choice for choice in menu if key_of(choice.shown) == key_of(value)), None)
    if known is None and any(choice.place[-1] in ("value", "set") for choice in menu):
        labels = [str(choice.shown) for choice in menu]
        raise InvalidValueError(f"{name} is {value!r}{did_you_mean(str(value), labels)}")
    return known or Choice(value, {name: value}, place)


def key_of(value: Any) -> str:
    """Return a text that is equal for equal values; unlike in Python, 1 and true differ."""
    return json.dumps(value, sort_keys=True, default=repr)
