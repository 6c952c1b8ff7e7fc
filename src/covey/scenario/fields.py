"""The table of all fields of scenario files in ``docs/scenario.md``. To update it: python -m covey.scenario.fields"""

import typing
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from covey.missions import Mission
from covey.named import Named
from covey.records import members
from covey.scenario.dump import plain
from covey.scenario.records import Scenario

BEGIN, END = "<!-- fields -->\n", "<!-- end of fields -->\n"


def fields_table(record: type[BaseModel] = Scenario) -> str:
    """Return a Markdown table of the fields of a record and of the records in it: key, default, meaning."""
    rows = [f"| `{path}` | {default} | {meaning} |" for path, default, meaning in _rows(record, "")]
    return "\n".join(["| key | default | meaning |", "|---|---|---|", *rows]) + "\n"


def _rows(record: type[BaseModel], prefix: str, names: Iterable[str] | None = None) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of some fields (None: all) of a record; fields that all kinds share are listed once."""
    for name in record.model_fields if names is None else names:
        field = record.model_fields[name]
        path = f"{prefix}{field.alias or name}"
        yield path, _default(field), _meaning(field)
        if "controller" in path or path.endswith(".walls"):  # these have the fields of a world
            continue
        if name == "mission":
            for kind, mission in sorted(Mission.registered().items()):
                yield from _rows(mission, f"{path}.{kind}.")
            continue
        kinds: dict[type[BaseModel], tuple[str, str]] = {}
        for kind, mark, tag in _records(field.annotation):
            kinds.setdefault(kind, (mark, tag))
        shared = _shared(list(kinds)) if len(kinds) > 1 else []
        for kind, (mark, _) in list(kinds.items())[:1]:
            yield from _rows(kind, f"{path}{mark}.", shared)
        for kind, (mark, tag) in kinds.items():
            rest = [n for n in kind.model_fields if n not in shared]
            yield from _rows(kind, f"{path}{mark}{f' ({tag})' if len(kinds) > 1 else ''}.", rest)


def _shared(kinds: list[type[BaseModel]]) -> list[str]:
    """Return the names of the fields that all kinds have, with the same default and meaning."""
    said = [{n: (_default(f), _meaning(f), f.annotation) for n, f in kind.model_fields.items()} for kind in kinds]
    return [n for n, text in said[0].items() if all(other.get(n) == text for other in said)]


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
    return all(_meaning(field) for field in record.model_fields.values())


def _meaning(field: FieldInfo) -> str:
    is_tag = typing.get_origin(field.annotation) is typing.Literal and len(typing.get_args(field.annotation)) == 1
    return (field.description or ("Selects this kind." if is_tag else "")).replace("|", "\\|")


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    return (
        ""
        if value is PydanticUndefined
        else f"`{plain(value)}`".replace("None", "null").replace("False", "false").replace("True", "true")
    )


def renew(page: str) -> str:
    """Return the text of the page with an updated table."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{fields_table()}\n{END}{after}"


if __name__ == "__main__":
    path = Path("docs/scenario.md")
    path.write_text(renew(path.read_text(encoding="utf-8")), encoding="utf-8")
