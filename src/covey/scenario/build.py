"""From a scenario to a simulation: build the world, place the robots, and find all problems."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from cachetools import LRUCache, cached

from covey.controllers.policies.trained import policy_file
from covey.errors import (
    CoveyError,
    InvalidValueError,
    MissionError,
    PlacementError,
    Problem,
    ScenarioError,
    UnknownNameError,
)
from covey.events.checks import found_in, kinds_found, order_found
from covey.mapping.occupancy.known import check_same_place
from covey.named import references_in
from covey.onboard.controller import types_of
from covey.plain_files import beside
from covey.planning.orders import Order
from covey.random import generator
from covey.registry import code_of
from covey.results.recording import Recording
from covey.robots.parameters import File
from covey.runtime.memory import Crew
from covey.runtime.memory import check_memory as check_run
from covey.scenario.controller import ControllerReference
from covey.scenario.dump import to_yaml
from covey.scenario.messages import dotted
from covey.world.editing.changing import door_patch, with_doors
from covey.world.io.map_files import files_of
from covey.world.placement.placing import place
from covey.world.placement.start_search import Standing
from covey.world.placement.targets import try_to_lay
from covey.world.records.damage import Damage, Disc
from covey.world.records.targets import PlacedTarget
from covey.world.targets import NO_TARGETS, Targets
from covey.world.world import World

if TYPE_CHECKING:
    from covey.runtime.simulation import Simulation
    from covey.scenario.records import RobotGroup, Scenario


_SPARED_M = 1.0
"""Radius around a target at a given place in which there is no damage [m]."""

TRIED_CELLS = 10_000_000
"""Largest world [cells] for which `try_out` builds a simulation; larger ones would take minutes and gigabytes."""


@dataclass(frozen=True)
class SetUp:
    """A world and the robots in it, ready to be simulated.

    Attributes:
        world: the truth.
        groups: the groups of the team.
        poses: start poses of each group, float64 (count, 3): x, y [m], heading [rad] in the world frame.
        targets: what the team searches for.
    """

    world: World
    groups: tuple["RobotGroup", ...]
    poses: tuple[np.ndarray, ...]
    targets: Targets = NO_TARGETS

    def summary(self) -> str:
        """Return one sentence that describes the team and the world."""
        width, height = self.world.grid.size_m
        team = " and ".join(f"{group.count} {group.name} ({group.robot.name})" for group in self.groups)
        area, cell = self.world.free_area_m2, self.world.grid.resolution
        return f"{team} in {self.world.name} ({width:.4g} x {height:.4g} m, {area:.0f} m2 free, cells of {cell:g} m)"


def build(
    scenario: "Scenario",
    *,
    folder: Path | str | None = None,
    overwrite: bool = False,
    observers: Iterable[Any] = (),
    hosting: Any = None,
    written: bool = True,
) -> "Simulation":
    """Return a simulation of the scenario, ready for its first step.

    Args:
        scenario: what to simulate.
        folder: folder for the run; None: a temporary folder.
        overwrite: replace a finished run in ``folder``.
        observers: functions that are called with each frame.
        hosting: host of the controllers; replaces the setting of the scenario, see `Simulation`.
        written: whether the run is written; else it has no result and can only be discarded.

    Raises:
        ScenarioError: it lists all problems of the world and of the start poses.
    """
    return _begun(scenario, set_up(scenario), folder, overwrite, observers, hosting, written)


def try_out(scenario: "Scenario") -> SetUp:
    """Set up a scenario and build its simulation as `build` does, but with robots that stand still, then discard it.

    No controller is called, no process starts, and no file remains. For a world of more than `TRIED_CELLS` cells, the
    scenario is set up, but its simulation is not built.

    Raises:
        CoveyError: as in `build`.
    """
    ready = set_up(scenario)
    check_memory(scenario, ready)
    if ready.world.grid.cells.size > TRIED_CELLS:
        return ready
    still = ControllerReference.model_validate("still")
    groups = tuple(group.model_copy(update={"controller": still}) for group in ready.groups)
    here = scenario.execution.model_copy(update={"controllers": "in_process"})
    simulation = _begun(scenario.model_copy(update={"execution": here}), replace(ready, groups=groups))
    simulation.discard()
    return ready


def check_memory(scenario: "Scenario", ready: SetUp) -> None:
    """Raise `ScenarioError` if a run of the scenario needs more memory than this process can get."""
    groups = zip(ready.groups, ready.poses, strict=True)
    with _at_its_key(scenario):
        check_run(
            ready.world,
            [Crew(group.robot, poses, group.controller.program, group.localization) for group, poses in groups],
            sharing=scenario.share_maps,
            processes=scenario.execution.controllers != "in_process",
            timeout_s=scenario.stop.timeout_s,
        )


def _begun(
    scenario: "Scenario",
    ready: SetUp,
    folder: Path | str | None = None,
    overwrite: bool = False,
    observers: Iterable[Any] = (),
    hosting: Any = None,
    written: bool = True,
) -> "Simulation":
    from covey.onboard.group import Group  # after the checks: these imports load the kernels
    from covey.runtime.simulation import Simulation

    groups = [
        Group(
            group.name,
            group.robot,
            poses,
            _with_files(group.controller.program, scenario.folder),
            _with_map(group.localization, scenario.folder),
            group.control_every,
            group.control_phase,
            str(beside(scenario.folder, file).resolve()) if (file := _file(group.known_map)) else group.known_map,
        )
        for group, poses in zip(ready.groups, ready.poses, strict=True)
    ]
    recording = Recording(
        folder=folder,
        overwrite=overwrite,
        name=scenario.name,
        scenario_yaml=_text(scenario) if written else "",
        inputs=tuple(inputs(scenario)) if written else (),
        written=written,
    )
    with _at_its_key(scenario):
        return Simulation(
            ready.world,
            groups,
            seed=scenario.seed,
            mission=scenario.mission,
            stop=scenario.stop,
            radio=scenario.radio,
            share_maps=scenario.share_maps,
            tags=scenario.tags,
            targets=ready.targets,
            events=scenario.events,
            faults=scenario.faults,
            physics=scenario.physics,
            execution=scenario.execution,
            record=scenario.record,
            recording=recording,
            observers=observers,
            hosting=hosting,
        )


@contextmanager
def _at_its_key(scenario: "Scenario") -> Iterator[None]:
    """Raise an error from below, which knows no file, as a `ScenarioError` at the key of the scenario."""
    try:
        yield
    except MissionError as error:
        path = ("mission", scenario.mission._reference or scenario.mission.kind, *error.path)
        raise ScenarioError([scenario.document.problem(f"{dotted(path)}{error}", path)]) from None
    except (InvalidValueError, UnknownNameError, PlacementError) as error:
        if not scenario.document.values:
            raise
        raise ScenarioError([_problem_of(error, scenario)]) from error
    except MemoryError as error:
        raise InvalidValueError(f"the simulation is too large for the memory of this machine: {error}") from None


def _problem_of(error: CoveyError, scenario: "Scenario") -> Problem:
    """Return an error from below, which knows no file, at the key of the scenario that it names first.

    Keys of a group that it names, or whose robot it names, come before others.
    """
    said, document = str(error), scenario.document
    words = {word: at for at, word in reversed([*enumerate(re.findall(r"\w+", said))])}
    own = {i for i, one in enumerate(scenario.robots) if {one.name, one.robot.name, *one.names} & words.keys()}

    def rank(path: tuple[Any, ...]) -> tuple[Any, ...]:
        return path[:1] != ("robots",) or path[1:2] == () or path[1] not in own, words[str(path[-1])], len(path)

    named = [path for path in (*document.values, *document.given) if path and str(path[-1]) in words]
    if not named:
        return document.problem(said, ("robots", min(own)) if own else ())
    path = min(named, key=rank)
    return document.problem(f"{dotted(path)}{said}", path)


def _with_map(localization: Any, folder: Path) -> Any:
    """Return a localization record whose map or graph, if it names one, is found from any folder."""
    names = {key: file for key in ("map", "from_") if (file := _file(getattr(localization, key, None)))}
    found = {key: str(beside(folder, name).resolve()) for key, name in names.items()}
    return localization.model_copy(update=found) if found else localization


def _with_files(program: Any, folder: Path) -> Any:
    """Return a program whose files are found from any folder.

    Raises:
        InvalidValueError: a file in the folder has the name of a policy that ships with Covey.
    """
    for value in program.parameters.values():
        if isinstance(value, str) and policy_file(value) != value and (folder / value).is_file():
            raise InvalidValueError(
                f"file is {value!r}, a policy that ships with Covey and also a file in {folder}; write ./{value} for "
                "the file, or give it another name"
            )
    found = {key: str(beside(folder, name).resolve()) for key, name in _files_of(program).items()}
    return replace(program, parameters={**program.parameters, **found}) if found else program


def _files_of(program: Any) -> dict[str, str]:
    """Return the files that a controller reads, by parameter; of a policy that ships with Covey, with its folder."""
    types = types_of(program.factory, limits=True)
    return {key: policy_file(value) for key, value in program.parameters.items() if types.get(key) == File and value}


def _graph(localization: Any) -> str | None:
    """Return the graph of an earlier drive that a localization names, if it does."""
    return getattr(localization, "from_", None)


def _file(plan: Any) -> str | None:
    """Return the file that a ``known_map`` or the ``map`` of a localization names, if it does."""
    return plan if isinstance(plan, str) and plan != "plan" else None


def set_up(scenario: "Scenario") -> SetUp:
    """Build the world of a scenario and place its robots.

    Raises:
        ScenarioError: the map is invalid, or robots cannot stand at their start poses; it lists all problems, each
            with its place in the file.
    """
    try:
        world = _world(scenario)
    except (CoveyError, OSError, MemoryError) as error:
        why = f"too large for the memory of this machine: {error}" if isinstance(error, MemoryError) else str(error)
        raise ScenarioError([scenario.document.problem(f"world: {why}", ("world",))]) from None
    problems: list[Problem] = list(_doors_found(scenario, world))
    if problems:  # events may name any of them
        doors = [*world.doors, *(record.door() for record in scenario.doors)]
        world = world.replace(doors=tuple({door.name: door for door in doors}.values()))
    else:
        world = with_doors(world, [record.door() for record in scenario.doors])
        try:
            world = _damaged(scenario, world)
        except CoveyError as error:
            problems.append(scenario.document.problem(str(error), ("damage",)))
    problems += _events_found(scenario, world)
    if problems:
        raise ScenarioError(problems)
    poses: list[np.ndarray] = []
    standing = Standing(world)
    for i, group in enumerate(scenario.robots):
        plans = {("localization", "map"): getattr(group.localization, "map", None), ("known_map",): group.known_map}
        for path, name in plans.items():
            try:
                if file := _file(name):
                    plan = World.from_file(beside(scenario.folder, file).resolve())
                    if path == ("known_map",):
                        check_same_place(plan.grid, world.grid, file)
            except (CoveyError, OSError) as error:
                where = ".".join(("robots", group.name, *path))
                problems.append(scenario.document.problem(f"{where}: {error}", ("robots", i, *path)))
        for key, file in _files_of(group.controller.program).items():
            if not beside(scenario.folder, file).is_file():
                path = ("robots", i, "controller", key)
                what = f"robots.{group.name}.controller.{key}: there is no file {file!r} beside the scenario"
                problems.append(scenario.document.problem(what, path))
        try:
            if file := _graph(group.localization):
                from covey.mapping.slam.saved_graph import load_graph  # loads kernels

                load_graph(beside(scenario.folder, file).resolve())
        except CoveyError as error:
            path = ("localization", "from")
            where = ".".join(("robots", group.name, *path))
            problems.append(scenario.document.problem(f"{where}: {error}", ("robots", i, *path)))
        try:
            radii = np.full(group.count, group.robot.outer_radius_m)
        except InvalidValueError as error:
            path = ("robots", i, "robot")
            problems.append(scenario.document.problem(f"robots.{group.name}.robot: {error}", path))
            continue
        random = generator(scenario.seed, f"start/{group.name}")
        try:
            poses.append(_placed(group, radii, random, standing))
        except (CoveyError, MemoryError) as error:
            why = f"there is not enough memory to place it: {error}" if isinstance(error, MemoryError) else str(error)
            problems.append(scenario.document.problem(f"robots.{group.name}: {why}", ("robots", i, "start")))
    if problems:
        raise ScenarioError(problems)
    targets, found = try_to_lay(_targets(scenario), world, standing.taken, standing.taken[:, 2], scenario.seed)
    if found:
        lines = [scenario.document.problem(f"targets[{i}]: {message}", ("targets", i)) for i, message in found]
        raise ScenarioError(lines)
    wrong = kinds_found([group.controller.program for group in scenario.robots], set(targets.kinds))
    if problems := [scenario.document.problem(f"{dotted(path)}{message}", path) for path, message in wrong]:
        raise ScenarioError(problems)
    return SetUp(world, scenario.robots, tuple(poses), targets)


def _placed(group: "RobotGroup", radii: np.ndarray, random: np.random.Generator, standing: Standing) -> np.ndarray:
    """Return the start poses of a group among the bodies that stand, to which it is added."""
    placed = place(group.start, standing.world, radii, random, standing, group.names)
    standing.add(placed[:, :2], radii)
    return placed


class SeededStarts:
    """The start poses of a scenario's robots with other seeds, in the same world.

    Args:
        scenario: the scenario.
        ready: it set up.
    """

    def __init__(self, scenario: "Scenario", ready: SetUp):
        self._groups, self._standing = scenario.robots, Standing(ready.world)
        self._radii = [np.full(group.count, group.robot.outer_radius_m) for group in self._groups]
        self._draws: bool | None = None  # not known yet
        self._same = list[np.ndarray]()  # of starts that draw nothing

    def of(self, seed: int) -> list[np.ndarray]:
        """Return the poses of each group, float64 (count, 3): x, y [m], heading [rad] in the world frame.

        Raises:
            PlacementError: a robot does not fit.
        """
        if self._draws is False:
            return self._same
        standing, streams = self._standing.emptied(), [self._stream(group, seed) for group in self._groups]
        teams = zip(self._groups, self._radii, streams, strict=True)
        poses = [_placed(group, radii, random, standing) for group, radii, random in teams]
        if self._draws is None:
            unused = [self._stream(group, seed) for group in self._groups]
            pairs = zip(streams, unused, strict=True)
            self._draws = any(repr(a.bit_generator.state) != repr(b.bit_generator.state) for a, b in pairs)
            self._same = poses
        return poses

    def _stream(self, group: "RobotGroup", seed: int) -> np.random.Generator:
        return generator(seed, f"start/{group.name}")


def _world(scenario: "Scenario") -> World:
    """Return the world of a scenario; an equal world of an earlier run is used again."""
    record = scenario.world
    if _map_files(record):  # a file may have changed since
        return record.build(scenario.folder, scenario.seed)
    return _same_world(scenario)


def _world_key(scenario: "Scenario") -> tuple[Any, ...]:
    record = scenario.world
    return type(record), record.model_dump_json(), scenario.seed if hasattr(record, "generate") else None


# at most 66 MB, with the data that each world keeps
@cached(LRUCache(6e6, lambda world: world.grid.cells.size), _world_key, Lock())
def _same_world(scenario: "Scenario") -> World:
    return scenario.world.build(scenario.folder, scenario.seed)


def _targets(scenario: "Scenario") -> tuple[Any, ...]:
    """Return the declared targets, or else those that belong to the world."""
    return scenario.targets or getattr(scenario.world, "targets", ())


def _damaged(scenario: "Scenario", world: World) -> World:
    """Return the world of a scenario after its damage, which spares targets at given places."""
    if scenario.damage is None:
        return world
    spare = tuple((*record.at, _SPARED_M) for record in _targets(scenario) if isinstance(record, PlacedTarget))
    return _same_damage(world, scenario.damage, scenario.seed, spare)


@cached(LRUCache(6e6, lambda world: 2 * world.grid.cells.size), lock=Lock())
def _same_damage(world: World, damage: Damage, seed: int, spare: tuple[Disc, ...]) -> World:
    return damage.build(world, seed, spare)


def _doors_found(scenario: "Scenario", world: World) -> Iterator[Problem]:
    """Yield the problems of the doors of a scenario."""
    known = {door.name for door in world.doors}
    for i, record in enumerate(scenario.doors):
        path, door = ("doors", i, "box_m"), record.door()
        if door.name in known:
            yield scenario.document.problem(f"doors[{i}]: there is a door {door.name!r} already", ("doors", i, "name"))
        known.add(door.name)
        try:
            door_patch(world, door)
        except CoveyError as error:
            yield scenario.document.problem(f"doors[{i}]: {error}", path)


def _events_found(scenario: "Scenario", world: World) -> Iterator[Problem]:
    """Yield the problems of the mission, events and faults of a scenario."""
    if isinstance(scenario.mission, Order):
        for path, message in order_found(scenario.mission, world):
            place = ("mission", "formation", *path)
            yield scenario.document.problem(f"{'.'.join(place)}: {message}", place)
    for key, records in (("events", scenario.events), ("faults", scenario.faults)):
        for i, record in enumerate(records):
            for path, message in found_in(record, world, scenario.robots, scenario.events):
                place = (key, i, *path)
                yield scenario.document.problem(f"{key}[{i}].{'.'.join(path)}: {message}", place)


def inputs(scenario: "Scenario") -> list[Path]:
    """Return the other files that a scenario reads: maps, graphs of SLAM, and code that it names."""
    code = dict.fromkeys(reference.rpartition(":")[0] for reference in references_in(scenario))
    files = [file for name in code for file in code_of(beside(scenario.folder, name).resolve())]
    given = [name for g in scenario.robots for name in (getattr(g.localization, "map", None), g.known_map)]
    plans = [file for name in given if (file := _file(name))]
    names = [*_map_files(scenario.world), *plans]
    maps = [file for name in names for file in files_of(beside(scenario.folder, name).resolve())]
    graphs = [beside(scenario.folder, file).resolve() for g in scenario.robots if (file := _graph(g.localization))]
    graphs = [path / "graph.npz" if path.is_dir() else path for path in graphs]
    read = [file for group in scenario.robots for file in _files_of(group.controller.program).values()]
    policies = [beside(scenario.folder, file).resolve() for file in read]
    policies += [record for path in policies if (record := path.with_name(f"{path.name}.json")).is_file()]
    return sorted({*files, *maps, *graphs, *policies})


def _map_files(record: Any) -> list[str]:
    """Return the files that a world names: its map, its height map, and the map of its walls."""
    walls = getattr(record, "walls", None)
    found = [getattr(record, "file", None), getattr(record, "height_map", None), getattr(walls, "file", None)]
    return [name for name in found if name]


def _text(scenario: "Scenario") -> str:
    """Return the scenario as YAML for the manifest; empty if it holds an object that a file cannot name."""
    try:
        return to_yaml(scenario, full=True)
    except CoveyError:
        return ""
