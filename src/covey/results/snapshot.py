"""`Snapshot` and `RunEvent`: the data that observers get after each step."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from covey.comms.samples import RadioSample

"""The kinds of events that a simulation records."""
WARNINGS = (
    *("collision", "controller_failed", "fault", "left_world", "refused", "fell", "rolled", "stuck"),
    *("gave_up", "stands", "frontier_left", "exhausted"),
)
"""Those that tell of something unwanted."""


@dataclass(frozen=True)
class RunEvent:
    """An event at one step: a contact began, a door opened, a controller failed, a goal was reached.

    Attributes:
        step: control step of the event.
        time_s: simulated time [s].
        kind: kind of event, one word, e.g. ``collision``.
        robot: name of the robot concerned; empty for none.
        other: name of the other robot, or of the object, involved.
        x, y: place in the world frame [m]; NaN for none.
        text: details for people; no program reads it.
        data: the same for programs, plain data by name, see `covey.results.event_data`; empty for most kinds.
    """

    step: int
    time_s: float
    kind: str
    robot: str = ""
    other: str = ""
    x: float = math.nan
    y: float = math.nan
    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Snapshot:
    """The state of the team after one step.

    Arrays are read-only and change in the next step: an observer must copy what it keeps.

    Attributes:
        step: control step, counted from 1 (0 is the start, before any motion).
        time_s: simulated time [s].
        pose: true x, y [m], heading [rad] in the world frame, shape (n, 3).
        estimate: each robot's own estimate of the same, shape (n, 3).
        twist: true vx, vy [m/s], omega [rad/s] in the body frame, shape (n, 3).
        command: commanded twist in the body frame, shape (n, 3).
        distance_m: distance travelled since the start, shape (n,).
        collisions_robot: number of contacts with other robots since the start, counted for both, int64 (n,).
        collisions_wall: number of contacts with walls since the start, int64 (n,).
        energy_j: energy used since the start [J], shape (n,).
        min_separation_m: smallest distance between the centres of two robots [m]; NaN with one robot.
        events: the events of this step.
        radio: links and traffic, at the steps at which they are recorded; else None.
        mission: measurements of the missions, by column name. Every run has ``explored_share`` (n,): the share of the
            explorable cells G that each robot's own beams have crossed; ``explored_share_union``: that of all robots
            together; ``known_share`` (n,): the share of G in each robot's map, NaN without a map;
            ``known_share_union``: that of their union; and ``covered_share``: the share of the coverable cells that
            bodies have passed over.
        altitude_roll_pitch: altitude of the body's centre above 0 [m], roll and pitch [rad], shape (n, 3).
    """

    step: int
    time_s: float
    pose: np.ndarray
    estimate: np.ndarray
    twist: np.ndarray
    command: np.ndarray
    distance_m: np.ndarray
    collisions_robot: np.ndarray
    collisions_wall: np.ndarray
    energy_j: np.ndarray
    min_separation_m: float = math.nan
    events: list[RunEvent] = field(default_factory=list)
    radio: RadioSample | None = None
    mission: dict[str, Any] = field(default_factory=dict)
    altitude_roll_pitch: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))

    def __getattr__(self, name: str) -> Any:
        measured = name.endswith(("_share", "_share_union"))
        hint = f"; the mission measures it: snapshot.mission[{name!r}]" if measured else ""
        raise AttributeError(f"a snapshot has no {name!r}{hint}")
