"""The tables of a run whose controllers had their own processes."""

from typing import Any, NamedTuple

import pyarrow as pa

HOST, TRAFFIC = "process_host", "process_traffic"
"""Names of the tables."""


class HostSample(NamedTuple):
    """One process's use of its machine since its previous sample, and its late messages since the start.

    Attributes:
        step, time_s: step and simulated time [s] of the sample.
        wall_time_s: wall time since the processes joined [s].
        robot: its robot, or the group or ``team`` that its controller steers.
        host: its machine.
        cpu_percent: user and system processor time [%]; 100 is one processor.
        ram_percent: memory of the software over that of the robot's computer; without one, of the process over that of
            the machine [%].
        rss_mib: resident memory [MiB].
        kbytes_received, kbytes_sent: network traffic [KB/s].
        missed_deadlines, late_commands, dropped_readings: in real time, see
            `covey.runtime.transport.channel.DeadlineMisses`.
    """

    step: int
    time_s: float
    wall_time_s: float
    robot: str
    host: str
    cpu_percent: float
    ram_percent: float
    rss_mib: float
    kbytes_received: float
    kbytes_sent: float
    missed_deadlines: int
    late_commands: int
    dropped_readings: int


class TrafficSample(NamedTuple):
    """The network traffic of one process until a step, of one class.

    Attributes:
        step, time_s: step and simulated time [s].
        robot: as in `HostSample`.
        traffic: ``simulator``, ``monitor`` or ``team``.
        bytes_to_controller, bytes_from_controller: bytes since the start.
        letters_to_controller, letters_from_controller: messages with content of that class, since the start.
    """

    step: int
    time_s: float
    robot: str
    traffic: str
    bytes_to_controller: int
    bytes_from_controller: int
    letters_to_controller: int
    letters_from_controller: int


_TYPES = {int: pa.int64(), float: pa.float64(), str: pa.string()}


def schema(kind: type[HostSample] | type[TrafficSample]) -> pa.Schema:
    """Return the columns of a table of samples."""
    return pa.schema([(name, _TYPES[of]) for name, of in kind.__annotations__.items()])


def columns(samples: list[Any]) -> dict[str, list[Any]]:
    """Return samples of one kind by column."""
    return {name: [getattr(s, name) for s in samples] for name in samples[0]._fields}
