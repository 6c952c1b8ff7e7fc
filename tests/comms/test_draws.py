"""Random numbers of many packets are those of the plain generator, one by one."""

import numpy as np

from covey.comms.draws import normals, uniforms
from covey.random import normal2_numpy, stream_key, uniform2_numpy


def test_each_number_belongs_to_its_stream_and_its_counters():
    key, rng = stream_key(3, "radio"), np.random.default_rng(0)
    sample, element = rng.integers(0, 2**40, (2, 500))
    np.testing.assert_allclose(
        uniforms(key, sample, element), np.stack(uniform2_numpy(key, sample, element), axis=-1), atol=1e-15
    )
    np.testing.assert_allclose(normals(key, sample, element), normal2_numpy(key, sample, element)[0], atol=1e-12)
    assert uniforms(key, sample[:0], element[:0]).shape == (0, 2)
