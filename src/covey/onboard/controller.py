"""What a controller is: three styles, one decorator.

* ``async def patrol(robot, *, speed=0.2)``: sequential code that awaits motions, in simulated time;
* a class with ``step(self, robot)``, or a plain function of a robot: called once per step;
* ``@covey.controller(scope="group", sees=("pose",))``: gets arrays of all robots of a group, returns (n, 3) twists.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_type_hints

from covey.errors import InvalidValueError, did_you_mean
from covey.registry import Registry

controllers: Registry[Callable[..., Any]] = Registry("controller", shelf="covey.controllers.shelf")
Scope = Literal["robot", "group", "team"]


def kept(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that keeps its last results, if it can hash its arguments: a design asks hundreds of times."""
    last = functools.lru_cache(maxsize=256)(function)

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        try:
            hash(arguments)
        except TypeError:
            return function(*arguments)
        return last(*arguments)

    return call


signature_of = kept(inspect.signature)
_hints_of = kept(lambda function, limits: get_type_hints(function, include_extras=limits))


def controller(
    name: Any = None,
    *,
    scope: Scope = "robot",
    sees: str | tuple[str, ...] | Callable[..., tuple[str, ...]] | None = None,
    needs: tuple[str, ...] = (),
    runs: str = "",
    missions: tuple[str, ...] | None = None,
    cell_bytes: float = 0.0,
    many_worlds: bool = False,
) -> Any:
    """Mark a function or class as a controller, and register it if a name is given.

    Args:
        name: the name for scenario files; without a name, pass the object itself.
        scope: ``"robot"``: one instance per robot; ``"group"``: called with a `GroupView`; ``"team"``: called with a
            dict of them by group name, returns a dict of twists.
        sees: what it may read. For a controller of one robot: words of `covey.onboard.permissions.WORDS` and names of
            sensors; None: everything. For a group or team controller: ``"full"`` (including the truth), or names of
            fields: ``pose`` (the estimate; the only field if None), ``pose_covariance``, ``collided``, ``others`` (the
            estimated poses of the robots of all other groups, (k, 3)), ``goals`` (where a mission such as navigation
            wants each robot, (n, 2)), and names of sensors. A function of the controller's parameters may return them.
        needs: each robot must have at least one of these: kinds of sensors, ``map`` (a mapping and a sensor for it),
            ``waypoints`` (a patrolling mission). Empty: it needs nothing.
        runs: the parameter that names another controller, which this one runs: it may also read what that one may, and
            needs what that one needs.
        missions: names of the missions for which the form of a scenario offers it, such as ``("exploration",)``; empty:
            only in place of another one without a mission; None: for any.
        cell_bytes: what it keeps for each cell of a robot's map; the memory of a run is estimated with it.
        many_worlds: whether a `covey.Batch` calls a controller of a group once for all its worlds, with a
            `covey.onboard.group_view.WorldsView`: arrays then have the world as their first axis, ``pose`` (B, n, 3),
            and so do the commands. Code that counts axes from the end takes both.
    """
    if callable(name):
        return controller(None, scope=scope, sees=sees, needs=needs, many_worlds=many_worlds)(name)
    if many_worlds and scope != "group":
        raise InvalidValueError(f"many_worlds is for controllers with scope='group', not {scope!r}; leave it out")

    def decorate(item: Any) -> Any:
        item.covey_scope, item.covey_needs, item.covey_runs, item.covey_missions = scope, needs, runs, missions
        item.covey_cell_bytes, item.covey_many_worlds = cell_bytes, many_worlds
        default = None if scope == "robot" else ("pose",)
        several = sees if callable(sees) else (sees,) if isinstance(sees, str) else tuple(sees or ())
        item.covey_sees = default if sees is None else several
        return controllers.register(name)(item) if name else item

    return decorate


_OF_ROUTES = ("goto", "travel", "reachable", "frontier", "route", "explore")
"""Words in the code of a controller that plans routes."""


@dataclass(frozen=True, eq=False)
class Program:
    """A controller with its parameters, as given to a group of robots. It must be picklable.

    Attributes:
        factory: the function or class itself, or its name, for example ``Program("minpos")``.
        parameters: keyword parameters that differ from the defaults.

    Raises:
        InvalidValueError: the object is not a controller, or has no such parameter.
        UnknownNameError: no controller has this name.
    """

    factory: Any
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.factory, str):
            if ".py" in self.factory:
                hint = "in Python give the function or class itself; only scenario files name a file"
                raise InvalidValueError(f"controller is {self.factory!r}; {hint}")
            object.__setattr__(self, "factory", controllers.get(self.factory))
        refuse_misfit(getattr(self.factory, "__name__", repr(self.factory)), self.factory)
        factory: Any = self.factory
        known = parameters_of(factory)
        for key in self.parameters:
            if known is not None and key not in known:
                raise InvalidValueError(f"controller {self.name!r} has no parameter {key!r}{did_you_mean(key, known)}")
        inner = self.inner
        if inner is not None and inner.scope != "robot":
            raise InvalidValueError(
                f"{self.name!r} runs a controller of one robot; {inner.name!r} is of a {inner.scope}"
            )

    @staticmethod
    def of(value: Any) -> "Program":
        """Return the program of a function, class or name, or of a mapping ``{name: ..., parameter: ...}``."""
        if isinstance(value, Mapping):
            return Program(value.get("name"), {k: v for k, v in value.items() if k != "name"})
        return Program(value)

    @property
    def inner(self) -> "Program | None":
        """The controller that it runs, see `controller`."""
        key = getattr(self.factory, "covey_runs", "")
        if not key:
            return None
        return Program.of(self.parameters.get(key, signature_of(self.factory).parameters[key].default))

    @property
    def name(self) -> str:
        """The registered name, or the name of the function or class."""
        return controllers.name_of(self.factory) or getattr(self.factory, "__name__", repr(self.factory))

    @cached_property
    def scope(self) -> Scope:
        """robot, group or team."""
        return getattr(self.factory, "covey_scope", "robot")

    @cached_property
    def sees(self) -> tuple[str, ...] | None:
        """What the controller may read, see `controller`; None: everything."""
        own: Any = getattr(self.factory, "covey_sees", None)
        own, inner = own(**self.parameters) if callable(own) else own, self.inner
        if inner is None or own is None:
            return own
        return None if inner.sees is None else tuple(dict.fromkeys((*own, *inner.sees)))

    @property
    def many_worlds(self) -> bool:
        """Whether one call takes the arrays of many worlds, see `controller`."""
        return getattr(self.factory, "covey_many_worlds", False)

    @property
    def needs(self) -> tuple[str, ...]:
        """The things of which each robot must have at least one, see `controller`."""
        return getattr(self.factory, "covey_needs", ()) if self.inner is None else self.inner.needs

    @property
    def cell_bytes(self) -> float:
        """What it keeps for each cell of a robot's map [bytes], see `controller`."""
        own = getattr(self.factory, "covey_cell_bytes", 0.0)
        return own if self.inner is None else own + self.inner.cell_bytes

    @property
    def shares_maps(self) -> bool:
        """True if its robots take part in the exchange of maps."""
        return self.sees is None or self.scope != "robot" or "shared_map" in self.sees

    @property
    def plans_routes(self) -> bool:
        """True if its robots may plan routes over their maps; if it does not say what it sees, its file is read."""
        if self.scope != "robot":
            return False
        if self.sees is not None:
            return "map" in self.sees
        try:
            code = inspect.getsource(inspect.getmodule(self.factory) or self.factory)
        except (OSError, TypeError):
            return True
        return any(word in code for word in _OF_ROUTES)

    @property
    def counts_on_shared_maps(self) -> bool:
        """True if it declares that it uses shared maps, but its file never calls for sharing."""
        if self.scope != "robot" or "shared_map" not in (self.sees or ()):
            return False
        try:
            code = inspect.getsource(inspect.getmodule(self.factory) or self.factory)
        except (OSError, TypeError):
            return False
        return not any(call in code for call in ("request_maps(", "share_map("))

    def reads(self, sensor: Any) -> bool:
        """Return whether it, or the navigation that it may use, reads a sensor."""
        if self.sees is None or sensor.name in self.sees:
            return True
        if self.scope != "robot":
            return "full" in self.sees
        return "pose" in self.sees and bool({"scan", "mates"} & {*sensor.feeds})

    def bound(self) -> Callable[..., Any]:
        """Return the callable with its parameters set; a class gives a new instance at each call."""
        if inspect.isclass(self.factory):
            instance: Any = self.factory(**self.parameters)
            return instance.step
        return functools.partial(self.factory, **self.parameters)

    @property
    def is_sequential(self) -> bool:
        """True for ``async def`` controllers."""
        return inspect.iscoroutinefunction(self.factory)


def refuse_misfit(name: str, target: Any) -> None:
    """Check that an object can be a controller, as far as possible without calling it.

    Args:
        name: its name for the error message.
        target: a function or class.

    Raises:
        InvalidValueError: it cannot be a controller; the message says what is missing.
    """
    wrong = _misfit(target)
    if wrong:
        raise InvalidValueError(f"controller {name!r} {wrong}")


def _misfit(target: Any) -> str:
    if not callable(target):
        return f"is {type(target).__name__}; a controller is a function or a class with step(self, robot)"
    call, given, right = target, 1, "its first argument is the robot"
    if inspect.isclass(target):
        call, given, right = getattr(target, "step", None), 2, "write step(self, robot)"
        if not callable(call):
            own = ", ".join(name for name, item in vars(target).items() if callable(item) and not name.startswith("_"))
            return f"has no method step(self, robot), only: {own or 'none'}"
        if inspect.iscoroutinefunction(call):
            return (
                "has an async step; a step is called once per control step and cannot wait: write a plain step, or an "
                "async function of the robot instead of the class"
            )
        if isinstance(inspect.getattr_static(target, "step"), (staticmethod, classmethod)):
            given = 1
    if inspect.isgeneratorfunction(call) or inspect.isasyncgenfunction(call):
        return "has a yield; write async def, and await instead of yield"
    if inspect.iscoroutinefunction(call) and getattr(target, "covey_scope", "robot") != "robot":
        return "is async, which only a controller of one robot can be"
    try:
        signature = signature_of(call)
    except ValueError:  # callables that are not written in Python may have no signature
        return ""
    try:
        signature.bind_partial(*[None] * given)
    except TypeError:
        return f"is written {getattr(call, '__name__', '')}{signature}; {right}"
    return ""


def types_of(factory: Callable[..., Any], *, limits: bool = False) -> dict[str, Any]:
    """Return what the parameters of a controller are annotated with, with their limits too if asked for.

    Nothing where an annotation names what is not there, such as what is imported for type checkers alone.
    """
    try:
        return dict(_hints_of(factory.__init__ if inspect.isclass(factory) else factory, limits))
    except (NameError, TypeError):
        return {}


def parameters_of(factory: Callable[..., Any]) -> dict[str, inspect.Parameter] | None:
    """Return the parameters that a scenario may set, by name; None if the controller takes any."""
    parameters = list(signature_of(factory).parameters.values())
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    if not inspect.isclass(factory):
        parameters = parameters[1:]  # the robot, group or team
    return {p.name: p for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
