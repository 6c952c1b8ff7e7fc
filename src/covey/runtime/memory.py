"""How much memory a simulation takes, before anything of it is made.

The numbers of bytes are those of the arrays (`covey.mapping.occupancy.tiles`, `covey.mapping.elevation.kernels`,
`covey.onboard.navigation.route`); what no array says is measured by ``benchmarks/memory.py``, which prints the largest
resident memory of runs beside this estimate.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import psutil

from covey.geometry.raycast import cast_many
from covey.mapping.exchange.share_maps import ShareMaps
from covey.mapping.exchange.shared_maps import check_size
from covey.mapping.localization import TruePose
from covey.mapping.localizer import Extent, LocalizerRecord
from covey.mapping.records import ElevationMapping
from covey.memory import check_room
from covey.onboard.controller import Program
from covey.onboard.navigation.route import MOST_HELD
from covey.robots.model import RobotModel

PROCESS = 255e6
"""Of a process with the libraries and kernels of a run."""
APART, CONTROLLER_PROCESS = 150e6, 80e6
"""Of the simulation and of each controller's own process, if these are processes: pages that they share count once."""
ROBOT = 0.4e6
"""Of a robot with its handle, and its rows until they are written."""
WORLD_CELL = 45.0
"""Once for each cell of the world: truth, skip field, clearance, and what a run records of them."""
COVERED_CELL, EXPLORED_CELL = 4 / 32, 5 / 32
"""For each cell in the rows of the world that a robot passes, or sees: where it has been, and what it has explored."""
STATE, EVIDENCE, STAMP, SUM = 1.0, 1.0, 2.0, 2.0
"""For each cell of a map: its state; where a robot has looked, its evidence and the time; the sum of all evidence."""
ALIGNED, HEARD = 13.0, 1.0
"""For each cell of the map of a robot that does not know where others started: their evidence, laid into its map; and
for each other robot that it hears, that one's evidence, which it tries to align with its own, from the first search
on; robots that do SLAM as a team do not search."""
ROUTE = 5.0
"""For each cell of the map of a robot that plans routes: the cost of driving, and the map that it was computed from; in
one process they take `covey.onboard.navigation.route.MOST_HELD` at most."""
SEARCH_CELL, COMPARED_CELL = 35.0, 10.0
"""Once for each cell of the largest map: a search over all of it; comparing maps with the truth at the end."""
ALTITUDES = 84.0
"""For each vertex of a map of the ground: own and others' evidence, mean and variance, marks."""
_TILE = 32
_LOOKS, _AROUND = 16, np.linspace(0.0, 2.0 * np.pi, 90, endpoint=False)[None]


@dataclass(frozen=True)
class Crew:
    """Equal robots, as the estimate needs them: a `covey.onboard.group.Group`, or a group of a scenario."""

    robot: RobotModel
    start: np.ndarray
    program: Program | None
    localization: LocalizerRecord = field(default_factory=TruePose)


def parts_of(
    world: Any, crews: Sequence[Crew], *, sharing: ShareMaps | None, processes: bool, timeout_s: float
) -> dict[str, float]:
    """Return the bytes that a run takes at most, by what takes them.

    How much of its map a robot sees itself is estimated: the disc of its lidar, and the strip that it drives through
    until the end of the run, or until a team has driven through the world three times; of the truth, the rows that
    these may touch.

    Args:
        world: the truth, a `covey.world.world.World`.
        crews: the robots.
        sharing: how robots share maps; None: they do not.
        processes: whether each controller is a process.
        timeout_s: the longest simulated time [s].
    """
    n, cells, grid = sum(len(crew.start) for crew in crews), world.grid.cells.size, world.grid
    found = {
        "the process": APART if processes else PROCESS,
        "the world": cells * WORLD_CELL,
        "the robots": n * ROBOT + 8.0 * n * n,
    }
    maps = routes = costs = largest = 0.0
    found["their localization"] = 0.0
    shares, own_frames = sharing is not None, sharing is not None and sharing.start_poses == "unknown"
    for crew in crews:
        extent = _extent(crew, world, n, timeout_s)
        found["the world"] += len(crew.start) * cells * _truth(crew, world, extent, timeout_s)
        found["their localization"] += crew.localization.memory(extent)
        record = crew.robot.mapping
        if not crew.robot.maps or record is None:
            continue
        count = len(crew.start)
        if isinstance(record, ElevationMapping):
            ground = world.ground
            if ground is None:
                continue
            fine = (ground.spacing_m / (record.spacing_m or ground.spacing_m)) ** 2
            own = ground.altitude.size * fine
            maps += count * own * ALTITUDES
        else:
            own = _cells(grid, crew.start, record.resolution_m, own_frames)
            seen = min(1.0, extent.seen_m2(0.5 * _TILE * record.resolution_m) / max(extent.area_m2, 1e-9))
            maps += count * own * (STATE + seen * (EVIDENCE + STAMP + (EVIDENCE + SUM if shares else 0.0)))
            if sharing is not None and own_frames:
                looks = timeout_s > sharing.align_every_s and not crew.localization.finds_mates
                maps += count * own * (ALIGNED + (HEARD * (n - 1) if looks else 0.0))
        largest = max(largest, own)
        program = crew.program
        if program is not None and program.plans_routes:
            routes += count * own * ROUTE
            costs += count * own * program.cell_bytes
        if processes:
            maps += count * own * STATE  # the simulation keeps a copy
    if not processes:
        routes = min(routes, MOST_HELD + ROUTE * largest)
    found |= {"the maps of the robots": maps, "their routes": routes + costs}
    found["searches over maps"] = largest * (COMPARED_CELL + (SEARCH_CELL if routes else 0.0))
    if processes:
        found["processes of the controllers"] = n * CONTROLLER_PROCESS
    return found


def check_memory(
    world: Any, crews: Sequence[Crew], *, sharing: ShareMaps | None, processes: bool, timeout_s: float
) -> None:
    """Raise `InvalidValueError` if a run takes more than this process can get; arguments as for `parts_of`."""
    parts = parts_of(world, crews, sharing=sharing, processes=processes, timeout_s=timeout_s)
    has = psutil.Process().memory_info().rss  # its libraries already
    parts["the process"] = max(0.0, parts["the process"] - has)
    rows, columns = world.grid.shape
    robots = sum(len(crew.start) for crew in crews)
    most = sorted(((size, name) for name, size in parts.items()), reverse=True)[:2]
    check_room(
        sum(parts.values()),
        f"a simulation of {columns} x {rows} cells and a team of {robots} "
        f"({', '.join(f'{name} {size / 1e9:.2g} GB' for size, name in most)}) takes about",
        "take fewer robots, coarser maps (mapping.resolution_m) or a coarser world (resolution_m), or a smaller world",
    )


def _cells(grid: Any, start: np.ndarray, resolution_m: float, own_frames: bool) -> float:
    """Return the number of cells of one map: whole tiles over the world, from every start if those are unknown."""
    rows, columns = grid.shape
    corners = grid.to_world(np.array([(r, c) for r in (0, rows) for c in (0, columns)]) - 0.5)
    sides = corners.max(axis=0) - corners.min(axis=0)
    if own_frames:
        sides = np.full(2, 2.0 * np.abs(corners[None] - start[:, None, :2]).max())
    shape = [_TILE * math.ceil(round(s / resolution_m, 6) / _TILE) for s in sides.tolist()]
    if not own_frames:  # such maps grow as robots see more
        check_size(shape)
    return float(math.prod(shape))


def _truth(crew: Crew, world: Any, extent: Extent, timeout_s: float) -> float:
    """Return the bytes for each cell of the world of what a robot has truly passed and explored at most."""
    looking = [getattr(sensor, "range_m", 0.0) for sensor in crew.robot.sensors if {"scan", "ground"} & {*sensor.feeds}]
    way, tall = extent.way_m or crew.robot.max_speed_m_s * timeout_s, world.grid.size_m[1]
    explored = min(1.0, (2.0 * max(looking) + way) / tall) if looking else 0.0
    return COVERED_CELL * min(1.0, way / tall) + EXPLORED_CELL * explored


def _extent(crew: Crew, world: Any, robots: int, timeout_s: float) -> Extent:
    """Return what the robots of a group are about to see.

    How far one sees is measured from some of the starts. It drives until the end of the run, or until a team has driven
    through the world three times.
    """
    lidar = next((sensor for sensor in crew.robot.sensors if "scan" in sensor.feeds), None)
    area, cells = float(np.prod(world.grid.size_m)), world.grid.cells.size
    if lidar is None or not len(crew.start):
        return Extent(len(crew.start), 0, 0.0, 0.0, area, cells)
    mapping = crew.robot.mapping
    reach = min(lidar.range_m, getattr(mapping, "max_range_m", None) or lidar.range_m)
    some = crew.start[:: max(1, len(crew.start) // _LOOKS)]
    x, y, angle = (part.ravel() for part in np.broadcast_arrays(some[:, :1], some[:, 1:2], _AROUND))
    ends = cast_many(world.skip, world.grid.frame, x, y, angle, reach)
    sight = math.sqrt(float((ends**2).mean()))
    longest_s = min(timeout_s, 3.0 * area / max(robots * 2.0 * sight * crew.robot.max_speed_m_s, 1e-9))
    way = crew.robot.max_speed_m_s * longest_s
    return Extent(len(crew.start), len(lidar.angles), sight, way, area, cells)
