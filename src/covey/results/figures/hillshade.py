"""The relief of a landscape as colours: hill-shading, and a tint by altitude."""

import math

import numpy as np
from matplotlib.colors import LinearSegmentedColormap

from covey.results.figures.style import UNKNOWN_COLOR, rgb

SUN = np.array([math.cos(math.radians(135)), math.sin(math.radians(135)), 1.0]) / math.sqrt(2.0)
"""Unit vector to the light: from the north-west, 45 degrees above the horizon."""

ALTITUDES = LinearSegmentedColormap.from_list("altitude", ["#7C9A78", "#B9BE8B", "#DCCFA0", "#C9A67C", "#EFE9DF"])
"""Colours from the lowest to the highest: muted, so that robots and their paths stand out."""


def hill_shade(altitude: np.ndarray, spacing_m: float, exaggeration: float = 1.0) -> np.ndarray:
    """Return the light on the vertices, 0 to 1, float64 (rows, columns); NaN where unknown.

    Args:
        altitude: float64 (rows, columns) [m], NaN where unknown.
        spacing_m: distance between vertices [m].
        exaggeration: factor on the altitudes, to show a gentle relief.

    References:
        B. K. P. Horn: Hill shading and the reflectance map. Proceedings of the IEEE 69, 1981 (Lambert's law).
    """
    padded = np.pad(altitude, 1, mode="edge")
    slopes = []
    for axis in (1, 0):
        one, two = (np.roll(padded, k, axis)[1:-1, 1:-1] for k in (1, -1))  # the neighbours before and after
        before, behind = altitude - one, two - altitude
        both = np.where(np.isnan(before), behind, np.where(np.isnan(behind), before, 0.5 * (before + behind)))
        slopes.append(np.where(np.isnan(both), 0.0, both) * (exaggeration / spacing_m))
    dx, dy = slopes
    light = (SUN[2] - dx * SUN[0] - dy * SUN[1]) / np.sqrt(1 + dx * dx + dy * dy)
    return np.where(np.isnan(altitude), np.nan, np.clip(light, 0.0, 1.0))


def tinted(altitude: np.ndarray, limits: tuple[float, float] | None = None) -> np.ndarray:
    """Return colours by altitude, uint8 (rows, columns, 3); unknown vertices get the colour of unknown cells."""
    low, high = limits or (float(np.nanmin(altitude)), float(np.nanmax(altitude)))
    share = np.clip((altitude - low) / max(high - low, 1e-9), 0.0, 1.0)
    table = (ALTITUDES(np.linspace(0, 1, 256))[:, :3] * 255).round().astype(np.uint8)
    known = ~np.isnan(altitude)
    return np.where(known[..., None], table[(np.where(known, share, 0) * 255).astype(int)], rgb(UNKNOWN_COLOR))


def shaded(altitude: np.ndarray, spacing_m: float, limits: tuple[float, float] | None = None) -> np.ndarray:
    """Return a hill-shaded map, uint8 (rows, columns, 3); see `hill_shade` and `tinted`.

    Gentle landscapes are exaggerated until a tenth of their slopes is steeper than 1 in 2.
    """
    known = altitude[~np.isnan(altitude)]
    limits = limits or ((float(known.min()), float(known.max())) if known.size else (0.0, 1.0))
    rise = np.abs(np.diff(altitude, axis=1))
    rise = rise[~np.isnan(rise)]
    steep = float(np.quantile(rise, 0.9)) / spacing_m if rise.size else 0.0
    light = hill_shade(altitude, spacing_m, min(max(0.5 / steep, 1.0), 8.0) if steep > 0 else 1.0)
    color = tinted(altitude, limits) * np.where(np.isnan(light), 1.0, 0.45 + 0.75 * light)[..., None]
    return np.minimum(color, 255.0).round().astype(np.uint8)
