"""Records of an extension point, as Python gives them."""

from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from covey.errors import CoveyError, InvalidValueError
from covey.named import Named

T = TypeVar("T", bound=Named)


def record_of(base: type[T], given: Any, what: str, *, trusted_only: bool = False) -> T:
    """Return a record: given as such, as a name, or as a mapping ``{name: {parameter: …}}``.

    Args:
        base: the base of the records.
        given: what was given.
        what: the name of the argument, for errors.
        trusted_only: refuse the name of code in a file.

    Raises:
        InvalidValueError: it is unknown, or a parameter is wrong.
    """
    if isinstance(given, base):
        return given
    try:
        return TypeAdapter(base).validate_python(given, context={"trusted_only": trusted_only})
    except ValidationError as error:
        first = error.errors()[0]
        where = "".join(f"{part}: " for part in map(str, first["loc"]))
        raise InvalidValueError(f"{what}: {where}{first['msg'].removeprefix('Value error, ')}") from None
    except CoveyError as error:
        raise InvalidValueError(f"{what}: {error}") from None
