"""`Computer`: the processors and memory aboard a robot; `Costs`: what its software takes of them; `Work`: what it did.

A robot without a computer computes infinitely fast. ``docs/computers.md`` says where each number comes from.
"""

from typing import Literal

from pydantic import Field

from covey.records import Record


class Computer(Record):
    """The emulated computer of a robot, like one of the virtual machines of Yan et al., Robotics 6(3):21, 2017."""

    cpus: int = Field(default=2, ge=1, le=1024, description="Processors.")
    speed: float = Field(
        default=1.0, gt=0, description="Speed of each processor; 1: that for which `execution.costs` are declared."
    )
    ram_mib: float = Field(default=2048.0, gt=0, description="Memory [MiB].")
    when_ram_full: Literal["slow", "kill"] = Field(
        default="slow", description="Software that takes more memory is slowed down (it swaps), or killed."
    )
    hold_s: float = Field(
        default=0.5,
        ge=0,
        description="While no command comes the base goes on for so long after one was due, then it stands [s].",
    )


class Cost(Record):
    """What one unit of a kind of work takes."""

    seconds: float = Field(ge=0, description="Time on one processor of speed 1 [s].")
    parallel: float = Field(
        default=0.5, ge=0, le=1, description="Share of it that several processors do side by side (Amdahl's law)."
    )

    def duration_s(self, computer: Computer) -> float:
        """Return how long one unit takes on a computer [s].

        References:
            G. M. Amdahl: Validity of the single processor approach to achieving large scale computing capabilities.
            AFIPS 1967.

        Examples:
            >>> round(Cost(seconds=0.4, parallel=0.5).duration_s(Computer(cpus=2, speed=0.5)), 9)
            0.6
        """
        return self.seconds * (1.0 - self.parallel + self.parallel / computer.cpus) / computer.speed


class Costs(Record):
    """What the software of a robot takes: time by kind of work, and memory.

    The times were measured on one core of the machine that `docs/computers.md` names, by
    ``benchmarks/computing_costs.py``; the parallel shares and the memory are assumed.
    """

    scan_match: Cost = Field(
        default=Cost(seconds=0.04),
        description="Matching one scan against the map, by every robot that localizes otherwise than by truth or "
        "odometry: noise stands for gmapping.",
    )
    map_update: Cost = Field(default=Cost(seconds=0.00003), description="Entering one scan in the map.")
    frontiers: Cost = Field(default=Cost(seconds=0.0008), description="Finding frontiers in a million cells of map.")
    search: Cost = Field(
        default=Cost(seconds=0.05),
        description="Searching ways, for a million entries of the queue: one or two per cell.",
    )
    view: Cost = Field(default=Cost(seconds=0.00002), description="Reckoning what would be seen from one place.")
    control: Cost = Field(
        default=Cost(seconds=0.00008), description="One command of the local planner, on the way to a goal."
    )
    base_mib: float = Field(default=680.0, ge=0, description="Memory of system and software without a map [MiB].")
    cell_bytes: float = Field(default=480.0, ge=0, description="Memory for each known cell of the map [bytes].")
    swap_factor: float = Field(
        default=10.0, ge=1, description="Work takes so many times as long while the memory does not suffice."
    )


WORKS: tuple[str, ...] = ("scan_match", "map_update", "frontiers", "search", "view", "control")
"""The kinds of work, fields of `Costs`."""


class Work:
    """What the software of a robot did since it was last asked, in units of each kind of work."""

    def __init__(self) -> None:
        self.amounts = dict.fromkeys(WORKS, 0.0)

    def add(self, kind: str, amount: float = 1.0) -> None:
        """Add units of a kind of work, one of `WORKS`."""
        self.amounts[kind] += amount

    def take(self) -> dict[str, float]:
        """Return the amounts, and begin anew."""
        amounts, self.amounts = self.amounts, dict.fromkeys(WORKS, 0.0)
        return amounts
