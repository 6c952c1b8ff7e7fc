"""Checks of declared events and faults that need the world and the team."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from covey.comms.radio import Radio
from covey.errors import InvalidValueError, did_you_mean
from covey.events.fault_records import Fault, SensorFault
from covey.events.records import (
    DoorEvent,
    DriveEvent,
    Event,
    GroundEvent,
    JamEvent,
    Nameable,
    ObstacleEvent,
    ObstaclePath,
    OrderEvent,
    PlaceEvent,
    Region,
    RemoveEvent,
    RepairEvent,
    RestoreEvent,
    SaveGroundEvent,
    Segment,
    WallEvent,
    When,
    faults,
)
from covey.mapping.exchange.share_maps import ShareMaps
from covey.onboard.controller import Program, parameters_of, types_of
from covey.planning.orders import Order
from covey.records import as_record
from covey.robots.model import RobotModel
from covey.robots.parameters import Kinds, RadioRange
from covey.world.state import AnyWorld

Found = tuple[tuple[str, ...], str]
"""A path in the record, and the message."""
FoundInTeam = tuple[tuple[str | int, ...], str]
"""A path in the scenario, and the message."""


def as_input(value: Any) -> When:
    """Return the record of an event or fault, given as a record or as plain data.

    Raises:
        InvalidValueError: the value is neither an event nor a fault.
    """
    if isinstance(value, When):
        return value
    is_fault = isinstance(value, dict) and value.get("kind") in faults.names()
    try:
        return as_record(Fault if is_fault else Event, value, "", trusted_only=True)  # it may come from the page
    except InvalidValueError as error:
        why = str(error).replace("--trusted-only refuses", "an input may not: give the object itself")
        raise InvalidValueError(f"{value!r} is neither an event nor a fault: {why}") from None


def check(record: When, world: AnyWorld, groups: Sequence[Any], declared: Sequence[When] | None, what: str) -> None:
    """Raise `InvalidValueError` if a record names something unknown, or lies outside the world; see `found_in`."""
    found = [f"{'.'.join((what, *path))}: {message}" for path, message in found_in(record, world, groups, declared)]
    if found:
        raise InvalidValueError("; ".join(found))


def found_in(record: When, world: AnyWorld, groups: Sequence[Any], declared: Sequence[When] | None) -> Iterator[Found]:
    """Yield the problems of an event or fault.

    Args:
        record: the event or fault.
        world: the world in which it is to happen.
        groups: the groups of the team, with ``name``, ``names`` and ``robot``.
        declared: all events, because one may add what another removes; None if they are not known yet.
    """
    if isinstance(record, DoorEvent):
        doors = [door.name for door in world.doors]
        if not doors:
            yield ("door",), "this world has no doors; declare some with doors:"
        elif record.door != "any" and record.door not in doors:
            yield ("door",), f"unknown door {record.door!r}{did_you_mean(record.door, doors)}"
    elif isinstance(record, WallEvent):
        path = ("wall", "from") if isinstance(record.wall, Segment) else ("wall", "polygon_m")
        yield from _shape_found(record.wall, world, path, "the wall")
    elif isinstance(record, ObstacleEvent):
        yield from _track_found(record.obstacle, world)
    elif isinstance(record, RemoveEvent):
        yield from _remove_found(record, world, declared)
    elif isinstance(record, RestoreEvent):
        yield from _restore_found(record, declared)
    elif isinstance(record, PlaceEvent):
        yield from _place_found(record, world, groups)
    elif isinstance(record, RepairEvent):
        yield from _robot_found(record.repair, groups, "repair")
    elif isinstance(record, DriveEvent):
        yield from _drive_found(record, world, groups)
    elif isinstance(record, JamEvent) and isinstance(record.jam, Region):
        yield from _shape_found(record.jam, world, ("jam", "polygon_m"), "the area")
    elif isinstance(record, GroundEvent):
        yield from _ground_found(record, world)
    elif isinstance(record, SaveGroundEvent) and world.ground is None:
        yield ("save_ground",), "this world has no ground to save; give it a height_map, or generate hills"
    elif isinstance(record, OrderEvent):
        yield from ((("order", *path), message) for path, message in order_found(record.order, world))
    elif isinstance(record, Fault):
        yield from _fault_found(record, groups)
    elif isinstance(record, Event):
        yield from record.problems(world, groups)


def _shape_found(shape: Any, world: AnyWorld, path: tuple[str, ...], what: str) -> Iterator[Found]:
    from covey.world.editing.obstacles import shape_patch
    from covey.world.editing.shapes import polygon

    try:
        drawn = shape.shape() if hasattr(shape, "shape") else polygon(shape.polygon_m)
    except InvalidValueError as error:
        yield path, str(error)
        return
    if shape_patch(world.grid, drawn) is None:
        yield path, f"{what} lies outside the world, {_extent(world)}"


def _track_found(track: ObstaclePath, world: AnyWorld) -> Iterator[Found]:
    inside = world.grid.inside(world.grid.to_cells(track.path_m))
    for point, is_inside in zip(track.path_m, inside, strict=True):
        if not is_inside:
            yield ("obstacle", "path_m"), f"{list(point)} lies outside the world, {_extent(world)}"
            return
    key, size = ("radius_m", 2.0 * track.radius_m) if track.radius_m else ("size_m", min(track.size_m or (0.0,)))
    if size < 1.5 * world.grid.resolution:
        cell = world.grid.resolution
        yield ("obstacle", key), f"the obstacle is {size:g} m wide; it must be at least 1.5 cells of {cell:g} m"


def _remove_found(record: RemoveEvent, world: AnyWorld, declared: Sequence[When] | None) -> Iterator[Found]:
    if not isinstance(record.remove, str):
        yield from _shape_found(record.remove, world, ("remove", "polygon_m"), "the region")
    elif declared is not None:
        names = sorted({r.name for r in declared if isinstance(r, WallEvent | ObstacleEvent | JamEvent) and r.name})
        if record.remove not in names:
            hint = did_you_mean(record.remove, names)
            yield ("remove",), f"no event adds a wall, obstacle or jam named {record.remove!r}{hint}"


def _restore_found(record: RestoreEvent, declared: Sequence[When] | None) -> Iterator[Found]:
    names = sorted(
        {r.name for r in declared or () if isinstance(r, Nameable) and not isinstance(r, JamEvent) and r.name}
    )
    if declared is not None and record.restore not in names:
        hint = did_you_mean(record.restore, names)
        yield ("restore",), f"no event removes anything, or changes the ground, with the name {record.restore!r}{hint}"


def _place_found(record: PlaceEvent, world: AnyWorld, groups: Sequence[Any]) -> Iterator[Found]:
    yield from _robot_found(record.place, groups, "place")
    x, y, _ = record.pose
    if not np.isfinite(record.pose).all() or not world.grid.inside(world.grid.to_cells((x, y))):
        yield ("pose",), f"{[x, y]} lies outside the world, {_extent(world)}"
    elif world.ground is not None:
        left, right, bottom, top = world.ground.bounds
        if not (left <= x <= right and bottom <= y <= top):
            yield ("pose",), f"{[x, y]} lies outside the ground, x {left:g} to {right:g} m, y {bottom:g} to {top:g} m"


def _drive_found(record: DriveEvent, world: AnyWorld, groups: Sequence[Any]) -> Iterator[Found]:
    yield from _robot_found(record.drive, groups, "drive")
    if record.twist is not None and not np.isfinite(record.twist).all():
        yield ("twist",), f"{list(record.twist)} must be finite numbers"
    if record.to is not None and not world.grid.inside(world.grid.to_cells(record.to)):
        yield ("to",), f"{list(record.to)} lies outside the world, {_extent(world)}"
    model = next((group.robot for group in groups if record.drive in group.names), None)
    if model is not None and getattr(model.chassis, "control", "speed") == "torque":
        yield (
            ("drive",),
            f"{record.drive} is commanded by torques; only robots that are commanded by speeds can be driven",
        )


def _robot_found(name: str, groups: Sequence[Any], key: str) -> Iterator[Found]:
    names = [one for group in groups for one in group.names]
    if name not in names:
        yield (key,), f"unknown robot {name!r}{did_you_mean(name, names)}"


def _ground_found(event: GroundEvent, world: AnyWorld) -> Iterator[Found]:
    what, change = event.change
    if world.ground is None:
        yield (what,), "this world has no ground to change; give it a height_map, or generate hills"
        return
    try:
        change.edit(world.ground)
    except InvalidValueError as error:
        yield (what,), str(error)


def _fault_found(fault: Fault, groups: Sequence[Any]) -> Iterator[Found]:
    robots = {name: group for group in groups for name in group.names}
    known = {group.name: [group] for group in groups} | {name: [group] for name, group in robots.items()}
    known |= {"any": list(groups), "all": list(groups)}
    if fault.robot not in known:
        yield ("robot",), f"unknown robot or group {fault.robot!r}{did_you_mean(fault.robot, known)}"
    elif isinstance(fault, SensorFault):
        carried = [s for group in known[fault.robot] for s in group.robot.sensors]
        names = {s.name for s in carried} | {s.kind for s in carried}
        if fault.sensor not in names:
            yield ("sensor",), f"{fault.robot} has no sensor {fault.sensor!r}{did_you_mean(fault.sensor, names)}"
        elif not all(s.degrades for s in carried if fault.sensor in (s.name, s.kind)):
            yield ("sensor",), f"{fault.sensor} cannot degrade: its readings have no method degrade"


def known_starts_needed(groups: Sequence[tuple[Program | None, bool | str]], mission: Any) -> Iterator[FoundInTeam]:
    """Yield the parts of a scenario that work only if the robots know all start poses.

    Args:
        groups: the controller of each group, and its ``known_map``.
        mission: the mission.
    """
    unknown = "share_maps.start_poses: unknown"
    for i, (program, is_known_map) in enumerate(groups):
        if program is not None and program.scope != "robot":
            what = f"a {program.scope} controller needs the poses of all its robots in one frame"
            yield ("robots", i, "controller"), f"{what}; with {unknown} give each robot a controller of its own"
        elif program is not None and {"shared_frame", "waypoints"} & set(program.sees or ()):
            what = f"{program.name!r} needs the start poses of all robots, or a map given to all"
            hint = "choose one whose `sees` has no shared_frame and no waypoints, such as nearest_frontier or minpos"
            yield ("robots", i, "controller"), f"{what}; with {unknown} {hint}"
        if is_known_map:
            yield (
                ("robots", i, "known_map"),
                f"robots with the given map know the world frame; leave out known_map, or {unknown}",
            )
    if mission.in_world:
        yield ("mission",), f"{mission.in_world} in the world frame, which no robot knows with {unknown}"


def needed(groups: Sequence[tuple[Program | None, RobotModel]], waypoints: bool) -> Iterator[FoundInTeam]:
    """Yield the controllers that need something their robots do not have.

    Args:
        groups: controller and robot of each group.
        waypoints: whether the mission gives waypoints.
    """
    for i, (program, robot) in enumerate(groups):
        has = [sensor.kind for sensor in robot.sensors] or ["no sensors"]
        has += ["map"] * robot.maps + ["waypoints"] * waypoints
        if program is not None and program.needs and not set(program.needs) & set(has):
            hint = _REMEDIES.get(program.needs[0], "add one")
            message = (
                f"{program.name!r} needs {' or '.join(program.needs)}, but {robot.name!r} has only {', '.join(has)}; "
                f"{hint}, or choose another controller"
            )
            yield ("robots", i, "controller"), message


_REMEDIES = {
    "map": "give it `mapping` and a sensor for it",
    "waypoints": "set the mission to {patrolling: {...}}",
}


def check_needed(groups: Sequence[Any], waypoints: bool) -> None:
    """Raise `InvalidValueError` if a controller needs something its robots do not have; see `needed`."""
    for path, message in needed([(g.program, g.robot) for g in groups], waypoints):
        raise InvalidValueError(f"{'.'.join(map(str, path))}: {message}")


def kinds_found(programs: Sequence[Program | None], kinds: Collection[str]) -> Iterator[FoundInTeam]:
    """Yield the parameters of controllers that name only kinds of which there is no target; defaults may.

    Args:
        programs: controller of each group.
        kinds: those of the targets; empty: there are no targets, and any kind will do.
    """
    for i, program in enumerate(programs if kinds else ()):
        if program is None:
            continue
        for key, value in program.parameters.items():
            if types_of(program.factory, limits=True).get(key) != Kinds:
                continue
            usual = str((parameters_of(program.factory) or {})[key].default).split()
            named = str(value).split()
            if named and not {*named} & {*kinds, *usual}:
                message = f"no target is of the kind {named[0]!r}{did_you_mean(named[0], kinds)}"
                yield ("robots", i, "controller", key), message


def check_kinds(groups: Sequence[Any], kinds: Collection[str]) -> None:
    """Raise `InvalidValueError` if a controller names a kind of which there is no target; see `kinds_found`."""
    for path, message in kinds_found([g.program for g in groups], kinds):
        raise InvalidValueError(f"{'.'.join(map(str, path))}: {message}")


def unshared(groups: Sequence[tuple[Program, RobotModel, int, bool | str]], sharing: ShareMaps | None) -> str:
    """Return a warning if controllers rely on shared maps but no robot shares maps; else an empty text.

    Args:
        groups: of each group the controller, robot, number of robots, and ``known_map``.
        sharing: when robots exchange maps; None: on request.
    """
    if sharing is not None and sharing.policy != "on_request":
        return ""
    alone = [(p.name, n) for p, robot, n, known in groups if p.counts_on_shared_maps and robot.maps and not known]
    team = sum(n for _, n in alone)
    if team < 2:
        return ""
    names = ", ".join(dict.fromkeys(name for name, _ in alone))
    return (
        f"{team} robots keep their maps to themselves, but {names} can use the maps of others, so they do the same "
        "work several times; write share_maps: {every_s: 1} (in Python share_maps=1.0) to share them"
    )


def blind(groups: Sequence[tuple[Program | None, RobotModel]], mission: Any) -> str:
    """Return a warning if a team is to find targets and none of its robots can see them; else an empty text.

    Args:
        groups: controller and robot of each group.
        mission: the mission.
    """
    sensors = [sensor for _, robot in groups for sensor in robot.sensors]
    if not mission.seeks or any("targets" in sensor.feeds for sensor in sensors):
        return ""
    looking = dict.fromkeys(p.name for p, _ in groups if p is not None and "tag_camera" in (p.sees or ()))
    if not looking and any(not type(sensor).__module__.startswith("covey.") for sensor in sensors):
        return ""  # a sensor of one's own may see targets
    reads = f"{', '.join(looking)} can report only what a tag camera reads, but " if looking else ""
    return (
        f"{reads}no robot of the team has a tag camera, so none sees a target; choose a robot with one, such as "
        "turtlebot3_waffle_pi, or add the sensor waffle_pi_camera to one"
    )


def deaf(programs: Sequence[Program | None], radios: Sequence[Radio]) -> str:
    """Return a warning if a controller takes robots for connected that no radio connects; else an empty text.

    Args:
        programs: controller of each group.
        radios: those of the team.
    """
    reach_m = max(radio.reach_m() for radio in radios)
    for program in filter(None, programs):
        types, known = types_of(program.factory, limits=True), parameters_of(program.factory) or {}
        for key in (key for key in known if types.get(key) == RadioRange):
            range_m = program.parameters.get(key, known[key].default)
            if 0.0 < reach_m < range_m:  # without a radio nobody is taken for connected
                return (
                    f"{program.name} takes robots within {key} {range_m:g} m for connected, but the radio reaches "
                    f"{reach_m:g} m; give {{name: {program.name}, {key}: {reach_m:g}}}"
                )
    return ""


def order_found(order: Order, world: AnyWorld) -> Iterator[Found]:
    """Yield the problems of an order in a world."""
    if not world.grid.inside(world.grid.to_cells(order.objective_m)):
        yield ("objective_m",), f"the objective {list(order.objective_m)} lies outside the world, {_extent(world)}"


def check_unknown_starts(groups: Sequence[Any], mission: Any) -> None:
    """Raise `InvalidValueError` if a team needs to know all start poses; see `known_starts_needed`."""
    for path, message in known_starts_needed([(g.program, g.known_map) for g in groups], mission):
        raise InvalidValueError(f"{'.'.join(map(str, path))}: {message}")


def _extent(world: AnyWorld) -> str:
    left, right, bottom, top = world.grid.extent
    return f"x {left:g} to {right:g} m, y {bottom:g} to {top:g} m"
