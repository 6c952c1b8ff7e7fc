"""The table of all fields of scenario files in ``docs/scenario.md``. To renew it: python -m covey.scenario.fields"""

import typing
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from covey.scenario.dump import plain
from covey.scenario.messages import members
from covey.scenario.records import Scenario

BEGIN, END = "<!-- fields -->\n", "<!-- end of fields -->\n"


def fields_table(record: type[BaseModel] = Scenario) -> str:
    """Return a Markdown table of the fields of a record and of the records in it: key, default, meaning."""
    rows = [f"| `{path}` | {default} | {meaning} |" for path, default, meaning in _rows(record, "")]
    return "\n".join(["| key | default | meaning |", "|---|---|---|", *rows]) + "\n"


def _rows(record: type[BaseModel], prefix: str) -> typing.Iterator[tuple[str, str, str]]:
    for name, field in record.model_fields.items():
        path = f"{prefix}{field.alias or name}"
        yield path, _default(field), _meaning(field)
        if "controller" not in path:
            for inner, mark in _records(field.annotation):
                yield from _rows(inner, f"{path}{mark}.")


def _records(annotation: Any) -> typing.Iterator[tuple[type[BaseModel], str]]:
    kinds = [(tag, a) for tag, a in members(annotation) if a is not type(None)]
    for tag, kind in kinds:
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield kind, f" ({tag})" if len(kinds) > 1 else ""
        elif typing.get_origin(kind) in (list, tuple):
            for argument in typing.get_args(kind):
                yield from ((inner, "[]" + mark) for inner, mark in _records(argument))


def _meaning(field: FieldInfo) -> str:
    is_tag = typing.get_origin(field.annotation) is typing.Literal and len(typing.get_args(field.annotation)) == 1
    return (field.description or ("Says which kind this is." if is_tag else "")).replace("|", "\\|")


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    return (
        ""
        if value is PydanticUndefined
        else f"`{plain(value)}`".replace("None", "null").replace("False", "false").replace("True", "true")
    )


def renew(page: str) -> str:
    """Return the text of the page with the table as it is now."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{fields_table()}\n{END}{after}"


if __name__ == "__main__":
    path = Path("docs/scenario.md")
    path.write_text(renew(path.read_text(encoding="utf-8")), encoding="utf-8")
