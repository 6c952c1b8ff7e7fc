"""Minotaur: follow the walls of a room at sensor range, and assign doorways by auction."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from covey.controllers.exploration.frontier_loop import Goal, explore
from covey.controllers.teammates import Teammates
from covey.errors import InvalidValueError
from covey.mapping.occupancy.frontiers import Frontiers
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.planning.flood import nearest_by_steps
from covey.planning.rooms import Wall, cast, find_doorways, find_walls, open_ends
from covey.robots.parameters import Reach, TileSide

_THINK_S = 1.0
_BIDDING_S = 2.0
_KIND = "minotaur"
_WAYS = np.array([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)])
_RAYS = np.radians(np.arange(360.0))
_HERE_M = 0.5
_STAND_S = 4.0
"""A goal is given up after this time at the same place [s]."""


@controller(
    "minotaur", sees=("pose", "map", "shared_map", "radio", "shared_frame"), needs=("map",), missions=("exploration",)
)
async def minotaur(robot: Robot, *, door_m: TileSide = 2.0, reach_m: Reach = 7.0) -> None:
    """Explore room by room: spiral along the walls at sensor range, then look for the rest.

    Known doorways bound a room. While anything nearby in the room is unseen, the robot goes, in this order of
    preference: beyond the end of a wall if that is unseen; to the unseen area ahead on the right, unless all is unseen
    straight ahead; to the first unseen place counter-clockwise from the right. Then it goes to the nearest unseen place
    of the room, to the nearest doorway that no robot has passed, or to the nearest unseen place anywhere that is no
    other robot's goal. Where a wall ends and open floor continues its line, the robot goes once to look: an opening as
    wide as a door is a doorway. The finder of a doorway offers it. Bids are path lengths. With k bidders, half of them
    and the finder go through if k is 3 or more; the finder alone if k is 2; nobody else. Robots report their positions,
    goals and doorways once a second. A robot that has been silent for 10 s is forgotten, and an auction without bids
    ends by itself. It ends when its own map has nothing unseen that it can reach. It assumes rooms with walls along the
    axes of the map and doors of a known width, and performs poorly in caves.

    Args:
        robot: a robot with a map.
        door_m: width of the doors [m]; an opening of at least 3/4 of it is a doorway. Published: 2 tiles.
        reach_m: range of the sensor [m]; published: 7.

    Unlike the source:
        Compared with MAES, MinotaurAlgorithm.cs, EdgeDetector.cs, Messages/.

        - R from the sensor; doors of 2 tiles -> ``reach_m`` 7, ``door_m`` 2
        - at first straight ahead to a wall -> it begins with the rules for a room
        - walls by angle -> along rows and columns, also behind others; each place is visited once
        - edge: known tiles of the ring R + 1 with the unseen behind -> the first ray from the right counter-clockwise
          that meets the unseen within R + 2
        - the rules for walls, corners and edges drive straight -> by the planner
        - the own goal is stored as the others' -> corrected
        - a doorway is suspected where one wall is broken, or lines of walls cross -> only the first, for all walls as
          long as a door is wide
        - a door has 3 tiles to a door's width -> 3/4 of the width to one cell more than it
        - bids for 3 ticks -> for 2 s, and the finder goes on meanwhile; robots announce doorways that they have taken
        - deadlock: five times the same tile -> 4 s within 0.1 m
        - heartbeat every 10 ticks -> each second

    References:
        E. E. Schmidt, R. Sørensen, M. Beregaard, M. Albano: Spiralling human-inspired exploration algorithm with
        doorway detection. ICAART 2025.
    """
    if door_m <= 0 or reach_m <= 2:
        raise InvalidValueError(f"door_m is {door_m!r}, reach_m {reach_m!r}; door_m must be above 0, reach_m above 2")
    assert robot.map is not None
    least = max(1, round(0.5 * door_m / robot.map.grid.resolution))
    choice = _Minotaur(door_m, reach_m)
    await explore(
        robot,
        choice,
        definition="explore",
        min_cells=least,
        replan_s=_THINK_S,
        near_m=reach_m,
        unreachable=choice.give_up,
    )


def crossers(finder: str, bids: Mapping[str, float]) -> list[str]:
    """Return the robots that go through a doorway, given the bids (path lengths [m]) of the others.

    Examples:
        >>> crossers("a", {"b": 4.0, "c": 2.0, "d": 9.0})
        ['a', 'c', 'b']
        >>> crossers("a", {"b": 4.0, "c": 2.0}), crossers("a", {"b": 1.0})
        (['a'], [])
    """
    if len(bids) < 2:
        return []
    winners = (len(bids) + 1) // 2
    return [finder, *(sorted(bids, key=lambda n: (bids[n], n))[:winners] if winners > 1 else [])]


def beyond_wall(
    occupancy: np.ndarray, walls: list[Wall], own: tuple[int, int], reach: float, inset: float
) -> list[tuple[float, float]]:
    """Return places from which to see beyond the ends of walls, row and column, clockwise from the farthest.

    Such a place lies ``inset`` before the end of a wall, on its free side, where the wall's line continues into the
    unseen within reach.

    Args:
        occupancy: int8 (rows, columns).
        walls: the walls of that map.
        own: row and column of the robot.
        reach, inset: distances [cells].
    """
    ends = []
    for wall in walls:
        into = _WAYS[wall.free]
        if (own[1] - wall.start[1]) * into[0] + (own[0] - wall.start[0]) * into[1] <= 0:
            continue  # the other side of the wall
        for end, other in ((wall.start, wall.end), (wall.end, wall.start)):
            along = np.sign(np.subtract(end, other))
            side = end[0] + int(into[1]), end[1] + int(into[0])
            heading = math.atan2(along[0], along[1])
            _, state = cast(occupancy, side[0], side[1], np.array([heading]), reach)
            if state[0] == -1:
                ends.append((float(end[0] + inset * into[1]), float(end[1] + inset * into[0])))
    if not ends:
        return []
    offset = np.array(ends) - own
    bearing = np.arctan2(offset[:, 0], offset[:, 1])
    far = int(np.argmax(np.hypot(*offset.T)))
    return [ends[i] for i in np.argsort((bearing[far] - bearing + 1e-9) % (2 * math.pi), kind="stable")]


def all_unseen_ahead(occupancy: np.ndarray, own: tuple[int, int], heading: float, *distances: float) -> bool:
    """Return whether the cells straight ahead at some distances [cells] are all in the map, and unseen.

    "Straight ahead" is the direction, of eight, nearest to the heading.
    """
    turn = round(heading / (0.25 * math.pi)) * 0.25 * math.pi
    for distance in distances:
        row, column = round(own[0] + distance * math.sin(turn)), round(own[1] + distance * math.cos(turn))
        inside = 0 <= row < occupancy.shape[0] and 0 <= column < occupancy.shape[1]
        if not inside or occupancy[row, column] != -1:
            return False
    return True


@dataclass
class _Door:
    """A doorway: x, y of its middle [m], the direction through it, its width [m], and whether it is taken.

    It is taken when a robot has passed it, when an auction has sent the finder through, or when it cannot be reached.
    """

    x: float
    y: float
    way: int
    width_m: float
    taken: bool = False

    def beyond(self, distance_m: float) -> Goal:
        dx, dy = _WAYS[self.way]
        return self.x + distance_m * dx, self.y + distance_m * dy


@dataclass
class _Minotaur:
    """Chooses goals for `explore`; keeps the doorways, the auctions and the visited places along walls.

    ``gaps`` are the places [m] that were checked, or will be, for doorways; ``look`` is the place to go to for the
    present check, and its gap.
    """

    door_m: float
    reach_m: float
    team: Teammates = field(default_factory=Teammates)
    doors: list[_Door] = field(default_factory=list)
    goal: Goal | None = None
    tried: list[Goal] = field(default_factory=list)
    gaps: list[Goal] = field(default_factory=list)
    look: tuple[Goal, Goal] | None = None
    offers: dict[int, tuple[float, dict[str, float]]] = field(default_factory=dict)
    _stood: tuple[float, float, float] = (math.inf, math.inf, 0.0)

    def __call__(self, robot: Robot, frontiers: Frontiers, allowed: np.ndarray) -> Goal | None:
        goal = self._choose(robot, frontiers, allowed)
        if goal is not None and self.goal is not None and goal != self.goal:
            self.tried.append(self.goal)
        self.goal = goal
        told = [(d.x, d.y, d.way, d.width_m, d.taken) for d in self.doors]
        self.team.step(robot, goal=goal, doors=told, gaps=list(self.gaps))
        return goal

    def give_up(self, robot: Robot, goal: Goal) -> None:
        """Mark an unreachable goal as tried, and a doorway in front of it as taken."""
        self.tried.append(goal)
        self.goal = self.look = None
        for door in self.doors:
            door.taken |= math.dist(door.beyond(self.door_m), goal) < _HERE_M

    def _choose(self, robot: Robot, frontiers: Frontiers, allowed: np.ndarray) -> Goal | None:
        assert robot.map is not None
        grid, occupancy = robot.map.grid, robot.map.occupancy()
        row, column = (int(i) for i in grid.to_cells(robot.pose[:2]))
        reach, far = self.reach_m / grid.resolution, math.ceil((self.reach_m + 2.0) / grid.resolution)
        corner = top, left = max(0, row - far), max(0, column - far)
        near = occupancy[top : row + far + 1, left : column + far + 1]
        own = row - top, column - left
        walls = find_walls(near, max(2, round(0.5 / grid.resolution)))
        way = robot.travel_cost()
        won = self._talk(robot, way)
        for door in self.doors:
            door.taken |= math.dist(door.beyond(self.door_m), robot.pose[:2]) < _HERE_M + 0.5 * self.door_m
        if won is not None:
            self.look = None
            return won
        if self.look is not None and self._is_over(robot, self.look[0]):
            self._find_doors(robot, near, walls, own, corner, self.look[1])
            self.look = None
        if self.look is None and not self._goes_through(self.goal):
            self._suspect(robot, near, walls, own, corner, way)
        if self.look is not None:
            return self.look[0]
        if self.goal is not None and self._is_worth(robot, frontiers, allowed):
            return self.goal
        room = self._room(grid, occupancy)
        cells = frontiers.cells[allowed]
        open_ = cells[np.isfinite(way[cells[:, 0], cells[:, 1]])]
        goals = [grid.to_world((r + top, c + left)) for r, c in self._in_room(near, walls, own, robot, reach)]
        for x, y in (g.tolist() for g in goals):
            if self._is_new(robot, (x, y), way, room & (occupancy == 0), grid):
                return x, y
        free = occupancy == 0
        for passable, skip in ((free & room, ()), (None, ()), (free, self._goals_of_others(robot))):
            goal = (
                self._nearest_door(way, grid)
                if passable is None
                else self._nearest(grid, passable, (row, column), open_, skip)
            )
            if goal is not None:
                return goal
        return robot.nearest(open_)

    def _in_room(
        self, near: np.ndarray, walls: list[Wall], own: tuple[int, int], robot: Robot, reach: float
    ) -> list[tuple[float, float]]:
        """Return places to go to in the room: along walls, ahead on the right, and around from the right."""
        turned = robot.pose[2] - math.pi / 2 + _RAYS  # from the right, counter-clockwise
        tile = reach / self.reach_m
        ends, state = cast(near, *own, turned, reach + 2.0 * tile)
        unseen = state == -1
        if not unseen.any():
            return []
        found = list(beyond_wall(near, walls, own, reach, reach - 2.0 * tile))
        corner = unseen & (np.abs(_RAYS - math.radians(75)) <= math.radians(15))
        if all_unseen_ahead(near, own, robot.pose[2], reach + tile, reach + 2.0 * tile):
            corner[:] = False
        for mask in (corner, unseen):
            if mask.any():
                found.append(tuple(ends[int(np.argmax(mask))].tolist()))
        return found

    def _is_new(self, robot: Robot, goal: Goal, way: np.ndarray, room: np.ndarray, grid) -> bool:
        """Return whether a place in the room can be reached, is not here, and was not tried before."""
        cell = grid.to_cells(goal)
        if not grid.inside(cell):
            return False
        reachable = math.isfinite(way[cell[0], cell[1]]) and (
            room[cell[0], cell[1]] or grid.cells[cell[0], cell[1]] == -1
        )
        tried = any(math.dist(goal, t) < 2.0 * _HERE_M for t in self.tried)
        return bool(reachable) and not tried and math.dist(goal, robot.pose[:2]) > 2.0 * _HERE_M

    def _is_worth(self, robot: Robot, frontiers: Frontiers, allowed: np.ndarray) -> bool:
        """Return whether the present goal is still valid: not reached, and with something unseen around it."""
        assert self.goal is not None
        assert robot.map is not None
        if self._is_over(robot, self.goal):
            return False
        points = robot.map.grid.to_world(frontiers.cells[allowed])
        return bool((np.hypot(*(points - self.goal).T) < self.reach_m).any())

    def _is_over(self, robot: Robot, goal: Goal) -> bool:
        """Return whether the robot is at its goal, or has stood still for long."""
        if math.dist(self._stood[:2], robot.pose[:2]) >= 0.1:
            self._stood = robot.pose[0], robot.pose[1], robot.time
        if math.dist(goal, robot.pose[:2]) >= _HERE_M and robot.time < self._stood[2] + _STAND_S:
            return False
        self._stood = math.inf, math.inf, 0.0
        return True

    def _nearest(self, grid, passable: np.ndarray, start: tuple[int, int], open_: np.ndarray, skip) -> Goal | None:
        target = np.zeros(grid.shape, bool)
        points = grid.to_world(open_)
        for goal in skip:
            far = np.hypot(*(points - goal).T) > 2.0
            open_, points = open_[far], points[far]
        target[open_[:, 0], open_[:, 1]] = True
        found = nearest_by_steps(passable, start, target & passable)
        if found is None:
            return None
        x, y = grid.to_world(found).tolist()
        return x, y

    def _goals_of_others(self, robot: Robot) -> list[Goal]:
        return [m.goal for m in self.team.others(robot).values() if m.goal is not None]

    # Doorways

    def _goes_through(self, goal: Goal | None) -> bool:
        """Return whether a goal lies beyond a doorway."""
        return goal is not None and any(math.dist(goal, door.beyond(self.door_m)) < 1e-6 for door in self.doors)

    def _suspect(
        self,
        robot: Robot,
        near: np.ndarray,
        walls: list[Wall],
        own: tuple[int, int],
        corner: tuple[int, int],
        way: np.ndarray,
    ) -> None:
        """Look for a wall's end that may be a doorway and that no robot has checked yet."""
        assert robot.map is not None
        grid, wide = robot.map.grid, self.door_m / robot.map.grid.resolution
        for gap, place in open_ends(near, walls, own, wide, wide):
            at, look = grid.to_world(np.add([gap, place], corner)).tolist()
            old = [*self.gaps, *((door.x, door.y) for door in self.doors)]
            if any(math.dist(at, g) < self.door_m for g in old):
                continue
            self.gaps.append((at[0], at[1]))
            cell = grid.cell_at(*look)
            if grid.inside(cell) and math.isfinite(way[cell]):
                self.look = (look[0], look[1]), (at[0], at[1])
                return

    def _find_doors(
        self,
        robot: Robot,
        near: np.ndarray,
        walls: list[Wall],
        own: tuple[int, int],
        corner: tuple[int, int],
        gap: Goal,
    ) -> None:
        """Record an opening as wide as a door at a gap as a doorway, and offer it."""
        assert robot.map is not None
        grid = robot.map.grid
        wide = self.door_m / grid.resolution + 1
        for d in find_doorways(near, walls, own, 0.75 * self.door_m / grid.resolution, wide):
            x, y = grid.to_world((d.middle[0] + corner[0], d.middle[1] + corner[1])).tolist()
            here = math.dist((x, y), gap) < self.door_m
            if here and self._note(_Door(x, y, d.way, d.cells * grid.resolution)):
                self.offers[len(self.doors) - 1] = robot.time + _BIDDING_S, {}
                robot.send(("door", x, y), kind=_KIND)

    def _note(self, door: _Door) -> bool:
        """Record a doorway; return whether it is new. A doorway may be found from both sides."""
        for known in self.doors:
            if known.way % 2 == door.way % 2 and math.dist((known.x, known.y), (door.x, door.y)) < self.door_m:
                known.taken |= known.way != door.way or door.taken
                return False
        self.doors.append(door)
        return True

    def _talk(self, robot: Robot, way: np.ndarray) -> Goal | None:
        """Answer offers and close auctions; return the goal if this robot is to go through a doorway."""
        won = None
        for mate in self.team.others(robot).values():
            for told in mate.facts.get("doors", ()):
                self._note(_Door(*told))
            self.gaps += [g for g in mate.facts.get("gaps", ()) if g not in self.gaps]
        for message in robot.messages(_KIND):
            what, x, y = message.payload[:3]
            index = next((i for i, d in enumerate(self.doors) if math.dist((d.x, d.y), (x, y)) < self.door_m), None)
            if what == "door":
                cost = self._way_to(robot, (x, y), way)
                if math.isfinite(cost):
                    robot.send(("bid", x, y, cost), message.sender, kind=_KIND)
            elif index is not None and what == "bid" and index in self.offers:
                self.offers[index][1][message.sender] = message.payload[3]
            elif index is not None and what == "won" and robot.name in message.payload[3]:
                won = self.doors[index].beyond(self.door_m)
        for index in [i for i, (end_s, _) in self.offers.items() if robot.time >= end_s]:
            names = crossers(robot.name, self.offers.pop(index)[1])
            door = self.doors[index]
            if names and not door.taken:
                door.taken = True
                robot.send(("won", door.x, door.y, names), kind=_KIND)
                won = door.beyond(self.door_m)
        return won

    def _way_to(self, robot: Robot, place: Goal, way: np.ndarray) -> float:
        """Return the path length to a doorway [m]; infinite if the path leads through another one."""
        assert robot.map is not None
        grid = robot.map.grid
        cell, start = grid.to_cells(place), grid.to_cells(robot.pose[:2])
        if not grid.inside(cell) or not math.isfinite(way[cell[0], cell[1]]):
            return math.inf
        other = [d for d in self.doors if math.dist((d.x, d.y), place) >= self.door_m]
        passable = (grid.cells == 0) & self._room(grid, grid.cells, other)
        target = np.zeros(grid.shape, bool)
        target[cell[0], cell[1]] = True
        through = nearest_by_steps(passable, (int(start[0]), int(start[1])), target) is None
        return math.inf if through else float(way[cell[0], cell[1]])

    def _nearest_door(self, way: np.ndarray, grid) -> Goal | None:
        """Return the place beyond the nearest doorway that is not taken."""
        best, cheapest = None, math.inf
        for door in self.doors:
            cell = grid.to_cells((door.x, door.y))
            cost = float(way[cell[0], cell[1]]) if grid.inside(cell) else math.inf
            if not door.taken and cost < cheapest:
                best, cheapest = door, cost
        return None if best is None else best.beyond(self.door_m)

    def _room(self, grid, occupancy: np.ndarray, doors: list[_Door] | None = None) -> np.ndarray:
        """Return the cells that are not in a doorway, bool (rows, columns)."""
        clear = np.ones(occupancy.shape, bool)
        for door in self.doors if doors is None else doors:
            dx, dy = np.abs(_WAYS[door.way][::-1]) * (0.5 * door.width_m)
            (r0, c0), (r1, c1) = grid.to_cells([(door.x - dx, door.y - dy), (door.x + dx, door.y + dy)])
            clear[max(r0, 0) : r1 + 1, max(c0, 0) : c1 + 1] = False
        return clear
