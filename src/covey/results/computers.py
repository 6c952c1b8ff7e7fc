"""The table of the robots' computers in a run folder; it exists when a robot has one."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa

COUNTS = ("scans", "scans_dropped", "decisions")


class ComputerSample(NamedTuple):
    """What the computer of one robot did since the sample before.

    Attributes:
        robot: team index.
        time_s: simulated time at the end [s].
        cpu_percent: processor time over that of all its processors [%].
        ram_percent: memory that its software takes, over what it has [%].
        scans: scans that it took into the map.
        scans_dropped: scans that it could have used while it was busy; counted in each step.
        decisions: how often its controller acted.
        delay_s: mean time from the beginning of a decision to its command [s]; NaN without any.
        longest_delay_s: the longest [s].
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
    """Return the columns of some samples of one step; ``names``: of the team."""
    table: dict[str, Any] = {f: [getattr(s, f) for s in samples] for f in ComputerSample._fields}
    return table | {"step": [step] * len(samples), "robot": [names[s.robot] for s in samples]}
