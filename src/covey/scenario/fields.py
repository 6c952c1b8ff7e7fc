"""The fields of scenario files, as `covey show` prints them and the page of the site lists them."""

import re
import typing
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from covey.missions import Mission
from covey.named import Named
from covey.records import members
from covey.scenario.dump import plain
from covey.scenario.records import Scenario

NAMED = {
    "world": "worlds",
    "robots[].robot.sensors[]": "sensors",
    "robots[].robot.mapping": "mappers",
    "robots[].start": "starts",
    "robots[].localization": "localizers",
    "radio.links[]": "links",
    "radio.protocol": "protocols",
    "physics": "physics",
    "share_maps.rule": "mergers",
    "targets[]": "targets",
    "mission": "missions",
    "events[]": "events",
    "faults[]": "faults",
}
"""Where one of several named kinds stands, and what `covey list` calls them: `covey show` prints the fields of each."""
MANY = 8
"""A record with more fields than this has a list of its own."""


class Row(NamedTuple):
    """A field: its key below the heading of its list, the kind of record that has it (empty: all), default, meaning."""

    key: str
    kind: str
    default: str
    meaning: str


def fields(record: type[BaseModel] = Scenario) -> dict[str, list[Row]]:
    """Return the fields of a record and of the records in it, by the path at which these stand (empty: the first)."""
    lists: dict[str, list[Row]] = {}
    _add(lists, {}, "", {"": record})
    return lists


def _add(
    lists: dict[str, list[Row]], seen: dict[type[BaseModel], str], path: str, kinds: dict[str, type[BaseModel]]
) -> None:
    """Add the list of some kinds of records that may stand at a path, then those of the records in them."""
    rows = lists[path] = []
    below: list[tuple[str, dict[str, type[BaseModel]]]] = []
    for kind, record in kinds.items():
        seen.setdefault(record, path)
        for name in record.model_fields:
            place = f"{path} ({kind})" if kind and len(kinds) > 1 else path
            rows += _rows(record, name, "", kind if len(kinds) > 1 else "", place, below, seen)
    for place, inner in below:
        if place not in lists:
            _add(lists, seen, place, inner)


def _rows(
    record: type[BaseModel],
    name: str,
    prefix: str,
    kind: str,
    path: str,
    below: list[tuple[str, dict[str, type[BaseModel]]]],
    seen: dict[type[BaseModel], str],
) -> Iterator[Row]:
    """Yield the row of a field, and those of a small record in it; larger ones are put into ``below``."""
    field = record.model_fields[name]
    if _is_tag(field):
        return
    key = f"{prefix}{field.alias or name}"
    inside, mark = _inside(name, key, field)
    place = ".".join(filter(None, [path, key])) + mark
    known = seen.get(next(iter(inside.values()))) if len(inside) == 1 else None
    meaning = _meaning(field)
    yield Row(key, kind, _default(field), f"{meaning} With the fields of `{known}`." if known else meaning)
    if known or not inside:
        return
    (only, *others) = inside.values()
    if others or len(only.model_fields) > MANY or not path:
        below.append((place, inside))
        return
    seen[only] = place
    for inner in only.model_fields:
        yield from _rows(only, inner, f"{key}{mark}.", kind, path, below, seen)


def _inside(name: str, key: str, field: FieldInfo) -> tuple[dict[str, type[BaseModel]], str]:
    """Return the records that a field may hold, by their kinds, and ``[]`` if it is a list."""
    if name in ("controller", "walls"):  # those of a ground have the fields of a world
        return {}, ""
    if name == "mission":
        return dict(sorted(Mission.registered().items())), ""
    kinds: dict[str, type[BaseModel]] = {}
    marks = ""
    for record, mark, tag in _records(field.annotation):
        if record not in kinds.values():
            kinds[_label(tag)] = record
            marks = mark
    return kinds, marks


def _label(tag: str) -> str:
    return tag.removeprefix("generate: ").removeprefix("file: ").replace(" or ", "/")


def _printed(path: str, rows: list[Row]) -> str:
    """Return a list with its heading; what several kinds share stands there once."""
    merged: dict[tuple[str, str], dict[str, list[str]]] = {}
    for row in rows:
        default = "the kind" if row.kind and row.default == f"`{row.kind}`" else row.default
        merged.setdefault((row.key, row.meaning), {}).setdefault(default, []).append(row.kind)
    every = {row.kind for row in rows}
    lines = [f"### {f'`{path}`' if path else 'Top level'}", ""]
    for (key, meaning), defaults in merged.items():
        said = [": ".join(filter(None, [_who(kinds, every), default])) for default, kinds in defaults.items()]
        if path not in NAMED or {kind for kinds in defaults.values() for kind in kinds} == every:
            text = "; ".join(filter(None, said))
            lines.append(f"- `{key}`{f' ({text})' if text else ''}: {meaning}")
    if path in NAMED:
        more = " All have:" if len(lines) > 2 else ""
        lines.insert(
            2, f"`covey list {NAMED[path]}` names the kinds, and `covey show NAME` prints the fields of one.{more}\n"
        )
    return "\n".join([*lines, ""]) if len(lines) > 3 else "\n".join(lines)


def _who(kinds: list[str], every: set[str]) -> str:
    return "" if set(kinds) == every else ", ".join(kinds)


def _records(annotation: Any) -> Iterator[tuple[type[BaseModel], str, str]]:
    """Yield the records that a field may hold: the record, ``[]`` within a list, and the name of its kind."""
    for tag, kind in members(annotation):
        if isinstance(kind, type) and issubclass(kind, Named) and "registry" in vars(kind):
            yield from ((one, "", name) for name, one in kind.registered().items() if _is_described(one))
        elif isinstance(kind, type) and issubclass(kind, BaseModel):
            yield kind, "", tag
        elif typing.get_origin(kind) in (list, tuple):
            for argument in typing.get_args(kind):
                yield from ((inner, "[]" + mark, name) for inner, mark, name in _records(argument))


def _is_described(record: type[BaseModel]) -> bool:
    """Return whether each field has a sentence; those of sensors that are functions have none."""
    return all(_meaning(field) or _is_tag(field) for field in record.model_fields.values())


def _is_tag(field: FieldInfo) -> bool:
    """Return whether a field only says of which kind its record is."""
    words = typing.get_args(field.annotation) if typing.get_origin(field.annotation) is typing.Literal else ()
    is_word = len(words) == 1 and isinstance(words[0], str)
    return is_word or (field.description or "").startswith("The name of this kind")


def _meaning(field: FieldInfo) -> str:
    return (field.description or "").replace("|", "\\|")


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined or value == "":
        return ""
    text = re.sub(r"(?<=\d)\.0\b", "", f"{plain(value)}")
    return f"`{text}`".replace("None", "null").replace("False", "false").replace("True", "true")


def page() -> str:
    """Return the lists of all fields as Markdown; those of `NAMED` kinds are left out."""
    return "\n".join(
        _printed(path, rows)
        for path, rows in fields().items()
        if path.partition(" (")[0] == path or path.partition(" (")[0] not in NAMED
    )
