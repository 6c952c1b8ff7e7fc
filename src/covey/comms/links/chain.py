"""A chain of two states as a pure function of time, independent of earlier calls. Compiled at first use."""

import numpy as np

from covey.kernel import kernel
from covey.random import uniform2

_FAR = 1_000_000


@kernel
def bad_states(key, link, slot, to_bad, to_good):
    """Return which links are bad in a slot, bool (m,).

    The number U drawn for a slot determines the transition of both states: below min(to_bad, 1 - to_good) a link is bad
    afterwards in any case; at or above max(to_bad, 1 - to_good) it is good; in between a good and a bad link keep their
    state (or swap, if to_bad + to_good > 1). So the state follows from the last slot whose U decides, which is few
    slots ago, and no state is stored (coupling from the past; J. Propp, D. Wilson 1996).

    Args:
        key: key of the random stream, uint64.
        link: index of the link, int64 (m,).
        slot: number of the slot, int64 (m,).
        to_bad, to_good: transition probabilities; to_good > 0.
    """
    bad = np.empty(link.shape[0], np.bool_)
    low, high = min(to_bad, 1.0 - to_good), max(to_bad, 1.0 - to_good)
    for i in range(link.shape[0]):
        flips, state, k = 0, False, slot[i]
        for back in range(_FAR):
            u = uniform2(key, np.uint64(k - back + _FAR), np.uint64(link[i]))[0]
            if u < low:
                state = True
                break
            if u >= high:
                break
            flips += 1
        swaps = to_bad + to_good > 1.0
        bad[i] = state != (swaps and flips % 2 == 1)
    return bad
