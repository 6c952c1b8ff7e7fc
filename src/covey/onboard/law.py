"""`law`: marks a function as a control law, and says what it may see."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from covey.errors import ControllerError, InvalidValueError, UnknownNameError, did_you_mean
from covey.onboard.controller import controllers
from covey.onboard.group_answer import check_arguments, placed
from covey.onboard.group_view import GroupView, Memory
from covey.planning.graphs import check_graph
from covey.random import generator


def law(
    function: Any = None, *, sees: str | tuple[str, ...] | None = None, graph: Any = None, name: str | None = None
) -> Any:
    """Mark a function as a control law. It is also a controller for scenarios, groups and `Simulation`.

    Without ``graph`` the function gets the whole `covey.onboard.group_view.GroupView`, and returns what all robots do.
    With ``graph`` it is called for each robot with a `Me`, and returns what this robot does.

    Args:
        function: the function; or nothing, to give arguments.
        sees: what it may see. Names of fields: ``pose``, ``position``, ``heading``, ``velocity``, ``pose_covariance``,
            ``collided``; and names of sensors. None: everything, or with a graph: the own pose.
        graph: a graph of `covey.graphs`, which says whom each robot sees, such as ``covey.graphs.proximity(2)``.
        name: a name for scenarios.

    Raises:
        InvalidValueError: the function cannot be a law, or ``graph`` is none.

    Examples:
        >>> @law(sees=("position",))
        ... def gather(team):
        ...     return team.position.mean(axis=0) - team.position
    """
    if function is None:
        return functools.partial(law, sees=sees, graph=graph, name=name)
    if not callable(function):
        raise InvalidValueError(f"a law is a function; got {function!r:.60}")
    words = (sees,) if isinstance(sees, str) else sees
    if graph is None:
        check_arguments(function, "team")
        marked, fields = function, ("full",) if words is None else tuple(words)
    else:
        check_graph(graph)
        check_arguments(function, "me")
        own = ("pose",) if words is None else tuple(words)
        marked = _of_each(function, graph, own)
        fields = tuple(dict.fromkeys(("pose", *own, *(["links"] if getattr(graph, "name", "") == "radio" else []))))
    marked.covey_scope, marked.covey_sees, marked.covey_needs, marked.covey_runs = "group", fields, (), ""
    return controllers.register(name)(marked) if name else marked


class NearbyRobots:
    """The robots that a robot sees, k of them, as it sees them: from its own place and heading.

    Attributes:
        names: their names.
        count: k.
        distance: float64 (k,) [m].
        bearing: float64 (k,), from the own heading, in (-pi, pi] [rad].
        offset: float64 (k, 2), ahead and to the left [m].
        heading: float64 (k,), relative to the own heading, in (-pi, pi] [rad].
    """

    def __init__(self, names: list[str], offset: np.ndarray, heading: np.ndarray):
        self.names, self.count = names, len(names)
        self.distance = np.hypot(offset[:, 0], offset[:, 1])
        self.bearing = np.arctan2(offset[:, 1], offset[:, 0])
        self.offset, self.heading = offset, _wrapped(heading)

    def __len__(self) -> int:
        return self.count


class Me:
    """One robot as its own law sees it.

    Attributes:
        name: its name.
        time: simulated time [s].
        dt: the control period [s].
        workspace: vertices of the polygon in which robots are to stay, float64 (m, 2) [m].
        neighbours: the robots that it sees, see `NearbyRobots`.
        memory: an empty namespace at the start of a run; it keeps what the law writes there.
        random: a generator of random numbers of its own; it depends on the seed of the run.
    """

    def __init__(self, name: str, dt: float, workspace: np.ndarray, seed: int):
        self.name, self.dt, self.workspace = name, dt, workspace
        self.memory, self.random = Memory(), generator(seed, f"law/{name}")
        self.time, self.neighbours = 0.0, NearbyRobots([], np.zeros((0, 2)), np.zeros(0))
        self._own: dict[str, Any] = {}

    @property
    def position(self) -> np.ndarray:
        """x, y [m] in the world frame, float64 (2,)."""
        return self._own["pose"][:2] if "pose" in self._own else self.__getattr__("position")

    @property
    def heading(self) -> float:
        """Heading [rad] in the world frame."""
        return float(self._own["pose"][2]) if "pose" in self._own else self.__getattr__("heading")

    def distance_to(self, point: Any) -> float:
        """Return the distance [m] to a point x, y [m] in the world frame."""
        return float(np.hypot(*(np.asarray(point, float) - self.position)))

    def bearing_to(self, point: Any) -> float:
        """Return the direction [rad] of a point x, y [m] in the world frame, from the own heading, in (-pi, pi]."""
        dx, dy = np.asarray(point, float) - self.position
        return float(_wrapped(math.atan2(dy, dx) - self.heading))

    def offset_to(self, point: Any) -> np.ndarray:
        """Return the way to a point x, y [m] in the world frame: ahead and to the left [m], float64 (2,)."""
        (dx, dy), c, s = np.asarray(point, float) - self.position, math.cos(self.heading), math.sin(self.heading)
        return np.array([c * dx + s * dy, c * dy - s * dx])

    def reading(self, sensor: str) -> Any:
        """Return the newest reading of a sensor that the law declares; also that of ``neighbours``, beside the graph.

        Raises:
            UnknownNameError: the law declares no such sensor.
        """
        if sensor not in self._own:
            raise UnknownNameError("sensor that the law sees", sensor, self._own)
        return self._own[sensor]

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__.get("_own", {})
        if name in own:
            return own[name]
        public = [word for word in (*vars(self), *dir(type(self)), *own) if not word.startswith("_")]
        hint = did_you_mean(name, public) if name not in ("position", "heading") else "; declare it: sees=('pose', …)"
        raise AttributeError(f"the law of a robot does not see {name!r}{hint}")


def _of_each(function: Callable[..., Any], graph: Any, own: tuple[str, ...]) -> Callable[..., np.ndarray]:
    """Return a law of the team that calls the law of one robot for each."""

    @functools.wraps(function)
    def of_team(team: GroupView, **parameters: Any) -> np.ndarray:
        robots = _robots_of(team)
        near, pose = team.neighbours(graph), team.pose
        answers: list[Any] = [None] * team.count
        for i, me in enumerate(robots):
            others = np.flatnonzero(near[i])
            c, s = math.cos(pose[i, 2]), math.sin(pose[i, 2])
            way = pose[others, :2] - pose[i, :2]
            offset = way @ np.array([[c, -s], [s, c]])
            me.neighbours = NearbyRobots([team.names[k] for k in others], offset, pose[others, 2] - pose[i, 2])
            me.time, me._own = team.time, {word: _row(team, word, i) for word in own}
            answers[i] = function(me, **parameters)
        return _rows(answers, team, function)

    return of_team


def _robots_of(team: GroupView) -> list[Me]:
    kept = vars(team.memory)
    if "robots" not in kept:
        kept["robots"] = [Me(name, team.dt, team.workspace, team.seed) for name in team.names]
    return kept["robots"]


def _row(team: GroupView, word: str, i: int) -> Any:
    """Return what robot i sees of a field or a sensor: a copy; of an add-on all that it gives."""
    value = team._seen(word) if word == "neighbours" else getattr(team, word)
    if word in team.addons:
        return value
    if hasattr(value, "row"):
        return value.row(i)
    return value[i].copy() if isinstance(value[i], np.ndarray) else value[i]


def _rows(answers: list[Any], team: GroupView, function: Callable[..., Any]) -> np.ndarray:
    """Return the answers of a law of one robot as rows, float64 (n, 2) or (n, 3)."""
    try:
        rows = np.array(answers, float)
        if rows.ndim == 2 and rows.shape[1] in (2, 3):
            return rows
    except (ValueError, TypeError):
        pass
    pair = "vx, vy" if team.robot.kinematics == "holonomic" else "speed, turn"
    i = next((i for i, answer in enumerate(answers) if not _is_row(answer, len(np.atleast_1d(answers[0])))), 0)
    what = "nothing" if answers[i] is None else f"{answers[i]!r:.60}"
    text = f"the law returned {what} for {team.names[i]}; end it with: return {pair}, two numbers"
    raise placed(ControllerError(text), function)


def _is_row(answer: Any, width: int) -> bool:
    try:
        row = np.asarray(answer, float)
    except (ValueError, TypeError):
        return False
    return row.shape == (width,) and width in (2, 3)


def _wrapped(angle: Any) -> Any:
    """Return an angle [rad] in (-pi, pi]."""
    return angle - 2.0 * math.pi * np.ceil((angle - math.pi) / (2.0 * math.pi))
