"""Generated grounds: fractal hills, ridges, a plain with boulders, and a flat one."""

import math

import numpy as np

from covey.errors import InvalidValueError
from covey.random import generator
from covey.world.ground import Ground, Range, check_shape

__all__ = ["boulders", "flat", "hills", "ridges"]


def flat(
    *, size_m: tuple[float, float] = (100.0, 100.0), spacing_m: float = 1.0, altitude_m: float = 0.0,
    range_m: Range | None = None,
) -> Ground:  # fmt: skip
    """Return a flat ground, centred on the origin.

    Args:
        size_m: width and height from the first to the last vertex [m].
        spacing_m: distance between vertices [m].
        altitude_m: altitude of all vertices [m].
        range_m: lowest and highest altitude for edits [m]; see `Ground.of`.
    """
    return Ground.of(np.full(_shape(size_m, spacing_m), altitude_m), spacing_m, range_m=range_m, name="flat")


def hills(
    *, size_m: tuple[float, float] = (259.0, 259.0), spacing_m: float = 1.0, height_m: float = 8.0,
    roughness: float = 0.1, wavelength_m: float = 80.0, range_m: Range | None = None, seed: int = 0,
) -> Ground:  # fmt: skip
    """Return fractal hills, centred on the origin: Gaussian noise with a power-law spectrum.

    Args:
        size_m: width and height from the first to the last vertex [m].
        spacing_m: distance between vertices [m].
        height_m: height of the highest vertex above the lowest, which is at altitude 0 [m].
        roughness: 0 (smooth) to 1 (rugged): the fractal dimension of the surface less 2.
        wavelength_m: length of the longest waves [m]: about the distance from one hill to the next.
        range_m: lowest and highest altitude for edits [m]; see `Ground.of`.
        seed: the same seed gives the same hills.

    References:
        D. Saupe: Algorithms for random fractals. In: H.-O. Peitgen, D. Saupe (ed.): The Science of Fractal Images,
        1988, section 2.4 (spectral synthesis; the spectral density falls as frequency^-(2 H + 2), H = 1 - roughness).
    """
    shape = _shape(size_m, spacing_m)
    _check_height(height_m)
    noise = _fractal(shape, spacing_m, roughness, wavelength_m, "hills", seed)
    return Ground.of(_scaled(noise, height_m), spacing_m, range_m=range_m, name="hills")


def ridges(
    *, size_m: tuple[float, float] = (259.0, 259.0), spacing_m: float = 1.0, height_m: float = 6.0,
    roughness: float = 0.1, wavelength_m: float = 100.0, range_m: Range | None = None, seed: int = 0,
) -> Ground:  # fmt: skip
    """Return ridges with sharp crests, wide valleys and passes, centred on the origin; arguments as in `hills`.

    References:
        D. S. Ebert, F. K. Musgrave, D. Peachey, K. Perlin, S. Worley: Texturing and Modeling, 3rd ed. 2003, chapter 16
        (ridges are where folded noise, (1 - absolute noise)^k, is largest).
    """
    shape = _shape(size_m, spacing_m)
    _check_height(height_m)
    noise = _fractal(shape, spacing_m, roughness, wavelength_m, "ridges", seed)
    crest = (1.0 - np.abs(noise) / np.abs(noise).max()) ** 6
    other = _fractal(shape, spacing_m, roughness, wavelength_m, "ridges/passes", seed)
    # The height varies along the crests: without passes they would enclose valleys.
    high = 1.0 / (1.0 + np.exp(-3.0 * other / other.std()))
    return Ground.of(_scaled(crest * high, height_m), spacing_m, range_m=range_m, name="ridges")


def boulders(
    *, size_m: tuple[float, float] = (100.0, 100.0), spacing_m: float = 0.5, height_m: float = 1.0,
    density: float = 0.05, boulder_m: tuple[float, float] = (1.0, 4.0), range_m: Range | None = None, seed: int = 0,
) -> Ground:  # fmt: skip
    """Return a gently rolling plain with boulders, centred on the origin.

    Boulders are halves of ellipsoids, half as high as wide, added until they cover a share of the plain. Their random
    widths are such that equal intervals of the width cover equal shares of the area.

    Args:
        size_m: width and height from the first to the last vertex [m].
        spacing_m: distance between vertices [m]; narrower boulders may appear in one vertex or none.
        height_m: height of the plain's highest point above its lowest [m].
        density: share of the plain that boulders cover.
        boulder_m: smallest and largest width of a boulder [m].
        range_m: lowest and highest altitude for edits [m]; see `Ground.of`.
        seed: the same seed gives the same plain.
    """
    shape = _shape(size_m, spacing_m)
    _check_height(height_m)
    if not 0 <= density < 1:
        raise InvalidValueError(f"density is {density!r}; it is a share, from 0 to less than 1")
    if not 0 < boulder_m[0] <= boulder_m[1] < math.inf or boulder_m[1] > min(size_m):
        raise InvalidValueError(
            f"boulder_m is {list(boulder_m)}; it must be the least and the largest width in metres, and fit size_m, "
            f"{list(size_m)}"
        )
    plain = _scaled(_fractal(shape, spacing_m, 0.1, 0.5 * min(size_m), "boulders", seed), height_m)
    altitude = plain.copy()
    draw = generator(seed, "ground/boulders/thrown")
    uncovered = density * size_m[0] * size_m[1]
    while uncovered > 0:
        x, y = (float(draw.uniform(0, side)) for side in size_m)
        # The area of boulders between two widths is proportional to the interval: their number is as 1 / width^2.
        share, (least, most) = float(draw.uniform()), boulder_m
        radius = 0.5 / (1.0 / least + share * (1.0 / most - 1.0 / least))
        _heap(altitude, plain, spacing_m, x, y, radius)
        uncovered -= math.pi * radius * radius
    return Ground.of(altitude, spacing_m, range_m=range_m, name="boulders")


def _heap(altitude: np.ndarray, plain: np.ndarray, spacing_m: float, x: float, y: float, radius: float) -> None:
    """Raise the altitudes to a boulder centred at x, y [m] from vertex [0, 0]."""
    low = [max(math.ceil((p - radius) / spacing_m), 0) for p in (y, x)]
    high = [min(math.floor((p + radius) / spacing_m), n - 1) for p, n in zip((y, x), plain.shape, strict=True)]
    if low[0] > high[0] or low[1] > high[1]:
        return
    at = slice(low[0], high[0] + 1), slice(low[1], high[1] + 1)
    dy = np.arange(low[0], high[0] + 1)[:, None] * spacing_m - y
    dx = np.arange(low[1], high[1] + 1) * spacing_m - x
    share = np.maximum(1.0 - (dx * dx + dy * dy) / (radius * radius), 0.0)
    altitude[at] = np.maximum(altitude[at], plain[at] + radius * np.sqrt(share))


def _fractal(
    shape: tuple[int, int], spacing_m: float, roughness: float, wavelength_m: float, name: str, seed: int
) -> np.ndarray:
    """Return Gaussian noise (rows, columns) with a spectrum that is flat up to 1 / wavelength, then a power law."""
    if not 0 <= roughness <= 1:
        raise InvalidValueError(f"roughness is {roughness!r}; it must be from 0 (smooth) to 1 (rugged)")
    if not (math.isfinite(wavelength_m) and wavelength_m > 0):
        raise InvalidValueError(f"wavelength_m is {wavelength_m!r}; it must be a positive number of metres")
    rows, columns = shape
    noise = np.fft.rfft2(generator(seed, f"ground/{name}").standard_normal(shape))
    frequency = np.hypot(np.fft.fftfreq(rows, spacing_m)[:, None], np.fft.rfftfreq(columns, spacing_m)[None])
    power = -(2.0 * (1.0 - roughness) + 2.0)
    amplitude = np.maximum(frequency * wavelength_m, 1.0) ** (power / 2)
    amplitude[0, 0] = 0.0
    return np.fft.irfft2(noise * amplitude, shape)


def _scaled(values: np.ndarray, height_m: float) -> np.ndarray:
    """Return the values shifted and scaled to altitudes from 0 to ``height_m``."""
    values = values - values.min()
    return values * (height_m / values.max())


def _shape(size_m: tuple[float, float], spacing_m: float) -> tuple[int, int]:
    if not (math.isfinite(spacing_m) and spacing_m > 0):
        raise InvalidValueError(f"spacing_m is {spacing_m!r}; it must be a positive number of metres")
    if not all(math.isfinite(side) and side > 0 for side in size_m):
        raise InvalidValueError(f"size_m is {list(size_m)}; it must be a width and a height in metres")
    columns, rows = (1 + round(side / spacing_m) for side in size_m)
    check_shape(rows, columns, "the ground")
    return rows, columns


def _check_height(height_m: float) -> None:
    if not (math.isfinite(height_m) and height_m > 0):
        raise InvalidValueError(f"height_m is {height_m!r}; it must be a positive number of metres")
