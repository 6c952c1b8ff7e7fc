"""Options that several commands share."""

import re
from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import Parameter, Token


def _changes(context: Any) -> dict[str, str]:
    from covey.cli.completing import changes

    return changes(context)


def _sources(context: Any) -> dict[str, str]:
    from covey.cli.completing import sources

    return sources(context)


Source = Annotated[str, Parameter(completer=_sources)]
Override = Annotated[
    list[str],
    Parameter(
        name=["--set", "-s"],
        negative=(),
        show_default=False,
        completer=_changes,
        help="Replace one value, for example -s robots.scout.count=20. You can repeat this option.",
    ),
]
TrustedOnly = Annotated[
    bool,
    Parameter(negative=(), show_default=False, help="Refuse a source that names code in a file (./mine.py:Name)."),
]
Trust = Annotated[
    bool,
    Parameter(negative=(), show_default=False, help="Run the code of the files that it names, if the check needs it."),
]


def whole_number(_type: object, tokens: Sequence[Token]) -> int:
    """Return a whole number that was typed in digits: 1.7 and 1e3 are refused."""
    text = tokens[0].value
    if not re.fullmatch(r"[+-]?[0-9]{1,30}", text):
        raise ValueError(f"must be a whole number; given: {text!r}")
    return int(text)


def check_port(_type: object, port: int) -> None:
    if not 0 <= port <= 65535:
        from covey.errors import CoveyError

        raise CoveyError(f"--port is {port}; it must be 0 (any that is free) to 65535")


Port = Annotated[int, Parameter(validator=check_port)]


def refuse(given: dict[str, bool], why: str) -> None:
    from covey.errors import InvalidValueError

    for option, is_given in given.items():
        if is_given:
            raise InvalidValueError(f"{option} {why}")


def changes_of(overrides: list[str], seed: int | None) -> dict[str, object]:
    from covey.scenario.overrides import parse_override

    changes = dict(parse_override(text) for text in overrides)
    return changes if seed is None else {**changes, "seed": seed}
