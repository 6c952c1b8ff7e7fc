"""Counter-based random streams: noise is a pure function of (seed, stream name, sample, element).

Reading or not reading, batching, another process, or another sensor on another robot change no number.

References:
    J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw: Parallel random numbers: as easy as 1, 2, 3. SC 2011
    (Philox 4x32-10). G. E. P. Box, M. E. Muller: A note on the generation of random normal deviates. 1958.
"""

import hashlib
import math

import numpy as np

from covey.kernel import kernel

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_MASK, _32 = np.uint64(0xFFFFFFFF), np.uint64(32)
_TO_UNIT = 2.0**-32


def stream_key(seed: int, name: str) -> np.uint64:
    """Return the 64-bit key of the stream ``name`` under ``seed``, the same in every process.

    Examples:
        >>> stream_key(1, "lidar/scout0") == stream_key(1, "lidar/scout0")
        np.True_
        >>> stream_key(1, "lidar/scout0") == stream_key(1, "lidar/scout1")
        np.False_
    """
    digest = hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))


def generator(seed: int, name: str) -> np.random.Generator:
    """Return a NumPy generator on the stream ``name``, for draws at set-up time (worlds, start poses)."""
    return np.random.Generator(np.random.Philox(key=int(stream_key(seed, name))))


@kernel
def philox(key, sample, element):
    """Return four random 32-bit words (as uint64) for a 64-bit key and the counter (sample, element), both uint64."""
    k0, k1 = key & _MASK, key >> _32
    c0, c1, c2, c3 = sample & _MASK, sample >> _32, element & _MASK, element >> _32
    for _ in range(10):
        p0, p1 = _M0 * c0, _M1 * c2
        c0, c1, c2, c3 = (p1 >> _32) ^ c1 ^ k0, p1 & _MASK, (p0 >> _32) ^ c3 ^ k1, p0 & _MASK
        k0, k1 = (k0 + _W0) & _MASK, (k1 + _W1) & _MASK
    return c0, c1, c2, c3


@kernel
def uniform2(key, sample, element):
    """Return two independent uniform numbers in the open interval (0, 1)."""
    a, b, _, _ = philox(np.uint64(key), np.uint64(sample), np.uint64(element))
    return (a + 0.5) * _TO_UNIT, (b + 0.5) * _TO_UNIT


@kernel
def normal2(key, sample, element):
    """Return two independent standard normal numbers (Box-Muller)."""
    u, v = uniform2(key, sample, element)
    radius, angle = math.sqrt(-2.0 * math.log(u)), 2.0 * math.pi * v
    return radius * math.cos(angle), radius * math.sin(angle)


def uniform2_numpy(key, sample, element) -> tuple[np.ndarray, np.ndarray]:
    """NumPy reference of `uniform2`; the arguments broadcast."""
    key, sample, element = np.broadcast_arrays(*(np.asarray(a, np.uint64) for a in (key, sample, element)))
    k0, k1 = key & _MASK, key >> _32
    c0, c1, c2, c3 = sample & _MASK, sample >> _32, element & _MASK, element >> _32
    for _ in range(10):
        p0, p1 = _M0 * c0, _M1 * c2
        c0, c1, c2, c3 = (p1 >> _32) ^ c1 ^ k0, p1 & _MASK, (p0 >> _32) ^ c3 ^ k1, p0 & _MASK
        k0, k1 = (k0 + _W0) & _MASK, (k1 + _W1) & _MASK
    return (c0 + 0.5) * _TO_UNIT, (c1 + 0.5) * _TO_UNIT


def normal2_numpy(key, sample, element) -> tuple[np.ndarray, np.ndarray]:
    """NumPy reference of `normal2`; the arguments broadcast."""
    u, v = uniform2_numpy(key, sample, element)
    radius, angle = np.sqrt(-2.0 * np.log(u)), 2.0 * np.pi * v
    return radius * np.cos(angle), radius * np.sin(angle)
