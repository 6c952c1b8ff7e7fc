"""`Frame` and `Event`: what observers get after each step."""

import math
from dataclasses import dataclass, field

import numpy as np

from covey.comms.samples import Sample

EVENT_KINDS = (
    *("collision", "left_world", "controller_failed", "fault", "recovered", "mission", "note", "tag_left"),
    *("door_opened", "door_closed", "door_waits", "wall_added", "wall_removed"),
    *("obstacle_added", "obstacle_removed", "obstacle_waits", "refused", "input", "order"),
    *("ground_changed", "ground_saved", "change_noticed", "stuck", "freed", "fell", "rolled", "righted"),
)
"""What can happen: the kinds of events that a simulation records."""


@dataclass(frozen=True)
class Event:
    """Something that happened at one step: a contact began, a door opened, a controller failed, a goal was reached.

    Attributes:
        step: control step at which it happened.
        time_s: simulated time [s].
        kind: what happened, one word, e.g. ``collision``.
        robot: name of the robot that it happened to; empty when it concerns none.
        other: name of the other robot, or of the thing, involved.
        x, y: where, in the world frame [m]; NaN when nowhere.
        text: details for a reader.
    """

    step: int
    time_s: float
    kind: str
    robot: str = ""
    other: str = ""
    x: float = math.nan
    y: float = math.nan
    text: str = ""


@dataclass
class Frame:
    """The state of the team after one step. Arrays belong to the simulation: an observer copies what it keeps.

    Attributes:
        step: control step, counted from 1 (0 is the start, before anything moved).
        time_s: simulated time [s].
        pose: true x, y [m], heading [rad] in the world frame, shape (n, 3).
        estimate: each robot's own estimate of the same, shape (n, 3).
        twist: true vx, vy [m/s], omega [rad/s] in the body frame, shape (n, 3).
        command: commanded twist in the body frame, shape (n, 3).
        distance_m: distance travelled since the start, shape (n,).
        explored_share: share of the explorable cells G that each robot's own beams have crossed, shape (n,).
        explored_share_union: the same of all robots together.
        known_share: share of G that is known in each robot's map, shape (n,); NaN without a map.
        collisions_robot: contacts with other robots that began since the start, counted for both, int64 (n,).
        collisions_wall: contacts with walls that began since the start, int64 (n,).
        energy_j: energy used since the start [J], shape (n,).
        min_separation_m: smallest distance between the centres of two robots; NaN with one robot.
        events: what happened in this step.
        known_share_union: share of G that is known in the union of the maps; NaN without maps.
        radio: links and traffic, at the steps at which they are recorded; else None.
        covered_share: share of the cells that a body can cover which one has passed over; NaN when not counted.
        mission: further measurements of the mission by the name of their column.
        altitude_roll_pitch: altitude of the body's centre above 0 [m], roll and pitch [rad], shape (n, 3).
    """

    step: int
    time_s: float
    pose: np.ndarray
    estimate: np.ndarray
    twist: np.ndarray
    command: np.ndarray
    distance_m: np.ndarray
    explored_share: np.ndarray
    explored_share_union: float
    known_share: np.ndarray
    collisions_robot: np.ndarray
    collisions_wall: np.ndarray
    energy_j: np.ndarray
    min_separation_m: float = math.nan
    events: list[Event] = field(default_factory=list)
    known_share_union: float = math.nan
    covered_share: float = math.nan
    radio: Sample | None = None
    mission: dict[str, float] = field(default_factory=dict)
    altitude_roll_pitch: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
