"""Conversion of pydantic's errors to problems with the place in the file and the nearest valid name."""

from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from covey.errors import CoveyError, Problem, did_you_mean
from covey.records import coerced, hinted_at, misspelt, unknown_key, wanted, wrong_length
from covey.scenario.yaml12 import Document, Path

R = TypeVar("R", bound=BaseModel)
_WRONG_SHAPE = ("_type", "_parsing", "is_instance_of", "literal_error", "none_required")


def read(kind: type[R], data: Any, document: Document, context: dict[str, Any]) -> tuple[R | None, list[Problem]]:
    """Return the record that plain data describes, or None, and the problems of the data.

    Args:
        kind: the class of the record.
        data: plain data, or records in it.
        document: the places of the data, for problems.
        context: see `covey.named.find`.
    """
    try:
        record = kind.model_validate(data, context={"document": document, **context})
    except ValidationError as error:
        return None, problems_of(error, document, kind)
    except CoveyError as error:
        return None, [Problem(str(error), document.file)]
    return record, [*coercions(data, record, document)]


def problems_of(error: ValidationError, document: Document, model: type[BaseModel]) -> list[Problem]:
    """Return one problem for each error, in the order of the file."""
    found, all_found = [], error.errors(include_url=False, include_context=False, include_input=False)
    hinted = hinted_at(all_found, model)
    for branches in _by_value(error, document).values():
        for details in _best_branch(branches):
            if details["loc"] in hinted and details["type"] == "missing":
                continue
            if details["type"] != "too_short" or not any(_lies_below(other, details) for other in all_found):
                found.append(_problem(details | {"needs": _needed(details, all_found)}, document, model))
    unique = {(p.line, p.column, p.message): p for p in found}
    return [unique[place] for place in sorted(unique)]


def coercions(data: Any, record: Any, document: Document) -> Iterator[Problem]:
    """Yield a problem where the file has text or true/false and the record accepted it as a number."""
    for path, kind, value in coerced(data, record):
        yield document.problem(f"{dotted(path)}must be {kind}; given: {_shown(value)}", path)


def _by_value(error: ValidationError, document: Document) -> dict[Path, dict[Any, list[Any]]]:
    """Group the errors by the value with the union that they come from (else their own value), then by its branch."""
    groups: dict[Path, dict[Any, list[Any]]] = {}
    for number, details in enumerate(error.errors(include_url=False)):
        path: Path = ()
        branch: tuple[Path, Any] | None = None
        loc = details["loc"]
        for item, following in zip(loc, (*loc[1:], None), strict=False):
            if (*path, item) in document.values and not _is_tag(path, item, following, document):
                path = (*path, item)
            elif branch is None and not (_names_a_key(details) and item == loc[-1]):
                branch = (path, item)
        if details["type"] == "extra_forbidden" and path and path[-1] == loc[-1]:
            path = path[:-1]
        value, tag = branch or ((*path, f"error {number}"), None)
        groups.setdefault(value, {}).setdefault(tag, []).append(details | {"path": path})
    return groups


def _is_tag(path: Path, item: Any, following: Any, document: Document) -> bool:
    """Return whether ``item`` is the tag of a branch, although a key has that name: the next item is not below it."""
    return (*path, following) in document.values and (*path, item, following) not in document.values


def _needed(details: Any, others: list[Any]) -> int:
    """Return how many values a list needs, if this error says that one of them is missing."""
    missing = (o["loc"][-1] for o in others if o["type"] == "missing" and o["loc"][:-1] == details["loc"][:-1])
    return max((index + 1 for index in missing if isinstance(index, int)), default=0)


def _lies_below(other: Any, details: Any) -> bool:
    """Return whether another error is inside the value of this one; then the items of this value were not counted."""
    return len(other["loc"]) > len(details["loc"]) and other["loc"][: len(details["loc"])] == details["loc"]


def _names_a_key(details: Any) -> bool:
    return details["type"] in ("extra_forbidden", "missing", "unexpected_keyword_argument")


def _best_branch(branches: dict[Any, list[Any]]) -> list[Any]:
    """Return the errors of the intended branch: the one whose own shape is right."""
    if len(branches) == 1:
        return next(iter(branches.values()))
    root = min(len(d["path"]) for errors in branches.values() for d in errors)
    fitting = [
        errors
        for errors in branches.values()
        if not any(len(d["path"]) == root and d["type"].endswith(_WRONG_SHAPE) for d in errors)
    ]
    if fitting:
        return min(fitting, key=lambda errors: (sum(_names_a_key(d) for d in errors), len(errors)))
    fits = dict.fromkeys(wanted(errors[0]) for errors in branches.values())
    first = next(iter(branches.values()))[0]
    return [first | {"type": "union", "msg": " or ".join(fits)}]


def _problem(details: Any, document: Document, model: type[BaseModel]) -> Problem:
    path, kind, key = details["path"], details["type"], details["loc"][-1] if details["loc"] else ""
    if kind == "extra_forbidden":
        return document.problem(dotted(path) + unknown_key(details, model), (*path, key), at_key=True)
    if kind == "missing" and isinstance(key, int):
        given = f"given: {_shown(details['input'])}"
        return document.problem(f"{dotted(path)}must have at least {details['needs']} values; {given}", path)
    if kind == "missing":
        return document.problem(f"{dotted(path)}{key!r} is missing", path)
    if kind == "union_tag_invalid":
        expected = [tag.strip().strip("'") for tag in details["ctx"]["expected_tags"].split(",")]
        name, tag = details["ctx"]["discriminator"].strip("'"), details["ctx"]["tag"]
        return document.problem(f"{dotted(path)}unknown {name} {tag!r}{did_you_mean(tag, expected)}", (*path, name))
    if kind == "union_tag_not_found":
        return document.problem(f"{dotted(path)}{details['ctx']['discriminator']} is missing", path)
    if kind == "value_error":
        return document.problem(f"{dotted(path)}{details['ctx']['error']}", path)
    if kind == "located":
        return document.problem(f"{dotted(path)}{details['msg']}", path, at_key=details["ctx"]["at_key"])
    if kind == "union":
        return document.problem(f"{dotted(path)}must be {details['msg']}; given: {_shown(details['input'])}", path)
    if kind in ("too_long", "too_short"):
        message = f"{wrong_length(details)}; given: {_shown(details['input'])}"
        return document.problem(dotted(path) + message, path)
    if kind == "string_pattern_mismatch":
        return document.problem(dotted(path) + misspelt(details), path)
    if details["msg"].startswith("Input should be"):
        message = f"must be {wanted(details)}; given: {_shown(details['input'])}"
        return document.problem(dotted(path) + message, path)
    return document.problem(dotted(path) + details["msg"], path)


def dotted(path: Path) -> str:
    """Return the path as users type it, with a colon behind it.

    Examples:
        >>> dotted(("robots", 0, "count"))
        'robots[0].count: '
    """
    text = "".join(f"[{item}]" if isinstance(item, int) else f".{item}" for item in path)
    return f"{text.lstrip('.')}: " if text else ""


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    text = "null (nothing)" if value is None else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
