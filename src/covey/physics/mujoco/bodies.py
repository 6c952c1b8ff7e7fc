"""Robots as bodies of the engine, and their indices in its arrays."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.physics.motion import MAX_SPEED, MAX_TURN, MAX_WHEEL
from covey.physics.mujoco.drives import TORQUE
from covey.physics.mujoco.engine import BUMP, GAP_M, GROUND, HULL, WALL, mujoco
from covey.physics.mujoco.trial import read, try_out
from covey.robots.chassis import FileChassis, FlyingChassis, SideDrive, WheeledChassis
from covey.robots.model import RobotModel, chassis_of
from covey.robots.team import TeamModel
from covey.world.io.images import is_file

SAG_M = 0.0008
"""Depth [m] to which robots sink into the ground under their weight. Wheels are larger by half of it, so that they roll
the right distance."""

_DAMPING = 0.12  # damping of robots that bounce on the ground, over critical damping
_SOFTNESS = 9.0  # softness of contacts for the solver: compliance over inverse mass
_ROTORS = 0.5  # inertia of unknown motors and gears, at the rims of the wheels, over the mass of the robot
_HOLDS = 0.5  # share of the speed error that the motor of a free wheel removes in one step of the engine
_SCRAPES = 0.4  # friction of a box on the ground
_ROUND = 24  # number of corners of each disc of a hull, and of points around a wheel


@dataclass(frozen=True, eq=False)
class EngineBodies:
    """The indices of the n robots and their m motors in the arrays of the engine, and figures of the drives.

    Attributes:
        position, velocity: int64 (n,), first index of each robot's pose and velocity; -1 for a flying robot.
        height_m: float64 (n,), height of a flying robot above the ground; 0 for the others.
        body: int64 (n,), index of each robot's body; 0 for a flying robot.
        control: int64 (n,), `covey.physics.mujoco.drives.TWIST` or ``TORQUE``.
        max_torque: float64 (n,), largest torque of a side [N m] under torque control; NaN for the others.
        motor: int64 (m,), index of each motor.
        turns: int64 (m,), index of the velocity of each motor's joint.
        robots: int64 (m,), the robot of each motor.
        figures: float64 (m, 4), see `covey.physics.mujoco.drives.steer`.
        points: float64 (n, k, 3), points on the parts that touch the ground [m], in the frame of the robot.
        point_count: int64 (n,), number of points used.
        held: float64 (m,), inertia of motor and gear at a wheel whose speed is held [kg m2].
        rotors: float64 (m,), that at a wheel with a torque [kg m2].
        gain: float64 (m,), torque per speed [N m s] with which each motor holds a speed, for the engine.
        most: float64 (m,), largest torque of each motor [N m].
        top: float64 (m,), top speed of each motor's wheel [rad/s].
        owner: int64 (geoms,), the robot whose hull a geom is; -2 for a wall, -1 for other geoms.
    """

    position: np.ndarray
    velocity: np.ndarray
    height_m: np.ndarray
    body: np.ndarray
    control: np.ndarray
    max_torque: np.ndarray
    motor: np.ndarray
    turns: np.ndarray
    robots: np.ndarray
    figures: np.ndarray
    held: np.ndarray
    rotors: np.ndarray
    gain: np.ndarray
    most: np.ndarray
    top: np.ndarray
    points: np.ndarray
    point_count: np.ndarray
    owner: np.ndarray


def add_robot(spec: Any, i: int, model: RobotModel) -> None:
    """Add robot i to a model, as a free body. Its origin is on level ground below the middle of the robot.

    Its wheels and its box touch the ground. Its hull, with the outline of its planar body, touches walls and other
    robots.
    """
    chassis = chassis_of(model)
    if isinstance(chassis, FlyingChassis):
        return
    mj = mujoco()
    body = spec.worldbody.add_body(name=f"{i}")
    body.add_freejoint(name=f"{i}")
    if isinstance(chassis, WheeledChassis):
        height, mass = _add_wheeled(body, i, chassis)
    else:
        height, mass = _attach_file(spec, body, i, chassis)
    hull = {
        "name": f"{i} hull",
        "mass": 0,
        "contype": HULL,
        "conaffinity": HULL | WALL,
        "condim": 1,
        "gap": GAP_M,
        "solref": BUMP,
    }
    if len(model.body_discs) == 1 and model.body_discs[0][:2] == (0.0, 0.0):
        size = [model.body_discs[0][2], 0.5 * height, 0.0]
        body.add_geom(type=mj.mjtGeom.mjGEOM_CYLINDER, size=size, pos=[0, 0, 0.5 * height], **hull)
    else:
        mesh = spec.add_mesh(name=f"{i} hull")
        mesh.uservert = np.array([[x, y, z] for x, y in _outline(model) for z in (0.0, height)]).ravel()
        body.add_geom(type=mj.mjtGeom.mjGEOM_MESH, meshname=f"{i} hull", **hull)
    motors = _motors(chassis, i)
    for name, (_, _, radius, share) in motors:
        _add_motor(spec, name, chassis.max_torque_n_m / share, _ROTORS * mass * radius * radius / len(motors))


def _add_wheeled(body: Any, i: int, chassis: WheeledChassis) -> tuple[float, float]:
    """Add box, wheels and casters; return the height [m] and the mass [kg] of the robot."""
    mj = mujoco()
    ground = {"contype": 0, "conaffinity": GROUND, "priority": 1}
    half = [0.5 * side for side in chassis.box_m]
    body.add_geom(
        type=mj.mjtGeom.mjGEOM_BOX,
        size=half,
        pos=chassis.box_at_m,
        mass=chassis.mass_kg,
        condim=3,
        friction=[_SCRAPES, 0, 0],
        **ground,
    )
    for caster in chassis.casters:
        at = [caster.x_m, caster.y_m, caster.radius_m]
        size = [caster.radius_m, 0, 0]
        body.add_geom(type=mj.mjtGeom.mjGEOM_SPHERE, size=size, pos=at, mass=0, condim=1, **ground)
    for k, wheel in enumerate(chassis.wheels):
        child = body.add_body(name=f"{i} wheel {k}", pos=[wheel.x_m, wheel.y_m, wheel.radius_m])
        child.add_joint(name=f"{i} wheel {k}", type=mj.mjtJoint.mjJNT_HINGE, axis=[0, 1, 0])
        round_, half_width, across = wheel.tyre == "round", 0.5 * wheel.width_m, [math.sqrt(0.5), math.sqrt(0.5), 0, 0]
        shape = mj.mjtGeom.mjGEOM_ELLIPSOID if round_ else mj.mjtGeom.mjGEOM_CYLINDER
        radius = wheel.radius_m + 0.5 * SAG_M
        size = [radius, radius if round_ else half_width, half_width if round_ else 0]
        child.add_geom(
            type=shape,
            size=size,
            quat=across,
            mass=wheel.mass_kg,
            condim=3,
            friction=[chassis.friction, 0, 0],
            **ground,
        )
    height = max(chassis.box_at_m[2] + half[2], *(2 * wheel.radius_m for wheel in chassis.wheels))
    return height, chassis.mass_kg + sum(wheel.mass_kg for wheel in chassis.wheels)


def _attach_file(spec: Any, body: Any, i: int, chassis: FileChassis) -> tuple[float, float]:
    """Add the body of a file, with its lowest point on level ground; return its height [m] and mass [kg].

    Raises:
        InvalidValueError: the file does not exist, the engine cannot read it, or a joint is missing or no hinge.
    """
    mj, path = mujoco(), Path(chassis.file)
    if not is_file(path):
        raise InvalidValueError(f"chassis: there is no file {chassis.file!r}; a path is relative to the scenario")
    try_out(path)
    child, alone = read(path)
    kinds = {joint.name: joint.type for joint in child.joints}
    for name in (*chassis.left, *chassis.right):
        if name not in kinds:
            raise InvalidValueError(f"chassis: {chassis.file!r} has no joint {name!r}; its joints are {list(kinds)}")
        if kinds[name] != mj.mjtJoint.mjJNT_HINGE:
            kind = {mj.mjtJoint.mjJNT_BALL: "ball", mj.mjtJoint.mjJNT_SLIDE: "slide"}.get(kinds[name], "other")
            raise InvalidValueError(
                f"chassis: joint {name!r} of {chassis.file!r} is a {kind} joint; a wheel turns on a hinge"
            )
    data = mj.MjData(alone)
    mj.mj_kinematics(alone, data)
    points = np.concatenate([_surface(alone, data, g) for g in range(alone.ngeom)] or [np.zeros((1, 3))])
    low, high = float(points[:, 2].min()), float(points[:, 2].max())
    for actuator in list(child.actuators):
        if actuator.target in (*chassis.left, *chassis.right):
            child.delete(actuator)
    for geom in child.geoms:
        geom.contype, geom.conaffinity = 0, GROUND if geom.contype or geom.conaffinity else 0
        geom.priority = 1
    frame = body.add_frame(pos=[0, 0, -low])
    spec.attach(child, prefix=f"{i}/", frame=frame)
    return high - low, float(alone.body_mass.sum())


def _add_motor(spec: Any, joint: str, most: float, inertia: float) -> None:
    """Add the motor of a wheel. Its control is a torque, see `covey.physics.mujoco.drives.regulate`.

    Args:
        joint: name of the wheel's joint.
        most: largest torque [N m].
        inertia: inertia of motor and gear at the wheel [kg m2].
    """
    mj = mujoco()
    motor = spec.add_actuator(name=joint, target=joint, trntype=mj.mjtTrn.mjTRN_JOINT)
    motor.forcelimited, motor.forcerange = True, [-most, most]
    motor.gaintype, motor.biastype = mj.mjtGain.mjGAIN_FIXED, mj.mjtBias.mjBIAS_AFFINE
    spec.joint(joint).armature = inertia
    motor.gainprm[0] = 1.0


def top_wheel_speed(limits: np.ndarray, half_track_m: float) -> float:
    """Return the largest speed [m/s] of a wheel's rim within a robot's limits."""
    most = limits[MAX_SPEED] + limits[MAX_TURN] * half_track_m
    return float(min(limits[MAX_WHEEL], most))


def _outline(model: RobotModel) -> list[tuple[float, float]]:
    """Return points x, y [m] whose convex hull is the planar body."""
    if model.footprint_m is not None:
        return list(model.footprint_m)
    turns = [2.0 * math.pi * k / _ROUND for k in range(_ROUND)]
    return [(x + r * math.cos(a), y + r * math.sin(a)) for x, y, r in model.body_discs for a in turns]


def bind(engine: Any, model: TeamModel) -> EngineBodies:
    """Return the indices of a team's robots in a compiled model."""
    n, data = len(model), mujoco().MjData(engine)
    position, velocity, body = np.full(n, -1), np.full(n, -1), np.zeros(n, np.int64)
    control, torque, height = np.zeros(n, np.int64), np.full(n, np.nan), np.zeros(n)
    names = [engine.geom(g).name for g in range(engine.ngeom)]
    owner = np.array([-2 if name.startswith("wall ") else -1 for name in names])
    chassis = [chassis_of(model.models[k]) for k in model.model_id]
    for i, kind in enumerate(chassis):
        if isinstance(kind, FlyingChassis):
            height[i] = kind.height_m
            continue
        joint = engine.joint(f"{i}")
        position[i], velocity[i], body[i] = joint.qposadr[0], joint.dofadr[0], joint.bodyid[0]
        data.qpos[position[i] : position[i] + 7] = (0, 0, 0, 1, 0, 0, 0)
        owner[names.index(f"{i} hull")] = i
        soften(engine, i, float(engine.body_subtreemass[body[i]]))
        if kind.control == "torque":
            control[i], torque[i] = TORQUE, kind.max_torque_n_m
    mujoco().mj_kinematics(engine, data)
    parts = [_touching(engine, data, int(b)) for b in body]
    points = np.zeros((n, max(len(part) for part in parts), 3))
    for row, part in zip(points, parts, strict=True):
        row[: len(part)] = part
    motors = [
        (i, *motor) for i, kind in enumerate(chassis) if isinstance(kind, SideDrive) for motor in _motors(kind, i)
    ]
    motor = np.array([engine.actuator(name).id for _, name, *_ in motors], np.int64)
    figures = np.array([figures for *_, figures in motors]).reshape(-1, 4)
    for row, (_, name, _) in zip(figures, motors, strict=True):
        forwards = math.copysign(1.0, data.xaxis[engine.joint(name).id][1])
        row[2:] *= forwards
    robots = np.array([i for i, *_ in motors], np.int64)
    turns = np.array([engine.joint(name).dofadr[0] for _, name, _ in motors], np.int64)
    tops = [top_wheel_speed(model.limits[i], b) / abs(r) for i, (_, b, r, _) in zip(robots, figures, strict=True)]
    held, shares = engine.dof_armature[turns], figures[:, 3]
    given = [chassis[i].rotor_inertia_kg_m2 for i in robots]
    rotors = [h if j is None else j / share for h, j, share in zip(held, given, shares, strict=True)]
    return EngineBodies(
        position=position,
        velocity=velocity,
        height_m=height,
        body=body,
        control=control,
        max_torque=torque,
        motor=motor,
        turns=turns,
        robots=robots,
        figures=figures,
        held=held,
        rotors=np.array(rotors, float),
        gain=_HOLDS * held / engine.opt.timestep,
        most=engine.actuator_forcerange[motor, 1].copy(),
        top=np.array(tops),
        points=points,
        point_count=np.array([len(part) for part in parts]),
        owner=owner,
    )


def soften(engine: Any, i: int, mass: float) -> None:
    """Make the ground contacts of robot i as soft as tyres, whatever their number.

    The engine's convex friction model lifts a contact that slides at v by friction x b v, with b its damping. With the
    engine's default contacts, a skid-steer robot therefore hops at a step of 5 ms, and turns at 0.4 times the rate of
    Coulomb's law. The soft contacts carry their load without lift up to a sliding speed of
    g / (2 friction damping omega), with omega = sqrt(g / sag): 0.45 m/s here.

    References:
        E. Todorov: Convex and analytically-invertible dynamics with contacts and constraints. ICRA 2014 (the model).
    """
    body, g = engine.joint(f"{i}").bodyid[0], float(np.linalg.norm(engine.opt.gravity))
    mine = [k for k in range(engine.ngeom) if engine.body_rootid[engine.geom_bodyid[k]] == body]
    mine = [k for k in mine if engine.geom_conaffinity[k] & GROUND]
    omega, feet = math.sqrt(g / SAG_M), max(1, len(mine) - 1)
    stiffness, damping = _SOFTNESS * omega * omega, 2.0 * _SOFTNESS * _DAMPING * omega
    for k in mine:
        compliance = _SOFTNESS * feet / (mass * engine.body_invweight0[engine.geom_bodyid[k], 0])
        impedance = 1.0 / (1.0 + compliance)
        engine.geom_solimp[k] = (impedance, impedance, 0.001, 0.5, 2.0)
        engine.geom_solref[k] = (-stiffness * impedance, -damping * impedance)


def _motors(chassis: WheeledChassis | FileChassis, i: int) -> list[tuple[str, tuple[float, float, float, int]]]:
    """Return name and figures (side, b [m], r [m], motors of the side) of each motor of robot i."""
    if isinstance(chassis, WheeledChassis):
        wheels = [(f"{i} wheel {k}", w.y_m, w.radius_m) for k, w in enumerate(chassis.wheels)]
    else:
        sides = (chassis.left, chassis.half_track_m), (chassis.right, -chassis.half_track_m)
        wheels = [(f"{i}/{name}", y, chassis.wheel_radius_m) for names, y in sides for name in names]
    left = sum(y > 0 for _, y, _ in wheels)
    return [
        (name, (math.copysign(1.0, y), abs(y) * chassis.width_factor, r, left if y > 0 else len(wheels) - left))
        for name, y, r in wheels
    ]


def _touching(engine: Any, data: Any, body: int) -> np.ndarray:
    """Return points (k, 3) on the parts of a robot that touch the ground, from its free body; none for body 0."""
    mine = [g for g in range(engine.ngeom) if body and engine.body_rootid[engine.geom_bodyid[g]] == body]
    mine = [g for g in mine if engine.geom_conaffinity[g] & GROUND]
    return np.concatenate([np.empty((0, 3)), *(_surface(engine, data, g) for g in mine)])


def _surface(engine: Any, data: Any, geom: int) -> np.ndarray:
    """Return points (k, 3) on the surface of a geom, in the world frame of ``data``."""
    kind, size, shape = engine.geom_type[geom], engine.geom_size[geom], mujoco().mjtGeom
    turns = 2.0 * np.pi * np.arange(_ROUND) / _ROUND
    ring = np.column_stack((np.cos(turns), np.sin(turns), np.zeros(_ROUND)))
    if kind == shape.mjGEOM_MESH:
        mesh = engine.geom_dataid[geom]
        first = engine.mesh_vertadr[mesh]
        local = engine.mesh_vert[first : first + engine.mesh_vertnum[mesh]]
    elif kind == shape.mjGEOM_BOX:
        steps = np.linspace(-1.0, 1.0, 5)
        local = np.stack(np.meshgrid(steps, steps, (-1.0, 1.0)), -1).reshape(-1, 3) * size
    elif kind == shape.mjGEOM_CYLINDER:
        rims = [ring * size[0] + (0.0, 0.0, z * size[1]) for z in (-1.0, 0.0, 1.0)]
        local = np.concatenate(rims)
    else:
        balls = np.concatenate([ring[:, order] for order in ((0, 1, 2), (0, 2, 1), (2, 0, 1))])
        if kind == shape.mjGEOM_CAPSULE:
            ends = [balls * size[0] + (0.0, 0.0, z * size[1]) for z in (-1.0, 1.0)]
            local = np.concatenate(ends)
        else:
            local = balls * (size if kind == shape.mjGEOM_ELLIPSOID else size[0])
    return data.geom_xpos[geom] + local @ data.geom_xmat[geom].reshape(3, 3).T
