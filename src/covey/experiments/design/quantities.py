"""The quantities that a design can record in each run, by name: of robots, of the team, and of events."""

from dataclasses import dataclass
from typing import Literal

from covey.errors import did_you_mean

Scope = Literal["robot", "team", "event"]


@dataclass(frozen=True)
class Quantity:
    """A quantity that can be recorded.

    Attributes:
        scope: whether it exists for each robot, for the team, or for each event.
        columns: its columns in the table.
        meaning: explanation with the unit.
    """

    scope: Scope
    columns: tuple[str, ...]
    meaning: str


QUANTITIES: dict[str, Quantity] = {
    "pose": Quantity("robot", ("x_m", "y_m", "heading_rad"), "true pose in the world frame [m, m, rad]"),
    "position": Quantity("robot", ("x_m", "y_m"), "true position; for an event, where it happened [m, m]"),
    "estimate": Quantity(
        "robot",
        ("estimate_x_m", "estimate_y_m", "estimate_heading_rad"),
        ("the robot's own estimate of its pose [m, m, rad]"),
    ),
    "twist": Quantity("robot", ("vx_m_s", "vy_m_s", "omega_rad_s"), "true velocity in the body frame [m/s, rad/s]"),
    "command": Quantity("robot", ("command_vx_m_s", "command_vy_m_s", "command_omega_rad_s"), "commanded velocity"),
    "distance": Quantity("robot", ("distance_m",), "distance travelled since the start [m]"),
    "energy": Quantity("robot", ("energy_j",), "energy used since the start [J]"),
    "collisions": Quantity("robot", ("collisions_robot", "collisions_wall"), "number of contacts since the start"),
    "explored_share": Quantity(
        "robot", ("explored_share",), ("share of what can be explored that the robot's beams have crossed")
    ),
    "known_share": Quantity("robot", ("known_share",), "share of what can be explored that the robot's map knows"),
    "kbytes_received": Quantity(
        "robot", ("kbytes_received_per_s",), ("data received by its radio, or by its process [kB/s] (Yan et al. 2017)")
    ),
    "kbytes_sent": Quantity(
        "robot", ("kbytes_sent_per_s",), ("data sent by its radio, or by its process [kB/s] (Yan et al. 2017)")
    ),
    "cpu_percent": Quantity(
        "robot", ("cpu_percent",), "processor use of the robot's computer or process [%] (Yan et al. 2017)"
    ),
    "ram_percent": Quantity(
        "robot", ("ram_percent",), "memory use of the robot's computer or process [%] (Yan et al. 2017)"
    ),
    "explored_area": Quantity("team", ("explored_area_m2",), "explored area [m2]"),
    "explored_share_union": Quantity("team", ("explored_share_union",), "explored share"),
    "known_share_union": Quantity("team", ("known_share_union",), "share that the union of the maps knows"),
    "covered_share": Quantity("team", ("covered_share",), "share of the floor that bodies have passed over"),
    "searched_share_union": Quantity(
        "team", ("searched_share_union",), ("with tag cameras: share of the readable walls that have been searched")
    ),
    "min_separation": Quantity("team", ("min_separation_m",), "smallest distance between two robots [m]"),
    "host_cpu_percent": Quantity("team", ("host_cpu_percent",), "processor time of the simulating process [%]"),
    "host_rss_mib": Quantity("team", ("host_rss_mib",), "resident memory of the simulating process [MiB]"),
    "graph_idleness": Quantity("team", ("graph_idleness_s",), "on a patrol: mean idleness of the waypoints [s]"),
    "worst_graph_idleness": Quantity(
        "team", ("worst_graph_idleness_s",), ("on a patrol: idleness of the worst waypoint [s]")
    ),
    "completed_cycles": Quantity(
        "team", ("completed_cycles",), ("on a patrol: number of visits of the least visited waypoint")
    ),
    "visits": Quantity("team", ("visits",), "on a patrol: number of visits of all waypoints"),
    "robots": Quantity("event", ("robot", "other"), "names of the robot and of what it met"),
    "text": Quantity("event", ("text",), "details in words"),
}
"""Every name that ``record`` of a measurement can contain."""

OF_COMPUTERS = ("cpu_percent", "ram_percent")
"""Quantities that exist only if robots have computers (`robot.computer`) or processes of their own."""


def quantity_summaries() -> dict[str, str]:
    """Return the quantities, each with its columns, of what it is, and what it means."""
    scopes = {"robot": "", "team": "team: ", "event": "events only: "}
    return {name: f"{scopes[q.scope]}{q.meaning}; {', '.join(q.columns)}" for name, q in QUANTITIES.items()}


def unknown_quantity(name: str, *, at_events: bool) -> str:
    """Return why a measurement cannot record a name; empty if it can."""
    known = [known for known, quantity in QUANTITIES.items() if at_events or quantity.scope != "event"]
    if name in known:
        return ""
    if name in QUANTITIES:
        return f"{name!r} belongs to events: write {{when: collision, record: [{name}]}}"
    return f"unknown quantity {name!r}{did_you_mean(name, known)}"
