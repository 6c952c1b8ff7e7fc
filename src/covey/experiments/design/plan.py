"""The list of the runs of a design."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import numpy as np

from covey.errors import Problem, ScenarioError
from covey.experiments.design.alone import with_alone
from covey.experiments.design.goals import with_goals
from covey.experiments.design.records import Design
from covey.experiments.design.vectors import Vector, vectors
from covey.plain_files import beside
from covey.registry import code_of
from covey.results.manifest import sha256, versions
from covey.scenario.build import inputs
from covey.scenario.dump import plain, text_of
from covey.scenario.load import load_scenario, scenario_of
from covey.scenario.overrides import override, place_of
from covey.scenario.records import Scenario
from covey.scenario.yaml12 import Document, parse_yaml

_MOST_PROBLEMS = 50


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run of a design, with all data that a worker needs.

    Attributes:
        run_id: hash of everything that its result depends on; 20 hexadecimal digits.
        vector: number of its parameter vector, from 0.
        iteration: number from 0; equal iterations of all vectors have equal seeds.
        seed: root of all random numbers of the run.
        values: value or label of each parameter, by name.
        text: the resolved scenario without its seed, as the text of a file; runs of one vector share it.
        folder: base of the relative paths in it.
        timeout_s: the run ends without success at this simulated time [s].
        measurements: its measurements, each as plain data of a `Measurement`.
        keep: the other recordings to keep, see `Design`.
        metrics: the metrics of files, each as ``/folder/file.py:name``.
    """

    run_id: str
    vector: int
    iteration: int
    seed: int
    values: dict[str, Any]
    text: str
    folder: str
    timeout_s: float
    measurements: Sequence[dict[str, Any]] = ()
    keep: str = "pictures"
    metrics: Sequence[str] = ()

    @property
    def scenario(self) -> str:
        """The resolved scenario, as the text of a file."""
        return f"{self.text}seed: {self.seed}\n"

    def load(self) -> Scenario:
        """Return the scenario of the run; its problems name no lines, because its text is in no file."""
        return scenario_of(Document(parse_yaml(self.scenario).data), folder=self.folder)


def plan(design: Design) -> list[PlannedRun]:
    """Return all runs of a design, vector by vector.

    Raises:
        ScenarioError: all problems of the scenario, and all parameters or values that it does not allow.
    """
    seeds = iteration_seeds(design.seed, design.iterations)
    measurements = [plain(measurement) for measurement in design.measurements]
    hashed = cache(sha256)
    named = [(beside(design.folder, file).resolve(), name) for file, name in map(_parted, design.metrics) if file]
    own_metrics = [f"{path}:{name}" for path, name in named]
    code = dict.fromkeys(file for path, _ in named for file in code_of(path))
    runs: list[PlannedRun] = []
    for number, (vector, scenario) in enumerate(scenarios(design)):
        text, folder = _text_without_seed(scenario), str(scenario.folder.resolve())
        try:
            files = [hashed(path) for path in (*inputs(scenario), *code)]
        except OSError as error:
            message = f"{error.filename} cannot be read: {error.strerror}"
            raise ScenarioError([design.document.problem(message, ("scenario",))]) from None
        ids = run_ids(text, seeds, files)
        for iteration, (identity, seed) in enumerate(zip(ids, seeds, strict=True)):
            one = (identity, number, iteration, seed, vector.values, text, folder, scenario.stop.timeout_s)
            runs.append(PlannedRun(*one, measurements, design.keep, own_metrics))
    _refuse_twins(design, runs)
    return runs


def _parted(metric: str) -> tuple[str, str]:
    """Return the file of a metric, empty if it has none, and its name."""
    file, _, name = metric.rpartition(":")
    return file, name


def scenarios(design: Design) -> list[tuple[Vector, Scenario]]:
    """Return the vectors of a design, each with its scenario (whose seed is not used).

    Raises:
        ScenarioError: all problems of the scenario, and all parameters or values that it does not allow.
    """
    base = base_scenario(design)
    found: list[tuple[Vector, Scenario]] = []
    problems: dict[Problem, None] = {}
    for vector in with_alone(design, vectors(design), base):
        try:
            scenario = override(base, vector.changes, trusted_only=design.trusted_only)
            if vector.changes:
                scenario._document = _with_places(scenario, vector, design)
            found.append((vector, with_goals(scenario, design.goals)))
        except ScenarioError as error:
            problems |= dict.fromkeys(_located(problem, vector, design) for problem in error.problems)
        if len(problems) >= _MOST_PROBLEMS:
            break
    if problems:
        raise ScenarioError(sorted(problems, key=lambda p: (p.line, p.column)))
    return found


def iteration_seeds(seed: int, iterations: int) -> list[int]:
    """Return the seed of each iteration, spawned from the design's seed; more iterations do not change earlier ones."""
    children = np.random.SeedSequence(seed).spawn(iterations)
    return [int(child.generate_state(1, np.uint64)[0] >> 1) for child in children]


def run_ids(text: str, seeds: Sequence[int], files: Sequence[str]) -> list[str]:
    """Return the id of a scenario with each of some seeds: the hash of everything that its result depends on.

    Args:
        text: the scenario without its seed.
        seeds: the seeds.
        files: hashes of the files that it names.
    """
    begun = hashlib.blake2b(text.encode(), digest_size=10)
    rest = "".join(f"{part}\0" for part in (*files, environment())).encode()
    found = []
    for seed in seeds:
        digest = begun.copy()
        digest.update(f"seed: {seed}\n\0".encode() + rest)
        found.append(digest.hexdigest())
    return found


def base_scenario(design: Design) -> Scenario:
    """Return the scenario of a design with the design's stop, before any parameter.

    Its relative paths start from the folder of the design, or, if its own file names files, from the folder of that
    file.

    Raises:
        ScenarioError: the scenario is invalid.
    """
    trusted = design.trusted_only
    if isinstance(design.scenario, dict):
        document = _inner(design)
        scenario = scenario_of(document, folder=design.folder, name=design.design, trusted_only=trusted)
    else:
        beside = design.folder / design.scenario
        source = beside if beside.is_file() else design.scenario
        try:
            scenario = load_scenario(source, trusted_only=trusted)
        except ScenarioError as error:
            if any(problem.line for problem in error.problems):
                raise
            raise ScenarioError(
                [design.document.problem(f"scenario: {p}", ("scenario",)) for p in error.problems]
            ) from None
        if not inputs(scenario):  # so paths in the parameters can be relative to the design
            scenario = scenario.model_copy()
            scenario._folder = design.folder
    return scenario if design.stop is None else scenario.replace("stop", design.stop)


def _inner(design: Design) -> Document:
    """Return the scenario within a design as a document with its places."""
    outer = design.document
    document = Document(design.scenario, outer.file)
    for mine, theirs in ((document.values, outer.values), (document.keys, outer.keys)):
        mine.update({path[1:]: place for path, place in theirs.items() if path[:1] == ("scenario",)})
    return document


def _text_without_seed(scenario: Scenario) -> str:
    data = {"format": 1, **plain(scenario)}
    data.pop("seed", None)
    return text_of(data)


def _with_places(scenario: Scenario, vector: Vector, design: Design) -> Document:
    """Return the document of a scenario, in which what a vector has changed has its place in the design."""
    given = dict(scenario.document.given)
    for path in vector.changes:
        at = design.document.problem("", vector.place_of(path))
        given[place_of(scenario, path)] = f"{at.file}:{at.line}:{at.column}" if at.line else "parameters"
    return replace(scenario.document, given=given)


def _located(problem: Problem, vector: Vector, design: Design) -> Problem:
    """Return a problem of a change as a problem of the design, at the value that causes it."""
    path = problem.file.removeprefix("-s ")
    hint = "; write its values as a list: [..., ...]" if design.parameters.get(path, ...) is None else ""
    return design.document.problem(f"{path}: {problem.message}{hint}", vector.place_of(path))


def _refuse_twins(design: Design, runs: list[PlannedRun]) -> None:
    first: dict[str, PlannedRun] = {}
    for run in runs:
        other = first.setdefault(run.run_id, run)
        if other is not run:
            message = f"vectors {other.vector} and {run.vector} are the same runs: {other.values} and {run.values}"
            raise ScenarioError([design.document.problem(message, ("parameters",))])


def software() -> dict[str, Any]:
    """Return the software on this machine: its hash as ``environment``, and versions as ``packages``."""
    return {"environment": environment(), "packages": versions()}


@cache
def environment() -> str:
    """Return the hash of the software on this machine: Covey's sources, and the versions of its packages."""
    digest = hashlib.blake2b(digest_size=16)
    root = Path(str(resources.files("covey")))
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    found = metadata.entry_points()
    plugins = [e for group in found.groups if group.startswith("covey.") for e in found.select(group=group)]
    named = {(e.group, e.name, e.dist.version if e.dist else "") for e in plugins}
    for part in (*versions().items(), *sorted(named)):
        digest.update(str(part).encode())
    return digest.hexdigest()
