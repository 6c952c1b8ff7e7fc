"""Change single values of a scenario by their dotted path: ``robots.scout.count=20``."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from covey.controllers.policies.trained import policy_file
from covey.errors import Problem, ScenarioError, did_you_mean
from covey.named import ByKey, Named, OfKind
from covey.onboard.controller import parameters_of
from covey.scenario.controller import ControllerReference
from covey.scenario.dump import plain
from covey.scenario.messages import dotted, read
from covey.scenario.yaml12 import FILES, Document, parse_yaml
from covey.scenario.yaml12 import Path as Place
from covey.world.io.images import is_file

if TYPE_CHECKING:
    from covey.scenario.records import Scenario

Changes = dict[tuple[str, ...], Any]


def override(
    scenario: "Scenario", changes: Mapping[str, Any], *, trusted_only: bool = False, here: Path | None = None
) -> "Scenario":
    """Return a copy of ``scenario`` with the value at each dotted path replaced.

    A record is changed before its fields, whatever the order of the changes; a controller at once with its parameters,
    because it may need them.

    Args:
        scenario: what to change.
        changes: values by dotted path.
        trusted_only: refuse code in files.
        here: folder in which files that the changes name are looked for first, and problems that are found later name
            the changes; None: files are relative to the folder of the scenario only.

    Raises:
        ScenarioError: every path that does not exist and every value that is not allowed.
    """
    layers: dict[int, dict[str, Any]] = {}
    document = scenario.document
    if here is not None:
        changes = {p: _found_from(here, scenario.folder, p.rpartition(".")[2], v) for p, v in changes.items()}
        places = {place_of(scenario, path): f"-s {path}" for path in changes}
        document = replace(document, given={**document.given, **places})
    for path, value in changes.items():
        depth = sum(path.startswith(f"{other}.") for other in changes if not _names_controller(other, changes[other]))
        layers.setdefault(depth, {})[path] = value
    context = {"folder": scenario.folder, "document": document, "trusted_only": trusted_only}
    for _, layer in sorted(layers.items()):
        tree = _Tree()
        data = tree.edit(scenario, {tuple(path.split(".")): value for path, value in layer.items()}, ())
        typed = {place_of(scenario, path): f"-s {path}" for path in layer}
        places = _Typed(data, values=dict.fromkeys(_places(data), (0, 0)), given=typed)
        made, problems = read(type(scenario), data, places, context)
        if made is None or problems or tree.problems:
            raise ScenarioError([*tree.problems, *problems])
        scenario = made
    return scenario


def parse_override(text: str, option: str = "-s") -> tuple[str, Any]:
    """Return path and value of ``path=value``, the value in YAML.

    Args:
        text: what is typed.
        option: that of the command line, for errors.

    Raises:
        ScenarioError: there is no ``=``, or the value is not YAML.

    Examples:
        >>> parse_override("robots.scout.count=20")
        ('robots.scout.count', 20)
    """
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        raise ScenarioError([Problem(f"{option} {text}: write key=value, as in robots.scout.count=20")])
    document = parse_yaml(value, f"{option} {path}")
    if document.problems:
        raise ScenarioError(document.problems)
    return path.strip(), document.data


def _found_from(here: Path, folder: Path, key: str, value: Any) -> Any:
    """Return the value of a key with files as whole paths if they are in ``here``, or not in ``folder`` either."""
    if isinstance(value, dict):
        return {_found_from(here, folder, "", k): _found_from(here, folder, k, v) for k, v in value.items()}
    if isinstance(value, list):
        return [_found_from(here, folder, "", item) for item in value]
    if not isinstance(value, str) or value == "plan":
        return value
    file, code, name = value.rpartition(":") if ".py:" in value else (value, "", "")
    if not (code or key in FILES) or (is_file(folder / file) and not is_file(here / file)):
        return value
    if policy_file(file) != file:  # it ships with Covey
        return value
    whole = (here / file).resolve()
    return value if whole == (folder / file).resolve() else f"{whole}{code}{name}"


def place_of(scenario: "Scenario", path: str) -> tuple[str | int, ...]:
    """Return a dotted path as in a `Document`, where the items of lists have numbers."""
    node, place = scenario, list[str | int]()
    for part in path.split("."):
        if isinstance(node, (list, tuple)):
            names = [getattr(item, "name", None) for item in node]
            number = names.index(part) if part in names else int(part) if part.isdecimal() else -1
            place.append(number)
            node = node[number] if 0 <= number < len(node) else None
        else:
            place.append(part)
            node = getattr(node, part, None)
    return tuple(place)


def value_at(scenario: "Scenario", path: str) -> Any:
    """Return the value at a dotted path of a scenario; None if there is none.

    Examples:
        >>> from covey.scenario.load import load_scenario
        >>> value_at(load_scenario("maze"), "robots.scout.count"), value_at(load_scenario("maze"), "robots.guide")
        (6, None)
    """
    node: Any = scenario
    for part in path.split("."):
        if isinstance(node, (list, tuple)):
            named = {getattr(item, "name", None): item for item in node}
            node = named.get(part, dict(zip(map(str, range(len(node))), node, strict=True)).get(part))
        elif isinstance(node, BaseModel):
            names = {field.alias or name: name for name, field in type(node).model_fields.items()}
            node = getattr(node, names.get(part, part), None)
        else:
            node = node.get(part) if isinstance(node, Mapping) else None
    return node


class _Typed(Document):
    """Values as typed, by place in the whole; a problem is at the change nearest to it."""

    def problem(self, message: str, path: Place, *, at_key: bool = False) -> Problem:
        """Return a problem with its change, and without the part of its place that this names."""

        def shared(place: Place) -> int:
            return next((i for i, (a, b) in enumerate(zip(place, path, strict=False)) if a != b), len(place))

        place = max(self.given, key=shared)
        if place == path[: len(place)]:
            said = path if message.startswith(dotted(path)) else path[:-1]
            message = dotted(said[len(place) :]).removeprefix("name: ") + message.removeprefix(dotted(said))
        return Problem(message, self.given[place])


class _Tree:
    """Expands the records along the changed paths into plain data, and collects the paths that do not exist."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def edit(self, node: Any, changes: Changes, path: tuple[str, ...]) -> Any:
        """Return ``node``, which is at ``path``, with ``changes`` (by path below it)."""
        whole = changes.get(())
        if () in changes and not (len(changes) > 1 and _names_controller(".".join(path), whole)):
            return whole
        children: dict[str, Changes] = {}
        for (head, *rest), value in ((key, value) for key, value in changes.items() if key):
            children.setdefault(head, {})[tuple(rest)] = value
        if isinstance(node, ControllerReference):
            return self._controller(node, children, path, whole)
        if isinstance(node, Named) and not isinstance(node, ByKey | OfKind):
            written = plain(node)
            node = {} if isinstance(written, str) else {key: written[key] for key in written if key in children}
        if isinstance(node, BaseModel):
            return self._record(node, children, path)
        if isinstance(node, (list, tuple)):
            return self._sequence(node, children, path)
        if isinstance(node, dict) or node is None:
            node = node or {}
            return {**node, **{key: self.edit(node.get(key), below, (*path, key)) for key, below in children.items()}}
        (key, below), *_ = children.items()
        self._report((*path, key), below, f"is the single value {node!r}; there is nothing named {key!r} in it")
        return node

    def _record(self, node: BaseModel, children: dict[str, Changes], path: tuple[str, ...]) -> Any:
        values = {(f.alias or name): getattr(node, name) for name, f in type(node).model_fields.items()}
        values |= node.model_extra or {}
        for key, below in children.items():
            if key in values or node.model_extra is not None:
                values[key] = self.edit(values.get(key), below, (*path, key))
            else:
                hint = (() in below and _deeper(key, values, path)) or did_you_mean(key, values)
                if path[-1:] in (("world",), ("localization",)) and hint.startswith(";"):
                    hint += f"; another kind of {path[-1]} replaces all of it: {'.'.join(path)}={{{key}: …}}"
                self._report((*path, key), below, f"unknown key {key!r}{hint}")
        return {"like": node, **values} if isinstance(node, Named) else values

    def _controller(
        self, node: ControllerReference, children: dict[str, Changes], path: tuple[str, ...], whole: Any
    ) -> Any:
        """Return a controller with other parameters; ``whole``: its new name, or name and parameters, or None."""
        named = {"name": node.reference, **node.parameters} if node.reference else dict(node.parameters)
        if whole is not None:
            named = {"name": whole} if isinstance(whole, str) else whole
        values = {**named, **{key: self.edit(named.get(key), below, (*path, key)) for key, below in children.items()}}
        if "name" in values:
            return values
        known = parameters_of(node.target)
        for key in () if known is None else sorted(values.keys() - known.keys()):
            hint = did_you_mean(key, known or ())
            self._report((*path, key), children[key], f"the controller has no parameter {key!r}{hint}")
        return node.model_copy(update={"parameters": values})

    def _sequence(self, node: Any, children: dict[str, Changes], path: tuple[str, ...]) -> Any:
        items = list(node)
        names = [getattr(item, "name", None) for item in items]
        for key, below in children.items():
            index = names.index(key) if key in names else int(key) if key.isascii() and key.isdigit() else -1
            if 0 <= index < len(items):
                items[index] = self.edit(items[index], below, (*path, key))
            else:
                known = [name for name in names if name] or [str(i) for i in range(len(items))]
                hint = (() in below and _deeper(key, {"": items}, path)) or did_you_mean(key, known)
                self._report((*path, key), below, f"there is no {key!r} here{hint}")
        return items

    def _report(self, path: tuple[str, ...], below: Changes, message: str) -> None:
        self.problems.append(Problem(message, f"-s {'.'.join((*path, *next(iter(below))))}"))


def _places(value: Any, path: Place = ()) -> Iterator[Place]:
    """Yield the path of a value, and those of all values in it as far as it is plain data."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    for key, item in items:
        yield from _places(item, (*path, key))


def _names_controller(path: str, value: Any) -> bool:
    return path.rpartition(".")[2] == "controller" and (
        isinstance(value, str) or (isinstance(value, dict) and "name" in value)
    )


def _deeper(key: str, values: Mapping[str, Any], path: tuple[str, ...]) -> str:
    """Return the hint for a key that records in one of the lists below have; empty if there are none."""
    for name, items in values.items():
        for item in items if isinstance(items, (list, tuple)) else ():
            if key in getattr(type(item), "model_fields", ()) and getattr(item, "name", ""):
                return f", did you mean {'.'.join(filter(None, (*path, name, item.name, key)))}?"
    return ""
