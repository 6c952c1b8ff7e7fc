"""``covey check-extension``: checks what a user has written for an extension point."""

import sys
from pathlib import Path

import covey
from covey.errors import InvalidValueError
from covey.registry import kinds_of, load_from_file, registry_of


def check_command(target: str, point: str) -> int:
    """Check an object of a file, or of a registry; print each check, and return 1 if one fails.

    Raises:
        InvalidValueError: there is no such object, or it fits no extension point.
    """
    checks = covey.testing.check_extension  # which loads all registries
    if ".py:" in target:
        found = load_from_file(target, Path.cwd())
    else:
        kinds = {point} if point else kinds_of(target)
        if len(kinds) != 1:
            several = f"is of several kinds; say which: --as {min(kinds)}" if kinds else "is not registered"
            raise InvalidValueError(f"{target!r} {several}; of a file write ./file.py:Name")
        (point,) = kinds
        found = registry_of(point).get(target)
    wrong = 0
    for check, problem in checks(found, point):
        wrong += bool(problem)
        print(f"{'wrong' if problem else 'good '}  {check}{problem and f': {problem}'}")
    print(f"{target}: {f'{wrong} wrong' if wrong else 'good'}", file=sys.stderr if wrong else sys.stdout)
    return 1 if wrong else 0
