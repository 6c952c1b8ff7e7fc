"""`LinkChanges`: the changes of links that viewers are told of, also in a run in which nothing is sent."""

import numpy as np

from covey.results.snapshot import Snapshot
from covey.runtime.simulation import Simulation
from covey.viewer.past import Link


class LinkChanges:
    """The changes of links of a run.

    A run records its links once something has been sent. Laws of groups send nothing, but may ask who hears whom: of
    their runs the links are looked up.

    Args:
        sim: the simulation.
    """

    def __init__(self, sim: Simulation):
        n = len(sim.names)
        self._told = np.zeros((n, n), np.bool_)
        self._looks = any(group.program is not None and group.program.scope != "robot" for group in sim.groups)

    def changes_of(self, sim: Simulation, snapshot: Snapshot, due: bool) -> list[Link]:
        """Return the changes that a step tells of: step, robot, other, 1 (up) or 0.

        Args:
            due: whether to look the links up, where they are not recorded.
        """
        if snapshot.radio is not None:
            changes = snapshot.radio.changes
            if self._looks:  # the first record tells of all links
                self._looks, now = False, np.zeros_like(self._told)
                now[changes[:, 0], changes[:, 1]] = True
                changes = self._changes(now)
            return [(snapshot.step, *map(int, row)) for row in changes]
        if not (self._looks and due) or sim.communication.network.used:
            return []
        speaks, now = sim.state.radio_alive & ~sim.state.halted, np.zeros_like(self._told)
        for name in sim.communication.network.names:
            now |= sim.communication.network.links(sim.world_state, sim.state.pose, speaks, name)
        return [(snapshot.step, *map(int, row)) for row in self._changes(np.triu(now | now.T))]

    def _changes(self, now: np.ndarray) -> np.ndarray:
        a, b = np.nonzero(now != self._told)
        self._told = now
        return np.column_stack((a, b, now[a, b]))
