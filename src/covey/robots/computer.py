"""`Computer`: the onboard processors and memory of a robot; `Costs`: the costs of its software; `Work`: its work.

A robot without a computer computes infinitely fast. ``docs/computers.md`` gives the source of each number.
"""

from typing import Literal

from pydantic import Field

from covey.records import Record


class Computer(Record):
    """The emulated computer of a robot, like one of the virtual machines of Yan et al., Robotics 6(3):21, 2017."""

    cpus: int = Field(default=2, ge=1, le=1024, description="Number of processors.")
    speed: float = Field(
        default=1.0,
        gt=0,
        description="Speed of each processor, relative to the one for which `execution.costs` are declared.",
    )
    ram_mib: float = Field(default=2048.0, gt=0, description="Memory [MiB].")
    when_ram_full: Literal["slow", "kill"] = Field(
        default="slow", description="If the software needs more memory: slow (it swaps) or kill."
    )
    hold_s: float = Field(
        default=0.5,
        ge=0,
        description="If a command is late, the base continues for this long, then it stops [s].",
    )


class Cost(Record):
    """The cost of one unit of a kind of work."""

    seconds: float = Field(ge=0, description="Time on one processor of speed 1 [s].")
    parallel: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Share of the work that runs in parallel on several processors (Amdahl's law).",
    )

    def duration_s(self, computer: Computer) -> float:
        """Return the duration of one unit on a computer [s].

        References:
            G. M. Amdahl: Validity of the single processor approach to achieving large scale computing capabilities.
            AFIPS 1967.

        Examples:
            >>> round(Cost(seconds=0.4, parallel=0.5).duration_s(Computer(cpus=2, speed=0.5)), 9)
            0.6
        """
        return self.seconds * (1.0 - self.parallel + self.parallel / computer.cpus) / computer.speed


class Costs(Record):
    """The costs of a robot's software: time by kind of work, and memory.

    The times were measured by ``benchmarks/computing_costs.py`` on one core of the machine in `docs/computers.md`; the
    parallel shares and the memory are assumptions.
    """

    scan_match: Cost = Field(
        default=Cost(seconds=0.04),
        description="Matching one scan against the map. Charged to robots whose localization is neither truth "
        "nor odometry; noise stands for gmapping.",
    )
    map_update: Cost = Field(default=Cost(seconds=0.00003), description="Adding one scan to the map.")
    frontiers: Cost = Field(default=Cost(seconds=0.0008), description="Finding frontiers in a million cells of map.")
    search: Cost = Field(
        default=Cost(seconds=0.05),
        description="Searching paths, for a million entries of the queue (one or two per cell).",
    )
    view: Cost = Field(default=Cost(seconds=0.00002), description="Computing what a robot would see from one place.")
    control: Cost = Field(
        default=Cost(seconds=0.00008), description="One command of the local planner, while driving to a goal."
    )
    base_mib: float = Field(
        default=680.0, ge=0, description="Memory of the system and the software without a map [MiB]."
    )
    cell_bytes: float = Field(default=480.0, ge=0, description="Memory for each known cell of the map [bytes].")
    swap_factor: float = Field(
        default=10.0, ge=1, description="Factor by which work takes longer while memory is short."
    )


WORKS: tuple[str, ...] = ("scan_match", "map_update", "frontiers", "search", "view", "control")
"""The kinds of work, fields of `Costs`."""


class Work:
    """The work of a robot's software since the last call of `pop`, in units of each kind of work."""

    def __init__(self) -> None:
        self.amounts, self.entries = dict.fromkeys(WORKS, 0.0), 0

    def add(self, kind: str, amount: float = 1.0) -> None:
        """Add units of a kind of work, one of `WORKS`."""
        self.amounts[kind] += amount

    def add_search(self, entries: int) -> None:
        """Add a search of a path: the number of entries of its queue."""
        self.entries += entries

    def pop(self) -> dict[str, float]:
        """Return the amounts, and reset them."""
        amounts = self.amounts
        amounts["search"] += self.entries / 1e6
        self.amounts, self.entries = dict.fromkeys(WORKS, 0.0), 0
        return amounts
