"""`Execution`: settings of the computation of a run, for scenarios and `Simulation`."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from covey.comms.traffic import Log
from covey.records import Record, as_record, located
from covey.robots.computer import Costs

MOST_SUBSTEPS = 10_000


class Processes(Record):
    """Each controller runs in its own operating-system process, with its mapping and planning."""

    pace: Literal["lock_step", "real_time"] = Field(
        default="lock_step",
        description="lock_step: each step waits for every controller, and the run is repeatable; real_time: a "
        "step lasts step_s of wall time, and a late command takes effect in a later step.",
    )
    nodes: str = Field(
        default="local",
        description="Where the processes run: local; the address of a Dask scheduler, such as "
        "tcp://10.0.0.1:8786; or join: you start each with `covey robot ADDRESS --name NAME`.",
    )
    robots_per_node: int = Field(
        default=4, ge=1, description="Largest number of processes on each worker of a Dask cluster."
    )
    address: str = Field(
        default="127.0.0.1:0",
        pattern=r"^[^:]+:\d+$",
        description="Address on which the simulator listens for the processes, host:port; port 0: a free port.",
    )
    memory_mib: float = Field(
        default=2048.0,
        gt=0,
        description="Memory that a process may take in addition to what it has when ready [MiB]; a request for more "
        "gets a MemoryError. At least twice the memory of the robot's computer.",
    )

    @field_validator("address")
    @classmethod
    def _has_a_port(cls, address: str) -> str:
        port = address.rpartition(":")[2]
        if len(port) > 5 or int(port) > 65535:
            raise ValueError(f"the port is {port[:20]}; ports go from 0 to 65535")
        return address


class Execution(Record):
    """Periods and limits of the computation."""

    step_s: float = Field(default=0.1, gt=0, le=60, description="Control period [s]; a multiple of substep_s.")
    substep_s: float = Field(
        default=0.01, gt=0, le=60, description="Period of the physics [s]; at least step_s / 10000."
    )
    on_controller_error: Literal["stop_robot", "end_run", "raise"] = Field(
        default="stop_robot",
        description=(
            "What happens if a controller raises an exception or returns an invalid command. "
            "stop_robot: its robot stops; end_run: the run ends; raise: it ends with this error."
        ),
    )
    pose_every: int = Field(default=1, ge=1, description="Poses are recorded every this many steps.")
    links_every_s: float = Field(
        default=1.0,
        gt=0,
        description="Links and traffic are recorded at this interval [s], from the first message on.",
    )
    log_messages: Log = Field(
        default="none", description="Packets that are recorded in messages.parquet: none, drops (lost packets), or all."
    )
    step_budget_s: float = Field(
        default=10.0,
        gt=0,
        description="A controller that takes longer than this for one step counts as hung [s of wall time].",
    )
    compute: Literal["modelled", "measured"] = Field(
        default="modelled",
        description="How long robots with a computer are busy. modelled: as `costs` declare; measured: as long "
        "as this machine takes, so the run is not repeatable.",
    )
    costs: Costs = Field(default=Costs(), description="Costs of the software of robots with a computer.")
    controllers: Literal["in_process", "processes"] = Field(
        default="in_process",
        description="Where controllers run, with mapping and planning. in_process: in the simulator's process; "
        "processes: each in its own process.",
    )
    processes: Processes = Field(default=Processes(), description="Settings for controllers: processes.")

    @model_validator(mode="after")
    def _divides(self) -> "Execution":
        ratio = self.step_s / self.substep_s
        if ratio < 1 - 1e-9 or abs(ratio - round(ratio)) > 1e-9 * ratio:
            near = max(1, round(ratio)) * self.substep_s
            message = f"{self.step_s:g} s is not a multiple of substep_s {self.substep_s:g} s; nearest: {near:.9g}"
            raise located([(("step_s",), message, self.step_s)])
        if ratio > MOST_SUBSTEPS:
            message = f"{self.step_s:g} s has {ratio:.3g} substeps of {self.substep_s:g} s; at most {MOST_SUBSTEPS}"
            raise located([(("substep_s",), message, self.substep_s)])
        if self.controllers != "processes" and self.processes != Processes():
            message = "belongs to controllers: processes; leave it out, or set that"
            raise located([(("processes",), message, self.processes.model_dump(exclude_defaults=True))])
        return self


def as_execution(value: Execution | Mapping[str, Any]) -> Execution:
    """Return the record for an argument ``execution``, a record or plain data as in a scenario.

    Raises:
        InvalidValueError: the data is invalid, also in a scenario.

    Examples:
        >>> as_execution({"step_s": 0.2}) == Execution(step_s=0.2)
        True
        >>> as_execution({"processes": {"pase": "real_time"}})
        Traceback (most recent call last):
        covey.errors.InvalidValueError: execution.processes: unknown key 'pase', did you mean 'pace'?
    """
    return as_record(Execution, value, "execution")
