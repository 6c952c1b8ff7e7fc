"""Flocking: Reynolds, Olfati-Saber, and Vicsek."""

import math
from typing import Any

import numpy as np

from covey.controllers.laws.look_ahead import commands_of, points_of, top_speed
from covey.controllers.laws.steering import middle_of
from covey.geometry.se2 import wrap_angle
from covey.onboard.controller import controller
from covey.robots.parameters import Angle, Gain, LookAhead, Metres, Pace, PointOrMiddle


def order_of(velocity: np.ndarray) -> float:
    """Return the order of velocities (n, 2), |mean of their directions|: 1 if parallel, about 1/sqrt(n) at random.

    References:
        T. Vicsek, A. Czirok, E. Ben-Jacob, I. Cohen, O. Shochet: Novel type of phase transition in a system of
        self-driven particles. Physical Review Letters 75(6):1226-1229, 1995.
    """
    angle = np.arctan2(velocity[:, 1], velocity[:, 0])
    return math.hypot(float(np.cos(angle).mean()), float(np.sin(angle).mean()))


# -- Reynolds ----------------------------------------------------------------------------------------------------------


def reynolds_acceleration(
    position: np.ndarray,
    velocity: np.ndarray,
    range_m: float,
    apart_m: float,
    separation: float = 1.0,
    alignment: float = 1.0,
    cohesion: float = 0.5,
) -> np.ndarray:
    """Return the accelerations of boids, float64 (n, 2) [m/s2]: separation, alignment, and cohesion.

    Away from others nearer than ``apart_m``, by (apart/d - 1) along the way from each; towards the mean velocity of
    those in range; towards their mean position. Reynolds states the three rules and no formulas, so these are one
    choice. With alignment alone on a connected graph, velocities agree at the rates of D^-1 L.

    Args:
        position: positions [m], (n, 2).
        velocity: velocities [m/s], (n, 2).
        range_m: how far robots see [m].
        apart_m: distance below which they repel each other [m].
        separation: gain of the first rule [m/s2].
        alignment: of the second [1/s].
        cohesion: of the third [1/s2].

    References:
        C. W. Reynolds: Flocks, herds, and schools: a distributed behavioral model. SIGGRAPH 1987.
    """
    offset = position[None] - position[:, None]
    far = np.hypot(offset[..., 0], offset[..., 1])
    np.fill_diagonal(far, np.inf)
    near = far <= range_m
    share = near / np.maximum(near.sum(axis=1), 1)[:, None]
    seen = near.any(axis=1).astype(float)[:, None]
    push = np.where(far < apart_m, (apart_m / np.maximum(far, 1e-9) - 1.0) / np.maximum(far, 1e-9), 0.0)
    away = -np.einsum("ij,ijk->ik", push, offset)
    return (
        separation * away
        + alignment * (share @ velocity - velocity * seen)
        + cohesion * np.einsum("ij,ijk->ik", share, offset)
    )


@controller("reynolds", scope="group", sees=("pose",), missions=())
def reynolds(
    team: Any,
    *,
    range_m: Metres = 5.0,
    apart_m: Metres = 1.0,
    separation: Gain = 1.0,
    alignment: Gain = 1.0,
    cohesion: Gain = 0.05,
    speed_m_s: Pace = 0.3,
    look_ahead_m: LookAhead = 0.1,
) -> Any:
    """Flock by separation, alignment and cohesion, see `reynolds_acceleration`.

    The velocity that a robot is commanded is its state: it changes by the acceleration, and its amount tends to
    ``speed_m_s`` within a second. At the start robots move where they face.

    Args:
        team: a group.
        range_m: how far robots see [m].
        apart_m: distance below which they repel each other [m].
        separation: gain of the first rule [m/s2].
        alignment: of the second [1/s].
        cohesion: of the third [1/s2].
        speed_m_s: speed of the flock [m/s].
        look_ahead_m: distance of the points ahead of robots with wheels [m].

    References:
        C. W. Reynolds: Flocks, herds, and schools: a distributed behavioral model. SIGGRAPH 1987.
    """
    points, velocity = points_of(team, look_ahead_m), _velocity(team, speed_m_s)
    change = reynolds_acceleration(points, velocity, range_m, apart_m, separation, alignment, cohesion)
    speed = np.maximum(np.hypot(velocity[:, 0], velocity[:, 1]), 1e-9)[:, None]
    change += velocity * (speed_m_s / speed - 1.0)
    return _accelerated(team, velocity, change, look_ahead_m)


# -- Olfati-Saber ------------------------------------------------------------------------------------------------------

_EPSILON, _H, _A, _B = 0.1, 0.2, 5.0, 5.0
_C = abs(_A - _B) / math.sqrt(4.0 * _A * _B)


def _sigma_norm(squared: Any) -> Any:
    return (np.sqrt(1.0 + _EPSILON * squared) - 1.0) / _EPSILON


def _bump(z: np.ndarray) -> np.ndarray:
    return np.where(z < _H, 1.0, np.where(z < 1.0, 0.5 * (1.0 + np.cos(np.pi * (z - _H) / (1.0 - _H))), 0.0))


def _action(z: np.ndarray, range_m: float, apart_m: float) -> np.ndarray:
    """Return the force between two robots at the sigma distance z; negative pushes apart."""
    y = z - _sigma_norm(apart_m**2) + _C
    phi = 0.5 * ((_A + _B) * y / np.sqrt(1.0 + y * y) + _A - _B)
    return _bump(z / _sigma_norm(range_m**2)) * phi


def olfati_saber_acceleration(
    position: np.ndarray,
    velocity: np.ndarray,
    range_m: float,
    apart_m: float,
    goal: tuple[float, float] | None = None,
    goal_velocity: tuple[float, float] = (0.0, 0.0),
    c1: float = 1.0,
    c2: float = 1.0,
) -> np.ndarray:
    """Return the accelerations of flocking algorithm 1 (no goal) or 2 (a goal), float64 (n, 2) [m/s2].

    The sum of a gradient, which keeps robots in range ``apart_m`` apart, of the consensus of their velocities, and of
    the way to a goal. In algorithm 2 the energy of the team in the frame of a goal at constant velocity never grows;
    velocities become equal. If the energy at the start is less than that of two robots at one
    place, no two ever get there. Constants as in the paper: epsilon 0.1, h 0.2, a = b = 5. Distances of the paper are
    7 apart and 8.4 in range; the law is not the same at another scale, because epsilon has a unit.

    Args:
        position: positions [m], (n, 2).
        velocity: velocities [m/s], (n, 2).
        range_m: r, how far robots see [m].
        apart_m: d, the distance of neighbours in the lattice [m].
        goal: place of the goal [m]; None: there is none, and the team may fall apart.
        goal_velocity: its velocity [m/s].
        c1: gain of the way to the goal [1/s2].
        c2: gain of the difference of velocities to the goal [1/s].

    References:
        R. Olfati-Saber: Flocking for multi-agent dynamic systems: algorithms and theory. IEEE Transactions on Automatic
        Control 51(3):401-420, 2006.
    """
    offset = position[None] - position[:, None]
    squared = (offset**2).sum(axis=2)
    z = _sigma_norm(squared)
    weight = _bump(z / _sigma_norm(range_m**2))
    np.fill_diagonal(weight, 0.0)
    force = _action(z, range_m, apart_m) / np.sqrt(1.0 + _EPSILON * squared)
    change = np.einsum("ij,ijk->ik", force, offset) + weight @ velocity - weight.sum(axis=1)[:, None] * velocity
    if goal is not None:
        change -= c1 * (position - np.asarray(goal)) + c2 * (velocity - np.asarray(goal_velocity))
    return change


@controller("olfati_saber", scope="group", sees=("pose",), missions=())
def olfati_saber(
    team: Any,
    *,
    range_m: Metres = 2.4,
    apart_m: Metres = 2.0,
    goal_m: PointOrMiddle = (),
    c1: Gain = 0.1,
    c2: Gain = 0.3,
    speed_m_s: Pace = 0.0,
    look_ahead_m: LookAhead = 0.1,
) -> Any:
    """Flock around a goal as a lattice, see `olfati_saber_acceleration`, algorithm 2.

    The velocity that a robot is commanded is its state. At the start robots move where they face.

    Args:
        team: a group.
        range_m: r, how far robots see [m].
        apart_m: d, the distance of neighbours in the lattice [m].
        goal_m: the goal, which stands [m]; empty: the middle of the workspace.
        c1: gain of the way to the goal [1/s2].
        c2: gain of the velocity [1/s].
        speed_m_s: speed at the start [m/s].
        look_ahead_m: distance of the points ahead of robots with wheels [m].

    References:
        R. Olfati-Saber: Flocking for multi-agent dynamic systems: algorithms and theory. IEEE Transactions on Automatic
        Control 51(3):401-420, 2006.
    """
    points, velocity = points_of(team, look_ahead_m), _velocity(team, speed_m_s)
    goal = goal_m or tuple(middle_of(team.workspace).tolist())
    change = olfati_saber_acceleration(points, velocity, range_m, apart_m, goal, c1=c1, c2=c2)
    return _accelerated(team, velocity, change, look_ahead_m)


def _velocity(team: Any, speed_m_s: float) -> np.ndarray:
    """Return the velocities that the law has given its robots last, or those of the start."""
    if not hasattr(team.memory, "velocity"):
        heading = team.heading
        team.memory.velocity = speed_m_s * np.column_stack((np.cos(heading), np.sin(heading)))
    return team.memory.velocity


def _accelerated(team: Any, velocity: np.ndarray, change: np.ndarray, look_ahead_m: float) -> Any:
    velocity = velocity + team.dt * change
    top = top_speed(team.robot, look_ahead_m, team.dt)
    team.memory.velocity = velocity * (top / np.maximum(np.hypot(velocity[:, 0], velocity[:, 1]), top))[:, None]
    return commands_of(team, team.memory.velocity, look_ahead_m)


# -- Vicsek ------------------------------------------------------------------------------------------------------------


def vicsek_headings(
    position: np.ndarray, heading: np.ndarray, range_m: float, noise: np.ndarray, box_m: float | None = None
) -> np.ndarray:
    """Return the next headings: the mean direction of all in range and of itself, and noise, float64 (n,) [rad].

    The order (`order_of`) falls as noise, uniform in -eta/2 … eta/2, grows. If all see each other, the expected square
    of the order after a step is 1/n + (1 - 1/n) s^2 with s = sin(eta/2) / (eta/2), the mean of exp(i noise).

    Args:
        position: positions [m], (n, 2).
        heading: headings [rad], (n,).
        range_m: how far robots see [m].
        noise: one draw for each robot [rad], (n,).
        box_m: side of a square whose opposite sides meet, as in the paper [m]; None: the plane.

    References:
        T. Vicsek, A. Czirok, E. Ben-Jacob, I. Cohen, O. Shochet: Novel type of phase transition in a system of
        self-driven particles. Physical Review Letters 75(6):1226-1229, 1995.
    """
    offset = position[None] - position[:, None]
    if box_m is not None:
        offset -= box_m * np.round(offset / box_m)
    near = ((offset**2).sum(axis=2) <= range_m * range_m).astype(float)
    return wrap_angle(np.arctan2(near @ np.sin(heading), near @ np.cos(heading)) + noise)


@controller("vicsek", scope="group", sees=("pose",), missions=())
def vicsek(team: Any, *, range_m: Metres = 1.0, speed_m_s: Pace = 0.3, noise_rad: Angle = 0.5) -> Any:
    """Align with all in range, with noise, at constant speed, see `vicsek_headings`.

    A robot with wheels turns so fast that it has its new heading one period later; its top turn rate must allow it.
    A holonomic robot moves in the new direction at once, and keeps it as its heading in the law.

    Args:
        team: a group.
        range_m: how far robots see [m].
        speed_m_s: speed [m/s].
        noise_rad: eta, the width of the noise [rad].

    References:
        T. Vicsek, A. Czirok, E. Ben-Jacob, I. Cohen, O. Shochet: Novel type of phase transition in a system of
        self-driven particles. Physical Review Letters 75(6):1226-1229, 1995.
    """
    noise = team.random.uniform(-0.5 * noise_rad, 0.5 * noise_rad, team.count)
    if team.robot.kinematics == "holonomic":
        heading = vicsek_headings(team.position, getattr(team.memory, "heading", team.heading), range_m, noise)
        team.memory.heading = heading
        return speed_m_s * np.column_stack((np.cos(heading), np.sin(heading)))
    heading = vicsek_headings(team.position, team.heading, range_m, noise)
    return speed_m_s, wrap_angle(heading - team.heading) / team.dt
