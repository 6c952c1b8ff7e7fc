"""Choice of the robots that answer, so that not every neighbour sends the same tiles."""

import numpy as np

from covey.kernel import kernel


@kernel
def providers(heard, clocks, reach, clock):
    """Return what each robot sends to the robots whose questions it heard.

    For each origin, the robot that holds the newest version answers; ties go to the origin itself, then to the lowest
    index. A robot knows about the others only what their questions contain.

    Args:
        heard: int64 (n, n), row i: the question of robot j that robot i heard, -1 for none.
        clocks: int64 (q, n), per question, the newest publication of each robot that the asking one holds completely.
        reach: bool (q, n), per question, which robots the asking one hears.
        clock: int64 (n, n), the present ``clocks`` of each robot itself.

    Returns:
        since, int64 (n, n): row i: for each origin, robot i sends what came after this publication; its own clock if
        there is nothing to send. to, int64 (n,): the receiver: -2 none, -1 several.
    """
    n = clock.shape[0]
    since, to = clock.copy(), np.full(n, -2)
    for i in range(n):
        for j in range(n):
            q = heard[i, j]
            if q < 0 or i == j:
                continue
            any_told = False
            for o in range(n):
                if o == j or clock[i, o] <= clocks[q, o] or (o != i and reach[q, o]):
                    continue
                better = False
                if o != i:
                    for k in range(n):
                        r = heard[i, k]
                        if reach[q, k] and r >= 0 and k != i and k != j:
                            better |= clocks[r, o] > clock[i, o] or (clocks[r, o] == clock[i, o] and k < i)
                if not better:
                    since[i, o] = min(since[i, o], clocks[q, o])
                    any_told = True
            if any_told:
                to[i] = j if to[i] == -2 else -1
    return since, to


@kernel
def hold_newer(clocks, which, clock, receiver):
    """Return which messages come from robots that hold something newer than their receivers, bool (m,).

    Args:
        clocks, clock: see `providers`.
        which: int64 (m,), the row of ``clocks`` of each message. receiver: int64 (m,), its receiver.
    """
    newer = np.zeros(which.size, np.bool_)
    for k in range(which.size):
        for o in range(clock.shape[1]):
            newer[k] |= clocks[which[k], o] > clock[receiver[k], o]
    return newer
