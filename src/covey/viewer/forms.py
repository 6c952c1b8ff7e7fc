"""The form of a scenario: its values with what their JSON schema says, and the check of what somebody has filled in."""

import inspect
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any

import yaml
from pydantic import BaseModel, PydanticSchemaGenerationError, PydanticUserError, TypeAdapter

from covey.controllers import controllers
from covey.errors import CoveyError, InvalidValueError, Problem, ScenarioError
from covey.named import ByKey, Named, OfKind
from covey.onboard.controller import parameters_of, types_of
from covey.registry import looking
from covey.robots.model import RobotModel
from covey.scenario.build import try_out
from covey.scenario.controller import ControllerReference
from covey.scenario.dump import plain
from covey.scenario.load import load_scenario
from covey.scenario.overrides import override, parse_override
from covey.scenario.records import Scenario
from covey.scenario.yaml12 import parse_scalar

_PATH = re.compile(r"[A-Za-z]\w*(\.[A-Za-z0-9_]\w*)*")
_FIRST = ("controller", "count")
_LEFT_OUT = ("format", "name", "description", "seed")
_STARTS = ("{together: {}}", "{spread: {}}", "{apart: {}}", "{room: largest}", "{hallway_ends: {}}")
_STARTS += ("{line: {from: [0, 0], step: [1, 0]}}", "[[0, 0, 0]]")

Field = dict[str, Any]


def form_of(scenario: Scenario) -> list[dict[str, Any]]:
    """Return the parts of the form: ``title`` and ``fields``; the first part holds what most people change.

    A field has the ``path`` of an override, ``value`` (as after ``-s path=``), ``kind`` (integer, number, flag, choice
    or text), ``help``, and where its schema has them ``choices``, ``least`` and ``most``. With ``again``, other fields
    depend on its value: ask again with `filled`.
    """
    first, parts = list[Field](), list[dict[str, Any]]()
    for group in scenario.robots:
        fields = list(_fields(group, f"robots.{group.name}", scenario.mission.kind))
        chosen = [field for name in _FIRST for field in fields if field["path"] == f"robots.{group.name}.{name}"]
        first += chosen
        rest = [field for field in fields if field not in chosen and not field["path"].endswith(".name")]
        parts.append({"title": f"Robots: {group.name}", "fields": rest})
    first.append(_field("seed", scenario.seed, _properties(Scenario)["seed"]))
    for name, schema in _properties(Scenario).items():
        if name in _LEFT_OUT or name == "robots":
            continue
        value = getattr(scenario, name)
        has_fields = _has_fields(value)
        fields = list(_fields(value, name, scenario.mission.kind)) if has_fields else [_field(name, value, schema)]
        parts.append({"title": name.replace("_", " ").capitalize(), "fields": fields})
    return [{"title": "", "fields": first}, *parts]


def filled(source: str, changes: Mapping[str, str]) -> Scenario:
    """Return the scenario with what somebody has filled in, each as after ``-s path=``. No code of files is run.

    Raises:
        ScenarioError: all problems; the ``file`` of each is the path of its field, if it has one.
    """
    return _read(source, changes, tried=False)


def checked(source: str, changes: Mapping[str, str]) -> Scenario:
    """Return the same as `filled`, after it has been tried out as by ``covey check``."""
    return _read(source, changes, tried=True)


def _read(source: str, changes: Mapping[str, str], *, tried: bool) -> Scenario:
    values, problems = dict[str, Any](), list[Problem]()
    for path, text in changes.items():
        if not _PATH.fullmatch(path):
            raise InvalidValueError(f"{path!r:.80} is not the path of a value")
        try:
            values |= dict([parse_override(f"{path}={text}")])
        except ScenarioError as error:
            problems += [Problem(problem.message, path) for problem in error.problems]
    if problems:
        raise ScenarioError(problems)
    try:
        with looking() as seen:
            scenario = load_scenario(source)
            if values:
                scenario = override(scenario, values, trusted_only=True)
            if tried and not seen.stand_ins:
                try_out(scenario)
    except ScenarioError as error:
        raise ScenarioError([_placed(problem, changes) for problem in error.problems]) from None
    except CoveyError as error:
        raise ScenarioError([_placed(Problem(str(error)), changes)]) from None
    return scenario


def _placed(problem: Problem, changes: Mapping[str, str]) -> Problem:
    """Return a problem with the path of the field that it is about in place of the file, if it can be told."""
    if problem.file.startswith("-s "):
        told = problem.message.replace("--trusted-only refuses", "a form does not: name it in a scenario file")
        return Problem(told, problem.file.removeprefix("-s "))
    head, colon, _ = problem.message.partition(": ")
    below = [path for path in changes if colon and path.startswith(head)]
    if len(changes) == 1:
        below = list(changes)
    named = [path for path in below if re.search(rf"\b{path.rpartition('.')[2]}\b", problem.message)]
    return Problem(problem.message, next(iter(named or below), ""))


def _fields(record: BaseModel, path: str, mission: str) -> Iterator[Field]:
    """Yield the fields of a record, and of the records in it, in a scenario with a mission."""
    for name, schema in _properties(type(record)).items():
        value = getattr(record, _attribute(type(record), name))
        below = f"{path}.{name}"
        kinds = _kinds(value, schema)
        if kinds:
            yield {**_field(below, value, schema), "kind": "choice", "again": True} | kinds
        if isinstance(value, ControllerReference):
            yield from _controller(value, schema, below, mission)
        elif _has_fields(value):
            yield from _fields(value, below, mission)
        elif "const" not in schema and not kinds:
            yield _field(below, value, schema)


def _has_fields(value: Any) -> bool:
    """Return whether the fields of a value are fields of the form; a name with parameters is one field."""
    is_record = isinstance(value, BaseModel) and not isinstance(value, Named | RobotModel)
    return is_record or isinstance(value, ByKey | OfKind)


def _kinds(value: Any, schema: dict[str, Any]) -> Field:
    """Return value and choices of a record of one of several kinds, or nothing: after another choice it has others."""
    if isinstance(value, OfKind):
        return {"value": value.kind, "choices": list(dict.fromkeys([*value.registry.items(), value.kind]))}
    if schema.get("title") != "Start":
        return {}
    text = _text(plain(value))
    others = [one for one in _STARTS if one.partition(":")[0] != text.partition(":")[0]]
    return {"value": text, "choices": [text, *others]}


def offered(mission: str, present: Any = None) -> list[str]:
    """Return the names of the controllers that can do a mission, or that do what a present one does.

    Examples:
        >>> "cyclic_patrol" in offered("exploration"), "nearest_frontier" in offered("exploration")
        (False, True)
    """

    own = getattr(present, "covey_missions", None)

    def can(name: str) -> bool:
        try:
            missions = getattr(controllers.get(name), "covey_missions", None)
        except ImportError:  # of an installed package; who chooses it reads why
            return True
        return missions is None or mission in missions or missions == own

    return [name for name in controllers.names() if can(name)]


def _controller(value: ControllerReference, schema: dict[str, Any], path: str, mission: str) -> Iterator[Field]:
    names = offered(mission, value.target)
    choices = names if value.reference in names else [value.reference, *names]
    again = {"kind": "choice", "choices": choices, "again": True}
    yield {"path": path, "value": value.reference, "help": _help(schema)} | again
    if not callable(value.target):
        return
    types, words = types_of(value.target, limits=True), _arguments(inspect.getdoc(value.target) or "")
    for name, parameter in (parameters_of(value.target) or {}).items():
        default = None if parameter.default is inspect.Parameter.empty else parameter.default
        found = value.parameters.get(name, default)
        if found is None or isinstance(found, bool | int | float | str | list | tuple | dict):
            said = {"description": words.get(name, f"Parameter of {value.reference}.")}
            yield _field(f"{path}.{name}", found, _schema_of(types.get(name, type(found))) | said)


def _schema_of(kind: Any) -> dict[str, Any]:
    """Return the JSON schema of a type; nothing for one that has none."""
    with suppress(PydanticUserError, PydanticSchemaGenerationError):
        return TypeAdapter(kind).json_schema()
    return {}


def _arguments(doc: str) -> dict[str, str]:
    """Return the words of a docstring about each argument.

    Examples:
        >>> _arguments("It walks.\\n\\nArgs:\\n    speed, turn: of the\\n        robot.\\n    end: at last.\\n")
        {'speed': 'of the robot.', 'turn': 'of the robot.', 'end': 'at last.'}
    """
    block = re.search(r"^Args:\n((?: .*\n?|\n)+)", doc, re.MULTILINE)
    found = {}
    for names, text in re.findall(r"^ {4}(\w[\w, ]*): (.*(?:\n {5,}.*)*)", block[1] if block else "", re.MULTILINE):
        found |= dict.fromkeys(names.split(", "), " ".join(text.split()))
    return found


def _field(path: str, value: Any, schema: dict[str, Any]) -> Field:
    field: Field = {"path": path, "value": _text(plain(value)), "kind": "text", "help": _help(schema)}
    kind = schema.get("type")
    if kind in ("integer", "number"):
        field["kind"] = kind
        field |= {mine: schema[key] for mine, key in (("least", "minimum"), ("most", "maximum")) if key in schema}
    elif kind == "boolean":
        field["kind"] = "flag"
    options = [schema, *schema.get("anyOf", ())]
    choices = [choice for option in options for choice in option.get("enum", ())]
    if choices and all("enum" in option or option.get("type") == "null" or option is schema for option in options):
        field |= {"kind": "choice", "choices": [*([""] if "anyOf" in schema else []), *choices]}
    return field


def _help(schema: dict[str, Any]) -> str:
    return schema.get("description", "")


@cache
def _properties(record: type[BaseModel]) -> dict[str, dict[str, Any]]:
    """Return what the JSON schema says of each key of a record."""
    return record.model_json_schema()["properties"]


def _attribute(record: type[BaseModel], key: str) -> str:
    return next(name for name, field in record.model_fields.items() if (field.alias or name) == key)


def _text(value: Any) -> str:
    """Return a value as somebody types it after ``-s path=``: YAML in one line; nothing for null."""
    if value is None:
        return ""
    if isinstance(value, str) and parse_scalar(value) == value and not value.startswith(tuple("[{\"'&*!|>%@`#")):
        return value
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10**6, allow_unicode=True)
    return text.removesuffix("...\n").strip()
