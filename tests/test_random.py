"""The random streams: published vectors, agreement with the NumPy reference, and moments."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import special

from covey import random


def test_philox_gives_the_published_words():
    # Known-answer vectors of Random123 (kat_vectors, philox4x32 10): counter, key -> output.
    zero = random.philox(np.uint64(0), np.uint64(0), np.uint64(0))
    assert [f"{int(w):08x}" for w in zero] == ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"]
    ones = np.uint64(0xFFFFFFFFFFFFFFFF)
    words = [f"{int(w):08x}" for w in random.philox(ones, ones, ones)]
    assert words == ["408f276d", "41c83b0e", "a20bc7c6", "6d5451fd"]


@pytest.mark.parametrize("name", ["uniform2", "normal2", "normal4"])
def test_kernel_agrees_with_numpy(name):
    compiled, reference = getattr(random, name), getattr(random, f"{name}_numpy")
    key = random.stream_key(7, "some stream")
    expected = reference(key, np.arange(50)[:, None], np.arange(20)[None, :])
    got = np.array([[compiled(key, s, e) for e in range(20)] for s in range(50)])
    np.testing.assert_allclose(got, np.stack(expected, axis=-1), rtol=0, atol=1e-12)


def test_the_normal_quantile_is_that_of_scipy_also_far_out():
    u = np.concatenate((np.logspace(-15, -0.31, 400), 1 - np.logspace(-15, -0.31, 400), np.linspace(0.01, 0.99, 401)))
    got = [random.normal_quantile(p) for p in u]
    np.testing.assert_allclose(got, special.ndtri(u), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("count", [0, 1, 3, 360])
def test_an_array_is_filled_with_the_numbers_of_the_elements(count):
    filled = np.empty(count)
    random.fill_normals(np.uint64(7), 3, filled)
    elements = np.arange((count + 3) // 4)
    expected = np.stack(random.normal4_numpy(np.uint64(7), 3, elements), axis=-1).ravel()[:count]
    np.testing.assert_allclose(filled, expected, rtol=1e-13)


def test_normal_has_the_moments_of_a_normal():
    z = np.concatenate(random.normal2_numpy(random.stream_key(3, "moments"), np.arange(100_000), 0))
    # Standard errors of the mean, variance and kurtosis of n normal numbers: 1, sqrt(2), sqrt(24) over sqrt(n).
    n = z.size
    assert abs(z.mean()) < 5 / np.sqrt(n)
    assert abs(z.var() - 1) < 5 * np.sqrt(2 / n)
    assert abs(np.mean(z**4) - 3) < 5 * np.sqrt(96 / n)


def test_stream_key_is_the_same_in_another_process_with_another_hash_seed():
    code = "from covey.random import stream_key; print(int(stream_key(5, 'lidar/scout0')))"
    env = {"PYTHONHASHSEED": "123", "PATH": "/usr/bin"}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert int(out.stdout) == int(random.stream_key(5, "lidar/scout0"))
