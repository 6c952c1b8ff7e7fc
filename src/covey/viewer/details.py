"""What viewers see of robots beside their poses: estimates, routes, readings, links, tags.

A detail is computed only while somebody watches it, and reads the simulation without changing it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from covey.errors import printable
from covey.geometry.raycast import cast_many
from covey.geometry.se2 import compose
from covey.planning.orders import ORDER_KEY, Order
from covey.runtime.phases.detailing import navigators, route_of
from covey.runtime.simulation import Simulation
from covey.viewer.flights import flights
from covey.viewer.inspect_robot import inspector, measures

Arrays = dict[str, np.ndarray]
Plain = dict[str, Any]

MOST_LINKS = 5000
"""Largest number of links that are sent; the shortest ones."""
_FAINT = 0.01  # links by which less than this share of packets get through are not shown
_MOST_TAGS = 2000
_ELSEWHERE = "The robots' software runs in processes of its own, which keep it to themselves."


def details_of(sim: Simulation, wanted: set[str], robots: set[int]) -> tuple[Arrays, Plain]:
    """Return arrays and plain data for a frame.

    Args:
        wanted: names of details, see `DETAILS`; others are ignored.
        robots: the selected robots.
    """
    arrays: Arrays = {}
    plain: Plain = {}
    chosen = sorted(robot for robot in robots if robot < len(sim.names))
    for name in sorted(wanted & DETAILS.keys()):
        DETAILS[name](sim, chosen, arrays, plain)
    return arrays, plain


def _estimates(sim: Simulation, robots: list[int], arrays: Arrays, plain: Plain) -> None:
    """``estimate`` (n, 3): x, y [m], heading [rad]; ``estimate_spread`` (n, 3): variances xx, xy, yy [m2]."""
    arrays["estimate"] = sim.localization.carried.astype(np.float32)
    arrays["estimate_spread"] = sim.localization.covariance[:, [0, 0, 1], [0, 1, 1]].astype(np.float32)


def _paths(sim: Simulation, robots: list[int], arrays: Arrays, plain: Plain) -> None:
    """``path`` (m, 2): the points ahead of all robots, the goal last; ``path_of`` (n + 1,): where each one's begin."""
    found = navigators(sim)
    if found is None:
        plain["lacks_paths"] = _ELSEWHERE
        return
    routes = {i: route_of(sim, i, navigator) for i, navigator in found}
    parts = [routes.get(i, np.zeros((0, 2))) for i in range(len(sim.names))]
    arrays["path"] = np.concatenate(parts).astype(np.float32)
    arrays["path_of"] = np.cumsum([0, *map(len, parts)]).astype(np.int32)


def _lidar(sim: Simulation, robots: list[int], arrays: Arrays, plain: Plain) -> None:
    """The newest scans of the selected robots, one after another.

    ``lidar_at`` (k, 3): robot, x, y [m] of the sensor; ``lidar_of`` (k + 1,): where the rays of each begin; ``lidar``
    (m, 3): x, y [m] where a ray ended, and 1 if it hit something.
    """
    at, rays = [], []
    for i, bank in _of(sim, robots, "scan"):
        if bank.readings is None:
            continue
        reading = bank.readings.row(bank.row_of[i])
        x, y, heading = compose(bank.newest.pose[i], reading.mount).tolist()
        hit = np.isfinite(reading.ranges)
        length = np.where(hit, reading.ranges, reading.range_m)[~np.isnan(reading.ranges)]
        angle = (heading + reading.angles)[~np.isnan(reading.ranges)]
        ends = x + length * np.cos(angle), y + length * np.sin(angle), hit[~np.isnan(reading.ranges)]
        at.append((i, x, y))
        rays.append(np.column_stack(ends))
    arrays["lidar_at"] = np.array(at, np.float32).reshape(-1, 3)
    arrays["lidar"] = np.concatenate([np.zeros((0, 3)), *rays]).astype(np.float32)
    arrays["lidar_of"] = np.cumsum([0, *map(len, rays)]).astype(np.int32)


def _visible(sim: Simulation, robots: list[int], arrays: Arrays, plain: Plain) -> None:
    """The area that the lidars and tag cameras of the selected robots can see now, between walls.

    ``visible_at`` (k, 3): robot, x, y [m] of the sensor; ``visible`` (k, 361, 2): the points [m] around it.
    """
    at, areas = [], []
    for i, bank in _of(sim, robots, "scan", "targets"):
        record = bank.record
        x, y, heading = compose(sim.state.pose[i], record.mount).tolist()
        half = 0.5 * np.radians(record.fov_deg)
        angle = heading + np.linspace(-half, half, 361)
        walls = sim.world_state.skip, sim.world_state.grid.frame
        length = cast_many(*walls, np.full(361, x), np.full(361, y), angle, record.range_m)
        at.append((i, x, y))
        areas.append(np.column_stack((x + length * np.cos(angle), y + length * np.sin(angle))))
    arrays["visible_at"] = np.array(at, np.float32).reshape(-1, 3)
    arrays["visible"] = np.array(areas, np.float32).reshape(-1, 361, 2)


def _of(sim: Simulation, robots: list[int], *fed: str) -> list[tuple[int, Any]]:
    """Return the robots and the banks of their sensors that feed something, see `SensorRecord.feeds`."""
    banks = [bank for bank in sim.sensing.banks if {*fed} & {*bank.record.feeds}]
    return [(i, bank) for i in robots for bank in banks if i in bank.row_of]


def _links(sim: Simulation, robots: list[int], arrays: Arrays, plain: Plain) -> None:
    """``link`` (m, 2): pairs of robots that could hear each other now; ``link_chance`` (m,): share of packets heard."""
    state, world = sim.state, sim.world_state
    speaks = state.radio_alive & ~state.halted
    best: dict[tuple[int, int], float] = {}
    for channel in sim.communication.network.radio_channels:
        found = channel.propagation.all_links(world, state.pose[:, :2])
        chance = channel.propagation.chance(found) * (speaks[found.a] & speaks[found.b])
        kept = np.flatnonzero(chance >= _FAINT)
        kept = kept[np.argsort(found.distance_m[kept], kind="stable")[:MOST_LINKS]]
        for a, b, share in zip(found.a[kept].tolist(), found.b[kept].tolist(), chance[kept].tolist(), strict=True):
            pair = min(a, b), max(a, b)
            best[pair] = max(share, best.get(pair, 0.0))
        plain["links_in_all"] = max(plain.get("links_in_all", 0), int(np.count_nonzero(chance >= _FAINT)))
    arrays["link"] = np.array(list(best), np.int32).reshape(-1, 2)
    arrays["link_chance"] = np.array(list(best.values()), np.float32)


def _tags(sim: Simulation, robots: list[int], arrays: Arrays, plain: Plain) -> None:
    """``tag`` (k, 2): places of the newest tags [m]; ``tags``: owner, time [s] and content of each."""
    tags = sim.communication.tags.tags[-_MOST_TAGS:]
    arrays["tag"] = np.array([(tag.x, tag.y) for tag in tags], np.float32).reshape(-1, 2)
    plain["tags"] = [[tag.owner, round(tag.time_s, 3), printable(str(tag.content)[:80])] for tag in tags]


def _waypoints(sim: Simulation, robots: list[int], arrays: Arrays, plain: Plain) -> None:
    """``idleness_s`` (k,): time since the last visit of each waypoint; ``visits`` (k,)."""
    if (last_s := getattr(sim.tracker, "last_s", None)) is not None:
        arrays["idleness_s"] = (sim.time - last_s).astype(np.float32)
        arrays["visits"] = np.asarray(sim.tracker.visits, np.int32)  # type: ignore[attr-defined]


def _targets(sim: Simulation, robots: list[int], arrays: Arrays, plain: Plain) -> None:
    """``target`` (k, 2): places of the present order [m]; ``order``: its objective and formation."""
    entry = sim.communication.blackboard.entries.get(ORDER_KEY)
    if entry is None:
        return
    order = Order.of(entry)
    able = ~sim.state.halted & ~sim.model.flies
    count = min(getattr(sim.tracker, "robots", len(able)), int(able.sum()))
    arrays["target"] = order.slots(max(count, 1)).astype(np.float32)
    plain["order"] = {"objective_m": order.objective_m, "formation": order.formation, "within_m": order.within_m}


def _statuses(sim: Simulation, robots: list[int], arrays: Arrays, plain: Plain) -> None:
    """``statuses``: what each robot does, see `Robot.status`; empty without a controller of its own."""
    answered = sim.deciding.answered
    plain["statuses"] = [answered[i].status if i in answered else "" for i in range(len(sim.names))]
    plain["failed"] = sorted(sim.deciding.failed)


DETAILS: dict[str, Callable[[Simulation, list[int], Arrays, Plain], None]] = {
    "estimates": _estimates,
    "paths": _paths,
    "lidar": _lidar,
    "visible": _visible,
    "links": _links,
    "messages": flights,
    "tags": _tags,
    "waypoints": _waypoints,
    "targets": _targets,
    "statuses": _statuses,
    "measures": measures,
    "inspector": inspector,
}
"""The details by name; the docstring of each says what it adds to a frame."""
