"""Add-ons of `covey.play`: what watches the team, gives its laws data, and draws."""

import copy
import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from covey.errors import ControllerError, InvalidValueError
from covey.lab.canvas import Canvas
from covey.lab.everybody import joined_facts, marked
from covey.named import find
from covey.onboard.controller import Program
from covey.onboard.group_view import MOTION, GroupFacts, GroupView, Later
from covey.registry import Registry
from covey.results.marks import Mark
from covey.runtime.local.failures import text_of
from covey.runtime.simulation import Simulation

registry: Registry[Any] = Registry("addon", shelf="covey.lab.addons")
_PARTS = ("begin", "step", "draw")


def addon(name: str) -> Callable[[Any], Any]:
    """Return a decorator that gives an add-on a name, so that ``covey.play(law, addons=[name])`` finds it.

    An add-on is a class with one or more of ``begin(self, team)``, ``step(self, team)`` and ``draw(self, canvas)``.

    Examples:
        >>> @addon("middle")
        ... class Middle:
        ...     def step(self, team):
        ...         return team.position.mean(axis=0)
        ...
        ...     def draw(self, canvas):
        ...         canvas.points(canvas.data)
    """
    if not isinstance(name, str):
        raise InvalidValueError(f"addon is given {name!r:.60}; write a name: @covey.addon('middle')")
    return registry.register(name)


class Addons:
    """The add-ons of one run, and what they gave and drew at the start and after each step.

    Attributes:
        names: their names.
        data: what each step returned, by add-on.
        marks: what was drawn at each time.
    """

    def __init__(self, given: Iterable[Any], sensors: Iterable[str] = ()):
        self._parts: dict[str, Any] = {}
        taken = {*MOTION, *sensors, *vars(GroupView), *GroupFacts.__annotations__, "count", "time", "links", "full"}
        for item in given:
            name, made = _made(item)
            if name in taken or not name.isidentifier():
                raise InvalidValueError(
                    f"an add-on cannot be called {name!r}, team.{name} is something else; write above its class, such "
                    f"as: @covey.addon('my_{name}')"
                )
            if name in self._parts:
                raise InvalidValueError(f"two add-ons are called {name!r}; name one of them: @covey.addon('other')")
            self._parts[name] = made
        self.names = tuple(self._parts)
        self.data: dict[str, list[Any]] = {name: [] for name in self.names if hasattr(self._parts[name], "step")}
        self.marks: list[tuple[Mark, ...]] = []
        self._last: dict[str, list[Mark]] = {}
        self._view: GroupView | None = None

    def seen_by(self, program: Program) -> Program:
        """Return a controller of a group that also sees the data of add-ons, those that it declares."""
        if program.scope != "group" or not self.names:
            return program
        call, sees = program.bound(), program.sees or ()
        shown = [name for name in self.data if name in sees or "full" in sees]

        def of_team(team: GroupView) -> Any:
            team.__dict__["addons"] = self.names
            team.fields.update({name: _kept(name, self.data[name][-1]) for name in shown})
            return call(team)

        return Program(marked(of_team, program.factory, "group", tuple(w for w in sees if w not in self.names)))

    def observe(self, sim: Simulation) -> None:
        """Let all look at the team as it truly is now, and draw.

        Raises:
            ControllerError: one failed; the error says in which file and line.
        """
        if not self.names:
            return
        first = self._view is None
        team = self._team(sim)
        marks: list[Mark] = []
        for name, part in self._parts.items():
            if first and hasattr(part, "begin"):
                _call(name, part.begin, team)
            if name in self.data:
                self.data[name].append(_kept(name, _call(name, part.step, team)))
            if hasattr(part, "draw"):
                canvas = Canvas(team, self.data[name][-1] if name in self.data else None, name)
                _call(name, part.draw, canvas)
                last = self._last.get(name, [])
                is_new = len(last) != len(canvas.marks) or not all(map(Mark.same_as, canvas.marks, last))
                self._last[name] = canvas.marks if is_new else last
                marks += self._last[name]
        self.marks.append(tuple(marks))

    @property
    def drawn(self) -> dict[str, Callable[[], list[Mark]]]:
        """What gives the marks that each add-on that draws has drawn last, by layer of the page."""
        draws = [name for name, part in self._parts.items() if hasattr(part, "draw")]
        return {f"addon:{name}": lambda name=name: self._last.get(name, []) for name in draws}

    def _team(self, sim: Simulation) -> GroupView:
        if self._view is None:
            facts = [
                GroupFacts(g.name, tuple(g.names), g.robot, sim.clock.step_s, sim.world.workspace_m, sim.seed)
                for g in sim.groups
            ]
            self._view = GroupView(joined_facts(facts))
        pose, (vx, vy, turn) = sim.state.pose.copy(), sim.state.twist.T
        c, s = np.cos(pose[:, 2]), np.sin(pose[:, 2])
        fields = {
            "pose": pose,
            "velocity": np.column_stack((c * vx - s * vy, s * vx + c * vy)),
            "turn_rate": turn.copy(),
            "links": Later(functools.partial(_links, sim)),
        }
        return self._view.at(sim.time, fields)


def stacked(values: list[Any]) -> Any:
    """Return numbers, or equal arrays, as one array (t + 1, …); other values as they are."""
    if values and all(isinstance(v, (bool, int, float, np.number, np.bool_)) for v in values):
        return np.array(values)
    if values and all(isinstance(v, np.ndarray) and v.shape == values[0].shape for v in values):
        return np.stack(values)
    return values


def _made(item: Any) -> tuple[str, Any]:
    """Return the name of an add-on and the object."""
    name = ""
    if isinstance(item, str):
        name, item = "" if ".py:" in item else item, find(item, registry, {})
    kind = item if isinstance(item, type) else type(item)
    name = name or registry.name_of(kind) or kind.__name__.lower()
    if isinstance(item, type):
        try:
            item = item()
        except TypeError as error:
            raise InvalidValueError(
                f"add-on {name!r} cannot be made: {error}; give an object: {kind.__name__}(…)"
            ) from None
    if not any(callable(getattr(item, part, None)) for part in _PARTS):
        raise InvalidValueError(
            f"{getattr(item, '__name__', kind.__name__)!r} is no add-on; write a class with step(self, team), "
            "draw(self, canvas), or both"
        )
    return name, item


def _call(name: str, method: Callable[[Any], Any], value: Any) -> Any:
    try:
        return method(value)
    except (Exception, SystemExit) as error:
        raise ControllerError(f"add-on {name!r}: {text_of(error).partition(chr(10))[0]}") from error


def _kept(name: str, value: Any) -> Any:
    """Return data as they are now: a copy, of an array a read-only one."""
    try:
        value = copy.deepcopy(value)
    except Exception as error:
        raise ControllerError(
            f"add-on {name!r}: step returned what cannot be copied ({error}); return numbers, arrays, or lists of them"
        ) from None
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    return value


def _links(sim: Simulation) -> np.ndarray:
    """Return which robots hear each other now, over the first radio, bool (n, n)."""
    alive = sim.state.radio_alive & ~sim.state.halted
    return sim.communication.network.links(sim.sensing.world, sim.state.pose, alive)
