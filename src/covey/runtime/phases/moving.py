"""Moving: act, score and observe of a step in which a team only moves, in one call of a kernel.

A law of the lab often drives robots without sensors, and nothing is measured but where they are. Each of the phases
then calls one kernel: for the motion, the covered cells, the estimates, a row of the tables. Here one kernel calls
these four. If something touches, it only moves the team, and the phases go on from there.
"""

from typing import TYPE_CHECKING

import numpy as np

from covey.bound import Bound
from covey.kernel import kernel
from covey.physics.planar.crowd import advance
from covey.physics.planar.physics import NO_CONTACTS, PlanarPhysics
from covey.physics.protocol import Contacts
from covey.results.recorder import COVERED, SEPARATION, keep
from covey.runtime.phases.observing import measured
from covey.world.visibility.covered import cover_path

if TYPE_CHECKING:
    from covey.runtime.simulation import Simulation


def only_moves(sim: "Simulation") -> bool:
    """Return whether nothing is measured in a simulation but motion, and the cells that bodies cover."""
    place, scoring = sim.world_state, sim.scoring
    measures = sim.sensing.banks or scoring.search or sim.computing.machines or sim.recording
    return (
        type(sim.physics) is PlanarPhysics  # a subclass may move a team otherwise
        and not measures
        and scoring.measuring == [scoring.coverage]
        and not sim.reporting.is_by_radio
        and place.border != "open"
        and sim.stop.covered is sim.stop.explored is None
    )


class Moving:
    """Moves a team, and writes the rows of the tables.

    Args:
        sim: a simulation that `only_moves`.

    Attributes:
        is_stale: whether walls or bodies may have changed since the last call.
    """

    def __init__(self, sim: "Simulation"):
        assert isinstance(sim.physics, PlanarPhysics)
        self._physics, self._recorder, self._clock = sim.physics, sim.recorder, sim.clock
        coverage, see, count = sim.scoring.coverage, sim.observing, sim.clock.substeps_per_step
        self._moved = sim.state, sim.commands, sim.trace, sim.scoring.wanted(count)
        self._numbers = count, coverage.stride
        arrays = (
            self._physics.arrays(*self._moved),
            sim.pose_before,
            see.followed,
            coverage.cells.arrays,
            (coverage.cells.count, np.array([coverage.cells.total])),
            see.shown,
            self._recorder.blocks,
        )
        self._move = Bound(move, arrays, (0, 0.0, 0, 0, 0, 0.0, 0, True))
        self.is_stale = True

    def step(self) -> Contacts:
        """Move the team; if nothing touches, write the row of this step, too."""
        physics, clock, (substeps, stride) = self._physics, self._clock, self._numbers
        if self.is_stale:
            self._move.put(*physics.present(*self._moved))
        self.is_stale = physics.touches
        clock.advance(substeps)
        row = self._recorder.row(clock.step)
        answer = self._move(*physics.numbers(substeps), stride, clock.step, clock.time_s, *row)
        contacts = physics.moved(answer, self._moved[1], substeps)
        if contacts is NO_CONTACTS:
            self._recorder.turn(clock.step, clock.time_s)
        else:
            self.is_stale = True
        return contacts


@kernel
def move(motion, before, followed, cells, share, shown, blocks, now, dt, substeps, stride, step, time_s, i, is_placed):
    """Move a team, see `advance`; if nothing touches, do the rest of a step. Return what `advance` returns.

    Args:
        motion: the arrays of `advance`.
        before: gets the poses at the beginning of the step, float64 (n, 3).
        followed: the arrays of `measured`. cells: those of `cover`, from the frame on.
        share: int64 (1,) each, the number of covered cells, and of cells to cover.
        shown: the arrays of `keep` that are recorded.
        blocks: those in which it records them, and the rows of the team, see `Recorder`.
        now, dt, substeps: the numbers of `advance`.
        stride: number of substeps for which the path of a body is straight.
        step, time_s: number of this step, and the time at its end [s].
        i, is_placed: see `keep`.
    """
    pose, discs, trace = motion[12], motion[10], motion[6]
    for k in range(len(pose)):
        before[k, 0], before[k, 1], before[k, 2] = pose[k, 0], pose[k, 1], pose[k, 2]
    answer = advance(*motion, now, dt, substeps)
    if answer[0] >= 0 or answer[1] is not None:
        return answer
    cover_path(before, pose, trace, discs, share[0], cells, stride, step)
    nearest = measured(*followed, time_s)
    keep(*shown, *blocks[:3], i, is_placed)
    team = blocks[3]
    team[i, 0], team[i, 1], team[i, COVERED], team[i, SEPARATION] = step, time_s, share[0][0] / share[1][0], nearest
    return answer
