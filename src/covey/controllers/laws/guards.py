"""Safety around any law: `safe` by control barrier functions, `orca` by reciprocal avoidance."""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator

from covey.controllers.laws.barriers import barrier_velocity
from covey.controllers.laws.look_ahead import points_of, top_speed, unicycle
from covey.controllers.laws.reciprocal import orca_velocity
from covey.errors import CoveyError
from covey.kernel import kernel
from covey.onboard.controller import Program, controller
from covey.onboard.group_answer import twists_of
from covey.onboard.group_view import GroupView
from covey.physics.motion import saturate
from covey.robots.model import RobotModel
from covey.robots.parameters import Gain, Gap, LookAhead, Seconds, Segments
from covey.robots.team import TeamModel


def _law(value: Any) -> Program:
    try:
        program = value if isinstance(value, Program) else Program.of(value)
    except CoveyError as error:
        raise ValueError(str(error)) from None
    if program.scope != "group":
        raise ValueError(f"controller {program.name!r} is of a {program.scope}, not of a group")
    return program


GroupLaw = Annotated[Any, BeforeValidator(_law)]
Filter = Callable[[np.ndarray, np.ndarray, float, float, float], np.ndarray]
"""Gives velocities (n, 2) for points and wanted velocities (n, 2), top speed [m/s], and smallest distances [m] of two
points and of a point and a wall."""


def safe(law: Any, *, gap_m: float = 0.02, gain: float = 2.0, look_ahead_m: float = 0.1, walls_m: Any = ()) -> Any:
    """Return a law that does as ``law``, and keeps the robots apart and inside, see `safe_law`.

    Args:
        law: a law: a function of the team, a group controller, or the name of one.
        gap_m, gain, look_ahead_m, walls_m: see `safe_law`.

    Examples:
        >>> import covey
        >>> def together(team):
        ...     return 0.3, team.bearing_to((5.0, 5.0))
        >>> out = covey.play(covey.laws.safe(together), robots=3, stop_s=1, speed="max")
    """
    return _around(law, safe_law, gap_m=gap_m, gain=gain, look_ahead_m=look_ahead_m, walls_m=walls_m)


def orca(
    law: Any,
    *,
    gap_m: float = 0.02,
    horizon_s: float = 2.0,
    wall_horizon_s: float = 0.5,
    look_ahead_m: float = 0.1,
    walls_m: Any = (),
) -> Any:
    """Return a law that does as ``law`` and avoids the others as they avoid it, see `orca_law`.

    Args:
        law: a law: a function of the team, a group controller, or the name of one.
        gap_m, horizon_s, wall_horizon_s, look_ahead_m, walls_m: see `orca_law`.
    """
    given = {"gap_m": gap_m, "horizon_s": horizon_s, "wall_horizon_s": wall_horizon_s}
    return _around(law, orca_law, look_ahead_m=look_ahead_m, walls_m=walls_m, **given)


@controller("safe", scope="group", sees=("pose", "links", "goals"), missions=())
def safe_law(
    team: Any,
    *,
    law: GroupLaw = "go_to",
    gap_m: Gap = 0.02,
    gain: Gain = 2.0,
    look_ahead_m: LookAhead = 0.1,
    walls_m: Segments = (),
) -> Any:
    """Do as another law, and change its commands as little as keeps robots apart and inside, see `barrier_velocity`.

    While nothing is in danger the commands are those of the law, bit by bit. Guaranteed, for robots that start apart,
    know their poses, and follow commands at once: no two of the group touch, and none touches an edge of the workspace
    or a given wall. Holonomic robots: the discs around their centres. Robots with wheels: the discs around the points
    ahead, which hold the body, so they need the room of a radius larger by the look-ahead; the distances hold at each
    control step, and a margin covers the arcs between. Other groups and unknown obstacles are not seen. Robots can
    block each other for ever.

    Args:
        team: a group.
        law: name of a law, or {name: …, parameter: …}.
        gap_m: smallest gap between two bodies, and between a body and a wall [m].
        gain: k [1/s], how fast a gap may close: by k times the gap each second; at most 1 / period is used.
        look_ahead_m: distance of the points ahead of robots with wheels [m].
        walls_m: further walls, x1, y1, x2, y2 [m].

    References:
        L. Wang, A. D. Ames, M. Egerstedt: Safety barrier certificates for collisions-free multirobot systems. IEEE
        Transactions on Robotics 33(3):661-674, 2017.
    """
    if gain == 0.0:
        gain = 1e-3
    walls = walls_of(team, walls_m)

    def keep_apart(points: np.ndarray, wanted: np.ndarray, top: float, apart: float, wall: float) -> np.ndarray:
        rate = min(gain, 1.0 / team.dt)
        given = {"apart_m": apart, "top_speed_m_s": top, "gain": rate, "walls": walls, "wall_m": wall}
        return barrier_velocity(points, wanted, **given)

    return _guarded(team, law, keep_apart, gap_m, look_ahead_m)


@controller("orca", scope="group", sees=("pose", "links", "goals"), missions=())
def orca_law(
    team: Any,
    *,
    law: GroupLaw = "go_to",
    gap_m: Gap = 0.02,
    horizon_s: Seconds = 2.0,
    wall_horizon_s: Seconds = 0.5,
    look_ahead_m: LookAhead = 0.1,
    walls_m: Segments = (),
) -> Any:
    """Do as another law, and avoid the others as they avoid it, see `orca_velocity`.

    In a dense crowd, where a robot finds no velocity for all half-planes, nothing is guaranteed between robots. Bodies
    and walls as in `safe_law`.

    Args:
        team: a group.
        law: name of a law, or {name: …, parameter: …}.
        gap_m: smallest gap between two bodies, and between a body and a wall [m].
        horizon_s: time for which robots stay apart [s]; at least a period is used.
        wall_horizon_s: time in which a robot may reach a wall [s]; at least a period is used.
        look_ahead_m: distance of the points ahead of robots with wheels [m].
        walls_m: further walls, x1, y1, x2, y2 [m].

    References:
        J. van den Berg, S. J. Guy, M. Lin, D. Manocha: Reciprocal n-body collision avoidance. Robotics Research, STAR
        70, 2011.
    """
    walls, memory = walls_of(team, walls_m), team.memory
    if not hasattr(memory, "orca_velocity"):
        memory.orca_velocity = np.zeros((team.count, 2))

    def avoid(points: np.ndarray, wanted: np.ndarray, top: float, apart: float, wall: float) -> np.ndarray:
        times = max(horizon_s, team.dt), team.dt
        given = points, memory.orca_velocity, wanted, apart, top, *times, walls, wall, max(wall_horizon_s, team.dt)
        memory.orca_velocity, _ = orca_velocity(*given)
        return memory.orca_velocity

    return _guarded(team, law, avoid, gap_m, look_ahead_m)


def walls_of(team: Any, walls_m: Any = ()) -> np.ndarray:
    """Return the edges of the workspace and further walls, x1, y1, x2, y2 [m], float64 (m, 4)."""
    if not hasattr(team.memory, "walls"):
        corners = np.asarray(team.workspace, float)
        edges = np.column_stack((corners, np.roll(corners, -1, axis=0)))
        team.memory.walls = np.concatenate((edges, np.array(walls_m, float).reshape(-1, 4)))
    return team.memory.walls


def _around(law: Any, guard: Any, **parameters: Any) -> Any:
    """Return a group controller that runs a guard around a law, and sees what the law sees, and poses."""
    program = law if isinstance(law, Program) else Program(law)
    plain = not isinstance(law, (str, Program)) and not hasattr(law, "covey_scope")
    made: Any = partial(guard, law=program, **parameters)
    made.covey_scope, made.covey_needs, made.covey_runs = "group", (), ""
    made.covey_sees = ("full",) if plain else tuple(dict.fromkeys((*(program.sees or ()), "pose")))
    made.__name__ = f"{guard.__name__.removesuffix('_law')}_{program.name}"
    return made


def _guarded(team: Any, law: Any, change: Filter, gap_m: float, look_ahead_m: float) -> Any:
    """Return the answer of a law, with other commands where a filter changes the velocities of the points."""
    memory = team.memory
    if not hasattr(memory, "drive"):
        model = TeamModel.of([team.robot])
        memory.program = law if isinstance(law, Program) else Program.of(law)
        memory.law, memory.own = memory.program.bound(), SimpleNamespace()
        memory.sees = ("full",) if memory.program.sees is None else memory.program.sees
        memory.drive = model.kinematics, model.limits, *_room(team.robot, gap_m, look_ahead_m, team.dt)
    kinematics, limits, top, apart, wall = memory.drive
    answer = memory.law(_view(team, memory.sees, memory.own))
    holonomic = team.robot.kinematics == "holonomic"
    given = twists_of(answer, team)[team.name]
    twists = given if given.shape[1] == 3 else np.column_stack((given, np.zeros(team.count)))
    heading = np.zeros(team.count) if given.shape[1] == 2 else team.heading
    wanted = point_velocity(saturated(kinematics, limits, twists), heading, look_ahead_m, team.dt, holonomic)
    velocity = change(points_of(team, look_ahead_m), wanted, top, apart, wall)
    other = (velocity != wanted).any(axis=1)
    if not other.any():
        return answer
    result = given.copy()
    if not holonomic:
        result[other, 1] = 0.0
        result[other, 0], result[other, 2] = unicycle(velocity[other], heading[other], look_ahead_m, team.dt)
    else:
        turn = twists[other, 2].clip(-team.robot.max_turn_rad_s, team.robot.max_turn_rad_s)
        half = 0.5 * team.dt * turn
        c, s = (
            np.cos(heading[other] + half) / np.sinc(half / np.pi),
            np.sin(heading[other] + half) / np.sinc(half / np.pi),
        )
        result[other, 0] = c * velocity[other, 0] + s * velocity[other, 1]
        result[other, 1] = c * velocity[other, 1] - s * velocity[other, 0]
    return result


def _view(team: GroupView, sees: tuple[str, ...], memory: SimpleNamespace) -> GroupView:
    """Return the view of a law in a guard: only what it declares, and a memory of its own."""
    view = GroupView(team.facts)
    shown = team.fields if "full" in sees else {name: team.fields[name] for name in sees if name in team.fields}
    vars(view).update(vars(team), memory=memory, _fields=shown)
    return view


def point_velocity(
    twists: np.ndarray, heading: np.ndarray, look_ahead_m: float, period_s: float, holonomic: bool
) -> np.ndarray:
    """Return the mean velocities of the points of robots with body twists over a period, (n, 2) [m/s].

    It is the inverse of `unicycle`; of holonomic robots the points are the centres, and the mean is over their turn.
    """
    half = 0.5 * period_s * twists[:, 2]
    chord = np.sinc(half / np.pi)
    vx, vy = twists[:, 0] * chord, (twists[:, 1] if holonomic else look_ahead_m * twists[:, 2]) * chord
    c, s = np.cos(heading + half), np.sin(heading + half)
    return np.column_stack((c * vx - s * vy, s * vx + c * vy))


@kernel
def saturated(kinematics, limits, twists):
    """Return the body twists that robots of one model can follow, (n, 3), see `covey.physics.motion.saturate`."""
    done = np.empty((len(twists), 3))
    for i in range(len(twists)):
        done[i] = saturate(kinematics, limits, 0, twists[i, 0], twists[i, 1], twists[i, 2])
    return done


def _room(robot: RobotModel, gap_m: float, look_ahead_m: float, period_s: float) -> tuple[float, float, float]:
    """Return the top speed of the point [m/s], and the smallest distances of two points, and of one and a wall [m].

    Between two steps a point leaves its chord by at most chord x turn / 8, see `unicycle`.
    """
    top = top_speed(robot, look_ahead_m, period_s)
    if robot.kinematics == "holonomic":
        turn, arm, speed = robot.max_turn_rad_s, 0.0, top
        bow = 0.125 * speed * turn * period_s**2
    else:
        arm = look_ahead_m
        turns = np.linspace(0.0, robot.max_turn_rad_s, 101)
        ahead = np.full(101, robot.max_speed_m_s)
        if robot.kinematics == "differential" and robot.max_wheel_speed_m_s is not None:
            ahead = np.clip(robot.max_wheel_speed_m_s - turns * robot.wheel_semi_axis_m, 0.0, robot.max_speed_m_s)
            turns = np.minimum(turns, robot.max_wheel_speed_m_s / max(robot.wheel_semi_axis_m, 1e-9))
        bow = 0.125 * float((np.hypot(ahead, arm * turns) * turns).max()) * period_s**2
    reach = robot.outer_radius_m + arm + bow
    return top, 2.0 * reach + gap_m, reach + gap_m
