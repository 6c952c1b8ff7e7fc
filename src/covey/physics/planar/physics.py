"""Physics in the plane: bodies of discs among walls of grid cells.

A commanded twist is saturated and delayed. The drive follows it, with its lag and limits of acceleration, and the body
moves along the exact arc of the drive's twist. Bodies move one after another, in the order of the team, while the
others stand still. A body that would overlap a wall or another body is pushed out along the normal. So it slides along
walls and stops at other bodies, but never pushes them away. In contact the wheels slip: the drive keeps its twist, and
`TeamState.twist` is the actual motion. A step that starts without overlap ends with at most 0.1 mm.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.physics.planar.crowd import advance
from covey.physics.planar.standing import stand
from covey.physics.protocol import Contacts, Incident
from covey.robots.team import TeamModel, TeamState

_NO_TRACE = np.empty((0, 2, 0, 3))
_NO_PARTNERS, _NONE = np.empty((0, 2), np.int64), np.empty(0, np.int64)
_NO_CONTACTS = Contacts(_NONE, _NONE, _NONE, np.empty(0), np.empty(0), _NONE, np.empty((0, 3)))


class PlanarPhysics:
    """Planar physics of one team in one world.

    Args:
        world: the world; it may be edited, since each step reads its ``skip`` field and the ``frame`` of its ``grid``.
        model: the bodies and drives.
        substep_s: length of a substep [s].
    """

    def __init__(self, world: Any, model: TeamModel, substep_s: float = 0.01):
        if not substep_s > 0.0:
            raise InvalidValueError(f"substep_s is {substep_s!r}; it must be a positive number of seconds")
        n = len(model.kinematics)
        self._world, self._model, self._substep_s = world, model, substep_s
        self._delay = np.rint(model.delay_s / substep_s).astype(np.int64)
        self._past = np.zeros((n, int(self._delay.max(initial=0)) + 1, 3))
        self._clock = 0
        self._wall_contact = np.zeros(n, np.uint8)
        self._partners = _NO_PARTNERS
        self._order = np.arange(n)
        self._goals = np.zeros((n, 3))
        self.incidents: Sequence[Incident] = ()

    def place(self, state: TeamState) -> None:
        """Write altitude and tilt of robots whose pose was changed from outside."""
        stand(getattr(self._world, "ground", None), state.pose, state.altitude_roll_pitch)

    def step(
        self,
        state: TeamState,
        commands: np.ndarray,
        substeps: int,
        trace: np.ndarray | None = None,
        wanted: np.ndarray | None = None,
    ) -> Contacts:
        """Advance ``state`` in place; see `Physics.step`.

        Raises:
            InvalidValueError: a command is not finite.
        """
        model, world = self._model, self._world
        wrong, touched = advance(
            world.skip,
            world.grid.frame,
            model.kinematics,
            model.limits,
            self._delay,
            model.discs,
            state.disc_count(model),
            self._past,
            self._clock,
            self._substep_s,
            substeps,
            commands,
            state.pose,
            state.twist,
            state.drive,
            state.halted,
            state.world_id,
            state.distance_m,
            state.contact_bearing,
            self._wall_contact,
            self._partners,
            self._order,
            self._goals,
            np.full(substeps, trace is not None, np.uint8) if wanted is None else wanted,
            _NO_TRACE if trace is None else trace,
        )
        if wrong >= 0:
            what = f"command of robot {wrong} is {commands[wrong].tolist()}"
            raise InvalidValueError(f"{what}; it must be three finite numbers")
        self._clock += substeps
        ground = getattr(world, "ground", None)
        if ground is not None:
            self.place(state)
        if trace is not None and ground is not None:
            for k in range(substeps) if wanted is None else np.flatnonzero(wanted):
                stand(ground, *trace[k])
        if touched is None:
            self._partners = _NO_PARTNERS
            return _NO_CONTACTS
        events, felt, self._partners = touched
        kind, robot, other, substep = events[:, :4].T.astype(np.int64)
        return Contacts(kind, robot, other, events[:, 4].copy(), events[:, 5].copy(), substep, felt.copy())
