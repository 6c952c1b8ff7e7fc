"""Fields of a scenario that are drawn anew for each episode: domain randomisation."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.random import generator

FORMS = "{uniform: [low, high]}, {integers: [low, high]}, {log_uniform: [low, high]} or {choice: [a, b, …]}"


def drawn(changes: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return the changes of an episode: distributions are drawn, each from a stream of its path; values stay.

    Args:
        changes: by dotted path of a scenario, values or distributions: ``{"uniform": [0.2, 0.6]}``, ``log_uniform``,
            ``integers`` (both ends count) or ``choice``.
        seed: of the episode.

    Raises:
        InvalidValueError: a distribution is wrong.

    Examples:
        >>> drawn({"stop.timeout_s": 60, "radio.range_m": {"choice": [5, 5]}}, seed=1)
        {'stop.timeout_s': 60, 'radio.range_m': 5}
    """
    return {path: _value(path, value, seed) for path, value in changes.items()}


def _value(path: str, value: Any, seed: int) -> Any:
    if not (isinstance(value, Mapping) and len(value) == 1):
        return value
    ((kind, of),) = value.items()
    if kind not in ("uniform", "log_uniform", "integers", "choice"):
        return value  # a record of the scenario
    random = generator(seed, f"vary/{path}")
    if not isinstance(of, Sequence) or isinstance(of, str) or not of:
        raise InvalidValueError(f"{path}: {kind} is {of!r:.60}; give {FORMS}")
    if kind == "choice":
        return of[int(random.integers(len(of)))]
    try:
        low, high = (float(end) for end in of)
    except (TypeError, ValueError):
        raise InvalidValueError(f"{path}: {kind} is {of!r:.60}; give {FORMS}") from None
    if not (np.isfinite((low, high)).all() and low <= high and (kind != "log_uniform" or low > 0)):
        raise InvalidValueError(f"{path}: {kind} is {of!r:.60}; the first number must not be larger than the second")
    if kind == "integers":
        if low != int(low) or high != int(high):
            raise InvalidValueError(f"{path}: integers is {of!r:.60}; give two whole numbers")
        return int(random.integers(int(low), int(high) + 1))
    if kind == "log_uniform":
        return float(np.exp(random.uniform(np.log(low), np.log(high))))
    return float(random.uniform(low, high))
