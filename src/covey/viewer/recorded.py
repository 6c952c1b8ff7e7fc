"""`Recorded`: lets viewers play a run that has ended, from its folder.

The page gets all that changed during the run, then the poses in blocks of time, and plays them by itself. Layers of
cells come when the page asks for them. A file that plays offline holds the same messages, one after the other.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from covey import __version__
from covey.errors import CoveyError, RunFolderError
from covey.geometry.faces import last_of_cells
from covey.geometry.grid import Grid
from covey.plain import dumps, pack
from covey.results.landscape import Landscape
from covey.results.run import Run
from covey.viewer.cell_layers import layer_of
from covey.viewer.drawn import drawn_in, message_of
from covey.viewer.hub import Hub, PageClient
from covey.viewer.messages import Message, Watch
from covey.viewer.recorded_details import details_of, every_s_of, has, over_time, wanted_of
from covey.viewer.recorded_team import has_orders, measures_of, orders_of, visits_of

_RADIUS_M = 0.2
"""Radius of robots in runs that did not record their bodies."""
_BLOCK_BYTES = 1 << 18
"""Size of a block of poses: browsers take in many messages of this size several times faster than a large one."""


class Recorded:
    """Shows a recorded run to viewers.

    Args:
        run: the run.
        other: another run to compare it with; in the same world there is a layer of what that one has explored.

    Attributes:
        hub: the viewers.
    """

    def __init__(self, run: Run, other: Run | None = None):
        self.hub, self._run = Hub(), run
        self._layers, self._made = layers_of(run), dict[str, list[bytes]]()
        if other is not None and _comparable(run, other):
            self._layers["other_explored"] = layers_of(other)["first_explored"]
        self.hub.describe(description_of(run, list(self._layers)), {})
        self._recording = recording_of(run)
        self._details = _details_of(run, self._layers)
        self._message("poses")  # what is damaged is told before anybody looks
        self._sent: dict[PageClient, set[str]] = {}

    def handle(self, client: PageClient, message: Message) -> None:
        """Send a viewer the recording, and the layers that it watches; called in the server's thread."""
        if not isinstance(message, Watch):
            self.hub.say(
                {"type": "refused", "id": message.id, "text": "this run has ended: it can only be watched"}, client
            )
            return
        new = client not in self._sent
        if new:
            self._sent = {one: sent for one, sent in self._sent.items() if one in self.hub.clients}
            self._sent[client] = set()
            client.texts.append(self._recording)
        wanted = {*message.layers, *wanted_of(message)} & {*self._layers, *self._details, "estimates"}
        more = wanted - self._sent[client]
        layers = sorted(more & self._layers.keys())  # what lies below comes first
        for name in [*layers, *(["poses"] if new else []), *sorted(more - self._layers.keys())]:
            try:
                client.texts += [one for one in self._message(name) if one not in client.texts]
            except RunFolderError as error:  # the rest can be seen all the same
                self.hub.say({"type": "refused", "id": message.id, "text": str(error)}, client)
        once = self._sent[client] - self._layers.keys()
        self._sent[client] = wanted | once  # a layer that is watched again is sent again
        client.wanted.set()

    def _message(self, name: str) -> list[bytes]:
        """Return the messages with a layer, poses, estimates or details, made once; none if there is no such thing."""
        if name not in self._made:
            if name in self._layers:
                self._made[name] = [layer_message(name, *self._layers[name]())]
            elif name == "poses":
                self._made[name] = blocks_of("pose", self._run.poses)
            elif name == "estimates" and has_estimates(self._run):
                self._made[name] = estimates_of(self._run)
            elif name in self._details:
                self._made[name] = self._details[name]()
        return self._made.get(name, [])


def _comparable(run: Run, other: Run) -> bool:
    """Return whether two runs explored cells of one grid, in steps of one length."""
    if run.maps is None or other.maps is None or not run.maps.explorable.any() or not other.maps.explorable.any():
        return False
    return place_of(run.maps.truth) == place_of(other.maps.truth) and step_s_of(run) == step_s_of(other)


def messages_of(run: Run, layers: list[str] | None = None) -> Iterator[bytes]:
    """Yield all messages of a recording: its description, the recording, and its layers.

    Args:
        run: the run.
        layers: names of layers; None: all.
    """
    made = layers_of(run)
    if layers is not None:
        made = {name: make for name, make in made.items() if name in layers}
    yield dumps({**description_of(run, list(made)), "edits": False}).encode()
    yield recording_of(run)
    yield from blocks_of("pose", run.poses)
    if has_estimates(run):
        yield from estimates_of(run)
    for make in _details_of(run, made).values():
        yield from make()
    for name, make in made.items():
        yield layer_message(name, *make())


def description_of(run: Run, layers: list[str]) -> dict[str, Any]:
    """Return robots, world, mission and layers of a run: what never changes."""
    manifest, maps = run.manifest, run.maps
    grew = over_time(run, layers)
    world = {"name": run.manifest["name"], "wall_height_m": 2.0, "doors": []} | manifest.get("world", {})
    return {
        "type": "hello",
        "mode": "replay",
        "edits": False,
        "covey": __version__,
        "name": manifest["name"],
        "seed": manifest["seed"],
        "folder": "/".join(run.folder.resolve().parts[-2:]).lstrip("/"),
        "step_s": step_s_of(run),
        "goal": run.goal,
        "mission": run.mission,
        "robots": robots_of(run),
        "targets": manifest.get("targets", []),
        "world": {**world, **place_of(_box(run) if maps is None else maps.truth), "ground": run.landscape is not None},
        "layers": layers,
        "at_end": [name for name in layers if not layer_of(name).is_exact and name not in grew],
        "every_s": every_s_of(run, layers),
        "details": [
            *(["estimates"] if has_estimates(run) else []),
            *(["links"] if run.links is not None else []),
            *(["paths"] if has(run, "plans") else []),
            *(["lidar"] if has(run, "scans") else []),
            *(["waypoints"] if "waypoints_m" in run.mission else []),
            *(["targets"] if has_orders(run) else []),
            "tags",
            *drawn_in(run),
        ],
        "drawn": drawn_in(run),
    }


def _details_of(run: Run, layers: Iterable[str]) -> dict[str, Callable[[], list[bytes]]]:
    """Return what makes the messages beside recording, poses and layers, by name."""
    made = details_of(run, layers) | {"measures": lambda: [measures_of(run)]}
    made |= {name: lambda name=name: [message_of(run, name)] for name in drawn_in(run)}
    if "waypoints_m" in run.mission:
        made["waypoints"] = lambda: [visits_of(run, steps_of(run))]
    if has_orders(run):
        made["targets"] = lambda: [orders_of(run)]
    return made


def step_s_of(run: Run) -> float:
    """Return the length of a control step [s]."""
    if "step_s" in run.manifest:
        return float(run.manifest["step_s"])
    return float(run.times[-1] / run.steps[-1]) if len(run.times) else 0.1


def steps_of(run: Run) -> np.ndarray:
    """Return the step of each recorded pose, int64 (k,)."""
    return run.steps[np.searchsorted(run.times, run.pose_times)]


def robots_of(run: Run) -> list[dict[str, Any]]:
    """Return name, kind, group, start and discs of each robot; of old runs, which have no bodies, a disc of 0.2 m."""
    bodies = [
        {"kind": body["kind"], "group": body["group"], "discs": body["discs_m"], "start": start}
        for body in run.manifest.get("bodies", [])
        for start in body["start"]
    ]
    if len(bodies) != len(run.names):
        bodies = [{"kind": "robot", "discs": [[0.0, 0.0, _RADIUS_M]]} for _ in run.names]
    return [{"name": name, **body} for name, body in zip(run.names, bodies, strict=True)]


def place_of(grid: Grid) -> dict[str, Any]:
    """Return where the cells of a grid are."""
    rows, columns = grid.shape
    return {"rows": rows, "columns": columns, "resolution_m": grid.resolution, "origin": list(grid.origin)}


def recording_of(run: Run) -> bytes:
    """Return the message with all that changed during the run.

    Its arrays: ``step`` int32 (k,), the steps with recorded poses, which come as `blocks_of`; ``links`` int32 (m, 4),
    changes of links: step, robot, other, 1 or 0;
    ``changed:LAYER`` int32 (c, 2), changes of the truth or the ground: step and cell, with ``before:LAYER`` and
    ``after:LAYER`` (c,); ``tag`` float32 (m, 3), tags: step, x, y [m]; ``time_s`` float64 (t,) and
    ``team:NAME`` float64 (t,), measurements of the team.
    """
    arrays: dict[str, np.ndarray] = {"step": steps_of(run).astype(np.int32)}
    arrays["links"] = links_of(run)
    if run.maps is not None and len(changed := run.maps.changed):
        arrays |= {"changed:truth": changed[:, :2]}
        arrays |= {"before:truth": changed[:, 2].astype(np.uint8), "after:truth": changed[:, 3].astype(np.uint8)}
    if run.landscape is not None and run.landscape.changes:
        arrays |= changes_of(run.landscape)
    tags = run.tags_left
    arrays["tag"] = np.stack([tags[name].to_numpy().astype(np.float32) for name in ("step", "x_m", "y_m")], axis=1)
    arrays["time_s"] = run.times
    for name in run.team.columns:
        if name not in ("step", "time_s"):
            arrays[f"team:{name}"] = run.series(name)
    events = [
        {name.removesuffix("_m"): value for name, value in event.items() if value not in ("", {})}
        for event in run.events_of()
    ]
    told = [list(row) for row in tags.select("robot", "time_s", "text").iter_rows()]
    return pack({"type": "recording", "status": run.status, "events": events, "tags": told}, arrays)


def has_estimates(run: Run) -> bool:
    """Return whether a run recorded estimates: those of a design do only if it keeps everything."""
    return "estimate_x_m" in run.columns_of("measurements")


def estimates_of(run: Run) -> list[bytes]:
    """Return the messages with the estimates of all robots; one without arrays if they are the poses."""
    if np.allclose(run.estimates, run.poses, rtol=0.0, atol=1e-9):
        return [pack({"type": "poses", "name": "estimate", "as": "pose"}, {})]
    return blocks_of("estimate", run.estimates)


def blocks_of(name: str, poses: np.ndarray) -> list[bytes]:
    """Return the messages with the poses, or the estimates, of all robots, block by block.

    Args:
        name: ``pose`` or ``estimate``.
        poses: x, y [m], heading [rad] at each recorded step, (k, n, 3). They are sent as float32: a place is exact to
            4 µm at 50 m, and to 0.06 mm at 1 km.
    """
    rows = poses.astype(np.float32)
    each = max(1, _BLOCK_BYTES // max(rows[:1].nbytes, 1))
    return [
        pack({"type": "poses", "name": name, "first": first}, {"poses": rows[first : first + each]})
        for first in range(0, len(rows), each)
    ]


def changes_of(landscape: Landscape) -> dict[str, np.ndarray]:
    """Return the changes of the ground, vertex by vertex."""
    changed, before, after = [], [], []
    columns = landscape.altitude.shape[1]
    for change in landscape.changes:
        rows, across = np.nonzero(change.before != change.after)
        cells = (rows + change.row) * columns + across + change.column
        changed.append(np.column_stack((np.full(len(cells), change.step), cells)))
        before.append(change.before[rows, across])
        after.append(change.after[rows, across])
    return {
        "changed:ground": np.concatenate(changed).astype(np.int32),
        "before:ground": np.concatenate(before).astype(np.float32),
        "after:ground": np.concatenate(after).astype(np.float32),
    }


def layers_of(run: Run) -> dict[str, Callable[[], tuple[Grid, np.ndarray]]]:
    """Return the layers of cells by name, see `covey.viewer.cell_layers`: place and cells, as they are at the end."""
    maps, landscape = run.maps, run.landscape
    made: dict[str, Callable[[], tuple[Grid, np.ndarray]]] = {}
    if maps is not None:
        truth = maps.truth
        made["truth"] = lambda: (truth, truth.cells)
        if maps.explorable.any():
            made["first_explored"] = lambda: (truth, maps.first_explored)
            made["last_explored"] = lambda: (truth, maps.last_explored)
        made["first_covered"] = lambda: (truth, _first_covered(run))
        made["last_covered"] = lambda: (truth, maps.last_covered)
        for name, cells in (("seen_by", maps.explored_by), ("passed_by", maps.covered_by)):
            if cells is not None:
                made[name] = lambda cells=cells: (truth, cells.astype(np.int32))
        if (faces := maps.faces) is not None:
            made["searched_walls"] = lambda: (truth, last_of_cells(faces, truth.shape))
        if (union := maps.union) is not None:
            made["union"] = lambda: (union, union.cells)
        for name, grid in zip(run.names, maps.robots, strict=False):
            if grid is not None:
                made[f"map:{name}"] = lambda grid=grid: (grid, grid.cells)
    if landscape is not None:
        made["ground"] = lambda: (_around(landscape, landscape.frame[2]), landscape.altitude.astype(np.float32))
        for name, belief in landscape.beliefs.items():
            place, error = _around(landscape, landscape.spacing_m), belief.altitude - landscape.truth
            made[f"altitude:{name}"] = lambda place=place, belief=belief: (place, belief.altitude)
            made[f"error:{name}"] = lambda place=place, error=error: (place, error.astype(np.float32))
            made[f"interval:{name}"] = lambda place=place, belief=belief: (place, belief.interval)
    return made


def _around(landscape: Landscape, spacing_m: float) -> Grid:
    """Return the place of cells around the vertices of a ground."""
    x, y = landscape.frame[:2] - 0.5 * spacing_m
    return Grid(np.zeros((1, 1)), float(spacing_m), (float(x), float(y), 0.0))


def layer_message(name: str, place: Grid, cells: np.ndarray) -> bytes:
    """Return the message with a layer's cells."""
    return pack({"type": "layer", "name": name, **place_of(place.with_cells(cells))}, {"cells": cells})


def _first_covered(run: Run) -> np.ndarray:
    from covey.viewer.first_covered import first_covered  # its kernels load longer than all the rest

    start = [robot.get("start", pose) for robot, pose in zip(robots_of(run), run.poses[0], strict=True)]
    assert run.maps is not None
    discs = [robot["discs"] for robot in robots_of(run)]
    return first_covered(run.maps.truth, np.concatenate(([start], run.poses)), steps_of(run), discs)


def links_of(run: Run) -> np.ndarray:
    """Return the changes of links, int32 (m, 4): step, robot, other, 1 (up) or 0."""
    if run.links is None:
        return np.empty((0, 4), np.int32)
    index = {name: i for i, name in enumerate(run.names)}
    columns = [run.links[name].to_list() for name in ("step", "robot", "other", "up")]
    rows = [(step, index[robot], index[other], up) for step, robot, other, up in zip(*columns, strict=True)]
    return np.array(rows, np.int32).reshape(-1, 4)


def _box(run: Run) -> Grid:
    """Return a grid of 1 m around the poses of a run without maps."""
    if not run.poses.size:
        raise CoveyError(f"the run in {str(run.folder)!r} has neither maps nor poses: there is nothing to see")
    low = np.floor(run.poses[..., :2].min(axis=(0, 1)) - 1.0)
    columns, rows = (np.ceil(run.poses[..., :2].max(axis=(0, 1)) + 1.0) - low).astype(int).tolist()
    return Grid(np.zeros((rows, columns), np.uint8), 1.0, (float(low[0]), float(low[1]), 0.0))
