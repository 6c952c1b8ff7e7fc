"""Add-ons that ship, by name or as objects: ``covey.play(law, addons=["delaunay", covey.addons.Voronoi()])``."""

from collections import deque
from typing import Any

import numpy as np

from covey.geometry.polygons import contains
from covey.geometry.voronoi import Cells, voronoi
from covey.lab.addon import addon
from covey.lab.canvas import Canvas, Function
from covey.onboard.group_view import GroupView
from covey.planning import graphs


@addon("centroid")
class Centroid:
    """The middle of the team: ``team.centroid``, (2,) [m]."""

    def step(self, team: GroupView) -> np.ndarray:
        """Return the mean position."""
        return team.position.mean(axis=0)

    def draw(self, canvas: Canvas) -> None:
        """Draw it."""
        canvas.points(canvas.data, "#D55E00", 5)


@addon("voronoi")
class Voronoi:
    """Voronoi cells of a convex workspace: ``team.voronoi`` is a `covey.geometry.voronoi.Cells`.

    Args:
        density: a function of points (k, 2) that returns their weights (k,); None: 1 everywhere.
    """

    def __init__(self, density: Function | None = None):
        self.density = density

    def step(self, team: GroupView) -> Cells:
        """Return the cells."""
        return voronoi(team.position, team.workspace, self.density)

    def draw(self, canvas: Canvas) -> None:
        """Draw the cells, and their centroids as small points."""
        canvas.polygons([canvas.data.cell(i) for i in range(canvas.team.count)], "#6B6B6B")
        canvas.points(canvas.data.centroid, "#6B6B6B", 2)


class _Edges:
    """Who sees whom, (n, n) of bool, drawn as lines."""

    color, graph = "#0072B2", graphs.complete()

    def step(self, team: GroupView) -> np.ndarray:
        """Return who sees whom."""
        return team.neighbours(self.graph)

    def draw(self, canvas: Canvas) -> None:
        """Draw a line between any two of whom one sees the other."""
        pairs = np.argwhere(np.triu(canvas.data | canvas.data.T))
        canvas.lines(list(canvas.team.position[pairs]), self.color)


@addon("delaunay")
class Delaunay(_Edges):
    """The Delaunay graph: ``team.delaunay``, (n, n) of bool."""

    graph = graphs.delaunay()


@addon("communication")
class Communication(_Edges):
    """The communication graph: ``team.communication``, (n, n) of bool; row i: the robots that robot i hears.

    Args:
        graph: another graph of `covey.graphs`, such as ``covey.graphs.proximity(2)``.
    """

    color = "#009E73"

    def __init__(self, graph: Any = None):
        self.graph = graphs.radio() if graph is None else graphs.graph_of(graph)


@addon("wake")
class Wake:
    """Where the robots were in the last seconds.

    Args:
        seconds: how long a wake is [s].
    """

    def __init__(self, seconds: float = 5.0):
        self.seconds = seconds

    def begin(self, team: GroupView) -> None:
        """Start with no wake."""
        self.been = deque[np.ndarray](maxlen=round(self.seconds / team.dt) + 1)

    def draw(self, canvas: Canvas) -> None:
        """Draw a line for each robot."""
        self.been.append(canvas.team.position)
        canvas.lines(list(np.stack(self.been, axis=1)), "#CC79A7", 1.5)


@addon("obstacles")
class Obstacles:
    """Obstacles that are only drawn, and that laws can read: ``team.obstacles``, a list of polygons (k, 2) [m].

    Robots and their sensors do not feel them. Real ones are ``covey.play(law, obstacles=…)``.
    """

    def __init__(self, polygons: Any):
        self.polygons = [np.array(part, float) for part in polygons]

    def step(self, team: GroupView) -> list[np.ndarray]:
        """Return the polygons."""
        return self.polygons

    def draw(self, canvas: Canvas) -> None:
        """Draw them, filled."""
        canvas.polygons(self.polygons, "#3A3A3A", fill=0.5)


@addon("density")
class Density:
    """A function of places, in colours: ``team.density``, its values at the robots, (n,)."""

    def __init__(self, density: Function):
        self.density = density

    def step(self, team: GroupView) -> np.ndarray:
        """Return the density at each robot."""
        return np.asarray(self.density(team.position), float)

    def draw(self, canvas: Canvas) -> None:
        """Draw it over the whole workspace."""
        canvas.field(self.density, "Blues")


@addon("potential")
class Potential:
    """A potential with arrows downhill: ``team.potential``, minus its gradient at the robots, (n, 2).

    Args:
        potential: a function of points (k, 2) [m] that returns (k,).
    """

    def __init__(self, potential: Function):
        self.potential = potential

    def downhill(self, at: np.ndarray, h: float = 1e-5) -> np.ndarray:
        """Return minus the gradient at points (k, 2), by central differences over 2h [m]."""
        slopes = [self.potential(at - way) - self.potential(at + way) for way in h * np.eye(2)]
        return np.column_stack(slopes) / (2.0 * h)

    def step(self, team: GroupView) -> np.ndarray:
        """Return minus the gradient at each robot."""
        return self.downhill(team.position)

    def draw(self, canvas: Canvas) -> None:
        """Draw the potential in colours, and arrows of one length; none where it is flat."""
        canvas.field(self.potential)
        places, (_, columns) = canvas.places(16)
        places = places[contains(canvas.team.workspace, places)]
        ways = self.downhill(places)
        size = np.hypot(*ways.T)
        steep = size > 0.0
        left, right, _, _ = canvas.bounds
        canvas.arrows(places[steep], 0.6 * (right - left) / columns * ways[steep] / size[steep, None], "white")
