"""What the tables of a run tell of its robots: who stood still, visits of waypoints, orders, measurements."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from covey.results.folder import ATTITUDE_COLUMNS, POSE_COLUMNS
from covey.results.run import Run
from covey.viewer.wire import pack

_MOST_SAMPLES = 500
"""Largest number of times at which the measurements of the robots are sent."""
_HALTED, _VANISHED, _MUTE = 1, 2, 4
_MARKS = ("fault", "recovered", "controller_failed")


def flags_of(run: Run) -> np.ndarray:
    """Return from which step on a robot has which flags, int32 (m, 3): step, robot, flags as in a frame.

    They follow from the events: a robot that died or whose controller failed has halted, a dead one is mute, too.
    """
    index = {name: i for i, name in enumerate(run.names)}
    gone: set[int] = set()
    active: set[tuple[int, str]] = set()
    rows = []
    events = run.events.filter(run.events["kind"].is_in(_MARKS))
    for step, kind, robot, fault, text in events.select("step", "kind", "robot", "other", "text").iter_rows():
        i = index[robot]
        change = active.discard if kind == "recovered" else active.add
        change((i, kind if kind == "controller_failed" else fault))
        if kind == "fault" and "vanishes True" in text:
            gone.add(i)
        dead, mute = (i, "dies") in active, (i, "radio_dies") in active
        halted = dead or (i, "controller_failed") in active
        rows.append((step, i, _HALTED * halted + _VANISHED * (i in gone) + _MUTE * (dead or mute)))
    return np.array(rows, np.int32).reshape(-1, 3)


def halted_of(run: Run, steps: np.ndarray) -> np.ndarray:
    """Return which robots had halted at some ascending steps, bool (k, n)."""
    halted = np.zeros((len(steps), len(run.names)), np.bool_)
    for step, robot, flags in flags_of(run).tolist():
        halted[np.searchsorted(steps, step) :, robot] = flags & _HALTED
    return halted


def visits_of(run: Run, steps: np.ndarray) -> bytes:
    """Return the message ``waypoints``.

    Its array ``stay`` int32 (m, 3), in the order of the first steps: waypoint, and the first and last of the steps in
    a row at which some robot was there. It is as exact as the recorded poses.

    Args:
        run: a run whose mission has waypoints.
        steps: the step of each recorded pose, (k,).
    """
    mission, moves = run.mission, ~halted_of(run, steps)
    x, y = run.poses[..., 0], run.poses[..., 1]
    stays = [np.empty((0, 3), np.int32)]
    for k, (at_x, at_y) in enumerate(mission["waypoints_m"]):
        near = (x - at_x) ** 2 + (y - at_y) ** 2 <= mission.get("visit_within_m", 1.0) ** 2
        change = np.flatnonzero(np.diff((near & moves).any(axis=1), prepend=False, append=False))
        first, last = steps[change[::2]], steps[change[1::2] - 1]
        stays.append(np.column_stack((np.full(len(first), k), first, last)).astype(np.int32))
    stay = np.concatenate(stays)
    return pack({"type": "waypoints", "name": "waypoints"}, {"stay": stay[np.argsort(stay[:, 1], kind="stable")]})


def has_orders(run: Run) -> bool:
    """Return whether the team was given orders."""
    return "order" in run.mission or bool((run.events["kind"] == "order").any())


def orders_of(run: Run, step_s: float) -> bytes:
    """Return the message ``targets``: ``orders``, each with the ``step`` from which on it held.

    An order has ``objective_m``, ``formation``, ``within_m`` and ``target``, the places [m]. An order that a program
    gave to a simulation without a scenario is known by its event only: then there are no places.
    """
    from covey.planning.orders import Order
    from covey.robots.catalogue import robots as catalogue

    flies = {"aerial_scout"} & set(catalogue.names())
    kinds = [body["kind"] for body in run.manifest.get("bodies", []) for _ in body["start"]]
    drives = np.array([kind not in flies for kind in kinds] or [True] * len(run.names))
    known = list(_orders_known(run, step_s))
    given = [(0, Order.of(run.mission["order"]), True)] if "order" in run.mission else []
    events = run.events.filter(run.events["kind"] == "order")
    for step, x, y, text in events.select("step", "x_m", "y_m", "text").iter_rows():
        formation, mode = text.split(", ")
        told = Order.of({"objective_m": (x, y), "formation": formation, "mode": mode})
        same = [
            (abs(at - step), order)
            for at, order in known
            if (order.objective_m, order.formation, order.mode) == (told.objective_m, formation, mode)
        ]
        given.append((step, min(same, key=lambda one: one[0])[1] if same else told, bool(same)))
    orders = []
    for step, order, whole in given:
        able = ~halted_of(run, np.array([step]))[0] & drives
        count = max(min(run.mission.get("robots", len(able)), int(able.sum())), 1)
        target = np.round(order.slots(count), 4).tolist() if whole else []
        facts = {"objective_m": order.objective_m, "formation": order.formation, "within_m": order.within_m}
        orders.append({"step": step, **facts, "target": target})
    return pack({"type": "targets", "name": "targets", "orders": orders}, {})


def _orders_known(run: Run, step_s: float) -> Iterator[tuple[float, Any]]:
    """Yield the orders of the scenario, and those called for while it ran, with their steps."""
    from covey.events.inputs import recorded_inputs
    from covey.planning.orders import Order
    from covey.scenario.yaml12 import parse_yaml

    scenario = parse_yaml(run.manifest.get("scenario", "")).data or {}
    for event in [*(scenario.get("events") or []), *recorded_inputs(run)]:
        if event.get("order"):
            step, time_s = event.get("at_step"), event.get("at_s") or 0.0
            yield time_s / step_s if step is None else step, Order.of(event["order"])


def measures_of(run: Run) -> bytes:
    """Return the message ``measures``: what each robot measured, at 500 times at most.

    Its header has their names, ``measures``; its arrays: ``step`` int32 (k,), and ``measures`` float32 (k, names, n).
    """
    columns = run.columns_of("measurements")
    names = [name for name in columns if name not in ("step", "robot", *POSE_COLUMNS, *ATTITUDE_COLUMNS)]
    rows = np.unique(np.linspace(0, len(run.steps) - 1, min(_MOST_SAMPLES, len(run.steps))).round().astype(np.int64))
    values = {name: run.series(name)[rows].astype(np.float32) for name in names}
    if "vx_m_s" in columns:
        values["speed_m_s"] = np.hypot(run.series("vx_m_s")[rows], run.series("vy_m_s")[rows]).astype(np.float32)
    values = {name: row for name, row in values.items() if not np.isnan(row).all()}
    table = np.array([*values.values()], np.float32).reshape(len(values), len(rows), len(run.names))
    arrays = {"step": run.steps[rows].astype(np.int32), "measures": np.moveaxis(table, 1, 0)}
    return pack({"type": "measures", "name": "measures", "measures": [*values]}, arrays)
