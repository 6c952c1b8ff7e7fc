"""What the tables of a run tell of its robots: who stood still, visits of waypoints, orders, measurements."""

import numpy as np

from covey.plain import pack
from covey.results.folder import ATTITUDE_COLUMNS, POSE_COLUMNS
from covey.results.run import Run

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
    for event in run.events_of(*_MARKS):
        step, kind, fault, i = event["step"], event["kind"], event["other"], index[event["robot"]]
        change = active.discard if kind == "recovered" else active.add
        change((i, kind if kind == "controller_failed" else fault))
        if event["data"].get("vanishes"):
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


def orders_of(run: Run) -> bytes:
    """Return the message ``targets``: ``orders``, each with the ``step`` from which on it held.

    An order has ``objective_m``, ``formation``, ``within_m`` and ``target``, the places [m].
    """
    from covey.planning.orders import Order
    from covey.robots.catalogue import robots as catalogue

    flies = {"aerial_scout"} & set(catalogue.names())
    kinds = [body["kind"] for body in run.manifest.get("bodies", []) for _ in body["start"]]
    drives = np.array([kind not in flies for kind in kinds] or [True] * len(run.names))
    given = [(0, run.mission["order"])] if "order" in run.mission else []
    orders = []
    for step, entry in [*given, *((event["step"], event["data"]) for event in run.events_of("order"))]:
        order, able = Order.of(entry), ~halted_of(run, np.array([step]))[0] & drives
        count = max(min(run.mission.get("robots", len(able)), int(able.sum())), 1)
        facts = {"objective_m": order.objective_m, "formation": order.formation, "within_m": order.within_m}
        orders.append({"step": step, **facts, "target": np.round(order.slots(count), 4).tolist()})
    return pack({"type": "targets", "name": "targets", "orders": orders}, {})


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
