"""Records that a file names: ``disc``, ``{disc: {range_m: 20}}``, ``./mine.py:Name`` or ``{./mine.py:Name: {...}}``."""

from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import PrivateAttr, ValidationError, ValidationInfo

from covey.errors import CoveyError, InvalidValueError, did_you_mean
from covey.records import Located, Record, in_words, keys_at, located
from covey.registry import Registry, Unread, load_from_file, stand_in

T = TypeVar("T", bound="Named")


class Named(Record):
    """A record that files refer to by name, with its parameters below."""

    registry: ClassVar[Registry[Any]]

    _reference: str = PrivateAttr(default="")

    def references(self) -> list[str]:
        """Return the references ``./file.py:Name`` that it stands for or holds."""
        return [self._reference] if self._reference else []

    def in_file(self, parameters: dict[str, Any]) -> Any:
        """Return its form in a file, given its parameters as plain data.

        Raises:
            InvalidValueError: no file can name it.
        """
        registry = self.registry
        name = self._reference or registry.name_of(type(self))
        if name is None:
            raise InvalidValueError(
                f"{registry.kind} {type(self).__name__!r} cannot be written to a file: register it, or put it into a "
                f"file and name it ./file.py:{type(self).__name__}"
            )
        return {name: parameters} if parameters else name

    @classmethod
    def of_function(cls, function: Any, reference: str) -> Any:
        """Return the record for a plain function from a file; most kinds have none."""
        raise InvalidValueError(
            f"{reference!r} is a function; a {cls.registry.kind} is a class derived from {cls.__name__}"
        )


def resolve(value: Any, base: type[T], info: ValidationInfo) -> T:
    """Return the record that a value of a file names.

    Raises:
        ValueError: it names no record, or its parameters are invalid; the error has the place.
    """
    if isinstance(value, base):
        return value
    if isinstance(value, str):
        value = {value: {}}
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError(f"must be one name, or {{name: {{parameter: …}}}}; given: {value!r:.60}")
    name, parameters = next(iter(value.items()))
    registry = base.registry
    try:
        target = _find(str(name), registry, info.context or {})
        if isinstance(target, Unread):
            return _unread(base, str(name), parameters or {})
        if callable(target) and not isinstance(target, type) and not parameters:
            return base.of_function(target, str(name))
        if not (isinstance(target, type) and issubclass(target, base)):
            raise InvalidValueError(f"{name!r} is not a {registry.kind}: derive the class from covey's {base.__name__}")
        if lacks := sorted(getattr(target, "__abstractmethods__", ())):
            raise InvalidValueError(f"{registry.kind} {name!r} lacks {' and '.join(lacks)}: write def {lacks[0]}(…)")
    except CoveyError as error:
        raise ValueError(str(error)) from None
    try:
        record = target.model_validate({} if parameters is None else parameters, context=info.context)
    except ValidationError as error:
        raise _below(error, str(name), target) from None
    if ".py:" in str(name):
        record._reference = str(name)
    return record


def _find(name: str, registry: Registry[Any], context: dict[str, Any]) -> Any:
    if ".py:" not in name:
        return registry.get(name)
    if context.get("trusted_only"):
        raise InvalidValueError(f"{name!r} would run code from a file, which --trusted-only refuses")
    return load_from_file(name, Path(context.get("folder", ".")))


def _unread(base: type[T], name: str, given: Any) -> T:
    """Return a placeholder for a record that a file names and that has not been loaded."""

    kind: Any = base

    class NotLoaded(kind):
        def in_file(self, parameters: dict[str, Any]) -> Any:
            return {name: given} if given else name

    NotLoaded.__abstractmethods__ = frozenset()  # nobody calls them
    stand_in(name)
    record: Any = NotLoaded()
    record._reference = name
    return record


def _below(error: ValidationError, name: str, record: type[Record]) -> ValidationError:
    """Return the same errors with the name of the record before their places."""
    wrong, unknown = list[Located](), list[Located]()
    for found in error.errors(include_url=False):
        path, key = (name, *found["loc"]), str(found["loc"][-1]) if found["loc"] else ""
        if found["type"] == "extra_forbidden":
            owner, what = (name, "parameter") if len(found["loc"]) == 1 else (".".join(map(str, path[:-1])), "key")
            message = f"{owner!r} has no {what} {key!r}{did_you_mean(key, keys_at(record, found['loc'][:-1]))}"
            unknown.append((path, message, found["input"]))
        else:
            wrong.append((path, in_words(found), found["input"]))
    return located(wrong, unknown)
