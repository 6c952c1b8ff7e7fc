"""Particles in bins of a histogram: resampling with an adaptive number of particles, and clusters."""

import math

import numpy as np

from covey.kernel import kernel
from covey.random import uniform2

BIN_M, BINS_OF_TURN = 0.5, 36
"""Bins of 0.5 m and 10 degrees, as in AMCL."""
_DRAWS = 1 << 33  # elements of the random stream from here on are for resampling


@kernel
def particles_needed(bins, error, quantile):
    """Return how many particles keep the distance to the true distribution below ``error``, for occupied bins.

    References:
        D. Fox: Adapting the sample size in particle filters through KLD-sampling. IJRR 22, 2003, equation 7.
    """
    if bins < 2:
        return 1
    a = 2.0 / (9.0 * (bins - 1))
    return math.ceil((bins - 1) / (2.0 * error) * (1.0 - a + math.sqrt(a) * quantile) ** 3)


@kernel
def resample(particles, weights, candidates, chances, shares, key, sample, error, quantile, least, out, out_weights):
    """Draw particles by weight until there are enough for the bins that they occupy; return their number.

    Args:
        particles, weights: poses (n, 3) and their weights (n,), of sum 1.
        candidates, chances: poses (m, 3) and their weights (m,), of sum 1, for the share that is drawn anew.
        shares: of the candidates among the draws, and in the weight of all; both 0 if there are none.
        key, sample: counter of the random stream.
        error, quantile: see `particles_needed`.
        least: least number of particles.
        out, out_weights: (most, 3) and (most,), are filled from the first row on; the weights have no fixed sum.
    """
    of_draws, of_weight = shares
    of_particles, of_candidates = np.cumsum(weights), np.cumsum(chances)
    slots = 1
    while slots < 2 * out.shape[0]:
        slots *= 2
    table = np.full(slots, np.int64(-1))
    bins = 0
    for i in range(out.shape[0]):
        u, v = uniform2(key, sample, _DRAWS + i)
        if v < of_draws:
            out[i], out_weights[i] = candidates[_at(of_candidates, u)], of_weight / of_draws
        else:
            out[i], out_weights[i] = particles[_at(of_particles, u)], (1.0 - of_weight) / (1.0 - of_draws)
        slot = _slot(table, _bin_of(out[i, 0], out[i, 1], out[i, 2]))
        if table[slot] < 0:
            table[slot] = _bin_of(out[i, 0], out[i, 1], out[i, 2])
            bins += 1
        if i + 1 >= max(least, particles_needed(bins, error, quantile)):
            return i + 1
    return out.shape[0]


@kernel
def _at(cumulative, u):
    """Return the index that a number in (0, 1) selects."""
    return min(np.searchsorted(cumulative, u * cumulative[-1]), cumulative.size - 1)


@kernel
def _bin_of(x, y, heading):
    """Return the number of the bin of a pose; those of neighbours differ by 1 (heading), 2^6 (y) and 2^34 (x)."""
    turn = math.floor(heading * BINS_OF_TURN / (2.0 * math.pi)) % BINS_OF_TURN
    row, column = math.floor(y / BIN_M) + (1 << 26), math.floor(x / BIN_M) + (1 << 26)
    return (np.int64(column) << 34) | (np.int64(row) << 6) | np.int64(turn)


@kernel
def _slot(table, number):
    """Return where a bin is in a hash table, or the empty slot (-1) where it belongs."""
    mask = table.size - 1
    slot = ((number ^ (number >> 31)) * np.int64(2654435761) >> 7) & mask
    while table[slot] >= 0 and table[slot] != number:
        slot = (slot + 1) & mask
    return slot


@kernel
def clusters(particles, label):
    """Number the clusters of particles; return how many there are.

    Two particles are in one cluster if a chain of occupied bins, each beside the one before it (26 neighbours), joins
    theirs.

    Args:
        particles: poses (n, 3).
        label: int64 (n,), is filled with the number of each particle's cluster.
    """
    slots = 1
    while slots < 2 * particles.shape[0]:
        slots *= 2
    table, found = np.full(slots, np.int64(-1)), np.full(slots, np.int64(-1))
    for i in range(particles.shape[0]):
        number = _bin_of(particles[i, 0], particles[i, 1], particles[i, 2])
        label[i] = _slot(table, number)
        table[label[i]] = number
    stack, count = np.empty(slots, np.int64), 0
    for i in range(particles.shape[0]):
        if found[label[i]] >= 0:
            continue
        stack[0], size = label[i], 1
        found[label[i]] = count
        while size:
            size -= 1
            number = table[stack[size]]
            turn, place = number & 63, number & ~np.int64(63)
            for dx in range(-1, 2):
                for dy in range(-1, 2):
                    for dt in range(-1, 2):
                        beside = place + (np.int64(dx) << 34) + (np.int64(dy) << 6) + (turn + dt) % BINS_OF_TURN
                        slot = _slot(table, beside)
                        if table[slot] >= 0 and found[slot] < 0:
                            found[slot] = count
                            stack[size], size = slot, size + 1
        count += 1
    for i in range(particles.shape[0]):
        label[i] = found[label[i]]
    return count


@kernel
def moments(particles, weights, label, best, covariance):
    """Return the mean pose of a cluster; fill the covariance of all particles about it.

    Args:
        particles, weights: poses (n, 3) and weights (n,), of sum 1.
        label: numbers of their clusters, int64 (n,).
        best: the cluster.
        covariance: (3, 3), is filled.
    """
    total, x, y, c, s = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(weights.size):
        if label[i] == best:
            w = weights[i]
            total, x, y = total + w, x + w * particles[i, 0], y + w * particles[i, 1]
            c, s = c + w * math.cos(particles[i, 2]), s + w * math.sin(particles[i, 2])
    x, y, heading = x / total, y / total, math.atan2(s, c)
    off = np.empty(3)
    covariance[:] = 0.0
    for i in range(weights.size):
        off[0], off[1] = particles[i, 0] - x, particles[i, 1] - y
        off[2] = (particles[i, 2] - heading + math.pi) % (2.0 * math.pi) - math.pi
        for j in range(3):
            for k in range(3):
                covariance[j, k] += weights[i] * off[j] * off[k]
    return x, y, heading
