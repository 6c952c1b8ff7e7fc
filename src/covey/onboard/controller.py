"""What a controller is: three styles, one decorator.

* ``async def patrol(robot, *, speed=0.2)``: sequential code that awaits motions, in simulated time;
* a class with ``step(self, robot)``, or a plain function of a robot: called once per step;
* ``@covey.controller(scope="group", sees=("pose",))``: arrays of all robots of a group in, (n, 3) twists out.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_type_hints

from covey.errors import InvalidValueError, did_you_mean
from covey.registry import Registry

controllers: Registry[Callable[..., Any]] = Registry("controller", shelf="covey.controllers")
Scope = Literal["robot", "group", "team"]


def controller(
    name: Any = None,
    *,
    scope: Scope = "robot",
    sees: str | tuple[str, ...] | None = None,
    needs: tuple[str, ...] = (),
) -> Any:
    """Mark a function or class as a controller, and register it when a name is given.

    Args:
        name: the name for scenario files; without one the controller is used by passing the object itself.
        scope: ``"robot"``: one instance per robot; ``"group"``: called with a `GroupView`; ``"team"``: called with a
            dict of them by group name, returning a dict of twists.
        sees: what it may look at. A controller of one robot: words of `covey.onboard.permissions.WORDS` and sensors by
            name; None is everything. A group or team controller: ``"full"`` (the truth, too) or names of fields:
            ``pose`` (the estimate; alone when None), ``collided``, and sensors by name.
        needs: of these each robot must have one at least: kinds of sensors, ``map`` (a mapping and a sensor for it),
            ``waypoints`` (a patrolling mission); none: it does without.
    """
    if callable(name):
        return controller(None, scope=scope, sees=sees, needs=needs)(name)

    def decorate(item: Any) -> Any:
        item.covey_scope, item.covey_needs = scope, needs
        default = None if scope == "robot" else ("pose",)
        item.covey_sees = default if sees is None else (sees,) if isinstance(sees, str) else tuple(sees)
        return controllers.register(name)(item) if name else item

    return decorate


@dataclass(frozen=True, eq=False)
class Program:
    """A controller with its parameters: what a group of robots is given, and what must survive pickling.

    Attributes:
        factory: the function or class itself; it may be given by its name, as in ``Program("minpos")``.
        parameters: keyword parameters that differ from the defaults.

    Raises:
        InvalidValueError: the object is no controller, or has no such parameter.
        UnknownNameError: no controller has this name.
    """

    factory: Any
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.factory, str):
            object.__setattr__(self, "factory", controllers.get(self.factory))
        refuse_misfit(getattr(self.factory, "__name__", repr(self.factory)), self.factory)
        factory: Any = self.factory
        known = parameters_of(factory)
        for key in self.parameters:
            if known is not None and key not in known:
                raise InvalidValueError(f"controller {self.name!r} has no parameter {key!r}{did_you_mean(key, known)}")

    @property
    def name(self) -> str:
        """The registered name, or that of the function or class."""
        return controllers.name_of(self.factory) or getattr(self.factory, "__name__", repr(self.factory))

    @property
    def scope(self) -> Scope:
        """robot, group or team."""
        return getattr(self.factory, "covey_scope", "robot")

    @property
    def sees(self) -> tuple[str, ...] | None:
        """What the controller may look at, see `controller`; None is everything."""
        return getattr(self.factory, "covey_sees", None)

    @property
    def needs(self) -> tuple[str, ...]:
        """What each robot must have one of at least, see `controller`."""
        return getattr(self.factory, "covey_needs", ())

    @property
    def shares_maps(self) -> bool:
        """True when its robots take part in the exchange of maps."""
        return self.sees is None or self.scope != "robot" or "shared_map" in self.sees

    @property
    def counts_on_shared_maps(self) -> bool:
        """True when it declares that it uses shared maps, and its file nowhere says when to share them."""
        if self.scope != "robot" or "shared_map" not in (self.sees or ()):
            return False
        try:
            code = inspect.getsource(inspect.getmodule(self.factory) or self.factory)
        except (OSError, TypeError):
            return False
        return not any(call in code for call in ("request_maps(", "share_map("))

    def reads(self, kind: str, name: str) -> bool:
        """Return whether it, or the navigation that it may use, looks at a sensor of a kind and a name."""
        if self.sees is None or name in self.sees:
            return True
        if self.scope != "robot":
            return "full" in self.sees
        return kind in ("lidar", "neighbours") and "pose" in self.sees

    def bound(self) -> Callable[..., Any]:
        """Return the callable with its parameters set; classes are instantiated, anew at each call."""
        if inspect.isclass(self.factory):
            instance: Any = self.factory(**self.parameters)
            return instance.step
        return functools.partial(self.factory, **self.parameters)

    @property
    def is_sequential(self) -> bool:
        """True for ``async def``: code that awaits."""
        return inspect.iscoroutinefunction(self.factory)


def refuse_misfit(name: str, target: Any) -> None:
    """Check that an object can be a controller, as far as that is seen without calling it.

    Args:
        name: what to call it.
        target: a function or class.

    Raises:
        InvalidValueError: it cannot; the message says what it lacks.
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
    if inspect.isgeneratorfunction(call):
        return "has a yield; write async def, and await instead of yield"
    if inspect.iscoroutinefunction(call) and getattr(target, "covey_scope", "robot") != "robot":
        return "is async, which only a controller of one robot can be"
    try:
        signature = inspect.signature(call)
    except ValueError:  # of what is not written in Python there may be none
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
        return get_type_hints(factory.__init__ if inspect.isclass(factory) else factory, include_extras=limits)
    except (NameError, TypeError):
        return {}


def parameters_of(factory: Callable[..., Any]) -> dict[str, inspect.Parameter] | None:
    """Return the parameters that a scenario may set, by name; None when the controller takes any."""
    signature = inspect.signature(factory)
    parameters = list(signature.parameters.values())
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    if not inspect.isclass(factory):
        parameters = parameters[1:]  # the robot, group or team
    return {p.name: p for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
