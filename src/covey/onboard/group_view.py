"""The view of a group controller: its team as arrays."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType, SimpleNamespace
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np

from covey.errors import ControllerError, UnknownNameError, did_you_mean, printable
from covey.kernel import kernel
from covey.planning.graphs import check_graph
from covey.random import generator
from covey.registry import kinds_of
from covey.robots.model import RobotModel
from covey.robots.sample import Sample

MOTION = ("pose", "position", "heading", "velocity", "others", "goals")
"""What a group controller can declare about motion, besides ``pose_covariance`` and ``true_pose``."""
_ALWAYS = (
    *("name", "names", "count", "time", "dt", "workspace", "robot", "random", "memory"),
    *(
        "after",
        "before",
        "bearing_to",
        "distance_to",
        "offset_to",
        "neighbours",
        "samples",
        "reading",
        "note",
        "finish",
        "finished",
    ),
)


_INDEX = np.dtype(np.int64)
NO_SAMPLES: Mapping[str, list[Sample]] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class GroupFacts:
    """What a group controller knows of its robots from the start.

    Attributes:
        name: the group's name.
        names: the robots' names.
        robot: their model.
        dt: the control period [s].
        workspace: vertices of the polygon in which they are to stay, float64 (m, 2) [m].
        seed: root of the random numbers.
    """

    name: str
    names: tuple[str, ...]
    robot: RobotModel
    dt: float
    workspace: np.ndarray
    seed: int


class Later:
    """An array that is computed each time it is read. No attribute of it leads to what computes it."""

    __slots__ = ("__weakref__",)

    def __init__(self, compute: Callable[[], np.ndarray]):
        _COMPUTES[self] = compute


_COMPUTES: WeakKeyDictionary[Later, Callable[[], np.ndarray]] = WeakKeyDictionary()


def seen(field: Any) -> Any:
    """Return the value of a field; some are only computed when they are read."""
    return _COMPUTES[field]() if isinstance(field, Later) else field


class Memory(SimpleNamespace):
    """A place for a law's own values."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"memory has no {name!r} yet; ask for it with getattr(team.memory, {name!r}, 0)")


class GroupView:
    """The team as a group controller sees it: arrays of n robots, only those that it declared.

    Positions are in the world frame. A controller keeps its own values in ``memory``.

    Attributes:
        name: the group's name.
        names: the robots' names.
        count: n, the number of robots.
        time: simulated time [s].
        dt: the control period [s].
        robot: the robots' model.
        workspace: vertices of the polygon in which they are to stay, float64 (m, 2) [m].
        facts: all that it knows from the start.
        notes: those of this step, see `note`.
        addons: names of the add-ons of `covey.play`; their data are attributes of these names.
        memory: an empty namespace at the start of a run; it keeps what the controller writes there.

    Examples:
        >>> import covey
        >>> def law(team):
        ...     return 0.2, 0.8 * team.bearing_to(team.after(1))
        >>> out = covey.play(law, robots=3, stop_s=1, speed="max")
    """

    def __init__(self, facts: GroupFacts):
        self.__dict__.update(vars(facts), count=len(facts.names), memory=Memory(), time=0.0)
        self.__dict__.update(facts=facts, _fields={}, _samples={}, notes=[], addons=(), _ends=[])
        self.__dict__["_ring"] = np.tile(np.arange(self.count), 2)

    @property
    def fields(self) -> dict[str, Any]:
        """All arrays and readings that the controller declared, by name."""
        return self._fields

    def at(self, time_s: float, fields: Mapping[str, Any], samples: Mapping[str, list[Sample]] = NO_SAMPLES) -> Self:
        """Show the arrays of another time [s] and the readings since the last one, and return the view."""
        own = self.__dict__
        own["time"], own["_fields"], own["_samples"], own["notes"] = time_s, fields, samples, []
        return self

    # -- the robots ------------------------------------------------------------------------------------------------

    @property
    def position(self) -> np.ndarray:
        """x, y [m] in the world frame, float64 (n, 2)."""
        return self._seen("position") if "pose" not in self._fields else self._fields["pose"][:, :2]

    @property
    def heading(self) -> np.ndarray:
        """Heading [rad] in the world frame, float64 (n,)."""
        return self._seen("heading") if "pose" not in self._fields else self._fields["pose"][:, 2]

    @cached_property
    def random(self) -> np.random.Generator:
        """A generator of random numbers of its own; it depends on the seed of the run."""
        return generator(self.seed, f"law/{self.name}")

    def after(self, k: int = 1) -> np.ndarray:
        """Return the index of the k-th next robot for each robot, in a ring, int64 (n,)."""
        if type(k) is not int and not isinstance(k, (int, np.integer)):
            raise ControllerError(f"after and before take a whole number, such as 1, not {k!r:.40}")
        n = self.count
        first = k % n
        return self._ring[first : first + n].copy()

    def before(self, k: int = 1) -> np.ndarray:
        """Return the index of the k-th robot before each robot, in a ring, int64 (n,)."""
        return self.after(-k if isinstance(k, (int, np.integer)) else k)

    def distance_to(self, x: Any) -> np.ndarray:
        """Return the distance [m] from each robot to its target, float64 (n,).

        Args:
            x: the target: indices of robots (n,), such as ``team.after(1)``; the index or the name of one robot; a
                point (2,), such as ``(5, 3)``; or a point for each robot (n, 2) [m].
        """
        offset = self._points(x) - self.position
        return np.hypot(offset[:, 0], offset[:, 1])

    def bearing_to(self, x: Any) -> np.ndarray:
        """Return the direction of its target for each robot, from its heading, in (-pi, pi] [rad], float64 (n,).

        Args:
            x: see `distance_to`.
        """
        n, pose = self.count, self._fields.get("pose")
        bearing, is_of_robots = np.empty(n), type(x) is np.ndarray and x.dtype is _INDEX and x.shape == (n,)
        if not (is_of_robots and pose is not None and _bearings_of_robots(pose, x, bearing)):
            _bearings(self.position, np.ascontiguousarray(self._points(x)), self.heading, bearing)
        return bearing

    def offset_to(self, x: Any) -> np.ndarray:
        """Return the way to its target for each robot, ahead and to the left [m], float64 (n, 2).

        Args:
            x: see `distance_to`.
        """
        offset, c, s = self._points(x) - self.position, np.cos(self.heading), np.sin(self.heading)
        return np.column_stack((c * offset[:, 0] + s * offset[:, 1], c * offset[:, 1] - s * offset[:, 0]))

    @property
    def neighbours(self) -> "Neighbouring":
        """Who sees whom by a graph, ``team.neighbours(graph)``; and what the sensor ``neighbours`` has read."""
        return Neighbouring(self)

    # -- words -----------------------------------------------------------------------------------------------------

    def note(self, robot: int | str, text: str) -> None:
        """Write a note about a robot into the event log of the run.

        Args:
            robot: its index or name.
            text: what to say.

        Raises:
            UnknownNameError: no robot has this name.
        """
        if isinstance(robot, str) and robot not in self.names:
            raise UnknownNameError("robot", robot, self.names)
        i = self.names.index(robot) if isinstance(robot, str) else range(self.count)[robot]
        self.notes.append((self.name, i, printable(str(text))))

    def finish(self) -> None:
        """Say that the controller is done.

        A run without another goal ends when all its controllers are. Until then it is still called.
        """
        if not self._ends:
            self._ends.append(True)

    @property
    def finished(self) -> bool:
        """Whether `finish` has been called."""
        return bool(self._ends)

    # -- sensors ---------------------------------------------------------------------------------------------------

    def samples(self, sensor: str) -> list[Sample]:
        """Return all readings of a sensor since the controller's last step, oldest first.

        Raises:
            UnknownNameError: the controller declares no such sensor, or the robots have none.
        """
        if sensor not in self._samples:
            raise UnknownNameError("sensor", sensor, self._samples)
        return self._samples[sensor]

    def reading(self, sensor: str) -> Any:
        """Return the newest readings of a sensor, the same as the attribute of its name.

        Raises:
            UnknownNameError: the controller declares no such sensor, or the robots have none.
        """
        if sensor not in self._samples:
            raise UnknownNameError("sensor", sensor, self._samples)
        return self._seen(sensor)

    # -- what is not there -----------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        return self._seen(name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"team.{name} cannot be set; keep your own values in team.memory.{name}")

    def _seen(self, name: str) -> Any:
        fields = self.__dict__.get("_fields", {})
        if name in fields:
            return seen(fields[name])
        sensors = [sensor.name for sensor in self.robot.sensors] if "robot" in self.__dict__ else []
        if name not in (
            *MOTION,
            *sensors,
            *self.__dict__.get("addons", ()),
            "pose_covariance",
            "collided",
            "true_pose",
            "links",
        ):
            addons = self.__dict__.get("addons", ())
            hint = _cure(name) or did_you_mean(name, {*_ALWAYS, *MOTION, *fields, *sensors, *addons})
            raise AttributeError(f"team has no {name!r}{hint}")
        sees = ", ".join(sorted(fields)) or "nothing of the robots"
        raise AttributeError(f"the law does not see {name!r}, only: {sees}; declare it: sees=({name!r}, …)")

    def _points(self, x: Any) -> np.ndarray:
        """Return the targets x, y [m] in the world frame, shape (n, 2) or (1, 2)."""
        n = self.count
        if isinstance(x, str):
            if x not in self.names:
                raise UnknownNameError("robot", x, self.names)
            x = self.names.index(x)
        given = np.asarray(x)
        kind, shape = given.dtype.kind, given.shape
        if kind in "iu" and (shape == () or (shape == (n,) and (n != 2 or isinstance(x, np.ndarray)))):
            try:
                return self.position.take(given.reshape(-1), axis=0)
            except IndexError:
                raise ControllerError(_no_robot(given, n)) from None
        if kind not in "iuf" or shape not in ((2,), (n, 2)):
            what = f"an array of shape {shape}" if kind in "iuf" else repr(x)[:60]
            if callable(x):
                what = f"{getattr(x, '__name__', 'it')} itself, without (…),"
            raise ControllerError(
                f"{what} is no target; give indices of robots such as team.after(1), one index or name, a point "
                f"(x, y), or points of shape ({n}, 2)"
            )
        return given.astype(float).reshape(-1, 2)


class WorldsView(GroupView):
    """Equal teams in B worlds as a controller with ``many_worlds`` sees them at once.

    All is as in `GroupView`, but arrays have the world as their first axis: ``pose`` (B, n, 3), the ranges of a lidar
    (B, n, rays). Indices of robots and points hold in each world, or have that axis, too: indices in an array (B, n),
    points (B, n, 2). ``count`` is n.

    Attributes:
        worlds: B, the number of worlds.
    """

    def __init__(self, facts: GroupFacts, worlds: int):
        super().__init__(facts)
        self.__dict__["worlds"] = worlds

    @property
    def position(self) -> np.ndarray:
        """x, y [m] in the world frame, float64 (B, n, 2)."""
        return self._seen("position") if "pose" not in self._fields else self._fields["pose"][..., :2]

    @property
    def heading(self) -> np.ndarray:
        """Heading [rad] in the world frame, float64 (B, n)."""
        return self._seen("heading") if "pose" not in self._fields else self._fields["pose"][..., 2]

    @property
    def random(self) -> np.random.Generator:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Not there: each world has a seed of its own."""
        raise ControllerError(
            "a controller with many_worlds has no team.random, as each world has a seed of its own; leave many_worlds "
            "out, and it is called for each world"
        )

    def distance_to(self, x: Any) -> np.ndarray:
        """Return the distance [m] from each robot to its target, float64 (B, n); see `GroupView.distance_to`."""
        offset = self._points(x) - self.position
        return np.hypot(offset[..., 0], offset[..., 1])

    def bearing_to(self, x: Any) -> np.ndarray:
        """Return the direction of its target for each robot [rad], float64 (B, n); see `GroupView.bearing_to`."""
        position, heading = self.position, self.heading
        points = np.broadcast_to(self._points(x), position.shape)
        flat = (np.ascontiguousarray(part).reshape(-1, 2) for part in (position, points))
        _bearings(*flat, np.ascontiguousarray(heading).reshape(-1), bearing := np.empty(heading.size))
        return bearing.reshape(heading.shape)

    def offset_to(self, x: Any) -> np.ndarray:
        """Return the way to its target for each robot [m], float64 (B, n, 2); see `GroupView.offset_to`."""
        offset, c, s = self._points(x) - self.position, np.cos(self.heading), np.sin(self.heading)
        return np.stack((c * offset[..., 0] + s * offset[..., 1], c * offset[..., 1] - s * offset[..., 0]), axis=-1)

    def _points(self, x: Any) -> np.ndarray:
        n = self.count
        if isinstance(x, str):
            x = self.names.index(x) if x in self.names else self._unknown(x)
        given = np.asarray(x)
        kind, shape = given.dtype.kind, given.shape
        if kind in "iu" and shape in ((), (n,)) and (n != 2 or shape == () or isinstance(x, np.ndarray)):
            try:
                return self.position.take(given.reshape(-1), axis=1)
            except IndexError:
                raise ControllerError(_no_robot(given, n)) from None
        if kind in "iu" and shape == (self.worlds, n) and (shape != (n, 2) or isinstance(x, np.ndarray)):
            if given.size and not -n <= given.min() <= given.max() < n:
                raise ControllerError(_no_robot(given, n))
            return np.take_along_axis(self.position, given[..., None].astype(np.int64), axis=1)
        if kind not in "iuf" or shape not in ((2,), (n, 2), (self.worlds, n, 2)):
            what = f"an array of shape {shape}" if kind in "iuf" else repr(x)[:60]
            raise ControllerError(
                f"{what} is no target; give indices of robots such as team.after(1), or of shape ({self.worlds}, {n}), "
                f"one index or name, a point (x, y), or points of shape ({n}, 2) or ({self.worlds}, {n}, 2)"
            )
        return given.astype(float)

    def _unknown(self, name: str) -> Any:
        raise UnknownNameError("robot", name, self.names)


class Neighbouring:
    """Who sees whom by a graph, when it is called; its attributes are those of the readings of ``neighbours``.

    Examples:
        >>> import covey
        >>> def law(team):
        ...     return 0.1, team.neighbours.bearings[:, 0]
        >>> out = covey.play(law, 2, stop_s=0.2, speed="max", sensors=["neighbours"])
    """

    __slots__ = ("_view",)

    def __init__(self, view: GroupView):
        self._view = view

    def __call__(self, graph: Any) -> np.ndarray:
        """Return who sees whom, bool (n, n); row i: the robots that robot i sees.

        Args:
            graph: a graph of `covey.graphs`, such as ``covey.graphs.proximity(2)``.
        """
        check_graph(graph)
        position, links = self._view.position, seen(self._view.fields.get("links"))
        return graph(position, links) if position.ndim == 2 else np.stack([graph(one, links) for one in position])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        sensors = [sensor.name for sensor in self._view.robot.sensors]
        if "neighbours" not in sensors:
            hint = "for a graph call it, team.neighbours(graph); for a sensor give the run sensors=['neighbours']"
            raise AttributeError(f"team.neighbours has no {name!r}; {hint}")
        return getattr(self._view._seen("neighbours"), name)


def _no_robot(given: np.ndarray, n: int) -> str:
    return f"there is no robot {given.max()}; the {n} robots have the indices 0 to {n - 1}"


def _cure(name: str) -> str:
    """Return what gives a team a sensor or an add-on of this name; empty if none has it."""
    known = kinds_of(name)
    if "addon" in known:
        return f"; there is an add-on of this name: give the run addons=[{name!r}]"
    return f"; there is a sensor of this name: give the run sensors=[{name!r}]" if "sensor" in known else ""


@kernel
def _bearings(position, points, heading, bearing):
    """Write the directions [rad], in (-pi, pi], of points, (n, 2) or (1, 2), from positions (n, 2), headings (n,)."""
    for i in range(len(position)):
        k = i if len(points) > 1 else 0
        bearing[i] = _bearing(points[k, 0] - position[i, 0], points[k, 1] - position[i, 1], heading[i])


@kernel
def _bearings_of_robots(pose, robots, bearing):
    """Write the directions [rad] of robots, indices (n,), as `_bearings`; return whether all are robots."""
    n = len(pose)
    for i in range(n):
        k = robots[i] + n if robots[i] < 0 else robots[i]
        if not 0 <= k < n:
            return False
        bearing[i] = _bearing(pose[k, 0] - pose[i, 0], pose[k, 1] - pose[i, 1], pose[i, 2])
    return True


@kernel(inline=True)
def _bearing(dx, dy, heading):
    angle = math.atan2(dy, dx) - heading
    return angle - 2.0 * math.pi * math.ceil((angle - math.pi) / (2.0 * math.pi))


def notes_of(view: GroupView | Mapping[str, GroupView]) -> list[tuple[str, int, str]]:
    """Return the notes that a controller wrote in this step, see `GroupOutput`."""
    return list(view.notes) if isinstance(view, GroupView) else [note for one in view.values() for note in one.notes]


def is_finished(view: GroupView | Mapping[str, GroupView]) -> bool:
    """Return whether a controller has said that it is done; one of a team says it of any of its groups."""
    return view.finished if isinstance(view, GroupView) else any(one.finished for one in view.values())
