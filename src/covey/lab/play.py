"""`play`: a control law, some robots, one call."""

import ast
import inspect
import logging
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeGuard

import numpy as np
from pydantic import ValidationError

from covey.errors import ControllerError, CoveyError, InvalidValueError, PlacementError, UnknownNameError, near_file
from covey.lab.addon import Addons
from covey.lab.everybody import joined_facts, of_everybody, seen_by_all
from covey.lab.files import write_addons
from covey.lab.out import Out
from covey.lab.settings import KNOWN, LabSettings, Robots, settings_of
from covey.lab.watching import watched
from covey.onboard.controller import Program, controllers, parameters_of
from covey.onboard.group import Group
from covey.onboard.group_answer import check_arguments, place_of
from covey.onboard.group_view import MOTION, GroupFacts, GroupView
from covey.plain_files import check_plain
from covey.random import generator
from covey.records import as_record, text_of
from covey.registry import CALLED, Enough, forget_changed_files, is_loading, kinds_of, load_file, told
from covey.results.recording import Details, Recording
from covey.results.run import Run
from covey.runtime.execution import Execution
from covey.runtime.local.failures import text_of as failure_of
from covey.runtime.simulation import Simulation
from covey.runtime.stop import Stop
from covey.scenario.controller import checked_parameters
from covey.world.placement.placing import place
from covey.world.records.starts import Apart, ApartStart, StartRecord
from covey.world.world import World

LOG = logging.getLogger("covey")


def play(
    law: Any,
    robots: Any = None,
    workspace: Any = None,
    stop_s: float | None = None,
    speed: float | Literal["max"] | None = None,
    **settings: Any,
) -> Out:
    """Let a control law drive robots, and return what happened.

    Args:
        law: a function of the team, see `covey.onboard.group_view.GroupView`; a function marked by `covey.law`; another
            controller or its name; or a file, such as ``"law.py"`` or ``"law.py:chase"``, which may set its own
            ``settings``: those of the call win over these. Or a law for each group, by its name:
            ``{"pursuers": chase, "evaders": flee}``; a law then sees its own group, and the poses of all other robots
            as ``team.others``.
        robots: their number; or records or mappings of `covey.lab.settings.Robots`; with a law for each group numbers
            or records by its name: ``{"pursuers": 3, "evaders": {"max_speed_m_s": 0.5}}``. Default: 1.
        workspace: vertices of a simple polygon [m], a world, or a map file. Default: a square of 10 m.
        stop_s: simulated time at which it ends [s]. Default: 60.
        speed: simulated seconds per second; 0: one step per key; ``"max"``: as fast as possible. Default: 1.
        settings: other fields of `covey.lab.settings.LabSettings`, and of `covey.lab.settings.Robots` for all robots;
            and parameters of the law, such as ``gain=2`` of ``"lloyd"``. A law may also be given with its parameters
            as in a scenario, ``{"name": "wander", "speed": 0.3}``.

    Raises:
        UnknownNameError: there is no such setting, controller or robot.
        InvalidValueError: a setting is invalid, or the law is none.
        PlacementError: a robot cannot stand at its start.
        ControllerError: the law failed; the error says in which line.

    Examples:
        >>> out = play(lambda team: (0.2, 0.0), robots=2, stop_s=1, speed="max")
        >>> out.poses.shape
        (11, 2, 3)
    """
    given = {"robots": robots, "workspace": workspace, "stop_s": stop_s, "speed": speed}
    given = {name: value for name, value in given.items() if value is not None} | settings
    if is_loading():  # a file that plays its own law is loaded, because somebody plays its law
        raise Enough((law, given))
    forget_changed_files()  # in a notebook a student changes the file and plays it again
    name, lines = "", dict[str, str]()
    if isinstance(law, (str, Path)) and ".py" in str(law):
        lines = lines_of_settings(str(law))
        law, own, name = law_of_file(str(law))
        for key in own.keys() & given.keys():
            if not np.array_equal(np.asarray(own[key], object), np.asarray(given[key], object)):
                said = f"{name} sets {key}={own[key]!r:.60}; the call overrules it: {key}={given[key]!r:.60}"
                LOG.warning("%s", said)
        given = {**own, **given}
    if is_of_groups(law):
        law = {group: _law_of_group(group, one) for group, one in law.items()}
        given["robots"] = robots_of_laws(law, given.get("robots"))
    try:
        if not is_of_groups(law):
            law, given = with_parameters(law, given)
        now = settings_of(given)
        addons = Addons(now.addons, [sensor.name for part in now.robots for sensor in part.model.sensors])
        sim, watch = simulation_of(law, now, name, addons)
    except CoveyError as error:
        error.args = (_line_about(error, lines) + str(error),)
        raise
    outs: list[Out] = []

    def done(run: Run) -> None:
        outs.append(Out(run, draw=now.draw, addons=addons))
        write_addons(outs[0], run.folder)

    watch.run(sim, done)
    (out,) = outs
    for line in out.remarks(max(part.model.max_speed_m_s for part in now.robots)):
        LOG.warning("%s", line)
    return out


def is_of_groups(law: Any) -> TypeGuard[Mapping[str, Any]]:
    """Return whether there is a law for each group; else it is one for all robots, maybe with its parameters."""
    return isinstance(law, Mapping) and not isinstance(law.get("name"), str)


def with_parameters(law: Any, given: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return a law with the parameters that a call gives beside the settings, and the settings.

    Args:
        law: for all robots.
        given: settings, and parameters of the law. A name that is both is the setting.

    Raises:
        UnknownNameError: a name is neither.
        InvalidValueError: the law is none, or a parameter has a wrong value.
    """
    settings = {name: value for name, value in given.items() if name in KNOWN}
    parameters = {name: value for name, value in given.items() if name not in KNOWN}
    if not parameters:
        return law, settings
    program = program_of(law)
    known = parameters_of(program.factory)
    for name in parameters:
        if known is not None and name not in known:
            raise UnknownNameError("setting", name, {*KNOWN, *known})
    return _program(program, parameters), settings


def _program(program: Program, parameters: Mapping[str, Any]) -> Program:
    """Return a program with more parameters, checked.

    Raises:
        InvalidValueError: there is no such parameter, or its value is wrong.
    """
    given = {**program.parameters, **parameters}
    try:
        return Program(program.factory, checked_parameters(program.name, program.factory, given))
    except ValidationError as error:
        raise InvalidValueError(text_of(error, None, program.name)) from None


def simulation_of(law: Any, now: LabSettings, name: str = "", addons: Addons = Addons(())) -> tuple[Simulation, Any]:
    """Return the simulation of a law that has not begun, and who watches it, see `watched`."""
    world, groups, taken = world_of(now), [], np.empty((0, 3))
    title, programs = _programs(law, now, addons)
    programs = [_in_workspace(program, world) for program in programs]
    for part, program in zip(now.robots, programs, strict=True):
        _check_words(program, part)
    for part, program in zip(now.robots, programs, strict=True):
        model = part.model
        start = starts_of(part, world, now.seed, taken)
        radii = np.full(len(start), model.outer_radius_m)
        taken = np.concatenate((taken, np.column_stack((start[:, :2], radii))))
        groups.append(Group(part.name, model, start, program))
    watch = watched(now.speed, addons.drawn)
    sim = Simulation(
        world,
        groups,
        seed=now.seed,
        stop=Stop(timeout_s=now.stop_s),
        goal=goal_of(now.until, addons),
        radio=np.inf if now.radio is None else now.radio,
        execution=Execution(step_s=now.sampling_s, substep_s=_substep(now.sampling_s), on_controller_error="raise"),
        record=Details(readings=True),
        recording=Recording(folder=now.folder, name=name or now.draw.title or title),
        observers=watch.observers,
    )
    addons.observe(sim)
    return sim, watch


def _programs(law: Any, now: LabSettings, addons: Addons) -> tuple[str, list[Program]]:
    """Return the name of a law, or of several, and the program of each group of robots."""
    if not is_of_groups(law):
        program = program_of(law)
        title, program = program.name, addons.seen_by(program)
        several = len(now.robots) > 1 and program.scope == "group"
        return title, len(now.robots) * [Program(of_everybody(program)) if several else program]
    own = list[Program]()
    for part in now.robots:
        try:
            own.append(program_of(law[part.name]))
        except InvalidValueError as error:
            raise InvalidValueError(f"law of {part.name!r}: {error}") from None
    return ", ".join(dict.fromkeys(program.name for program in own)), [addons.seen_by(program) for program in own]


def _in_workspace(program: Program, world: World) -> Program:
    """Return a program that knows the workspace, if it is of one robot, which is not told, and asks for it."""
    known = parameters_of(program.factory) or {} if program.scope == "robot" else {}
    if "workspace_m" not in known or "workspace_m" in program.parameters:
        return program
    return Program(
        program.factory, {**program.parameters, "workspace_m": tuple(map(tuple, world.workspace_m.tolist()))}
    )


def _check_words(program: Program, part: Robots) -> None:
    """Check that a law of a group declares words that mean something; those of add-ons are taken out already.

    Raises:
        UnknownNameError: there is no such word, and no sensor of this name.
    """
    words = (*MOTION, "pose_covariance", "true_pose", "collided", "links", "full")
    known = {*words, *(sensor.name for sensor in part.model.sensors)}
    for word in (program.sees or ()) if program.scope != "robot" else ():
        if word not in known and not kinds_of(word) & {"sensor", "addon"}:
            where = place_of(program.factory).removesuffix(": ")
            kind = f"word in sees=(…) of the law{where and f' in {where}'}"
            raise UnknownNameError(kind, word, known - {"full", "true_pose", "links"})


def robots_of_laws(laws: Mapping[str, Any], robots: Any) -> list[Any]:
    """Return the robots of each group that has a law of its own, in the order of the laws, for `settings_of`.

    Args:
        laws: laws by group.
        robots: numbers or records by group; a list of records with names; None: one robot in each group.

    Raises:
        InvalidValueError: it is something else, or a group has no law or no robots.
    """
    numbers = ", ".join(f"{name!r}: 2" for name in laws)
    if not laws or not all(isinstance(name, str) and name.isidentifier() for name in laws):
        raise InvalidValueError(
            f"law is {laws!r:.60}; give a law for each group by its name: {{'pursuers': chase, 'evaders': flee}}"
        )
    if robots is None:
        return [{"name": name} for name in laws]
    if isinstance(robots, (list, tuple)):
        parts = [part.model_dump(exclude_unset=True) if isinstance(part, Robots) else dict(part) for part in robots]
        robots = {part.get("name", f"number {k}"): part for k, part in enumerate(parts, 1)}
    if not isinstance(robots, Mapping):
        raise InvalidValueError(f"robots is {robots!r:.60}; say how many each law drives: robots={{{numbers}}}")
    if set(robots) != set(laws):
        raise InvalidValueError(
            f"there are laws for {', '.join(laws)}, and robots for {', '.join(map(str, robots))}; give both the same "
            f"names: robots={{{numbers}}}"
        )
    given = {name: {"count": part} if isinstance(part, int) else part for name, part in robots.items()}
    for name, part in given.items():
        if not isinstance(part, (Mapping, Robots)) or isinstance(robots[name], bool):
            raise InvalidValueError(f"robots of {name!r} are {part!r:.60}; give their number, or {{'count': 2}}")
    records = {
        name: part.model_dump(exclude_unset=True) if isinstance(part, Robots) else dict(part)
        for name, part in given.items()
    }
    return [{**records[name], "name": name} for name in laws]


def _law_of_group(group: str, law: Any) -> Any:
    """Return the law of a group; its file may not set what counts for all."""
    if not isinstance(law, (str, Path)) or ".py" not in str(law):
        return law
    found, own, name = law_of_file(str(law))
    if own:
        LOG.warning(
            "%s", f"the settings of {name} do not count, it is the law of {group!r} only; give them to the call"
        )
    return found


def law_of_file(reference: str) -> tuple[Any, Mapping[str, Any], str]:
    """Return the law of a file, or its laws by group, its settings, and the file's name.

    The law is the function that the reference names, as ``law.py:chase``; else the one that the file itself plays, the
    one called ``law``, or the only one. A file that calls `play` runs up to there; its settings are those of the call.

    Raises:
        InvalidValueError: there is no such file, it fails, or it has no law.
    """
    path, _, wanted = reference.partition(".py")
    file = Path(f"{path}.py").resolve()
    if not file.is_file():
        raise InvalidValueError(f"{reference!r}: there is no file {file.name!r} in {file.parent}{near_file(file)}")
    try:
        module = load_file(file)
    except CoveyError:
        raise
    except Exception as error:
        raise InvalidValueError(f"{told(error, file)}") from error
    called, given = vars(module).get(CALLED, (None, {}))
    own = {
        name: item
        for name, item in vars(module).items()
        if callable(item) and not name.startswith("_") and getattr(item, "__module__", "") == module.__name__
    }
    wanted = wanted.removeprefix(":")
    if not wanted and called is not None and not isinstance(called, str):
        own = {"law": called}
    elif isinstance(laws := vars(module).get(wanted or "law"), Mapping):
        own = {wanted or "law": laws}
    if wanted and wanted not in own:
        raise UnknownNameError(f"law in {file.name}", wanted, own)
    marked = [item for item in own.values() if hasattr(item, "covey_scope")]
    if not wanted and "law" not in own and len(marked) != 1 and len(own) != 1:
        have = f"it has {', '.join(own)}; name one: {file.name}:{next(iter(own))}" if own else "write: def law(team): …"
        raise InvalidValueError(f"{file.name} has no function called law; {have}")
    law = own.get(wanted or "law") or (marked[0] if len(marked) == 1 else next(iter(own.values())))
    settings = getattr(module, "settings", given)
    if not isinstance(settings, Mapping):
        raise InvalidValueError(
            f"{file.name}: settings is {settings!r:.60}; write: settings = dict(robots=6, stop_s=60)"
        )
    _warn_of_idle(file)
    return law, settings, file.name


def lines_of_settings(reference: str) -> dict[str, str]:
    """Return the place of each of a file's settings, as the beginning of a message; empty if it cannot be read."""
    file = Path(reference.partition(".py")[0] + ".py")
    try:
        check_plain(file)
        statements = ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return {}
    found = dict[str, str]()
    for one in statements:
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "settings":
            parts = [(keyword.arg, keyword.value) for keyword in getattr(one.value, "keywords", ())]
            if isinstance(one.value, ast.Dict):
                parts += [
                    (getattr(key, "value", None), value)
                    for key, value in zip(one.value.keys, one.value.values, strict=True)
                ]
            found |= {name: f"{file}:{value.lineno}: " for name, value in parts if isinstance(name, str)}
    return found


def _line_about(error: CoveyError, lines: Mapping[str, str]) -> str:
    """Return the place of the setting that an error is about, of those of a file; empty if it is about none of them."""
    words = set(re.findall(r"\w+", str(error)))
    words |= {f"{word}s" for word in words}
    if isinstance(error, PlacementError):
        words |= {"starts", "robots", "workspace", "obstacles", "walls", "diameter_m"}
    return next((line for name, line in lines.items() if name in words and line not in str(error)), "")


def _warn_of_idle(file: Path) -> None:
    """Say which variables of a file have the name of a setting, set nothing, and are not used by its code either."""
    statements = ast.parse(file.read_bytes()).body
    names = [one for one in ast.walk(ast.Module(statements, [])) if isinstance(one, ast.Name)]
    used = {name.id for name in names if isinstance(name.ctx, ast.Load)}
    own = KNOWN - used
    for one in statements:
        if isinstance(one, ast.Assign) and isinstance(target := one.targets[0], ast.Name) and target.id in own:
            said = f"{target.id} sets nothing here; write: settings = dict({target.id}={ast.unparse(one.value)})"
            LOG.warning("%s", f'File "{file.name}", line {one.lineno}: {said}')


def program_of(law: Any) -> Program:
    """Return the program of a law; a plain function of the team sees everything of everybody.

    Raises:
        InvalidValueError: it cannot be a law.
    """
    if isinstance(law, Program):
        return law
    if isinstance(law, Mapping):
        return _program(program_of(law.get("name")), {name: value for name, value in law.items() if name != "name"})
    if isinstance(law, str) and law not in controllers.names() and Path(f"{law}.py").is_file():
        raise InvalidValueError(f"there is no controller {law!r}, but a file of this name; write {law}.py")
    if isinstance(law, type) and not hasattr(law, "covey_scope") and "team" in _arguments(getattr(law, "step", None)):
        raise InvalidValueError(
            f"{place_of(law)}{law.__name__} is a class, and its step would get one robot; write a function, "
            f"def {law.__name__}(team), and keep values in team.memory; or write @covey.controller(scope='group') "
            "above the class"
        )
    if callable(law) and not isinstance(law, type) and not hasattr(law, "covey_scope"):
        check_arguments(law, "team")
        if inspect.iscoroutinefunction(law):
            raise InvalidValueError(
                f"{place_of(law)}{law.__name__} is async, as a controller of one robot: write @covey.controller above "
                f"it; or leave out async and write a law of the team: def {law.__name__}(team)"
            )
        law = seen_by_all(law)
    return Program(law)


def _arguments(function: Any) -> Mapping[str, Any]:
    return inspect.signature(function).parameters if callable(function) else {}


def world_of(now: LabSettings) -> World:
    """Return the world of the settings."""
    if isinstance(now.workspace, (World, str, Path)):
        world = now.workspace if isinstance(now.workspace, World) else World.from_file(now.workspace)
        for name in ("obstacles", "walls"):
            if getattr(now, name):
                raise InvalidValueError(f"{name} belong to a polygon; this workspace is a world, which has its own")
        return world
    try:
        vertices = np.asarray(now.workspace, float)
    except (ValueError, TypeError):
        vertices = np.empty((0, 0))
    if vertices.ndim != 2 or vertices.shape[1] != 2:
        raise InvalidValueError(
            f"workspace is {now.workspace!r:.60}; give its vertices [m], such as [(0, 0), (10, 0), (10, 10), (0, 10)]"
        )
    return World.polygons(
        vertices.tolist(),
        obstacles_m=now.obstacles,
        walls_m=now.walls,
        border="open" if now.border == "open" else "wall",
        resolution_m=now.resolution_m,
    )


def starts_of(part: Robots, world: World, seed: int, taken: np.ndarray) -> np.ndarray:
    """Return the start poses of some robots, float64 (n, 3) [m, rad].

    Args:
        taken: x, y, radius [m] of bodies that stand already, (k, 3).

    Raises:
        InvalidValueError: they have another shape or unit.
        PlacementError: a robot cannot stand there.
    """
    n, draw = part.count, generator(seed, f"starts/{part.name}")
    radii, names = np.full(n, part.model.outer_radius_m), [f"{part.name}{i}" for i in range(n)]
    if part.starts is None or isinstance(part.starts, Mapping):
        record = ApartStart(apart=Apart()) if part.starts is None else as_record(StartRecord, part.starts, "starts")
        return place(record, world, radii, draw, taken, names)
    try:
        given = np.asarray(part.starts, float)
    except (ValueError, TypeError):
        given = np.empty(0)
    if given.shape == (n, 2):
        given = np.column_stack((given, draw.uniform(-np.pi, np.pi, n)))
    if given.shape != (n, 3):
        raise InvalidValueError(
            f"starts has the shape {given.shape}; {n} robots need ({n}, 3): x, y [m] and heading [rad] of each"
        )
    if (turned := np.abs(given[:, 2]) > 2 * np.pi).any():
        i = int(np.flatnonzero(turned)[0])
        raise InvalidValueError(
            f"the heading of {names[i]} is {given[i, 2]:g}; headings are in radians: write np.radians({given[i, 2]:g})"
        )
    headings = given[:, 2].copy()
    placed = place(given, world, radii, draw, taken, names)
    placed[:, 2] = headings
    return placed


def goal_of(until: Any, addons: Addons) -> Callable[[Simulation], Any] | None:
    """Return the goal of a simulation for a function of the team as it truly is; add-ons look before.

    Raises:
        InvalidValueError: it is not a function.
    """
    if until is None:
        return addons.observe if addons.names else None
    if not callable(until):
        raise InvalidValueError(f"until is {until!r:.60}; give a function of the team that returns True or a text")
    view: list[GroupView] = []

    def goal(sim: Simulation) -> Any:
        addons.observe(sim)
        if not view:
            facts = [
                GroupFacts(g.name, tuple(g.names), g.robot, sim.clock.step_s, sim.world.workspace_m, sim.seed)
                for g in sim.groups
            ]
            view.append(GroupView(joined_facts(facts)))
        pose = sim.state.pose.copy()
        try:
            said: Any = until(view[0].at(sim.time, {"pose": pose}))
        except Exception as error:
            raise ControllerError(f"until: {failure_of(error).partition(chr(10))[0]}") from error
        if said is not None and not isinstance(said, (str, bool, np.bool_)):
            raise ControllerError(f"until returned {said!r:.60}; return True or False, such as (…).all(), or a text")
        return said

    return goal


def _substep(sampling_s: float) -> float:
    """Return the largest period of the physics up to 10 ms that divides a control period."""
    return sampling_s / max(1, int(np.ceil(sampling_s / 0.01 - 1e-9)))
