"""Messages with what a run recorded besides its tables: plans, scans, and maps as they grew.

Each has a name, by which it is asked for, and is sent once.
"""

from collections.abc import Callable, Iterable

import numpy as np

from covey.plain import pack
from covey.results.checked import reading
from covey.results.run import Run
from covey.viewer.messages import Watch


def details_of(run: Run, layers: Iterable[str]) -> dict[str, Callable[[], list[bytes]]]:
    """Return what makes the messages, by name: ``paths``, ``lidar:ROBOT``, ``changes:LAYER``; no file is read yet."""
    made: dict[str, Callable[[], list[bytes]]] = {}
    if has(run, "plans"):
        made["paths"] = lambda: [plans_of(run)]
    if has(run, "scans"):
        made |= {f"lidar:{i}": lambda i=i: scans_of(run, i) for i in range(len(run.names))}
    return made | {f"changes:{name}": lambda name=name: [changes_of(run, name)] for name in over_time(run, layers)}


def has(run: Run, name: str) -> bool:
    """Return whether a run recorded ``plans``, ``scans`` or ``map_changes``."""
    return (run.folder / f"{name}.npz").is_file()


def over_time(run: Run, layers: Iterable[str]) -> list[str]:
    """Return those of some layers of cells that a run recorded as they grew: the maps."""
    grew = has(run, "map_changes")
    return [name for name in layers if grew and (name == "union" or name.startswith("map:"))]


def wanted_of(watch: Watch) -> set[str]:
    """Return the names of the messages that a page needs for what it shows."""
    scans = watch.robots if "lidar" in watch.details else ()
    return {*watch.details, *(f"lidar:{i}" for i in scans), *(f"changes:{name}" for name in watch.layers)}


def every_s_of(run: Run, layers: Iterable[str]) -> dict[str, float]:
    """Return the period [s] of the details and layers that a run recorded at one, by name."""
    record: dict[str, float] = run.manifest.get("record", {})
    every_s = {"lidar": record["scans_every_s"]} if has(run, "scans") else {}
    return every_s | dict.fromkeys(over_time(run, layers), record.get("maps_every_s", 0.0))


def plans_of(run: Run) -> bytes:
    """Return the message ``plans``.

    Its arrays: ``step``, ``robot`` int32 (p,), from when on each plan was in force, and whose it was; ``begin`` int32
    (p + 1,), where its points begin; ``point`` float32 (k, 2), the points ahead, the goal last [m].
    """
    plans = run.plans
    assert plans is not None
    arrays = {"step": plans.steps, "robot": plans.robots, "begin": plans.begins}
    arrays = {name: values.astype(np.int32) for name, values in arrays.items()}
    return pack({"type": "plans", "name": "paths"}, arrays | {"point": plans.points.astype(np.float32)})


def scans_of(run: Run, robot: int) -> list[bytes]:
    """Return a message ``scans`` for each lidar of a robot that was read.

    Its arrays: ``step`` int32 (k,), from when on each scan was the newest; ``pose`` float32 (k, 3), of the sensor then;
    ``ranges`` float32 (k, rays) [m]; ``angle`` float32 (rays,) [rad] in the frame of the sensor.
    """
    assert run.scans is not None
    return [
        pack(
            {"type": "scans", "name": f"lidar:{robot}", "robot": robot, "sensor": sensor, "range_m": scans.range_m},
            {
                "step": scans.steps.astype(np.int32),
                "pose": scans.poses.astype(np.float32),
                "ranges": scans.ranges,
                "angle": scans.angles.astype(np.float32),
            },
        )
        for sensor, scans in run.scans.get(run.names[robot], {}).items()
    ]


def changes_of(run: Run, layer: str) -> bytes:
    """Return the message ``changes`` of a map, which comes as it was at the end.

    Its arrays: ``changed`` int32 (k, 2), step and cell; ``before``, ``after`` int8 (k,).
    """
    assert run.map_changes is not None
    with reading(run.folder / "map_changes.npz"):
        changes = run.map_changes.of[None if layer == "union" else layer.removeprefix("map:")]
    arrays = {"changed": np.column_stack((changes.steps, changes.cells)).astype(np.int32)}
    arrays |= {"before": changes.before, "after": changes.values}
    return pack({"type": "changes", "name": f"changes:{layer}", "layer": layer}, arrays)
