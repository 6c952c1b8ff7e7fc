"""Why the image of a map is read as it is: gray values between the thresholds, transparency, photos."""

import numpy as np

from covey.world.io.images import GrayImage
from covey.world.world import UNKNOWN

_SHARE = 0.02
"""A share of pixels below this is no matter."""
_PHOTO = 32
"""An image with more gray values than this is a photo, a scan or a smoothed drawing."""
_SAVED = 205
"""The gray value that map_saver writes for unknown cells."""


def of_map(
    given: GrayImage, image: GrayImage, kinds: np.ndarray, occupancy: np.ndarray, free: float, occupied: float
) -> str:
    """Return why pixels of a ROS map are unknown though nobody said so; empty: none are, or too few to matter.

    Args:
        given: the image of the file. image: the same with its alpha averaged.
        kinds: what each gray value means. occupancy: how occupied it is, 0 to 1.
        free, occupied: the thresholds of the map.
    """
    clear = 0.0 if given.alpha is None else float((given.alpha < 255).mean())
    if clear >= _SHARE:
        return _of_unknown(image, kinds, occupancy, free, occupied, False) + (
            f"{100.0 * clear:.0f} % of the pixels are transparent, and map_server averages alpha with the colours: "
            "transparent white is gray 191, transparent black a wall, and black that is not transparent gray 64. Save "
            "the image without transparency, on white"
        )
    return _of_unknown(image, kinds, occupancy, free, occupied, True)


def _of_unknown(
    image: GrayImage, kinds: np.ndarray, occupancy: np.ndarray, free: float, occupied: float, alone: bool
) -> str:
    counts = np.bincount(image.values.ravel(), minlength=len(kinds))
    gray = np.arange(len(kinds)) * (255.0 / image.white)
    counts[(kinds != UNKNOWN) | (np.rint(gray) == _SAVED)] = 0
    share = int(counts.sum()) / image.values.size
    if share < _SHARE:
        return ""
    among = np.flatnonzero(counts)
    low, most, high = gray[among[0]], gray[int(np.argmax(counts))], gray[among[-1]]
    values = f"of gray {low:.0f}," if high - low < 1.0 else f"of gray {low:.0f} to {high:.0f}, most often {most:.0f},"
    said = (
        f"{100.0 * share:.0f} % of the pixels, {values} are unknown: neither above occupied_thresh {occupied:g} "
        f"nor below free_thresh {free:g}"
    )
    if not alone:
        return f"{said}. "
    near = occupancy[among]
    if (near < 0.5).any():
        return f"{said}; to make them free, write free_thresh: {_above(float(near[near < 0.5].max())):.2f}"
    return f"{said}; to make them walls, write occupied_thresh: {_below(float(near.min())):.2f}"


def of_bare_image(image: GrayImage, wall_below: float | None) -> str:
    """Return what a bare image has that its reading may miss; empty: nothing."""
    if wall_below is not None:
        return ""
    counts = np.bincount(image.values.ravel(), minlength=image.white + 1)
    gray = np.flatnonzero(counts[1 : image.white]) + 1
    share = counts[gray].sum() / image.values.size
    if share < _SHARE:
        return ""
    dark = counts[np.arange(image.white + 1) * (255.0 / image.white) < 128].sum() / image.values.size
    photo = f"{len(gray)} gray values, as a photo or a scan" if len(gray) > _PHOTO else f"{len(gray)} gray values"
    return (
        f"only black pixels are walls, {100.0 * counts[0] / image.values.size:.1f} % of them, and there are {photo}; "
        f"with wall_below: 128 the darker half of the gray values are walls, {100.0 * dark:.1f} % of the pixels"
    )


def _above(occupancy: float) -> float:
    return float(np.floor(100.0 * occupancy) + 1.0) / 100.0


def _below(occupancy: float) -> float:
    return float(np.ceil(100.0 * occupancy) - 1.0) / 100.0
