"""Building: doors, walls and obstacles that events open, put up, move and tear down."""

from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from covey.events.port import Port
from covey.events.records import DoorEvent, ObstacleEvent, ObstaclePath, RemoveEvent, WallEvent
from covey.world.editing.changing import Structures, robot_in
from covey.world.editing.obstacles import Patch, Way, disc_patch, rectangle_patch, shape_patch


@dataclass
class MovingObstacle:
    """A moving obstacle: its shape, the distance it has moved [m], the cells it fills, and whether it waits."""

    track: ObstaclePath
    way: Way
    distance_m: float
    patch: Patch
    waits: bool = False


class Building:
    """The doors, walls and obstacles of a world, as events change them.

    Args:
        port: access to the simulation.
        record_event: records an event.
        random: returns the generator of a stream.
        undo: gets, by the name of an event, what takes it back; that returns False if it cannot.
    """

    def __init__(
        self,
        port: Port,
        record_event: Callable[..., None],
        random: Callable[[str], np.random.Generator],
        undo: MutableMapping[str, Callable[[], bool]],
    ):
        self._port, self._record_event, self._random, self._undo = port, record_event, random, undo
        self._obstacles: dict[str, MovingObstacle] = {}
        self._waiting: dict[str, None] = {}  # doors that wait to close, in order

    @cached_property
    def _standing(self) -> Structures:
        """The walls and obstacles in the world; made at the first change."""
        return Structures(self._port.world)

    @property
    def lasts(self) -> bool:
        """Whether an obstacle moves or a door waits to close."""
        return bool(self._obstacles or self._waiting)

    def go_on(self) -> None:
        """Move the obstacles by one step, and close the doors that can close now."""
        for name in list(self._obstacles):
            self._move(name)
        for door in list(self._waiting):
            self._close(door)

    def set_door(self, event: DoorEvent, stream: str) -> Any:
        """Open or close a door; a door with a robot in it closes as soon as it is free."""
        doors, to = sorted(self._standing.doors), event.to
        name = event.door
        if name == "any":
            can = [d for d in doors if to == "toggle" or self._is_open(d) != (to == "open")]
            if not can:
                return None
            name = can[int(self._random(f"{stream}/door").integers(len(can)))]
        if to == "toggle":
            to = "closed" if self._is_open(name) else "open"
        if to == "closed" and self._is_open(name):
            self._waiting[name] = None
            self._close(name, first=True)
        elif to == "open" and name in self._waiting:
            del self._waiting[name]
        elif to == "open" and not self._is_open(name):
            self._standing.open_door(name)
            self._record_event("door_opened", other=name, place=self._middle(self._standing.doors[name]))
        else:
            return None
        return {"door": name, "to": to}

    def put_wall(self, event: WallEvent) -> Any:
        """Add a wall; refused if a robot stands there, or if its name is in use."""
        patch = shape_patch(self._port.world.grid, event.wall.shape())
        assert patch is not None, "checked before"
        if self._refused(event.name, patch):
            return None
        self._standing.put(event.name, patch, event.wall.material or "")
        self._record_event("wall_added", other=event.name, place=self._middle(patch))
        return event.plain()

    def put_obstacle(self, event: ObstacleEvent) -> Any:
        """Add an obstacle; refused if a robot stands there, or if its name is in use."""
        track = event.obstacle
        way = Way(track.path_m, track.repeat)
        patch = self._patch(track, way, 0.0)
        assert patch is not None, "checked before"
        if self._refused(event.name, patch):
            return None
        self._standing.put(event.name, patch)
        self._obstacles[event.name] = MovingObstacle(track, way, 0.0, patch)
        self._record_event("obstacle_added", other=event.name, place=way.place(0.0)[:2])
        return event.plain()

    def remove(self, event: RemoveEvent) -> Any:
        """Remove an added wall or obstacle, or the world's own walls in a region."""
        if isinstance(event.remove, str):
            name = event.remove
            if not self._standing.stands(name):
                self._record_event("refused", other=name, says="nothing has this name")
                return None
            moving = self._obstacles.pop(name, None)
            patch, material = self._standing.remove(name)
            self._undo[name] = partial(self._put_back, name, patch, material, moving)
            self._record_event("wall_removed" if moving is None else "obstacle_removed", other=name)
            return event.plain()
        from covey.world.editing.shapes import polygon

        patch = shape_patch(self._port.world.grid, polygon(event.remove.polygon_m))
        assert patch is not None, "checked before"
        fell = self._standing.clear(patch)
        if event.name:
            self._undo[event.name] = partial(self._rebuild, event.name, fell)
        self._record_event(
            "wall_removed", other=event.name, place=self._middle(patch), says=f"{int(fell.mask.sum())} cells"
        )
        return event.plain()

    def _put_back(self, name: str, patch: Patch, material: str, moving: MovingObstacle | None) -> bool:
        if self._refused(name, patch):
            return False
        self._standing.put(name, patch, material)
        if moving is not None:
            self._obstacles[name] = moving
        self._record_event("wall_added" if moving is None else "obstacle_added", other=name, place=self._middle(patch))
        return True

    def _rebuild(self, name: str, fell: Patch) -> bool:
        if not fell.mask.any():
            return True
        if self._refused(name, fell):
            return False
        self._standing.rebuild(fell)
        self._record_event("wall_added", other=name, place=self._middle(fell), says=f"{int(fell.mask.sum())} cells")
        return True

    def _close(self, door: str, first: bool = False) -> None:
        """Close a door that waits to close, unless a robot stands in it."""
        patch = self._standing.doors[door]
        robot = self._robot_in(patch)
        if robot < 0:
            del self._waiting[door]
            self._standing.close_door(door)
            self._record_event("door_closed", other=door, place=self._middle(patch))
        elif first:
            self._record_event("door_waits", self._port.names[robot], door, self._middle(patch))

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
                    self._record_event("obstacle_waits", self._port.names[robot], name, (x, y))
                moving.waits = True
                return
            self._standing.put(name, patch)
            moving.patch = patch
        moving.distance_m, moving.waits = distance_m, False

    def _patch(self, track: ObstaclePath, way: Way, distance_m: float) -> Patch | None:
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

    def _is_open(self, door: str) -> bool:
        """Return whether a door is open and stays open."""
        return self._standing.is_open(door) and door not in self._waiting

    def _refused(self, name: str, patch: Patch) -> bool:
        """Record and return whether something cannot be added."""
        robot = self._robot_in(patch)
        if self._standing.stands(name):
            self._record_event("refused", other=name, says="this name is already in use")
        elif robot >= 0:
            self._record_event("refused", self._port.names[robot], name, self._middle(patch), "a robot stands there")
        else:
            return False
        return True

    def _robot_in(self, patch: Patch, gap_m: float = 0.0) -> int:
        """Return a robot on passable cells of a patch, or within a gap [m] of them; -1 if there is none."""
        bodies = self._port.bodies(self._port.state.pose)
        bodies[..., 2] += gap_m * (bodies[..., 2] > 0)
        return robot_in(self._port.world, self._standing.newly_solid(patch), bodies)

    def _middle(self, patch: Patch) -> np.ndarray:
        """Return the middle of the cells of a patch [m]."""
        return self._port.world.grid.to_world(
            np.argwhere(patch.mask).mean(axis=0) + np.array((patch.row, patch.column))
        )
