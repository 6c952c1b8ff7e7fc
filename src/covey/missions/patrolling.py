"""Patrolling: return to every waypoint as often as possible."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from covey.errors import MissionError
from covey.missions.protocol import Mission, MissionContext, Tracker, missions
from covey.planning.waypoints import Waypoints, as_edges, connect, path_lengths
from covey.world.visibility.explorable import reachable
from covey.world.world import World

Point = tuple[float, float]


@missions.register("patrolling")
class Patrolling(Mission):
    """Visit the waypoints of a graph again and again; the score is the time between visits (the idleness).

    References:
        A. Machado, G. Ramalho, J.-D. Zucker, A. Drogoul: Multi-agent patrolling: an empirical analysis of alternative
        architectures. MABS 2002 (idleness); MAEPS 2025 (the generated graph).
    """

    gives_waypoints: ClassVar[bool] = True
    in_world: ClassVar[str] = "the graph to patrol lies"
    rewards: ClassVar[Mapping[str, float]] = {"graph_idleness_s": -0.01, "visits": 0.01}

    waypoints_m: tuple[Point, ...] | None = Field(
        default=None, description="x, y of each waypoint [m]; null: waypoints that together see the whole world."
    )
    edges: Literal["nearest", "relative", "all", "tour"] | tuple[tuple[int, int], ...] = Field(
        default="nearest",
        description="Which waypoints are neighbours. nearest: each waypoint and its nearest one, with islands "
        "joined; relative: two waypoints without a third one between them; all: all waypoints; "
        "tour: along a tour; or a list of pairs of waypoint numbers, counted from 0.",
    )
    sight_m: float | None = Field(
        default=25.0, gt=0, description="Range of sight from a generated waypoint [m]; null: unlimited."
    )
    spacing_m: float = Field(default=1.0, gt=0, description="Side of the tiles that generated waypoints see [m].")
    visit_within_m: float = Field(
        default=1.0, gt=0, description="A robot visits a waypoint when its centre is within this distance [m]."
    )

    def begin(self, context: MissionContext) -> "IdlenessTracker":
        """Return the tracker of the idleness; the waypoints are placed where all robots can go."""
        start = context.state.pose
        return IdlenessTracker(self.graph(context.world, start, float(context.model.radius.max())), len(start))

    def graph(self, world: World, start: np.ndarray, radius_m: float) -> Waypoints:
        """Return the waypoint graph of a world for bodies of a radius [m] that start at poses (n, 3) or points.

        Raises:
            MissionError: a listed waypoint cannot be reached, or an edge names a waypoint that does not exist.
        """
        standing = reachable(world, start[:, :2], radius_m)
        if self.waypoints_m is None:
            from covey.planning.art_gallery import art_gallery  # its kernel is needed only to generate waypoints

            cells = art_gallery(
                world.skip, standing, world.grid.resolution, sight_m=self.sight_m, spacing_m=self.spacing_m
            )
            points = world.grid.to_world(cells)
        else:
            points = np.array(self.waypoints_m, float).reshape(-1, 2)
            cells = world.grid.to_cells(points)
            inside = world.grid.inside(cells)
            at = np.where(inside[:, None], cells, 0)
            for point in points[~(inside & standing[at[:, 0], at[:, 1]])].tolist():
                raise MissionError(
                    f"the waypoint {point} cannot be reached by a body of radius {radius_m:g} m from the start; "
                    "move it away from walls, or leave waypoints_m out to have them generated",
                    "waypoints_m",
                )
            if not len(points):
                raise MissionError(
                    "waypoints_m is empty; list some, or leave it out to have them generated", "waypoints_m"
                )
        distance = path_lengths(standing, world.grid.resolution, cells)
        if isinstance(self.edges, str):
            edges = connect(distance, self.edges)
        else:
            edges = as_edges(list(self.edges), len(points))
        return Waypoints(points, distance, edges, self.visit_within_m)


class IdlenessTracker(Tracker):
    """Tracks the idleness of each waypoint.

    The idleness of a waypoint is the time since its last visit, or since the start. A robot visits a waypoint while its
    true centre is within a distance of it; a visit is counted at its beginning.

    Attributes:
        waypoints: the graph.
        last_s: time of the last visit of each waypoint [s], float64 (k,).
        visits: visits of each waypoint, int64 (k,).
    """

    columns = ("graph_idleness_s", "worst_graph_idleness_s", "completed_cycles", "visits")

    waypoints: Waypoints  # pyright: ignore[reportIncompatibleVariableOverride] - here there always are some

    def __init__(self, waypoints: Waypoints, robots: int):
        self.waypoints = waypoints
        k = len(waypoints)
        self.last_s, self.visits = np.zeros(k), np.zeros(k, np.int64)
        self._here, self._time_s = np.zeros((robots, k), bool), 0.0
        points, edges = np.round(waypoints.points, 4).tolist(), waypoints.edges.tolist()
        self.facts: dict[str, Any] = {"waypoints_m": points, "edges": edges, "visit_within_m": waypoints.within_m}

    def measure(self, time_s: float, pose: np.ndarray, able: np.ndarray) -> list[tuple[int, str]]:
        """Process the true poses (n, 3) and the able robots, bool (n,); return the new visits."""
        off = pose[:, None, :2] - self.waypoints.points[None]
        here = (off[..., 0] ** 2 + off[..., 1] ** 2 <= self.waypoints.within_m**2) & able[:, None]
        new = here & ~self._here
        self._here, self._time_s = here, time_s
        self.last_s[here.any(axis=0)] = time_s
        self.visits += new.sum(axis=0)
        return [(int(i), f"visits waypoint {k}") for i, k in np.argwhere(new)] if new.any() else []

    @property
    def values(self) -> dict[str, float]:
        """Present mean and largest idleness of the waypoints [s], least number of visits, and total of visits."""
        idle = self._time_s - self.last_s
        return {
            "graph_idleness_s": float(idle.mean()),
            "worst_graph_idleness_s": float(idle.max()),
            "completed_cycles": float(self.visits.min()),
            "visits": float(self.visits.sum()),
        }
