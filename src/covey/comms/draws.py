"""Random numbers for many packets at once; each depends only on its stream and its two counters."""

import numpy as np

from covey.kernel import kernel
from covey.random import normal2, uniform2


@kernel
def uniforms(key, sample, element):
    """Return two uniform numbers in (0, 1) for each pair of counters, float64 (m, 2); counters: int64 (m,)."""
    drawn = np.empty((sample.shape[0], 2))
    for i in range(sample.shape[0]):
        drawn[i, 0], drawn[i, 1] = uniform2(key, np.uint64(sample[i]), np.uint64(element[i]))
    return drawn


@kernel
def normals(key, sample, element):
    """Return a standard normal number for each pair of counters, float64 (m,); counters: int64 (m,)."""
    drawn = np.empty(sample.shape[0])
    for i in range(sample.shape[0]):
        drawn[i] = normal2(key, np.uint64(sample[i]), np.uint64(element[i]))[0]
    return drawn
