"""Inputs: events and faults, declared or called for, that change the world or strike robots; first phase of a step.

At the beginning of a step they are applied in a fixed order: digging by robots, ends of faults, of driving by hand and
of jams, moving obstacles, doors that wait to close, declared events, and events called for since the last step. Each is
recorded as an event. Events that were called for are also recorded as ``input``, from which `recorded_inputs` makes
declarations that repeat the run.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.events.checks import as_input, check
from covey.events.fault_records import Fault
from covey.events.faults import Faults
from covey.events.port import Point, Port
from covey.events.records import (
    Disc,
    DoorEvent,
    DriveEvent,
    GroundEvent,
    JamEvent,
    Named,
    ObstacleEvent,
    OrderEvent,
    PlaceEvent,
    RemoveEvent,
    RestoreEvent,
    SaveGroundEvent,
    Track,
    WallEvent,
    When,
)
from covey.events.schedule import Schedule
from covey.geometry.se2 import Pose
from covey.lazy import shapely
from covey.random import generator
from covey.results.folder import unwritable
from covey.results.run import Run
from covey.results.snapshot import Event
from covey.world.editing.changing import Structures, robot_in
from covey.world.editing.ground_edits import dig, undo
from covey.world.editing.obstacles import Patch, Way, disc_patch, rectangle_patch, shape_patch
from covey.world.ground import GroundEdit, Heightfield


@dataclass
class Moving:
    """A moving obstacle: its shape, the distance it has moved [m], the cells it fills, and whether it waits."""

    track: Track
    way: Way
    distance_m: float
    patch: Patch
    waits: bool = False


@dataclass(frozen=True)
class Lasting:
    """An event that lasts, and the step at which it ends; None: it does not end by itself."""

    event: Any
    until: int | None


class Inputs:
    """The events and faults declared for a run, and those called for during it.

    Args:
        port: access to the simulation.
        events, faults: records, or plain data as in a scenario.

    Attributes:
        faults: the faults of the robots.

    Raises:
        InvalidValueError: a record is wrong, or names something unknown.
    """

    def __init__(self, port: Port, events: Sequence[Any], faults: Sequence[Any]):
        self._port, self.faults = port, Faults(port, self.record_event, self.random)
        self._names = [name for group in port.groups for name in group.names]
        declared = [(f"events/{i}", as_input(record)) for i, record in enumerate(events)]
        declared += [(f"faults/{i}", as_input(record)) for i, record in enumerate(faults)]
        for stream, record in declared:
            check(record, port.world, port.groups, [r for _, r in declared], stream)
        self._schedule = Schedule(declared, port.clock, port.seed)
        self._calls: list[Any] = []
        self._standing: Structures | None = None
        self._obstacles: dict[str, Moving] = {}
        self._waiting: dict[str, None] = {}  # doors that wait to close, in order
        self._random: dict[str, np.random.Generator] = {}
        self._named = self._orders = 0
        self._driven: dict[int, Lasting] = {}
        self._jams: dict[str, Lasting] = {}
        self._undo: dict[str, Callable[[], bool]] = {}  # what takes back the event of a name; False: it cannot

    def call(self, event: Any) -> None:
        """Schedule an event for the next step.

        Raises:
            InvalidValueError: the record is wrong, names something unknown, or has a time.
        """
        record = as_input(event)
        if any(getattr(record, name) != field.default for name, field in When.model_fields.items()):
            raise InvalidValueError(
                f"{event!r} has a time, but a call acts in the next step; leave the time out, or declare the event"
            )
        check(record, self._port.world, self._port.groups, None, "event")
        self._calls.append(record)

    def apply_due(self) -> None:
        """Apply the events that are due."""
        port, step = self._port, self._port.clock.step
        port.world.step = step + 1
        for request in port.digs():
            self._dig(*request)
        lasting = self._obstacles or self._waiting or self.faults.active or self._driven or self._jams
        if not (self._schedule.entries or self._calls or lasting):
            return
        self.faults.recover()
        self._lapse()
        for name in list(self._obstacles):
            self._move(name)
        for door in list(self._waiting):
            self._close(door)
        for entry in self._schedule.due(step, port.explored()):
            entry.count += self._apply(entry.record, entry.stream) is not None
        calls, self._calls = self._calls, []
        for k, record in enumerate(map(self._with_name, calls)):
            happened = self._apply(record, f"calls/{step}/{k}")
            for data in happened if isinstance(happened, list) else [happened or record.plain()]:
                self.record_event("input", text=json.dumps({"at_step": step, **data}))

    def record_event(
        self, kind: str, robot: str = "", other: str = "", place: Any = (np.nan, np.nan), text: str = ""
    ) -> None:
        """Record an event of the present step."""
        x, y = (float(v) for v in place)
        clock = self._port.clock
        self._port.record(Event(clock.step + 1, clock.time_s, kind, robot, other, x, y, text))

    def random(self, stream: str) -> np.random.Generator:
        """Return the generator of a stream."""
        if stream not in self._random:
            self._random[stream] = generator(self._port.seed, stream)
        return self._random[stream]

    # -- effects of the records ----------------------------------------------------------------------------------------

    def _apply(self, record: When, stream: str) -> Any:
        """Apply a record; return what happened as plain data, or None if nothing did."""
        match record:
            case DoorEvent():
                return self._set_door(record, stream)
            case WallEvent():
                return self._put_wall(record)
            case ObstacleEvent():
                return self._put_obstacle(record)
            case RemoveEvent():
                return self._remove(record)
            case GroundEvent():
                return self._change_ground(record)
            case SaveGroundEvent():
                return self._save_ground(record)
            case OrderEvent():
                return self._order(record)
            case RestoreEvent():
                return self._restore(record)
            case PlaceEvent():
                return self._place(record)
            case DriveEvent():
                return self._drive(record)
            case JamEvent():
                return self._start_jam(record)
            case Fault():
                return self.faults.strike(record, stream)
        raise TypeError(f"{record!r} is neither an event nor a fault")

    def _set_door(self, event: DoorEvent, stream: str) -> Any:
        """Open or close a door; a door with a robot in it closes as soon as it is free."""
        doors, to = sorted(self.standing.doors), event.to
        name = event.door
        if name == "any":
            can = [d for d in doors if to == "toggle" or self._is_open(d) != (to == "open")]
            if not can:
                return None
            name = can[int(self.random(f"{stream}/door").integers(len(can)))]
        if to == "toggle":
            to = "closed" if self._is_open(name) else "open"
        if to == "closed" and self._is_open(name):
            self._waiting[name] = None
            self._close(name, first=True)
        elif to == "open" and name in self._waiting:
            del self._waiting[name]
        elif to == "open" and not self._is_open(name):
            self.standing.open_door(name)
            self.record_event("door_opened", other=name, place=self._middle(self.standing.doors[name]))
        else:
            return None
        return {"door": name, "to": to}

    def _put_wall(self, event: WallEvent) -> Any:
        """Add a wall; refused if a robot stands there, or if its name is in use."""
        patch = shape_patch(self._port.world.grid, event.wall.shape())
        assert patch is not None, "checked before"
        name = self._name(event.name, event.thing)
        if self._refused(name, patch):
            return None
        self.standing.put(name, patch, event.wall.material or "")
        self.record_event("wall_added", other=name, place=self._middle(patch))
        return {**event.plain(), "name": name}

    def _put_obstacle(self, event: ObstacleEvent) -> Any:
        """Add an obstacle; refused if a robot stands there, or if its name is in use."""
        track = event.obstacle
        way = Way(track.path_m, track.repeat)
        patch = self._patch(track, way, 0.0)
        assert patch is not None, "checked before"
        name = self._name(event.name, event.thing)
        if self._refused(name, patch):
            return None
        self.standing.put(name, patch)
        self._obstacles[name] = Moving(track, way, 0.0, patch)
        self.record_event("obstacle_added", other=name, place=way.place(0.0)[:2])
        return {**event.plain(), "name": name}

    def _remove(self, event: RemoveEvent) -> Any:
        """Remove an added wall or obstacle, or the world's own walls in a region."""
        if isinstance(event.remove, str):
            name = event.remove
            if name in self._jams:
                del self._jams[name]
                self.record_event("jam_over", other=name)
                return event.plain()
            if not self.standing.stands(name):
                self.record_event("refused", other=name, text="nothing has this name")
                return None
            moving = self._obstacles.pop(name, None)
            patch, material = self.standing.remove(name)
            self._undo[name] = partial(self._put_back, name, patch, material, moving)
            self.record_event("wall_removed" if moving is None else "obstacle_removed", other=name)
            return event.plain()
        from covey.world.editing.shapes import polygon

        patch = shape_patch(self._port.world.grid, polygon(event.remove.polygon_m))
        assert patch is not None, "checked before"
        fell = self.standing.clear(patch)
        if event.name:
            self._undo[event.name] = partial(self._rebuild, event.name, fell)
        self.record_event(
            "wall_removed", other=event.name, place=self._middle(patch), text=f"{int(fell.mask.sum())} cells"
        )
        return event.plain()

    def _restore(self, event: RestoreEvent) -> Any:
        """Put back what an event of a name removed, or take back its change of the ground."""
        if event.restore not in self._undo:
            self.record_event("refused", other=event.restore, text="nothing with this name can be restored")
            return None
        if not self._undo[event.restore]():
            return None
        del self._undo[event.restore]
        return event.plain()

    def _put_back(self, name: str, patch: Patch, material: str, moving: Moving | None) -> bool:
        if self._refused(name, patch):
            return False
        self.standing.put(name, patch, material)
        if moving is not None:
            self._obstacles[name] = moving
        self.record_event("wall_added" if moving is None else "obstacle_added", other=name, place=self._middle(patch))
        return True

    def _rebuild(self, name: str, fell: Patch) -> bool:
        if not fell.mask.any():
            return True
        if self._refused(name, fell):
            return False
        self.standing.rebuild(fell)
        self.record_event("wall_added", other=name, place=self._middle(fell), text=f"{int(fell.mask.sum())} cells")
        return True

    def _place(self, event: PlaceEvent) -> Any:
        """Carry a robot to a pose; refused if its body would overlap a wall or another robot."""
        robot, (x, y, heading) = self._names.index(event.place), event.pose
        pose, state = Pose(x, y, math.radians(heading)), self._port.state
        before = Pose(*state.pose[robot].tolist())
        if state.vanished[robot]:
            other, why = "", "it has vanished"
        else:
            other, why = self._occupied(robot, pose)
        if why:
            self.record_event("refused", event.place, other, (x, y), why)
            return None
        self._port.carry(robot, pose)
        was = [round(before.x, 4), round(before.y, 4), round(math.degrees(before.heading), 2)]
        self.record_event("placed", event.place, place=(x, y), text=f"from {json.dumps(was)}")
        return event.plain()

    def _drive(self, event: DriveEvent) -> Any:
        """Drive a robot by hand, or let it go on by itself."""
        robot = self._names.index(event.drive)
        if event.twist is None:
            if self._driven.pop(robot, None) is None:
                return None
            self.record_event("drive_over", event.drive, place=self._port.state.pose[robot, :2])
        elif self._port.state.halted[robot] or self._port.state.vanished[robot]:
            self.record_event(
                "refused", event.drive, place=self._port.state.pose[robot, :2], text="it cannot move any more"
            )
            return None
        else:
            self._driven[robot] = Lasting(event, self._until(event.for_s))
            text = f"{event.twist[0]:g} m/s, {event.twist[1]:g} rad/s"
            self.record_event("driven", event.drive, place=self._port.state.pose[robot, :2], text=text)
        return event.plain()

    def _start_jam(self, event: JamEvent) -> Any:
        """Jam the radio in an area; refused if its name is in use."""
        name, area = self._name(event.name, event.thing), event.jam
        middle = area.centre_m if isinstance(area, Disc) else np.mean(area.polygon_m, axis=0)
        if name in self._jams:
            self.record_event("refused", other=name, text="this name is already in use")
            return None
        self._jams[name] = Lasting(event, self._until(event.for_s))
        self.record_event("jam", other=name, place=middle, text=json.dumps(area.model_dump(mode="json")))
        return {**event.plain(), "name": name}

    def _change_ground(self, event: GroundEvent) -> Any:
        """Change the ground, and remember how to take it back if the event has a name."""
        what, change = event.change
        edit = self._edit_ground(change.edit, what)
        if edit is None:
            return None
        if event.name:
            self._undo[event.name] = lambda: (
                self._edit_ground(lambda ground: undo(ground, edit), event.name) is not None
            )
        return event.plain()

    def _edit_ground(
        self, edit_of: Callable[[Heightfield], GroundEdit], what: str, robot: str = ""
    ) -> GroundEdit | None:
        """Edit the ground and record the edit, or its refusal; return the edit, or None."""
        ground = self._port.world.ground
        try:
            if ground is None:
                raise InvalidValueError("this world has no ground to change; give it a height_map")
            edit = edit_of(ground)
            ground.apply(edit)
        except InvalidValueError as error:
            self.record_event("refused", robot, what, text=str(error))
            return None
        self._port.ground_edited(self._port.clock.step + 1, edit)
        rows, columns = np.nonzero(edit.before != edit.after)
        text = "nothing changed"
        place = (np.nan, np.nan)
        if len(rows):
            x0, y0, spacing = ground.frame.tolist()
            place = x0 + (edit.column + columns.mean()) * spacing, y0 + (edit.row + rows.mean()) * spacing
            low, high = (float(end) for end in ((edit.after - edit.before).min(), (edit.after - edit.before).max()))
            text = f"{len(rows)} vertices by {low:+.2f} to {high:+.2f} m"
        self.record_event("ground_changed", robot, what, place, text)
        return edit

    def _save_ground(self, event: SaveGroundEvent) -> Any:
        """Write the present ground into the run's folder; a number is added to a name that is in use."""
        ground, folder = self._port.world.ground, self._port.grounds()
        assert ground is not None, "checked before"
        given = Path(event.save_ground)
        names = (given.name, *(f"{given.stem}-{k}{given.suffix}" for k in range(2, 100_000)))
        try:
            name = next(name for name in names if not (folder / name).exists())
            ground.ground.save(folder / name)
        except OSError as error:
            raise unwritable(f"the ground into {str(folder)!r}", error) from error
        self.record_event("ground_saved", other=name)
        return event.plain()

    def _dig(self, robot: int, from_m: Point, to_m: Point, volume_m3: float) -> None:
        """Move ground for a robot, as it asked."""
        digger = self._port.model.models[self._port.model.model_id[robot]].digger
        assert digger is not None, "checked by the handle"
        edit = partial(dig, from_m=from_m, to_m=to_m, volume_m3=volume_m3, radius_m=digger.radius_m)
        self._edit_ground(edit, "dig", self._names[robot])

    def _order(self, event: OrderEvent) -> Any:
        """Give the team an order, with a new number."""
        self._orders += 1
        self._port.order(event.order, self._orders)
        self.record_event("order", place=event.order.objective_m, text=f"{event.order.formation}, {event.order.mode}")
        return event.plain()

    @property
    def awaits_orders(self) -> bool:
        """Whether declared orders for the team are still to come."""
        return any(isinstance(entry.record, OrderEvent) for entry in self._schedule.entries)

    @property
    def standing(self) -> Structures:
        """The walls and obstacles in the world; made at the first change."""
        if self._standing is None:
            self._standing = Structures(self._port.world)
        return self._standing

    # -- effects that last longer than a step --------------------------------------------------------------------------

    def driven(self, commands: np.ndarray) -> np.ndarray:
        """Return the body twists (n, 3) that result from commands (n, 3), driving by hand, and faults of wheels."""
        if self._driven:
            commands = commands.copy()
            for robot, lasting in self._driven.items():
                speed, turn = lasting.event.twist
                commands[robot] = speed, 0.0, turn
        return self.faults.driven(commands)

    def jammed(self, pose: np.ndarray) -> np.ndarray:
        """Return which poses (n, 3) lie where no radio works, bool (n,)."""
        inside = np.zeros(len(pose), bool)
        for lasting in self._jams.values():
            area = lasting.event.jam
            if isinstance(area, Disc):
                inside |= np.hypot(pose[:, 0] - area.centre_m[0], pose[:, 1] - area.centre_m[1]) <= area.radius_m
            else:
                from covey.world.editing.shapes import polygon

                inside |= shapely.contains_xy(polygon(area.polygon_m), pose[:, 0], pose[:, 1])
        return inside

    def _until(self, for_s: float | None) -> int | None:
        clock = self._port.clock
        return None if for_s is None else clock.step + math.ceil(for_s / clock.step_s - 1e-9)

    def _lapse(self) -> None:
        """End driving by hand and jams whose time is over."""
        step = self._port.clock.step
        for robot in [i for i, one in self._driven.items() if one.until is not None and step >= one.until]:
            del self._driven[robot]
            self.record_event("drive_over", self._names[robot], place=self._port.state.pose[robot, :2])
        for name in [name for name, one in self._jams.items() if one.until is not None and step >= one.until]:
            del self._jams[name]
            self.record_event("jam_over", other=name)

    def _close(self, door: str, first: bool = False) -> None:
        """Close a door that waits to close, unless a robot stands in it."""
        patch = self.standing.doors[door]
        robot = self._robot_in(patch)
        if robot < 0:
            del self._waiting[door]
            self.standing.close_door(door)
            self.record_event("door_closed", other=door, place=self._middle(patch))
        elif first:
            self.record_event("door_waits", self._names[robot], door, self._middle(patch))

    def _move(self, name: str) -> None:
        """Move an obstacle by one step, unless a robot blocks it."""
        moving = self._obstacles[name]
        distance_m = moving.distance_m + moving.track.speed_m_s * self._port.clock.step_s
        patch = self._patch(moving.track, moving.way, distance_m)
        if patch is not None and not patch.same(moving.patch):
            robot = self._robot_in(patch, moving.track.gap_m)
            if robot >= 0:
                if not moving.waits:
                    x, y, _ = moving.way.place(moving.distance_m)
                    self.record_event("obstacle_waits", self._names[robot], name, (x, y))
                moving.waits = True
                return
            self.standing.put(name, patch)
            moving.patch = patch
        moving.distance_m, moving.waits = distance_m, False

    def _patch(self, track: Track, way: Way, distance_m: float) -> Patch | None:
        """Return the cells of an obstacle at a distance along its path; None if it is outside the array."""
        grid = self._port.world.grid
        x, y, heading = way.place(distance_m)
        x0, y0, c, s, resolution = grid.frame
        u, v = (c * (x - x0) + s * (y - y0)) / resolution, (c * (y - y0) - s * (x - x0)) / resolution
        if track.radius_m is not None:
            return disc_patch(v, u, track.radius_m / resolution, grid.shape)
        assert track.size_m is not None
        length, width = (side / resolution for side in track.size_m)
        return rectangle_patch(v, u, length, width, heading - grid.origin[2], grid.shape)

    # -- helpers -----------------------------------------------------------------------------------------------------

    def _is_open(self, door: str) -> bool:
        """Return whether a door is open and stays open."""
        return self.standing.is_open(door) and door not in self._waiting

    def _with_name(self, call: When) -> When:
        """Return a call with the name that it gets, so that its repetition gets the same."""
        if isinstance(call, Named) and call.thing:
            return call.model_copy(update={"name": self._name(call.name, call.thing)})
        return call

    def _name(self, given: str, kind: str) -> str:
        """Return the given name, or the next number of a kind; a given one that looks so counts too."""
        if given:
            number = given.removeprefix(f"{kind} ")
            if number.isdecimal() and len(number) < 10:
                self._named = max(self._named, int(number))
            return given
        self._named += 1
        return f"{kind} {self._named}"

    def _refused(self, name: str, patch: Patch) -> bool:
        """Record and return whether something cannot be added."""
        robot = self._robot_in(patch)
        if self.standing.stands(name):
            self.record_event("refused", other=name, text="this name is already in use")
        elif robot >= 0:
            self.record_event("refused", self._names[robot], name, self._middle(patch), "a robot stands there")
        else:
            return False
        return True

    def _occupied(self, robot: int, pose: Pose) -> tuple[str, str]:
        """Return what a robot's body would overlap at a pose, and why it cannot stand there; empty if it can."""
        world, model = self._port.world, self._port.model
        body = self._bodies(np.array([pose]), model.discs[robot, None])[0]
        row, column = world.grid.to_cells(pose[:2])
        reach = math.ceil(float(model.radius[robot]) / world.grid.resolution) + 1
        r0, c0 = max(int(row) - reach, 0), max(int(column) - reach, 0)
        near = world.solid[r0 : int(row) + reach + 1, c0 : int(column) + reach + 1]
        if robot_in(world, Patch(r0, c0, near), body[None]) >= 0:
            return "wall", "a wall is there"
        state = self._port.state
        bodies = self._bodies(state.pose, model.discs)
        bodies[state.vanished, :, 2] = 0.0
        bodies[robot, :, 2] = 0.0
        apart = np.hypot(*(bodies[:, :, None, :2] - body[None, None, :, :2]).transpose(3, 0, 1, 2))
        radii = bodies[:, :, None, 2] + body[None, None, :, 2]
        overlap = (apart < radii) & (bodies[:, :, None, 2] > 0) & (body[None, None, :, 2] > 0)
        if overlap.any():
            other = self._names[int(np.argwhere(overlap)[0, 0])]
            return other, f"{other} stands there"
        return "", ""

    @staticmethod
    def _bodies(pose: np.ndarray, discs: np.ndarray) -> np.ndarray:
        """Return the discs (n, k, 3) of bodies at poses (n, 3), in the world frame."""
        c, s = np.cos(pose[:, 2, None]), np.sin(pose[:, 2, None])
        bodies = discs.copy()
        bodies[..., 0] = pose[:, 0, None] + c * discs[..., 0] - s * discs[..., 1]
        bodies[..., 1] = pose[:, 1, None] + s * discs[..., 0] + c * discs[..., 1]
        return bodies

    def _robot_in(self, patch: Patch, gap_m: float = 0.0) -> int:
        """Return a robot on passable cells of a patch, or within a gap [m] of them; -1 if there is none."""
        model, state = self._port.model, self._port.state
        pose = state.pose
        c, s = np.cos(pose[:, 2, None]), np.sin(pose[:, 2, None])
        bodies = model.discs.copy()
        bodies[..., 0] = pose[:, 0, None] + c * model.discs[..., 0] - s * model.discs[..., 1]
        bodies[..., 1] = pose[:, 1, None] + s * model.discs[..., 0] + c * model.discs[..., 1]
        bodies[..., 2] += gap_m * (model.discs[..., 2] > 0)
        bodies[state.vanished, :, 2] = 0.0
        return robot_in(self._port.world, self.standing.newly_solid(patch), bodies)

    def _middle(self, patch: Patch) -> np.ndarray:
        """Return the middle of the cells of a patch [m]."""
        return self._port.world.grid.to_world(
            np.argwhere(patch.mask).mean(axis=0) + np.array((patch.row, patch.column))
        )


def recorded_inputs(run: Run) -> list[dict[str, Any]]:
    """Return the events called for during a run, as declarations for a simulation that repeats it."""
    events = run.events
    return [json.loads(text) for text in events.filter(events["kind"] == "input")["text"]]
