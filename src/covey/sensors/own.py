"""`sensor`: makes a sensor of a function of a few lines."""

import inspect
import math
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import ConfigDict, create_model

from covey import draws as drawing
from covey.draws import Draws, Word
from covey.errors import ControllerError, InvalidValueError, did_you_mean
from covey.geometry.raycast import cast_ray, line_of_sight
from covey.sensors.sensor import Readings, SensorRecord, sensors
from covey.sensors.truth import Truth

_TEAM = ("velocity", "turn_rate", "collided", "count", "names", "robot", "dt", "random", "memory", "workspace", "note")
WORDS = ("pose", "position", "heading", "twist", "others", "walls", "time")
"""What a sensor may see of the truth."""


_NEEDS = {"ray": (2, "range [m] and bearing [rad]"), "place": (2, "x ahead and y to the left [m]")}


class Self:
    """What is true of the robot that carries a sensor: only what the sensor declared.

    Attributes:
        pose: x, y [m], heading [rad] in the world frame, float64 (3,); also ``position`` (2,) and ``heading``.
        twist: vx, vy [m/s], turn rate [rad/s] in the body frame, float64 (3,).
        others: poses of the other robots, float64 (k, 3), in the order of the team.
        time: of the sample [s].
    """

    def __init__(self, truth: Truth, robot: int, time: float, sees: tuple[str, ...]):
        pose = truth.pose[robot].copy()
        shown = {"pose": pose, "position": pose[:2], "heading": float(pose[2]), "time": time}
        own: dict[str, Any] = {word: value for word, value in shown.items() if word in sees}
        if "twist" in sees:
            own["twist"] = truth.twist[robot].copy()
        if "others" in sees:
            own["others"] = np.delete(truth.pose, robot, axis=0)
        self.__dict__.update(own, _sees=sees)
        if "walls" in sees:
            skip, frame, x, y, heading = truth.skip, truth.frame, *pose.tolist()
            self._ray: Callable[..., float] = lambda angle, reach: cast_ray(skip, frame, x, y, heading + angle, reach)
            self._free: Callable[..., bool] = lambda u, v: line_of_sight(skip, frame, x, y, u, v)

    def distance_to_wall(self, bearing: float = 0.0, range_m: float = 100.0) -> float:
        """Return the distance to the nearest wall in a direction from the heading [rad], at most ``range_m`` [m]."""
        self._needs_walls()
        return float(min(self._ray(bearing, range_m), range_m))

    def can_see(self, point: Any) -> bool:
        """Return whether no wall is between the robot and a point x, y [m]."""
        self._needs_walls()
        return bool(self._free(float(point[0]), float(point[1])))

    def bearing_to(self, point: Any) -> float:
        """Return the direction to a point x, y [m], from the heading, in [-pi, pi] [rad]."""
        x, y, heading = self.pose
        return math.remainder(math.atan2(point[1] - y, point[0] - x) - heading, 2.0 * math.pi)

    def distance_to(self, point: Any) -> float:
        """Return the distance to a point x, y [m]."""
        return math.hypot(point[0] - self.pose[0], point[1] - self.pose[1])

    def _needs_walls(self) -> None:
        if "walls" not in self._sees:
            raise AttributeError("the sensor does not see the walls; declare it: sees=('walls', …)")

    def __getattr__(self, name: str) -> Any:
        if name in WORDS:
            raise AttributeError(f"the sensor does not see {name!r}; declare it: sees=({name!r}, …)")
        raise AttributeError(f"a sensor has no {name!r}{did_you_mean(name, WORDS)}")


@dataclass(frozen=True, eq=False)
class Values(Readings):
    """What a sensor of one's own measured on m robots: ``np.asarray(values)``.

    Attributes:
        values: float64 (m,), or (m, k) if the function returned k numbers.
        are_true: whether each was True or False.
    """

    shared: ClassVar = ("are_true",)
    values: np.ndarray
    are_true: bool = False

    def row(self, i: int) -> Any:
        """Return the reading of the i-th robot: a number or an array (k,)."""
        row = self.values[i]
        return float(row) if row.ndim == 0 else row.copy()

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.values, dtype)

    def __getitem__(self, at: Any) -> Any:
        return self.values[at]

    def __len__(self) -> int:
        return len(self.values)


class OwnSensor(SensorRecord):
    """Base of the sensors that `sensor` makes."""

    model_config = ConfigDict(protected_namespaces=())
    function: ClassVar[Callable[..., Any]]
    sees: ClassVar[tuple[str, ...]]
    parameters: ClassVar[tuple[str, ...]]
    word: ClassVar[Word | None]

    def drawn(self, readings: Any = None) -> Draws:
        """Return how readings are drawn, see `SensorRecord.drawn`."""
        word = type(self).word or ("ring" if readings is not None and readings.are_true else "number")
        fov = math.radians(getattr(self, "fov_deg", 360.0))
        return Draws(word, begin_rad=-0.5 * fov, width_rad=fov, range_m=getattr(self, "range_m", math.inf))

    def read(self, truth: Truth, members: np.ndarray, keys: np.ndarray, sample: int) -> Values:
        """Return what the function returns for each robot, see `SensorRecord.read`."""
        given = {name: getattr(self, name) for name in self.parameters}
        found = []
        for robot, key in zip(members.tolist(), keys.tolist(), strict=True):
            noise = np.random.Generator(np.random.Philox(key=int(key), counter=[0, 0, 0, sample]))
            one = Self(truth, robot, sample / self.rate_hz, type(self).sees)
            try:
                found.append(type(self).function(one, noise, **given))
            except (Exception, SystemExit) as error:
                frames = traceback.extract_tb(error.__traceback__)[1:]
                at = next(f for f in reversed(frames) if f.filename == frames[0].filename)
                raise ControllerError(
                    f"sensor {self.name!r} failed, {at.filename}:{at.lineno}: {type(error).__name__}: {error}"
                ) from error
        return Values(self._array(found), all(isinstance(one, (bool, np.bool_)) for one in found))

    def _array(self, found: list[Any]) -> np.ndarray:
        try:
            values = np.array(found, float)
        except (TypeError, ValueError):
            values = np.empty(())
        if values.ndim not in (1, 2) or any(one is None for one in found):
            shapes = {np.shape(one): one for one in found}
            told = " and ".join(f"{one!r:.60}" for one in [*shapes.values()][:2])
            raise ControllerError(
                f"sensor {self.name!r} returned {told}; return a number, or as many numbers for each robot"
            )
        least, what = _NEEDS.get(type(self).word or "", (1, ""))
        if values.size < least * len(values):
            raise ControllerError(
                f"sensor {self.name!r} draws a {type(self).word} and returned {found[0]!r:.60}; return {what}"
            )
        return values


def sensor(name: str, *, sees: str | tuple[str, ...] = "pose", rate_hz: float = 10.0, draws: Word | None = None) -> Any:
    """Make a sensor of a function, and register it by name.

    The function is called for each sample of each robot with a `Self`, what is true of this robot, and with a generator
    of random numbers of its own (`numpy.random.Generator`), the same in every run with this seed. It returns a number,
    or always equally many. Its other parameters are settings; each needs a default.

    Args:
        name: its name, for scenarios and for laws.
        sees: what it may see: words of `WORDS`.
        rate_hz: samples per second, unless a scenario says otherwise.
        draws: how pictures, films and the page draw what it returns, a word of `covey.draws.Draws`: ``ring``,
            ``number``, ``heading``, ``ray``, ``place`` or ``sectors``, which are spread over its settings ``fov_deg``
            and ``range_m`` if it has them. None: a ring of what is True or False, of other values the number.

    Returns:
        The class of the sensor, a record.

    Raises:
        InvalidValueError: a word is unknown, or the function has other parameters.

    Examples:
        >>> @sensor("tilted_compass", sees="heading")
        ... def tilted_compass(robot, random, sigma_rad: float = 0.05):
        ...     return robot.heading + random.normal(0.0, sigma_rad)
        >>> tilted_compass(sigma_rad=0.1).rate_hz
        10.0
    """
    if callable(name):
        called = getattr(name, "__name__", "sun")
        raise InvalidValueError(
            f"@covey.sensor above {called} has no brackets; say what the sensor is called, and what it may see: "
            f"@covey.sensor({called!r}, sees='position')"
        )
    if not isinstance(name, str) or not name.isidentifier() or name in (*WORDS, *_TEAM):
        raise InvalidValueError(
            f"a sensor cannot be called {getattr(name, '__name__', name)!r:.60}; write a word that team has not yet: "
            "@covey.sensor('sun', sees='heading')"
        )
    if isinstance(rate_hz, bool) or not isinstance(rate_hz, (int, float)) or not 0 < rate_hz <= 1000:
        raise InvalidValueError(f"sensor {name!r}: rate_hz is {rate_hz!r:.30}; give samples per second, such as 10")
    words = (sees,) if isinstance(sees, str) else tuple(sees)
    for word in words:
        if word not in WORDS:
            raise InvalidValueError(
                f"sensor {name!r} cannot see {word!r}{did_you_mean(word, WORDS)}; words: {', '.join(WORDS)}"
            )

    if draws is not None and draws not in drawing.WORDS:
        guess = did_you_mean(draws, drawing.WORDS) if isinstance(draws, str) else ""
        raise InvalidValueError(f"sensor {name!r} cannot draw {draws!r:.60}{guess}; words: {', '.join(drawing.WORDS)}")

    def decorate(function: Callable[..., Any]) -> Any:
        signature = inspect.signature(function)
        given = list(signature.parameters.values())
        settings = given[2:]
        if len(given) < 2 or any(p.default is p.empty for p in settings):
            raise InvalidValueError(
                f"sensor {name!r} is written {function.__name__}{signature}; write def {function.__name__}(robot, "
                "random), and give each further parameter a default"
            )
        fields: dict[str, Any] = {
            p.name: (type(p.default) if p.annotation is p.empty else p.annotation, p.default) for p in settings
        }
        own: dict[str, Any] = {"kind": (Literal[name], name), "name": (str, name), "rate_hz": (float, rate_hz)}
        made: Any = create_model(
            function.__name__,
            __base__=OwnSensor,
            __module__=function.__module__,
            __doc__=function.__doc__,
            **own | fields,
        )
        made.function, made.sees, made.parameters = staticmethod(function), words, tuple(fields)
        made.word = draws
        made.__qualname__ = function.__qualname__
        return sensors.register(name)(made)

    return decorate
