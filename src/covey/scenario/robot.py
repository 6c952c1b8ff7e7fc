"""Which robot a group is made of: a catalogue name, ``./file.py:function``, a model, or a model with changes."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError, ValidationInfo
from pydantic_core import InitErrorDetails, PydanticCustomError

from covey.errors import CoveyError, InvalidValueError
from covey.mapping.records import Mapping
from covey.records import Record
from covey.registry import load_from_file
from covey.robots.catalogue import robots as catalogue
from covey.robots.model import RobotModel
from covey.scenario.messages import located_below
from covey.sensors import sensors as sensor_kinds


def resolve_robot(value: Any, info: ValidationInfo) -> Any:
    """Turn what a file says of a robot into a model, or into a mapping whose sensors and mapping are records.

    Raises:
        ValueError: a name is unknown.
        ValidationError: a sensor or the mapping is wrong.
    """
    context = info.context or {}
    if isinstance(value, str):
        try:
            return _named(value, context)
        except CoveyError as error:
            raise ValueError(str(error)) from None
    if not isinstance(value, dict):
        return value
    errors: list[InitErrorDetails] = []
    values = {key: item for key, item in value.items() if key != "base"}
    if isinstance(values.get("sensors"), list):
        values["sensors"] = [_sensor(item, ("sensors", i), errors) for i, item in enumerate(values["sensors"])]
    if isinstance(values.get("mapping"), dict):
        values["mapping"] = _record(Mapping, values["mapping"], ("mapping",), errors)
    if "base" in value:
        try:
            values = {**dict(_named(value["base"], context)), **values}
        except (CoveyError, TypeError, AttributeError) as error:
            errors.append(_error(("base",), str(error), value["base"]))
    if errors:
        raise ValidationError.from_exception_data("robot", errors)
    return values


def _named(name: str, context: dict[str, Any]) -> RobotModel:
    if ".py:" not in name:
        return catalogue.get(name)()
    if context.get("trusted_only"):
        raise InvalidValueError(f"{name!r} would run code of a file, which --trusted-only refuses")
    found = load_from_file(name, Path(context.get("folder", ".")))
    model = found() if callable(found) else found
    if not isinstance(model, RobotModel):
        raise InvalidValueError(f"{name!r} gives {type(model).__name__}; it must give a RobotModel")
    return model


def _sensor(value: Any, path: tuple[str | int, ...], errors: list[InitErrorDetails]) -> Any:
    """Return the sensor that a name, or a mapping with its ``kind`` (or a preset's name) and changes, stands for."""
    if isinstance(value, Record):
        return value
    mapping = {"kind": value} if isinstance(value, str) else value
    if not isinstance(mapping, dict) or not isinstance(mapping.get("kind"), str):
        errors.append(_error(path, f"a sensor is a mapping with a kind: {', '.join(sensor_kinds.names())}", value))
        return value
    try:
        found: Any = sensor_kinds.get(mapping["kind"])
    except CoveyError as error:
        errors.append(_error((*path, "kind"), str(error), mapping["kind"]))
        return value
    if isinstance(found, type):
        return _record(found, mapping, path, errors)
    preset = found()
    changes = {key: item for key, item in mapping.items() if key != "kind"}
    return _record(type(preset), {**dict(preset), **changes}, path, errors)


def _record(model: Any, values: dict[str, Any], path: tuple[str | int, ...], errors: list[InitErrorDetails]) -> Any:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        errors += located_below(error, model, path)
        return values


def _error(path: tuple[str | int, ...], message: str, value: Any) -> InitErrorDetails:
    custom = PydanticCustomError("located", "{message}", {"message": message, "at_key": False})
    return InitErrorDetails(type=custom, loc=path, input=value)
