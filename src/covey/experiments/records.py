"""The records of a design file, in the order of the paper: parameters, vectors, iterations, stop, metrics.

References:
    Yan, Fabresse, Laval, Bouraqadi: Building a ROS-based testbed for realistic multi-robot simulation. Robotics
    6(3):21, 2017, section 3 (the six elements of an experimental design).
"""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, PrivateAttr

from covey.records import Record
from covey.sim.stop import Stop


class Limits(Record):
    """What a single run may take of the machine before it is ended and becomes a row with that cause."""

    wall_s: float = Field(default=3600.0, gt=0, description="Wall time of one run [s].")
    memory_mib: float = Field(default=4096.0, gt=0, description="Resident memory of the process of one run [MiB].")


class Design(Record):
    """A declared set of runs: one scenario, the parameters that vary, and what is measured."""

    format: Literal[1] = Field(default=1, description="Version of this file format.")
    design: str = Field(min_length=1, max_length=100, description="Title; names the folder of results.")
    description: str = Field(default="", max_length=10_000, description="What the design is to show, for readers.")
    scenario: str | dict[str, Any] = Field(description="Name of a shipped scenario, path of a file, or a scenario.")
    parameters: dict[str, Any] = Field(
        default={}, description="Values of each parameter, by dotted path: a list, {from, to, step}, or one value."
    )
    iterations: int = Field(default=5, ge=1, description="Runs of each vector.")
    seed: int = Field(default=0, ge=0, lt=2**63, description="Root of the seeds of the iterations.")
    stop: Stop | None = Field(default=None, description="When each run ends; default, as the scenario says.")
    metrics: tuple[str, ...] = Field(default=(), description="Metrics that tables and reports show; default, all.")
    limits: Limits = Field(default=Limits(), description="What a run may take before it is ended.")

    _folder: Path = PrivateAttr(default_factory=Path.cwd)

    def model_post_init(self, context: Any) -> None:
        """Remember the file that the design was read from."""
        if isinstance(context, dict):
            self._folder = Path(context.get("folder", self._folder))

    @property
    def folder(self) -> Path:
        """The folder that relative paths in the design start from."""
        return self._folder
