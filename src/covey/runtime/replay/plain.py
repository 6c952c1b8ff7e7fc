"""What a robot is shown and answers, in a file of steps: plain data, and what the code of a run can name."""

import importlib
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from covey.errors import InvalidValueError
from covey.plain import DEEPEST, TypedJson


class StepForm(TypedJson):
    """Plain data, records of any module, paths, and functions, classes and objects by their names.

    Reading it imports the modules that it names.
    """

    deep = 2 * DEEPEST  # messages lie deep in what is recorded

    def home_of(self, kind: type) -> str:
        """Return the name of the module of a record."""
        return kind.__module__

    def other(self, value: Any, deep: int) -> Any:
        """Return as JSON what is no plain data.

        Raises:
            InvalidValueError: its type does not occur in the inputs and outputs of robots.
        """
        kind = type(value)
        if isinstance(value, (type, *_FUNCTIONS)):
            return {"code": f"{value.__module__}:{value.__qualname__}"}
        if isinstance(value, BaseModel):
            return self.record(value, tuple(kind.model_fields), deep)
        if isinstance(value, Mapping):
            return self.of(dict(value), deep)
        if isinstance(value, Path):
            return {"path": str(value)}
        name = value.__reduce__()
        if isinstance(name, str):  # an object with this name in its module
            return {"code": f"{kind.__module__}:{name}"}
        raise InvalidValueError(f"a {kind.__name__} cannot be recorded in the steps of a robot")

    def made(self, name: str, fields: dict[str, Any]) -> Any:
        """Return a record by its name."""
        return _found(name)(**fields)

    def another(self, what: str, inside: Any) -> Any:
        """Return what `other` returned."""
        return Path(inside) if what == "path" else _found(inside) if what == "code" else super().another(what, inside)


_FUNCTIONS = (type(lambda: 0), type(len))


def _found(name: str) -> Any:
    module, _, path = name.partition(":")
    try:
        return attrgetter(path)(importlib.import_module(module))
    except (ImportError, AttributeError) as error:
        raise InvalidValueError(f"{name} cannot be loaded: {error}") from error


_FORM = StepForm()
encode, decode = _FORM.of, _FORM.value
