"""The table of the robots' computers in a run folder; it exists if a robot has a computer."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa

COUNTS = ("scans", "scans_dropped", "decisions")


class ComputerSample(NamedTuple):
    """The activity of one robot's computer since the previous sample.

    Attributes:
        robot: team index.
        time_s: simulated time at the end [s].
        cpu_percent: used processor time over that of all its processors [%].
        ram_percent: memory used by its software over its memory [%].
        scans: scans that it merged into the map.
        scans_dropped: usable scans dropped while it was busy; counted in each step.
        decisions: number of decisions of its controller.
        delay_s: mean time from the start of a decision to its command [s]; NaN without decisions.
        longest_delay_s: the longest such time [s].
    """

    robot: int
    time_s: float
    cpu_percent: float
    ram_percent: float
    scans: int
    scans_dropped: int
    decisions: int
    delay_s: float
    longest_delay_s: float


def schema() -> pa.Schema:
    """Return the columns of ``computers.parquet``."""
    kinds = {name: pa.int64() if name in COUNTS else pa.float64() for name in ComputerSample._fields}
    return pa.schema([("step", pa.int64()), *(kinds | {"robot": pa.string()}).items()])


def columns(step: int, names: Sequence[str], samples: Sequence[ComputerSample]) -> dict[str, Any]:
    """Return the columns of samples of one step; ``names``: the robots' names in the order of the team."""
    table: dict[str, Any] = {f: [getattr(s, f) for s in samples] for f in ComputerSample._fields}
    return table | {"step": [step] * len(samples), "robot": [names[s.robot] for s in samples]}
