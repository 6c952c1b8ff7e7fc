"""The robot model of a group: a catalogue name, ``./file.py:function``, a model, or a model with changes."""

from pathlib import Path
from typing import Any

from pydantic import ValidationInfo

from covey.errors import CoveyError, InvalidValueError
from covey.records import located
from covey.registry import Unread, load_from_file, stand_in
from covey.robots.catalogue import robots as catalogue
from covey.robots.model import RobotModel


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
    return value


def _named(name: Any, context: dict[str, Any], path: tuple[str, ...]) -> RobotModel:
    try:
        return _found(name, context)
    except CoveyError as error:
        raise located([(path, str(error), name)]) from None


def _found(name: Any, context: dict[str, Any]) -> RobotModel:
    if not isinstance(name, str):
        raise InvalidValueError(f"must be the name of a robot: {', '.join(catalogue.names())}; given: {name!r}")
    if ".py:" not in name:
        return catalogue.get(name)()
    if context.get("trusted_only"):
        raise InvalidValueError(f"{name!r} would run code from a file, which --trusted-only refuses")
    found = load_from_file(name, Path(context.get("folder", ".")))
    if isinstance(found, Unread):
        stand_in(name)
        return catalogue.get("disc")()
    model = found() if callable(found) else found
    if not isinstance(model, RobotModel):
        raise InvalidValueError(f"{name!r} gives {type(model).__name__}; it must give a RobotModel")
    return model
