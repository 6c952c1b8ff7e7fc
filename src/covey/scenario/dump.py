"""Write a scenario as the text of a file, with registered names where they exist."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_origin

import yaml
from pydantic import BaseModel

from covey.named import Named
from covey.robots.catalogue import robots as catalogue
from covey.robots.model import RobotModel
from covey.scenario.controller import ControllerReference
from covey.scenario.yaml12 import parse_scalar

if TYPE_CHECKING:
    from covey.scenario.records import Scenario


def to_yaml(scenario: "Scenario", *, full: bool = False) -> str:
    """Return the text of a file that loads into an equal scenario.

    Args:
        full: write every field of every record, including those with default values.

    Raises:
        InvalidValueError: a controller is an object that no file can name.
    """
    return text_of({"format": 1, **plain(scenario, full=full)})


def text_of(data: Any) -> str:
    """Return plain data as text that reads back as the same data."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)


def plain(value: Any, *, full: bool = False) -> Any:
    """Return plain data (mappings, lists, numbers, words) for a record or a value in one."""
    if isinstance(value, ControllerReference):
        return value.plain()
    if isinstance(value, RobotModel) and not full:
        return _robot(value)
    if isinstance(value, Named):
        data = _record(value, full)
        return value.in_file({} if isinstance(data, str) else data)
    if isinstance(value, BaseModel):
        return _record(value, full)
    if isinstance(value, dict):
        return {str(key): plain(item, full=full) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, full=full) for item in value]
    return os.fspath(value) if isinstance(value, Path) else value


def _robot(model: RobotModel) -> Any:
    """Return the name of a robot of the catalogue, or ``{base: name, ...changes}``, or all fields of another model."""
    if model.name not in catalogue.names():
        return _record(model, full=False)
    base = catalogue.get(model.name)()
    changes = {k: plain(getattr(model, k)) for k in type(model).model_fields if getattr(model, k) != getattr(base, k)}
    return {"base": model.name, **changes} if changes else model.name


def _record(record: BaseModel, full: bool) -> Any:
    data: dict[str, Any] = {}
    for name, field in type(record).model_fields.items():
        value = getattr(record, name)
        is_tag = get_origin(field.annotation) is Literal and len(field.annotation.__args__) == 1  # pyright: ignore
        if full or is_tag or field.is_required() or value != field.get_default(call_default_factory=True):
            data[field.alias or name] = plain(value, full=full)
    return data["kind"] if list(data) == ["kind"] else data


_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # gives the same text in a quarter of the time


class _Dumper(_Base):
    """Writes YAML that the 1.2 core schema reads back as the same value, without anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _write_text(dumper: Any, text: str) -> yaml.Node:
    style = None if parse_scalar(text) == text else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if "\n" in text else style)


def _write_float(dumper: Any, number: float) -> yaml.Node:
    text = repr(number)
    return dumper.represent_scalar("tag:yaml.org,2002:float", text if "." in text else text.replace("e", ".0e"))


_Dumper.add_representer(str, _write_text)
_Dumper.add_representer(float, _write_float)
