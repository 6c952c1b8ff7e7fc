"""The controller of a group: a registered name, ``./file.py:Name``, or the object itself, with its parameters."""

import inspect
import typing
from typing import Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, ValidationInfo, model_validator

from covey.errors import CoveyError, InvalidValueError, did_you_mean
from covey.named import find
from covey.onboard.controller import Program, kept, parameters_of, refuse_misfit, types_of
from covey.records import Record, located
from covey.registry import Unread


class ControllerReference(Record):
    """A controller and its parameters; in a file a name, ``./mine.py:Name``, or ``{name: ..., parameter: ...}``."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    target: Any = Field(description="The function or class itself.")
    reference: str = Field(default="", description="How a file names it; empty for an object that has no such name.")
    parameters: dict[str, Any] = Field(default={}, description="Keyword parameters that differ from the defaults.")

    @model_validator(mode="before")
    @classmethod
    def _resolve(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, str):
            return _from_mapping({"name": value}, info.context or {}, at=())
        if isinstance(value, dict) and "target" not in value:
            return _from_mapping(value, info.context or {}, at=("name",))
        if callable(value):
            return {"target": value, "reference": reference_of(value)}
        if value is None or isinstance(value, (bool, int, float, list, tuple)):
            shown = "null (nothing)" if value is None else f"{value!r:.60}"
            raise ValueError(f"must be a name, ./mine.py:Name, or {{name: ..., parameter: ...}}; given: {shown}")
        return value

    def references(self) -> list[str]:
        """Return the reference ``./file.py:Name``, if it is one."""
        return [self.reference] if ".py:" in self.reference else []

    @property
    def program(self) -> Program:
        """The controller in the form that a simulation takes."""
        if not self.reference:
            return Program(self.target, self.parameters)
        return Program(self.target, checked_parameters(self.reference, self.target, self.parameters))

    def plain(self) -> Any:
        """Return the form in which a file names it.

        Raises:
            InvalidValueError: the controller is an object that no file can name.
        """
        if not self.reference:
            name = getattr(self.target, "__qualname__", repr(self.target))
            raise InvalidValueError(
                f"controller {name!r} cannot be written to a file: register it with "
                f"@covey.controllers.controllers.register({name!r}), or put it into a file and name it ./file.py:{name}"
            )
        return {"name": self.reference, **self.parameters} if self.parameters else self.reference

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        named = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        return {"anyOf": [{"type": "string"}, named], "description": cls.__doc__}


def reference_of(target: Any) -> str:
    """Return the registered name of a controller, or an empty string."""
    from covey.controllers import controllers

    return controllers.name_of(target) or ""


def _from_mapping(value: dict[str, Any], context: dict[str, Any], at: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields of a reference; problems of the name are reported ``at`` this key below it."""
    name, parameters = value.get("name"), {k: v for k, v in value.items() if k != "name"}
    if not isinstance(name, str):
        raise ValueError("'name' is missing: write {name: nearest_frontier, ...}")
    try:
        from covey.controllers import controllers

        target = find(name, controllers, context)
        if not isinstance(target, Unread):
            refuse_misfit(name, target)
    except CoveyError as error:
        raise located([(at, str(error), name)]) from None
    checked_parameters(name, target, parameters, at)  # kept as written, so that they can be shown without the code
    return {"target": target, "reference": name, "parameters": parameters}


def checked_parameters(
    name: str, target: Any, parameters: dict[str, Any], at: tuple[str, ...] = ("name",)
) -> dict[str, Any]:
    """Return parameters of a controller as its annotations, or the types of its defaults, want them.

    Args:
        name: what it is called, for errors.
        target: the function or class.
        parameters: by name.
        at: keys that lead to the name, for errors.

    Raises:
        ValidationError: one is unknown or wrong, or one is missing.
    """
    known = parameters_of(target)
    if known is None:
        return parameters
    checked, errors, unknown = dict(parameters), [], []
    for key, value in parameters.items():
        if key in known:
            try:
                checked[key] = _checked(target, known[key], value)
            except ValueError as error:
                errors.append(((key,), str(error), value))
        else:
            message = f"controller {name!r} has no parameter {key!r}{did_you_mean(key, known)}"
            unknown.append(((key,), message, value))
    needed = [k for k, p in known.items() if p.default is p.empty and k not in parameters]
    errors += [(at, f"controller {name!r} needs the parameter {key!r}", name) for key in needed]
    if errors or unknown:
        raise located(errors, unknown)
    return checked


_adapter = kept(TypeAdapter)


def _checked(target: Any, parameter: inspect.Parameter, value: Any) -> Any:
    """Return the value of a parameter, checked by its annotation, or by the type of its default."""
    default, hints = parameter.default, types_of(target, limits=True)
    expected = hints.get(parameter.name) or (type(default) if isinstance(default, (bool, int, float, str)) else Any)
    number = typing.get_args(expected)[0] if typing.get_origin(expected) is typing.Annotated else expected
    if number in (int, float) and isinstance(value, (bool, str)):
        raise ValueError(f"must be a number; given: {value!r}")
    try:
        return _adapter(expected).validate_python(value)
    except ValidationError as error:
        reason = error.errors()[0]["msg"].replace("Input should be", "must be").removeprefix("Value error, ")
        raise ValueError(f"{reason}; given: {value!r}") from None
