"""Rooms of a world: what is left of its free cells when doors count as closed."""

from typing import Any, NamedTuple

import numpy as np

from covey.lazy import ndimage
from covey.world.world import World


class Room(NamedTuple):
    """A room.

    Attributes:
        area_m2: area of its free cells [m²].
        x_m: x of its most open place [m], in the world frame.
        y_m: y of that place [m].
        closed: whether no opening leads out of it.
    """

    area_m2: float
    x_m: float
    y_m: float
    closed: bool


def rooms(world: World, door_m: float = 1.2) -> tuple[Room, ...]:
    """Return the rooms of a world, the largest first.

    A room is a part of the free cells, if openings up to ``door_m`` wide [m] count as closed. Parts narrower than that
    everywhere belong to the room that they open into, or to none.
    """
    _, labels, areas = labelled_rooms(world, door_m)
    resolution = world.grid.resolution
    connected, _ = _labelled(world.free)
    sizes = np.bincount(connected.ravel())
    found = []
    windows: Any = ndimage.find_objects(labels)
    for label, window in enumerate(windows, start=1):
        own = labels[window] == label
        depth = np.where(own, world.clearance[window], -1.0)
        row, column = np.unravel_index(int(depth.argmax()), depth.shape)
        at = (row + window[0].start, column + window[1].start)
        x, y = world.grid.to_world(at)
        is_closed = int(sizes[connected[at]]) == areas[label - 1]
        found.append(Room(int(areas[label - 1]) * resolution**2, float(x), float(y), bool(is_closed)))
    return tuple(sorted(found, key=lambda room: -room.area_m2))


def labelled_rooms(world: World, door_m: float = 1.2) -> tuple[int, np.ndarray, np.ndarray]:
    """Return the number of rooms, the room of each cell from 1 on (0: none), and the number of cells of each."""
    free = np.pad(world.free, 1)
    found, count = _labelled(np.pad(world.free & (world.clearance >= door_m / 2), 1))
    room, columns = found.ravel(), free.shape[1]
    edge = np.flatnonzero(room)
    while len(edge):  # every free cell goes to the core from which it is reached in the fewest steps
        steps = []
        for step in (-columns, -1, 1, columns):
            new = edge + step
            is_new = free.ravel()[new] & (room[new] == 0)
            room[new[is_new]] = room[edge[is_new]]
            steps.append(new[is_new])
        edge = np.concatenate(steps)
    return count, found[1:-1, 1:-1], np.bincount(room, minlength=count + 1)[1:]


def _labelled(mask: np.ndarray) -> tuple[np.ndarray, int]:
    labels = np.empty(mask.shape, np.int32)
    count: Any = ndimage.label(mask, np.ones((3, 3), int), output=labels)
    return labels, int(count)
