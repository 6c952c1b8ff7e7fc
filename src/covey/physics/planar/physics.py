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

from covey.bound import Bound
from covey.errors import InvalidValueError
from covey.physics.planar.crowd import UNSEEN, advance
from covey.physics.planar.standing import stand
from covey.physics.protocol import Contacts, Incident
from covey.robots.team import TeamModel, TeamState

_NO_TRACE = np.empty((0, 2, 0, 3))
_NO_PARTNERS, _NONE = np.empty((0, 2), np.int64), np.empty(0, np.int64)
NO_CONTACTS = Contacts(_NONE, _NONE, _NONE, np.empty(0), np.empty(0), _NONE, np.empty((0, 3)))


class PlanarPhysics:
    """Planar physics of one team in one world.

    Args:
        world: the world; it may be edited, since each step reads its ``skip`` field and the ``frame`` of its ``grid``;
            its ``version`` then changes.
        model: the bodies and drives.
        substep_s: length of a substep [s].
        feels: whether `Contacts.felt` has all points of contact, for sensors that feel them; else the last of a robot.
    """

    def __init__(self, world: Any, model: TeamModel, substep_s: float = 0.01, feels: bool = True):
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
        self._cell, self._clear, self._version = np.full(n, UNSEEN), np.zeros(n), world.version
        self._feels = np.array([feels], np.uint8)
        self._state: TeamState | None = None
        self._advance: Any = None  # for this state
        self.incidents: Sequence[Incident] = ()

    def stand(self, state: TeamState) -> None:
        """Write altitude and tilt of robots whose pose was changed from outside."""
        stand(getattr(self._world, "ground", None), state.pose, state.altitude_roll_pitch)

    def begin_anew(self, robots: np.ndarray) -> None:
        """Forget all of some robots, bool (n,), that stand elsewhere from now on."""
        self._past[robots], self._wall_contact[robots], self._cell[robots] = 0.0, 0, UNSEEN
        if self.touches:
            left = self._partners[~robots[self._partners].any(axis=1)]
            self._partners = left if len(left) else _NO_PARTNERS

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
        if wanted is None:
            wanted = np.full(substeps, trace is not None, np.uint8)
        trace = _NO_TRACE if trace is None else trace
        if state is not self._state:
            self._state = state
            self._advance = Bound(advance, self.arrays(state, commands, trace, wanted), (0, self._substep_s, 1))
        self._advance.put(*self.present(state, commands, trace, wanted))
        contacts = self.moved(self._advance(*self.numbers(substeps)), commands, substeps)
        ground = getattr(self._world, "ground", None)
        if ground is not None:
            self.stand(state)
            for k in np.flatnonzero(wanted) if len(trace) else ():
                stand(ground, *trace[k])
        return contacts

    @property
    def touches(self) -> bool:
        """Whether robots touched each other at the end of the last step."""
        return self._partners is not _NO_PARTNERS

    # -- the parts of a step, for a kernel that calls `advance` ------------------------------------------------------

    def present(
        self, state: TeamState, commands: np.ndarray, trace: np.ndarray, wanted: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Return the first arguments of `advance`, which other arrays may take the place of in another step."""
        world = self._world
        return world.skip, world.grid.frame, state.disc_count(self._model), commands, self._partners, wanted, trace

    def arrays(
        self, state: TeamState, commands: np.ndarray, trace: np.ndarray, wanted: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Return the arguments of `advance` that are arrays."""
        model = self._model
        return (
            *self.present(state, commands, trace, wanted),
            *(model.kinematics, model.limits, self._delay, model.discs, self._past),
            *(state.pose, state.twist, state.drive, state.halted, state.world_id),
            *(state.distance_m, state.contact_bearing),
            *(self._wall_contact, self._order, self._goals, self._cell, self._clear, self._feels),
        )

    def numbers(self, substeps: int) -> tuple[int, float, int]:
        """Return the arguments of `advance` that are numbers; note whether the walls have changed."""
        if self._version != self._world.version:
            self._version = self._world.version
            self._cell[:] = UNSEEN
        return self._clock, self._substep_s, substeps

    def moved(self, answer: tuple[int, Any], commands: np.ndarray, substeps: int) -> Contacts:
        """Take the answer of `advance`, and return the contacts that begin.

        Raises:
            InvalidValueError: a command is not finite.
        """
        wrong, touched = answer
        if wrong >= 0:
            what = f"command of robot {wrong} is {commands[wrong].tolist()}"
            raise InvalidValueError(f"{what}; it must be three finite numbers")
        self._clock += substeps
        if touched is None:
            self._partners = _NO_PARTNERS
            return NO_CONTACTS
        events, felt, self._partners = touched
        kind, robot, other, substep = events[:, :4].T.astype(np.int64)
        return Contacts(kind, robot, other, events[:, 4].copy(), events[:, 5].copy(), substep, felt.copy())
