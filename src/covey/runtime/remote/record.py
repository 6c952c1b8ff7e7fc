"""`Processes`: settings for controllers in processes of their own."""

from typing import Literal

from pydantic import Field, field_validator

from covey.records import Record


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
