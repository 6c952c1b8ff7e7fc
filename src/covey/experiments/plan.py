"""From a design to the list of its runs."""

import hashlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import numpy as np

from covey.experiments.records import Design
from covey.results.manifest import sha256, versions
from covey.scenario.build import inputs
from covey.scenario.load import load_scenario, parse_scenario
from covey.scenario.overrides import override
from covey.scenario.records import Scenario


@dataclass(frozen=True)
class PlannedRun:
    """One run of a design, with all that a worker needs to know.

    Attributes:
        run_id: hash of everything that decides on its result; 20 hexadecimal digits.
        vector: number of its parameter vector, from 0.
        iteration: from 0; equal iterations of all vectors have equal seeds.
        seed: root of all random numbers of the run.
        values: the value of each parameter, by dotted path.
        scenario: the resolved scenario, as the text of a file with every field.
        folder: where the relative paths in it start.
        timeout_s: the run ends without success at this simulated time [s].
    """

    run_id: str
    vector: int
    iteration: int
    seed: int
    values: dict[str, Any]
    scenario: str
    folder: str
    timeout_s: float

    def load(self) -> Scenario:
        """Return the scenario of the run."""
        return parse_scenario(self.scenario, folder=self.folder)


def plan(design: Design) -> list[PlannedRun]:
    """Return all runs of a design, vector by vector.

    Raises:
        ScenarioError: the scenario is bad, or a parameter or value that it does not have.
    """
    base = _scenario(design)
    seeds = iteration_seeds(design.seed, design.iterations)
    runs = []
    for number, values in enumerate(vectors(design)):
        scenario = override(base, values)
        for iteration, seed in enumerate(seeds):
            one = scenario.replace("seed", seed)
            text, folder = one.to_yaml(), str(one.folder.resolve())
            identity = run_id(one, text)
            runs.append(PlannedRun(identity, number, iteration, seed, values, text, folder, one.stop.timeout_s))
    return runs


def vectors(design: Design) -> Iterator[dict[str, Any]]:
    """Yield the parameter vectors of a design: every combination of the values, the last parameter fastest."""
    values = [v if isinstance(v, list) else [v] for v in design.parameters.values()]
    for combination in itertools.product(*values):
        yield dict(zip(design.parameters, combination, strict=True))


def iteration_seeds(seed: int, iterations: int) -> list[int]:
    """Return the seed of each iteration, spawned from the seed of the design; more iterations change no earlier one."""
    children = np.random.SeedSequence(seed).spawn(iterations)
    return [int(child.generate_state(1, np.uint64)[0] >> 1) for child in children]


def run_id(scenario: Scenario, text: str) -> str:
    """Return the hash of all that decides on the result of a run: scenario, files that it names, `environment`."""
    digest = hashlib.blake2b(digest_size=10)
    for part in (text, *(sha256(path) for path in inputs(scenario)), environment()):
        digest.update(part.encode())
    return digest.hexdigest()


@cache
def environment() -> str:
    """Return the hash of what runs a scenario here: Covey's own sources, and the versions of all that it uses."""
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


def _scenario(design: Design) -> Scenario:
    if isinstance(design.scenario, dict):
        import yaml

        scenario = parse_scenario(yaml.safe_dump(design.scenario), folder=design.folder, name=design.design)
    else:
        beside = design.folder / design.scenario
        scenario = load_scenario(beside if beside.is_file() else design.scenario)
    return scenario if design.stop is None else scenario.replace("stop", design.stop)
