"""`TerrainPhysics`: a team of bodies on a landscape, moved by MuJoCo."""

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from covey.errors import CoveyError, InvalidValueError
from covey.physics.mujoco.bodies import add_robot, bind
from covey.physics.mujoco.drives import TORQUE, regulate, steer
from covey.physics.mujoco.engine import STEP_S, add_ground, mujoco, new_spec, set_altitudes
from covey.physics.mujoco.footing import anything_near, follow, read, stand
from covey.physics.mujoco.incidents import Incidents
from covey.physics.mujoco.touching import Touching
from covey.physics.mujoco.walls import add_walls
from covey.physics.protocol import Contacts, Incident
from covey.robots.team import TeamModel, TeamState
from covey.world.ground import Heightfield
from covey.world.state import AnyWorld

_NO_TRACE = np.empty((0, 2, 0, 3))
_INTEGRAL_S = 0.1  # time constant of the integral part of the motors' regulators
_FEW_WALLS = 24
_NEAR_M = 0.1  # contacts are checked if bodies are nearer than their largest motion in a step plus this


class TerrainPhysics:
    """Physics of one team on the ground of one world, or on a level plane if the world has no ground.

    A robot's pose is that of a point fixed to its body: the point below its middle when it stands on level ground.
    `TeamState.twist` is in the horizontal frame of the heading. ``step`` updates the engine when ground or walls have
    changed.

    Args:
        world: the world; it may be edited.
        model: the bodies and drives.
        substep_s: length of a substep [s].

    Attributes:
        incidents: incidents of the last step.

    Raises:
        CoveyError: MuJoCo is not installed.
        InvalidValueError: MuJoCo cannot build a chassis.
    """

    def __init__(self, world: AnyWorld, model: TeamModel, substep_s: float = 0.01):
        if not substep_s > 0.0:
            raise InvalidValueError(f"substep_s is {substep_s!r}; it must be a positive number of seconds")
        n = len(model)
        self._world, self._model, self._substep_s = world, model, substep_s
        self._per_substep = math.ceil(substep_s / STEP_S - 1e-9)
        self._spec = new_spec(substep_s / self._per_substep)
        add_ground(self._spec, world.ground)
        add_walls(self._spec, world)
        for i in range(n):
            add_robot(self._spec, i, model.models[model.model_id[i]])
        self._few_walls()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # options of a body's file that are ignored
                self._engine = self._spec.compile()
        except (ValueError, RuntimeError, mujoco().FatalError) as error:
            raise InvalidValueError(f"MuJoCo cannot build the robots and walls: {error}") from None
        self._data = mujoco().MjData(self._engine)
        self._bind()
        ground = world.ground
        self._altitude = np.zeros((2, 2)) if ground is None else ground.altitude.copy()
        self._frame = np.array([0.0, 0.0, 1.0]) if ground is None else ground.frame
        self._edge = np.array([-math.inf, math.inf] * 2 if ground is None else ground.bounds)
        self._versions = world.version, 0 if ground is None else ground.version
        delay = np.rint(model.delay_s / substep_s).astype(np.int64)
        self._delay, self._clock = delay, 0
        self._past = np.zeros((n, int(delay.max(initial=0)) + 1, 3))
        self._integral = np.zeros(len(self._bodies.motor))
        self._pose = np.full((n, 3), np.nan)
        self._gone = np.zeros(n, bool)
        self._untouched = dict[int, tuple[np.ndarray, np.ndarray]]()  # what the parts of those that have gone touch
        self._touching = Touching()
        self._watch = Incidents(model, self._bodies.max_torque, self._bodies.position < 0)
        self.incidents: Sequence[Incident] = ()

    def stand(self, state: TeamState) -> None:
        """Put robots whose pose was changed from outside on the ground, at rest, and write their altitude and tilt.

        `step` calls it. Call it before the first step if you need the altitudes.

        Raises:
            InvalidValueError: a robot is not on the ground.
        """
        moved = np.flatnonzero((state.pose != self._pose).any(axis=1))
        if not len(moved):
            return
        west, east, south, north = self._edge
        for i in moved.tolist():
            x, y, heading = state.pose[i].tolist()
            if not (west <= x <= east and south <= y <= north):
                raise InvalidValueError(
                    f"robot {i} stands at ({x:g}, {y:g}) m, but the ground reaches from ({west:g}, {south:g}) to "
                    f"({east:g}, {north:g}) m; let it start there"
                )
            p = self._bodies.position[i]
            if p >= 0:
                points = self._bodies.points[i, : self._bodies.point_count[i]]
                self._data.qpos[p : p + 7] = stand(self._altitude, self._frame, points, x, y, heading)
                self._data.qvel[self._parts(i)[self._engine.dof_bodyid]] = 0.0
        self._read(state, self._data.qpos[None].copy(), np.zeros((1, len(self._model), 3)), 0.0)

    def step(
        self,
        state: TeamState,
        commands: np.ndarray,
        substeps: int,
        trace: np.ndarray | None = None,
        wanted: np.ndarray | None = None,
    ) -> Contacts:
        """Advance ``state`` in place; see `covey.physics.protocol.Physics.step`.

        Under torque control the first two columns of a command are the torques of the left and right side [N m].

        Raises:
            InvalidValueError: a command is not finite, or a robot is not on the ground.
            CoveyError: the engine's solution is not finite.
        """
        if not np.isfinite(commands).all():
            i = int(np.flatnonzero(~np.isfinite(commands).all(axis=1))[0])
            raise InvalidValueError(f"command of robot {i} is {commands[i].tolist()}; it must be three finite numbers")
        self.stand(state)
        self._keep_up(state)
        self._vanish(state.vanished)
        self._hold(state.halted)
        model, bodies, data, n = self._model, self._bodies, self._data, len(self._model)
        drives, controls = np.empty((substeps, n, 3)), np.empty((substeps, len(bodies.motor)))
        team = model.kinematics, model.limits, self._delay, bodies.control
        motors, dt = (bodies.robots, bodies.figures), self._substep_s
        steer(team, motors, self._past, self._clock, dt, commands, state.halted, state.drive, drives, controls)
        self._clock += substeps
        near, q = self._anything_near(state, substeps), np.empty((substeps, self._engine.nq))
        advance, share, torque = mujoco().mj_step, dt / _INTEGRAL_S, np.empty(len(bodies.motor))
        for k in range(substeps):
            regulate(self._motors, controls[k], state.halted, data.qvel[bodies.turns], self._integral, share, torque)
            data.ctrl[bodies.motor] = torque
            advance(self._engine, data, self._per_substep)
            q[k] = data.qpos
            if near:
                self._touching.update(data.contact, bodies.owner, data.qpos, bodies.position, k)
        if not np.isfinite(q[-1]).all():
            raise CoveyError("the physics engine found no finite solution; check the masses and sizes of the chassis")
        if wanted is None:
            wanted = np.full(substeps, trace is not None, np.uint8)
        self._read(state, q, drives, dt, wanted, trace)
        by_torque = bodies.control == TORQUE
        state.drive[by_torque] = state.twist[by_torque]
        if not near:
            self._touching.forget()
        contacts = self._touching.begun()
        state.contact_bearing[:] = np.nan
        state.contact_bearing[contacts.felt[:, 1].astype(np.int64)] = contacts.felt[:, 2]
        tilt, halted = state.altitude_roll_pitch, state.halted
        self.incidents = self._watch.detect(state.pose, tilt, commands, halted, substeps * dt)
        return contacts

    def _read(self, state: TeamState, q: Any, drives: Any, dt: float, wanted: Any = None, trace: Any = None) -> None:
        """Update the state after some substeps; with ``dt`` 0, distances stay."""
        bodies, distance = self._bodies, state.distance_m if dt else state.distance_m.copy()
        wanted = np.zeros(len(q), np.uint8) if wanted is None else wanted
        read(
            (bodies.position, bodies.velocity, bodies.height_m),
            q,
            self._data.qvel.copy(),
            (self._altitude, self._frame, self._edge),
            drives,
            dt,
            state.pose,
            state.twist,
            state.altitude_roll_pitch,
            distance,
            wanted,
            _NO_TRACE if trace is None else trace,
        )
        self._pose[:] = state.pose

    def _anything_near(self, state: TeamState, substeps: int) -> bool:
        speed = np.hypot(state.twist[:, 0], state.twist[:, 1])
        reach = _NEAR_M + 2.0 * substeps * self._substep_s * float(np.maximum(speed, self._model.max_speed).max())
        flies, world = self._bodies.position < 0, self._world
        return anything_near(world.skip, world.grid.frame, self._edge, state.pose, self._model.radius, flies, reach)

    def _bind(self) -> None:
        """Find all indices in the arrays of a newly compiled engine."""
        self._bodies = bind(self._engine, self._model)
        bodies = self._bodies
        by_torque = bodies.control[bodies.robots] == TORQUE
        self._motors = bodies.robots, by_torque.astype(np.uint8), bodies.gain, bodies.most, bodies.top
        if self._world.ground is not None:
            set_altitudes(self._engine, self._world.ground)

    def _hold(self, halted: np.ndarray) -> None:
        """Let the engine hold the speeds of all wheels, except those under torque control."""
        bodies, (robots, by_torque, gain, _, _) = self._bodies, self._motors
        free = (by_torque > 0) & ~halted[robots]
        self._engine.actuator_biasprm[bodies.motor, 2] = np.where(free, 0.0, -gain)
        self._engine.dof_armature[bodies.turns] = np.where(free, bodies.rotors, bodies.held)

    def _vanish(self, vanished: np.ndarray) -> None:
        """Let robots that have vanished touch nothing, and stay where they are; until they are there again."""
        bodies, engine = self._bodies, self._engine
        gone = vanished & (bodies.position >= 0)
        for i in [i for i in self._untouched if not gone[i]]:
            mine = self._parts(i)
            parts = mine[engine.geom_bodyid]
            engine.geom_contype[parts], engine.geom_conaffinity[parts] = self._untouched.pop(i)
            self._data.xfrc_applied[mine, :3] = 0.0
        if (gone == self._gone).all():
            return
        self._gone = gone
        for i in np.flatnonzero(gone).tolist():
            mine = self._parts(i)
            parts = mine[engine.geom_bodyid]
            self._untouched.setdefault(i, (engine.geom_contype[parts], engine.geom_conaffinity[parts]))
            engine.geom_contype[parts] = engine.geom_conaffinity[parts] = 0
            self._data.xfrc_applied[mine, :3] = -engine.body_mass[mine, None] * engine.opt.gravity
            self._data.qvel[mine[engine.dof_bodyid]] = 0.0

    def _parts(self, i: int) -> np.ndarray:
        """Return which bodies of the engine are parts of robot i, bool."""
        return self._engine.body_rootid == self._bodies.body[i]

    def _keep_up(self, state: TeamState) -> None:
        """Update walls and ground of the engine if they have changed."""
        world, ground = self._world, self._world.ground
        versions = world.version, 0 if ground is None else ground.version
        if versions == self._versions:
            return
        if versions[0] != self._versions[0]:
            self._rebuild_walls()
        if ground is not None and versions[1] != self._versions[1]:
            self._move_ground(state, ground)
        self._versions = versions

    def _few_walls(self) -> None:
        """Let the engine check all walls one by one if that is faster than its bounding-volume tree."""
        few = len(self._spec.worldbody.geoms) <= _FEW_WALLS
        self._spec.option.disableflags = int(mujoco().mjtDisableBit.mjDSBL_MIDPHASE) if few else 0

    def _rebuild_walls(self) -> None:
        for geom in [g for g in self._spec.worldbody.geoms if g.name.startswith("wall ")]:
            self._spec.delete(geom)
        add_walls(self._spec, self._world)
        self._few_walls()
        self._engine, self._data = self._spec.recompile(self._engine, self._data)
        self._gone[:] = False
        self._bind()

    def _move_ground(self, state: TeamState, ground: Heightfield) -> None:
        """Copy the changed altitudes to the engine, and move the bodies that stand on them."""
        changed = self._altitude != ground.altitude
        rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
        if not len(rows):
            return
        window = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
        set_altitudes(self._engine, ground, *window)
        bodies, q = self._bodies, self._data.qpos
        points = bodies.points, bodies.point_count
        moved = follow(self._altitude, ground.altitude, self._frame, *points, bodies.position, q)
        state.altitude_roll_pitch[:, 0] += moved
        self._watch.ground_moved(moved)
        self._altitude[window] = ground.altitude[window]
