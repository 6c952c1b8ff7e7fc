"""A run on a landscape as a moving picture in perspective: the ground as it changes, the robots and their ways."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from matplotlib import font_manager
from PIL import Image, ImageDraw, ImageFont

from covey.results.figures.relief import tinted
from covey.results.figures.scene import Bodies, Camera, Dots, View
from covey.results.figures.style import INK, rgb, robot_color

_WAY_RADIUS = 1.2  # pixel


def film_frames(
    altitude_at: Callable[[int], np.ndarray], frame: np.ndarray, steps: np.ndarray, times: np.ndarray,
    poses: np.ndarray, size_m: tuple[float, float, float], *, camera: Camera | None = None, frames: int = 60,
    captions: Sequence[str] | None = None,
) -> Iterator[Image.Image]:  # fmt: skip
    """Yield images of at most ``frames`` instants, evenly spread from the start to the end.

    Args:
        altitude_at: the ground at the end of a step, float64 (rows, columns) [m].
        frame: float64 (3,): x, y of vertex [0, 0] and the spacing [m].
        steps: of the poses, (t,).
        times: of the poses [s], (t,).
        poses: float64 (t, n, 6): x, y, z of the middle of each robot [m], roll, pitch, yaw [rad].
        size_m: length, width and height of the robots [m].
        camera: from where; without it one that sees all ways.
        frames: how many at most.
        captions: what stands in the upper right corner, (t,).
    """
    if not len(poses):
        return
    n = poses.shape[1]
    camera = camera or overlooking(poses[..., :3].reshape(-1, 3), (640, 400))
    colors = [robot_color(i, n) for i in range(n)]
    font = ImageFont.truetype(font_manager.findfont("DejaVu Sans"), 15)
    view, drawn, palette, limits = View(camera, 2), None, None, None
    for k in np.unique(np.linspace(0, len(poses) - 1, frames).round().astype(int)).tolist():
        altitude = altitude_at(int(steps[k]))
        if drawn is None or not np.array_equal(altitude, drawn):
            view, drawn = View(camera, 2), altitude
            limits = limits or _limits(altitude)
            view.draw_ground(altitude, frame, tinted(altitude, limits))
        ways = ways_as_dots(poses[: k + 1, :, :3], colors)
        image = Image.fromarray(view.with_things([Bodies(poses[k], size_m, colors)], [ways]))
        draw = ImageDraw.Draw(image)
        draw.text((8, 5), f"{times[k]:7.1f} s", fill=INK, font=font)
        if captions is not None:
            draw.text((image.width - 8, 5), str(captions[k]), fill=INK, font=font, anchor="ra")
        palette = palette or _palette(image, colors)
        yield image.quantize(palette=palette, dither=Image.Dither.NONE)


def _limits(altitude: np.ndarray) -> tuple[float, float]:
    """Return the altitudes of the first and the last tint, a little beyond all: edits stay within them mostly."""
    low, high = float(altitude.min()), float(altitude.max())
    beyond = 0.1 * (high - low) + 0.5
    return low - beyond, high + beyond


def overlooking(points: np.ndarray, size: tuple[int, int]) -> Camera:
    """Return a camera that sees points [m], shape (m, 3), and something around them."""
    low, high = points.min(axis=0), points.max(axis=0)
    width = 1.5 * max(float(np.hypot(*(high - low)[:2])), 8.0)
    return Camera.over((low + high) / 2, width, elevation_deg=32.0, size=size)


def ways_as_dots(points: np.ndarray, colors: Sequence[str]) -> Dots:
    """Return the ways of robots as dots so close that they are lines; points: float64 (t, n, 3) [m]."""
    stride = max(1, len(points) // 1500)
    points = np.concatenate((points[::stride], points[-1:]))
    share = np.linspace(0, 1, 4, endpoint=False)[:, None, None]
    dense = points[:-1, None] * (1 - share) + points[1:, None] * share if len(points) > 1 else points[None]
    dense = dense.reshape(-1, points.shape[1], 3)
    tones = np.stack([rgb(color) for color in colors])
    return Dots(dense.reshape(-1, 3), np.tile(tones, (len(dense), 1)), 0.0, _WAY_RADIUS)


def _palette(image: Image.Image, colors: Sequence[str]) -> Image.Image:
    """Return an image whose palette has the colours of another one, of the robots and of text.

    One entry stays free: for what does not change from image to image, so that a GIF need not hold it again.
    """
    own = np.array([rgb(c) for c in (INK, "#FFFFFF", *colors[:32])], np.uint8)
    free = 255 - len(own)
    scene = image.quantize(free, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).getpalette() or []
    shared = Image.new("P", (1, 1))
    shared.putpalette(scene[: 3 * free] + own.ravel().tolist())
    return shared
