"""The blackboard: a record that the whole team reads and writes, independent of the radio.

References:
    De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. 2007 (blackboard).
"""

from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from covey.plain import copied


@dataclass(eq=False)
class Blackboard:
    """The entries on the blackboard, and those to be added at the next step.

    Attributes:
        entries: value by key, as robots read them.
        pending: entries written during this step, in order; the value of a deleted key is `GONE`.
    """

    entries: dict[str, Any] = field(default_factory=dict)
    pending: list[tuple[str, Any]] = field(default_factory=list)

    def turn(self) -> None:
        """Add the entries written since the last turn, so that all robots of a step read the same."""
        for key, value in self.pending:
            if value is GONE:
                self.entries.pop(key, None)
            else:
                self.entries[key] = value
        self.pending.clear()


class BlackboardView(MutableMapping[str, Any]):
    """A robot's view of the blackboard; values are copied, and can be read from the next step on."""

    def __init__(self, blackboard: Blackboard):
        self._blackboard = blackboard

    def __getitem__(self, key: str) -> Any:
        return copied(self._blackboard.entries[key])[0]

    def __setitem__(self, key: str, value: Any) -> None:
        self._blackboard.pending.append((str(key), copied(value)[0]))

    def __delitem__(self, key: str) -> None:
        if key not in self._blackboard.entries:
            raise KeyError(key)
        self._blackboard.pending.append((key, GONE))

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._blackboard.entries))

    def __len__(self) -> int:
        return len(self._blackboard.entries)


class _Gone:
    def __reduce__(self) -> str:
        return "GONE"  # the same object in every process


GONE = _Gone()
"""Value of a deleted entry."""
