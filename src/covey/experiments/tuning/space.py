"""What tuning searches: parameters of strategies, and other fields of a scenario, each with its range or choices."""

import math
import re
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from covey.errors import CoveyError, InvalidValueError, ScenarioError, did_you_mean
from covey.experiments.design.parameters import LabelledChanges, LabelledValue, Range
from covey.experiments.design.vectors import key_of
from covey.onboard.controller import parameters_of, types_of
from covey.records import text_of
from covey.scenario.dump import plain
from covey.scenario.overrides import override, parse_override, value_at
from covey.scenario.records import Scenario

_WIDE = 20.0
"""Declared limits further apart than this, over the default, only keep out nonsense: they are not searched unasked."""
_SMALLEST = 1e-3
"""Share of a range at which it begins, where its lower end is excluded."""
_DIGITS = 4
_SPAN = re.compile(r"([^\s\[{]\S*?)\.\.(\S+)")


@dataclass(frozen=True)
class SearchedParameter:
    """A parameter that is searched.

    Attributes:
        path: its dotted path in the scenario.
        default: its value in the scenario, or the strategy's own.
        choices: its values, of which one is chosen; empty for numbers of a range.
        low, high: ends of the range.
        whole: whether only whole numbers are tried.
        log: whether ratios count, not differences.
        step: from each value to the next; None: any.
    """

    path: str
    default: Any
    choices: tuple[Any, ...] = ()
    low: float = 0.0
    high: float = 0.0
    whole: bool = False
    log: bool = False
    step: float | None = None

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition(".")[2]

    @property
    def labels(self) -> dict[Any, Any]:
        """The choices as an optimizer takes them: numbers, truth values and texts as they are, others as text."""
        simple = (str, int, float, bool, type(None))
        return {one if isinstance(one, simple) else key_of(one): one for one in self.choices}

    @property
    def begins(self) -> Any:
        """The default as an optimizer takes it; None if it is not searched."""
        if self.choices:
            return next((label for label, one in self.labels.items() if key_of(one) == key_of(self.default)), None)
        is_number = isinstance(self.default, (int, float)) and not isinstance(self.default, bool)
        if not is_number or not self.low <= self.default <= self.high:
            return None
        if self.step is not None and not math.isclose(steps := (self.default - self.low) / self.step, round(steps)):
            return None
        return int(self.default) if self.whole else float(self.default)

    def value(self, proposed: Any) -> Any:
        """Return the value for a scenario: of a choice itself, a real number with four digits, within the range."""
        if self.choices:
            return self.labels[proposed]
        if self.whole:
            return int(proposed)
        return min(max(float(f"{proposed:.{_DIGITS}g}"), self.low), self.high)

    def __str__(self) -> str:
        if self.choices:
            return f"{self.name} (one of {', '.join(map(str, self.labels))})"
        return f"{self.name} ({self.low:g} to {self.high:g}{', by ratios' if self.log else ''})"


def search_space(
    scenario: Scenario, over: Sequence[str] | Mapping[str, Any], ranges: Mapping[str, Any]
) -> tuple[list[SearchedParameter], list[str]]:
    """Return what is searched, and which parameters of the strategies are not, in words.

    Args:
        scenario: the scenario with its defaults.
        over: ``NAME`` or ``NAME=RANGE`` each, or ranges by name; empty: all parameters of the strategies whose declared
            range is narrow enough. A name is a dotted path, or the last part of that of a strategy's parameter.
        ranges: parameters of the design by path: these are the ranges of those that are named without one.

    Raises:
        InvalidValueError: there is no such parameter, or none, or it needs a range.
    """
    declared = dict(_declared(scenario))
    wide = {path: one for path, one in declared.items() if isinstance(one, str)}
    narrow = {path: one for path, one in declared.items() if isinstance(one, SearchedParameter)}
    if not over:
        if not narrow:
            raise InvalidValueError(_nothing(declared, wide))
        return list(narrow.values()), [f"{path.rpartition('.')[2]} ({said})" for path, said in wide.items()]
    given = dict(over) if isinstance(over, Mapping) else dict(map(_parted, over))
    found: dict[str, SearchedParameter] = {}
    for name, wanted in given.items():
        path = _path_of(name, declared)
        wanted = ranges.get(path) if wanted is None else wanted
        if wanted is not None:
            found[path] = _given(scenario, path, wanted)
        elif path in narrow:
            found[path] = narrow[path]
        else:
            said = f" may be {wide[path]}" if path in wide else " is no parameter of a strategy"
            raise InvalidValueError(f"{name}{said}: say where to look, for example --over {name}=1..10")
    return list(found.values()), []


def _nothing(declared: Mapping[str, Any], wide: Mapping[str, str]) -> str:
    if not declared:
        return (
            "the strategies of this scenario have no parameter; name a field of the scenario and its range, for "
            "example --over robots.scout.robot.max_speed_m_s=0.1..1"
        )
    names = ", ".join(f"{one.rpartition('.')[2]} ({text})" for one, text in wide.items())
    name = next(iter(wide)).rpartition(".")[2]
    return f"no parameter has a narrow range: {names}; say where to look, for example --over {name}=1..10"


def _parted(text: str) -> tuple[str, Any]:
    """Return name and range of ``NAME`` or ``NAME=RANGE``; a range is ``FROM..TO``, or as in a design."""
    name, equals, wanted = text.partition("=")
    if not name.strip() or (equals and not wanted.strip()):
        raise InvalidValueError(f"--over {text}: write NAME or NAME=FROM..TO, for example alpha=1..10")
    if not equals:
        return name.strip(), None
    if (span := _SPAN.fullmatch(wanted.strip())) is None:
        return name.strip(), parse_override(text, "--over")[1]
    low, high = (parse_override(f"{name}={end}", "--over")[1] for end in span.groups())
    return name.strip(), {"from": low, "to": high}


def _path_of(name: str, declared: Mapping[str, Any]) -> str:
    """Return the path of a parameter."""
    if "." in name:
        return name
    found = [path for path in declared if path.rpartition(".")[2] == name]
    if len(found) > 1:
        raise InvalidValueError(f"{name!r} is a parameter of several groups: give its path, {' or '.join(found)}")
    if not found:
        hint = did_you_mean(name, [path.rpartition(".")[2] for path in declared])
        raise InvalidValueError(f"no strategy of this scenario has a parameter {name!r}{hint}")
    return found[0]


def _given(scenario: Scenario, path: str, wanted: Any) -> SearchedParameter:
    """Return a parameter with a range or choices of the user, once the scenario takes them."""
    default = default_of(scenario, path)
    if isinstance(wanted, Mapping) and {*wanted} & {"from", "to"}:
        for key in [key for key in ("from", "to", "step") if key in wanted]:
            _refuse_no_number(path, key, wanted[key])
        try:
            wanted = Range.model_validate(wanted)
        except ValidationError as error:
            raise InvalidValueError(text_of(error, Range, f"--over {path}")) from None
    if isinstance(wanted, Range):
        real = isinstance(default, float) and wanted.step is None
        if wanted.count is not None:
            found = SearchedParameter(path, default, tuple(wanted.values or ()))
        else:
            whole = wanted.whole and not real
            high = wanted.to if wanted.step is None else (wanted.values or [wanted.to])[-1]
            found = SearchedParameter(path, default, (), wanted.from_, high, whole, wanted.log, wanted.step)
        ends: Sequence[Any] = (wanted.from_, wanted.to if found.choices else found.high)
    else:
        items = list(wanted) if isinstance(wanted, (list, tuple)) else []
        if any(isinstance(one, (LabelledValue, LabelledChanges)) for one in items):
            raise InvalidValueError(f"{path} has labels in the design: give its values, --over '{path}=[1, 2]'")
        found, ends = SearchedParameter(path, default, tuple(items)), items
    if len(found.labels if found.choices else {*ends}) < 2:
        raise InvalidValueError(f"--over {path}: one value leaves nothing to search; write {path}=FROM..TO or =[…, …]")
    for end in ends:
        _refuse(scenario, path, end)
    return found


def _refuse_no_number(path: str, key: str, value: Any) -> None:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not -math.inf < value < math.inf:
        raise InvalidValueError(
            f"--over {path}: {key!r} must be a finite number; given: {value!r:.60}; words are listed: {path}=[a, b]"
        )


def _refuse(scenario: Scenario, path: str, value: Any) -> None:
    """Raise an error if a scenario does not take a value."""
    try:
        override(scenario, {path: value})
    except ScenarioError as error:
        message = error.problems[0].message
        given = "" if "; given: " in message else f"; given: {value}"
        raise InvalidValueError(f"--over {path}: {message}{given}") from None


def default_of(scenario: Scenario, path: str) -> Any:
    """Return the value of a dotted path in a scenario; of a strategy's parameter that is not given, its own default."""
    for group in scenario.robots:
        prefix = f"robots.{group.name}.controller."
        known = parameters_of(group.controller.target) or {}
        if path.startswith(prefix) and (name := path.removeprefix(prefix)) in known:
            return group.controller.parameters.get(name, known[name].default)
    return plain(value_at(scenario, path))


def _declared(scenario: Scenario) -> Iterator[tuple[str, "SearchedParameter | str"]]:
    """Yield the parameters of the strategies by path: what is searched of one, or in words why it needs a range."""
    for group in scenario.robots:
        target = group.controller.target
        hints = types_of(target, limits=True)
        for name, parameter in (parameters_of(target) or {}).items():
            path = f"robots.{group.name}.controller.{name}"
            default = group.controller.parameters.get(name, parameter.default)
            try:
                found = _by_annotation(path, default, hints.get(name, type(default)))
            except (CoveyError, TypeError, ValueError):
                continue
            if found is not None:
                yield path, found


def _by_annotation(path: str, default: Any, annotation: Any) -> "SearchedParameter | str | None":
    """Return how a parameter is searched by what it is declared as; None if it is neither number nor choice."""
    info = FieldInfo.from_annotation(annotation)
    kind = info.annotation
    if kind is bool:
        return SearchedParameter(path, default, (False, True))
    if typing.get_origin(kind) is typing.Literal:
        return SearchedParameter(path, default, typing.get_args(kind))
    if kind not in (int, float) or not isinstance(default, (int, float)):
        return None
    ends = {key: value for one in info.metadata for key in ("gt", "ge", "lt", "le") if (value := _end(one, key))[1]}
    low, high = (next((ends[key][0] for key in keys if key in ends), None) for keys in (("ge", "gt"), ("le", "lt")))
    if low is None or high is None:
        return f"any number, default {default:g}"
    if high - low > _WIDE * max(abs(default), 1 / _WIDE):
        return f"{low:g} to {high:g}, default {default:g}"
    found = SearchedParameter(path, default, (), low, high, kind is int)
    return _without_ends(found, "gt" in ends, "lt" in ends)


def _end(limit: Any, key: str) -> tuple[Any, bool]:
    value = getattr(limit, key, None)
    return value, isinstance(value, (int, float)) and math.isfinite(value)


def _without_ends(one: SearchedParameter, low: bool, high: bool) -> SearchedParameter:
    """Return a range without ends that are excluded."""
    step = 1 if one.whole else _SMALLEST * (one.high - one.low)
    return replace(one, low=one.low + step * low, high=one.high - step * high)
