"""The robot model of a group: a catalogue name, ``./file.py:function``, a model, or a model with changes."""

from typing import Any

from pydantic import BeforeValidator, GetJsonSchemaHandler, ValidationInfo

from covey.errors import CoveyError, nearest
from covey.named import find
from covey.records import located
from covey.registry import Unread, stand_in
from covey.robots.catalogue import robots as catalogue
from covey.robots.model import RobotModel


class OfFile(BeforeValidator):
    """A robot model as files write it; the schema has all three forms."""

    def __init__(self) -> None:
        super().__init__(resolve_robot, json_schema_input_type=str | RobotModel)

    @staticmethod
    def __get_pydantic_json_schema__(core: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = handler(core)
        base = {"type": "string", "description": "Name of the model that is changed."}
        changes = {"type": "object", "title": "Changes", "properties": {"base": base}, "required": ["base"]}
        fields = {"propertyNames": {"enum": ["base", *RobotModel.model_fields]}}
        return {**schema, "anyOf": [*schema["anyOf"], changes | fields]}


def resolve_robot(value: Any, info: ValidationInfo) -> Any:
    """Turn a name into a model, and ``{base: name, ...changes}`` into the values of one; return other values unchanged.

    Raises:
        ValueError: a name is unknown, or the code that it names fails.
    """
    if isinstance(value, str):
        return _named(value, info.context or {}, ())
    if isinstance(value, dict) and "base" in value:
        changes = {key: item for key, item in value.items() if key != "base"}
        return {**dict(_named(value["base"], info.context or {}, ("base",))), **changes}
    for key in value.keys() - RobotModel.model_fields.keys() if isinstance(value, dict) else ():
        if nearest(str(key), ("base", *RobotModel.model_fields)) == "base":
            raise located([((), f"unknown key {key!r}, did you mean 'base'?", value)])
    return value


def _named(name: Any, context: dict[str, Any], path: tuple[str, ...]) -> RobotModel:
    try:
        found = find(name, catalogue, context)
        if isinstance(found, Unread):
            stand_in(name)
            found = catalogue.get("disc")
        model = found() if callable(found) else found
    except CoveyError as error:
        raise located([(path, str(error), name)]) from None
    if not isinstance(model, RobotModel):
        raise located([(path, f"{name!r} gives {type(model).__name__}; it must give a RobotModel", name)])
    return model
