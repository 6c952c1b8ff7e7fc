"""The base of every record that a user writes in a file or passes in Python."""

import inspect
import re
import types
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Tag, TypeAdapter, ValidationError, ValidationInfo, field_validator
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from covey.errors import InvalidValueError, did_you_mean, nearest

LEAST, MOST = 1e-12, 1e12
"""Numbers in records are 0 or have a magnitude between these, so that products of a few of them do not overflow.

A smaller one is 0, as 4 cos(π / 2) = 2.4e-16 should be; where a field does not allow 0, it is refused.
"""


def _within_bounds(cls: type[BaseModel], value: Any, info: ValidationInfo) -> Any:
    """Check the numbers of a field; what is too small is 0, where the field allows 0."""
    if (rounded := _rounded(value)) is not value:
        field = cls.model_fields[info.field_name or ""]
        with suppress(ValidationError):
            value = TypeAdapter(field.rebuild_annotation()).validate_python(rounded)
    for number in _numbers(value):
        if isinstance(number, int):
            if not -(2**63) <= number < 2**63:
                raise ValueError("is a whole number with more than 64 bits; give a smaller one")
        elif number and not LEAST <= abs(number) <= MOST:
            raise ValueError(f"{number:g} is too small or too large; give 0, or a magnitude from {LEAST:g} to {MOST:g}")
    return value


_within_bounds.__signature__ = inspect.signature(_within_bounds)  # pyright: ignore  # pydantic asks at each field


class Record(BaseModel):
    """A frozen typed record: unknown keys are refused, and a change is a copy (`model_copy(update=...)`).

    Raises:
        InvalidValueError: a value is not allowed, or there is no such key.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True, defer_build=True)

    def __init__(self, *unnamed: Any, **values: Any):
        if unnamed:
            raise InvalidValueError(_without_name(type(self), unnamed[0]))
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise InvalidValueError(text_of(error, type(self), type(self).__name__)) from None

    __init__.__pydantic_base_init__ = True  # pyright: ignore  # what validates a record inside another does not call it

    _bounds = field_validator("*")(classmethod(_within_bounds))


def _without_name(kind: type[Record], value: Any) -> str:
    """Return what is wrong with a value that is given without its name, and what to write instead."""
    own = [name for name in kind.model_fields if name not in ("kind", "name", "rate_hz", "latency_s")]
    name = kind.__name__
    if not own:
        return f"{name}({value!r:.60}): it has no settings of its own; write {name}()"
    such_as = f"{name}({own[0]}={value!r:.60})"
    return f"{name}({value!r:.60}): say which setting this is, such as {such_as}; it has {', '.join(own)}"


WORD = r"^[A-Za-z][A-Za-z0-9_]*$"
"""Pattern of the names that users give, which others then write in paths and tables."""


def given(value: Any) -> dict[str, Any]:
    """Return what a mapping of a file, or a record, gives by key; nothing where the value is something else."""
    return value if isinstance(value, dict) else vars(value) if isinstance(value, Record) else {}


R = TypeVar("R", bound=Record)


def as_record(kind: type[R], value: Any, place: str, *, trusted_only: bool = False) -> R:
    """Return the record for an argument: a record, or plain data as in a file.

    Args:
        kind: the class of the record.
        value: the argument.
        place: its name, for errors; may be empty.
        trusted_only: refuse the name of code in a file.

    Raises:
        InvalidValueError: the data is invalid, also in a file.
    """
    if isinstance(value, kind):
        return value
    try:
        record = kind.model_validate(value, strict=True, context={"trusted_only": trusted_only})
    except ValidationError as error:
        raise InvalidValueError(text_of(error, kind, place)) from None
    for path, wanted_kind, given_value in coerced(value, record):
        where = ".".join(map(str, filter(None, (place, *path))))
        raise InvalidValueError(f"{where}: must be {wanted_kind}; given: {given_value!r:.60}")
    return record


def coerced(data: Any, record: Any, path: tuple[str | int, ...] = ()) -> Iterator["Located"]:
    """Yield path, what is wanted, and value where data has text or a truth value that a record took as a number."""
    if isinstance(data, dict) and isinstance(record, BaseModel):
        names = {(field.alias or name): name for name, field in type(record).model_fields.items()}
        if len(data) == 1 and not data.keys() & names.keys():  # {name: {parameter: …}}
            ((name, below),) = data.items()
            path, data = (*path, name), below if isinstance(below, dict) else {}  # {kind: name} has nothing below
        for key, value in data.items():
            if key in names:
                yield from coerced(value, getattr(record, names[key]), (*path, key))
    elif isinstance(data, list) and isinstance(record, (list, tuple)) and len(data) == len(record):
        for i, (value, item) in enumerate(zip(data, record, strict=True)):
            yield from coerced(value, item, (*path, i))
    elif isinstance(data, (bool, str)) and isinstance(record, (bool, int, float)) and type(data) is not type(record):
        yield path, "true or false" if isinstance(record, bool) else "a number", data


Located = tuple[tuple[str | int, ...], str, Any]


def located(errors: list[Located], unknown_keys: list[Located] | None = None) -> ValidationError:
    """Return the error for a validator to raise if it knows the places of the problems below it.

    Args:
        errors: path, message and given value of each invalid value.
        unknown_keys: the same for unknown keys.
    """
    lines = [
        InitErrorDetails(
            type=PydanticCustomError("located", "{message}", {"message": message, "at_key": at_key}),
            loc=path,
            input=value,
        )
        for at_key, group in ((False, errors), (True, unknown_keys or []))
        for path, message, value in group
    ]
    return ValidationError.from_exception_data("record", lines)


def in_words(found: ErrorDetails) -> str:
    """Return the text of one of pydantic's errors: what the value must be, and what was given."""
    if found["type"] == "missing":
        return f"{found['loc'][-1]!r} is missing"
    if found["type"] == "string_pattern_mismatch":
        return misspelt(found)
    if found["type"] in ("too_long", "too_short"):
        return f"{wrong_length(found)}; given: {found['input']!r:.60}"
    if found["msg"].startswith("Input should be"):
        return f"must be {wanted(found)}; given: {found['input']!r:.60}"
    return found["msg"].removeprefix("Value error, ")


def wrong_length(found: Mapping[str, Any]) -> str:
    """Return how many values there must be, for pydantic's errors that there are too many or too few."""
    is_long, context = found["type"] == "too_long", found.get("ctx", {})
    number = context.get("max_length" if is_long else "min_length", 0)
    return f"must have at {'most' if is_long else 'least'} {number} value{'s' if number != 1 else ''}"


def misspelt(found: ErrorDetails) -> str:
    """Return the text of pydantic's error about a text that does not match its pattern."""
    pattern, text = found.get("ctx", {}).get("pattern", ""), found["input"]
    if pattern != WORD:
        return f"must match {pattern}; given: {text!r:.60}"
    near = re.sub(r"[^A-Za-z0-9_]+", "_", text.strip())[:50].strip("_")
    hint = f", did you mean {near!r}?" if re.match(WORD, near) else ""
    return f"must be one word of a to z, digits and _ that begins with a letter; given: {text!r:.60}{hint}"


def wanted(found: ErrorDetails) -> str:
    """Return what the value must be, for one of pydantic's errors that say so."""
    if found["type"] in ("model_type", "dict_type", "model_attributes_type"):
        return "a mapping (key: value)"
    text = found["msg"].removeprefix("Input should be").partition(", unable to parse")[0].strip()
    return (
        text.replace("a valid number", "a number")
        .replace("a valid integer", "a whole number")
        .replace("a valid tuple", "a list")
    )


def text_of(error: ValidationError, record: Any, place: str) -> str:
    """Return the text for the errors in plain data or in the arguments of a record, each with its place.

    Args:
        error: what pydantic raised.
        record: the record.
        place: the name of the record, before each place; may be empty.
    """
    errors = error.errors(include_url=False)
    hinted = hinted_at(errors, record)
    shown = [found for found in errors if found["type"] != "missing" or found["loc"] not in hinted]
    return "; ".join(dict.fromkeys(_placed(found, record, place) for found in shown))


def hinted_at(errors: Iterable[ErrorDetails], record: Any) -> set[tuple[Any, ...]]:
    """Return the places of keys that are missing because they are misspelt: the nearest to an unknown key."""
    unknown = [found["loc"] for found in errors if found["type"] == "extra_forbidden"]
    return {(*loc[:-1], nearest(str(loc[-1]), keys_at(record, loc[:-1]))) for loc in unknown}


def _placed(found: ErrorDetails, record: Any, place: str) -> str:
    keys = _walked(record, found["loc"])[1]
    path = [p for p in (place, *map(str, keys)) if p]
    if found["type"] != "extra_forbidden":
        return ": ".join(filter(None, (".".join(path), in_words(found))))
    return ": ".join(filter(None, (".".join(path[:-1]), unknown_key(found, record))))


def unknown_key(found: ErrorDetails, record: Any) -> str:
    """Return the text of the error that a record has no such key, with the nearest key."""
    key = str(found["loc"][-1])
    hint = f"unknown key {key!r}{did_you_mean(key, keys_at(record, found['loc'][:-1]))}"
    return found.get("ctx", {}).get("message") or hint


def _numbers(value: Any) -> Iterator[int | float]:
    """Yield the numbers in a value and in its lists; records in it check their own numbers."""
    if isinstance(value, (int, float)):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _numbers(item)


def _rounded(value: Any) -> Any:
    """Return a value, and its lists, with 0 for numbers below `LEAST`; the same object if it has none."""
    if isinstance(value, float):
        return 0.0 if 0.0 < abs(value) < LEAST else value
    if isinstance(value, (list, tuple)):
        items = type(value)(map(_rounded, value))
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value


def keys_at(model: type[BaseModel], path: tuple[Any, ...]) -> list[str]:
    """Return the keys that the record at ``path`` below ``model`` may have.

    ``path`` is a location as pydantic reports it: keys, indices, and the tags of the branches of unions.
    """
    return sorted({key for _, item in _walked(model, path)[0] if _is_record(item) for key in _keys(item)})


def _walked(model: Any, path: tuple[Any, ...]) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """Return the tagged types at a path below ``model``, and the path without the tags of branches."""
    candidates: list[tuple[Any, Any]] = [(None, model)]
    keys: list[Any] = []
    for item in path:
        branches = [(None, annotation) for tag, annotation in candidates if item == tag]
        below = [member for _, annotation in candidates for member in _below(annotation, item)]
        keys += [] if branches else [item]
        candidates = branches or below or candidates
    return candidates, keys


def _keys(record: type[BaseModel]) -> dict[str, Any]:
    return {(f.alias or name): f.annotation for name, f in record.model_fields.items()}


def _below(annotation: Any, item: Any) -> list[tuple[Any, Any]]:
    """Return the tagged types of the value at key or index ``item`` of a value of type ``annotation``."""
    if _is_record(annotation):
        keys = _keys(annotation)
        return list(members(keys[item])) if item in keys else []
    arguments = [a for a in get_args(annotation) if a is not ...]
    if get_origin(annotation) in (list, tuple, set, frozenset) and isinstance(item, int):
        return [member for argument in arguments for member in members(argument)]
    if get_origin(annotation) in (dict, Mapping) and isinstance(item, str):
        return list(members(arguments[1]))
    return []


def members(annotation: Any, tag: Any = None) -> Iterator[tuple[Any, Any]]:
    """Yield the types in a union, optional or annotated type, each with the tag of its branch."""
    if get_origin(annotation) is Annotated:
        inner, *metadata = get_args(annotation)
        tags = [m.tag for m in metadata if isinstance(m, Tag)]
        yield from members(inner, tags[0] if tags else tag)
    elif get_origin(annotation) in (Union, types.UnionType):
        for member in get_args(annotation):
            yield from members(member)
    else:
        yield (_literal_tag(annotation) if tag is None else tag), annotation


def _literal_tag(annotation: Any) -> Any:
    """Return the single value of a record's key that distinguishes it in a union, or the record's name."""
    if not _is_record(annotation):
        return None
    for field in annotation.model_fields.values():
        if get_origin(field.annotation) is Literal and len(get_args(field.annotation)) == 1:
            return get_args(field.annotation)[0]
    return annotation.__name__


def _is_record(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
