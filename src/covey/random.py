"""Counter-based random streams: noise is a pure function of (seed, stream name, sample, element).

Reading or not reading, batching, another process, or another sensor on another robot change no number.

References:
    J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw: Parallel random numbers: as easy as 1, 2, 3. SC 2011
    (Philox 4x32-10).
"""

import hashlib
import math

import numpy as np

from covey.kernel import kernel
from covey.lazy import special

__all__ = ["generator", "normal2_numpy", "normal4_numpy", "stream_key", "uniform2_numpy"]

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_MASK, _32 = np.uint64(0xFFFFFFFF), np.uint64(32)
_TO_UNIT = 2.0**-32
_CENTRAL = 0.425


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
def normal_quantile(u):
    """Return the number that a standard normal variable stays below with probability ``u`` in (0, 1).

    Relative accuracy about 1e-16; it takes no transcendental function for 85 % of all ``u``.

    References:
        M. J. Wichura: Algorithm AS 241, the percentage points of the normal distribution. Applied Statistics 37, 1988.
    """
    return _central(u) if abs(u - 0.5) <= _CENTRAL else _outer(u)


@kernel(inline=True)
def _central(u):
    """Return `normal_quantile` for u within `_CENTRAL` of 1/2; it has no branch."""
    q = u - 0.5
    r = 0.180625 - q * q
    above = 6.7265770927008700853e4 + r * (3.3430575583588128105e4 + r * 2.5090809287301226727e3)
    above = 1.3731693765509461125e4 + r * (4.5921953931549871457e4 + r * above)
    above = 3.3871328727963666080e0 + r * (1.3314166789178437745e2 + r * (1.9715909503065514427e3 + r * above))
    below = 3.9307895800092710610e4 + r * (2.8729085735721942674e4 + r * 5.2264952788528545610e3)
    below = 5.3941960214247511077e3 + r * (2.1213794301586595867e4 + r * below)
    below = 1.0 + r * (4.2313330701600911252e1 + r * (6.8718700749205790830e2 + r * below))
    return q * above / below


@kernel
def _outer(u):
    """Return `normal_quantile` for the other u."""
    r = math.sqrt(-math.log(min(u, 1.0 - u)))
    if r <= 5.0:
        r -= 1.6
        above = 2.41780725177450611770e-1 + r * (2.27238449892691845833e-2 + r * 7.74545014278341407640e-4)
        above = 3.64784832476320460504e0 + r * (1.27045825245236838258e0 + r * above)
        above = 1.42343711074968357734e0 + r * (4.63033784615654529590e0 + r * (5.76949722146069140550e0 + r * above))
        below = 1.51986665636164571966e-2 + r * (5.47593808499534494600e-4 + r * 1.05075007164441684324e-9)
        below = 6.89767334985100004550e-1 + r * (1.48103976427480074590e-1 + r * below)
        below = 1.0 + r * (2.05319162663775882187e0 + r * (1.67638483018384940e0 + r * below))
    else:
        r -= 5.0
        above = 1.24266094738807843860e-3 + r * (2.71155556874348757815e-5 + r * 2.01033439929228813265e-7)
        above = 2.96560571828504891230e-1 + r * (2.65321895265761230930e-2 + r * above)
        above = 6.65790464350110377720e0 + r * (5.46378491116411436990e0 + r * (1.78482653991729133580e0 + r * above))
        below = 1.84631831751005468180e-5 + r * (1.42151175831644588870e-7 + r * 2.04426310338993978564e-15)
        below = 1.48753612908506148525e-2 + r * (7.86869131145613259100e-4 + r * below)
        below = 1.0 + r * (5.99832206555887937690e-1 + r * (1.36929880922735805310e-1 + r * below))
    return math.copysign(above / below, u - 0.5)


@kernel
def normal4(key, sample, element):
    """Return four independent standard normal numbers."""
    a, b, c, d = philox(np.uint64(key), np.uint64(sample), np.uint64(element))
    return (
        normal_quantile((a + 0.5) * _TO_UNIT),
        normal_quantile((b + 0.5) * _TO_UNIT),
        normal_quantile((c + 0.5) * _TO_UNIT),
        normal_quantile((d + 0.5) * _TO_UNIT),
    )


@kernel
def fill_normals(key, sample, out):
    """Fill an array, float64 (n,), with the numbers of `normal4` of the elements 0, 1, …, in a third of the time."""
    uniform = np.empty(out.size + 3)
    for first in range(0, out.size, 4):
        a, b, c, d = philox(np.uint64(key), np.uint64(sample), np.uint64(first >> 2))
        uniform[first], uniform[first + 1] = (a + 0.5) * _TO_UNIT, (b + 0.5) * _TO_UNIT
        uniform[first + 2], uniform[first + 3] = (c + 0.5) * _TO_UNIT, (d + 0.5) * _TO_UNIT
    outer, count = np.empty(out.size + 1, np.int64), 0
    for k in range(out.size):  # no loop has a branch that no processor foresees; this one is for the vector unit
        out[k] = _central(uniform[k])
    for k in range(out.size):
        outer[count] = k
        count += abs(uniform[k] - 0.5) > _CENTRAL
    for k in outer[:count]:
        out[k] = _outer(uniform[k])


@kernel
def normal2(key, sample, element):
    """Return two independent standard normal numbers, the first two of `normal4`."""
    u, v = uniform2(key, sample, element)
    return normal_quantile(u), normal_quantile(v)


def uniform2_numpy(key, sample, element) -> tuple[np.ndarray, np.ndarray]:
    """NumPy reference of `uniform2`; the arguments broadcast."""
    a, b, _, _ = _uniform4_numpy(key, sample, element)
    return a, b


def normal2_numpy(key, sample, element) -> tuple[np.ndarray, np.ndarray]:
    """NumPy reference of `normal2`; the arguments broadcast."""
    a, b, _, _ = normal4_numpy(key, sample, element)
    return a, b


def normal4_numpy(key, sample, element) -> tuple[np.ndarray, ...]:
    """NumPy reference of `normal4`, with the normal quantile of SciPy; the arguments broadcast."""
    return tuple(special.ndtri(u) for u in _uniform4_numpy(key, sample, element))


def _uniform4_numpy(key, sample, element) -> tuple[np.ndarray, ...]:
    key, sample, element = np.broadcast_arrays(*(np.asarray(a, np.uint64) for a in (key, sample, element)))
    k0, k1 = key & _MASK, key >> _32
    c0, c1, c2, c3 = sample & _MASK, sample >> _32, element & _MASK, element >> _32
    for _ in range(10):
        p0, p1 = _M0 * c0, _M1 * c2
        c0, c1, c2, c3 = (p1 >> _32) ^ c1 ^ k0, p1 & _MASK, (p0 >> _32) ^ c3 ^ k1, p0 & _MASK
        k0, k1 = (k0 + _W0) & _MASK, (k1 + _W1) & _MASK
    return tuple((c + 0.5) * _TO_UNIT for c in (c0, c1, c2, c3))
