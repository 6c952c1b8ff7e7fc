"""A film in perspective of a run on a landscape: the changing ground, the robots and their paths."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from matplotlib import font_manager
from PIL import Image, ImageDraw, ImageFont

from covey.results.figures.hillshade import tinted
from covey.results.figures.scene import Camera, Dots, GroundPicture, RobotShapes
from covey.results.figures.style import INK, LINK_COLOR, rgb, robot_color

_WAY_RADIUS = 1.2  # pixel
_AROUND_M = 2.5
"""Width of the ground shown around robots [m]."""
_SHOT, _SHOT_M = 2.0, 15.0
"""Width of a shot of a film: in widths of the team, and the minimum in metres."""


def film_frames(
    altitude_at: Callable[[int], np.ndarray], frame: np.ndarray, steps: np.ndarray, times: np.ndarray,
    poses: np.ndarray, size_m: tuple[float, float, float], *, camera: Camera | None = None, frames: int = 60,
    captions: Sequence[str] | None = None, markers_at: Callable[[int], Sequence[Dots]] | None = None,
) -> Iterator[Image.Image]:  # fmt: skip
    """Yield images at up to ``frames`` times, evenly spread from the start to the end.

    Args:
        altitude_at: function that returns the ground at the end of a step, float64 (rows, columns) [m].
        frame: float64 (3,): x, y of vertex [0, 0] and the spacing [m].
        steps: steps of the poses, (t,).
        times: times of the poses [s], (t,).
        poses: float64 (t, n, 6): x, y, z of the middle of each robot [m], roll, pitch, yaw [rad].
        size_m: length, width and height of the robots [m].
        camera: the camera; by default shots that follow the robots, see `shots`.
        frames: largest number of images.
        captions: texts for the upper right corner, (t,).
        markers_at: function that returns further dots at the end of a step, such as the mapped vertices.
    """
    if not len(poses):
        return
    n = poses.shape[1]
    colors = [robot_color(i, n) for i in range(n)]
    font = ImageFont.truetype(font_manager.findfont("DejaVu Sans"), 15)
    chosen = np.unique(np.linspace(0, len(poses) - 1, frames).round().astype(int)).tolist()
    cameras = [camera] * len(chosen) if camera is not None else shots(poses[chosen, :, :3], (640, 400))
    view, drawn, palette, limits = None, np.empty(0), None, None
    for k, seen_from in zip(chosen, cameras, strict=True):
        altitude = altitude_at(int(steps[k]))
        if view is None or view.camera is not seen_from or not np.array_equal(altitude, drawn):
            palette = palette if view is not None and view.camera is seen_from else None
            view, drawn = GroundPicture(seen_from, 2), altitude
            limits = limits or _limits(altitude)
            view.draw_ground(altitude, frame, tinted(altitude, limits))
        dots = [ways_as_dots(poses[: k + 1, :, :3], colors), *(markers_at(int(steps[k])) if markers_at else ())]
        image = Image.fromarray(view.with_things([RobotShapes(poses[k], size_m, colors)], dots))
        draw = ImageDraw.Draw(image)
        draw.text((8, 5), f"{times[k]:7.1f} s", fill=INK, font=font)
        if captions is not None:
            draw.text((image.width - 8, 5), str(captions[k]), fill=INK, font=font, anchor="ra")
        palette = palette or _palette(image, colors)
        yield image.quantize(palette=palette, dither=Image.Dither.NONE)


def _limits(altitude: np.ndarray) -> tuple[float, float]:
    """Return the altitudes of the first and the last tint, with a margin that covers most edits."""
    low, high = float(altitude.min()), float(altitude.max())
    beyond = 0.1 * (high - low) + 0.5
    return low - beyond, high + beyond


def overlooking(points: np.ndarray, size: tuple[int, int]) -> Camera:
    """Return a camera that shows points [m], shape (m, 3), and `_AROUND_M` around them, and little else."""
    corners = np.array([(x, y, 0.0) for x in (-_AROUND_M, _AROUND_M) for y in (-_AROUND_M, _AROUND_M)])
    return Camera.seeing((points[:, None] + corners).reshape(-1, 3), size=size)


def shots(places: np.ndarray, size: tuple[int, int]) -> list[Camera]:
    """Return a camera for each image of a film that follows robots.

    It stands still while the area that the robots cover in a shot is at most `_SHOT` times as wide as the team on
    average, or `_SHOT_M` wide; then the next shot begins.

    Args:
        places: positions of the robots in each image, float64 (t, n, 3) [m].
        size: size of the images [pixel].
    """
    cameras, first = [], 0
    spread = np.hypot(*np.ptp(places[..., :2], axis=1).T)
    for k in range(1, len(places) + 1):
        if k < len(places):
            covered = float(np.hypot(*np.ptp(places[first : k + 1, :, :2].reshape(-1, 2), axis=0)))
            if covered <= max(_SHOT * float(spread[first : k + 1].mean()), _SHOT_M):
                continue
        cameras += [overlooking(places[first:k].reshape(-1, 3), size)] * (k - first)
        first = k
    return cameras


def ways_as_dots(points: np.ndarray, colors: Sequence[str]) -> Dots:
    """Return the paths of robots as dots so close that they look like lines; points: float64 (t, n, 3) [m]."""
    stride = max(1, len(points) // 1500)
    points = np.concatenate((points[::stride], points[-1:]))
    share = np.linspace(0, 1, 4, endpoint=False)[:, None, None]
    dense = points[:-1, None] * (1 - share) + points[1:, None] * share if len(points) > 1 else points[None]
    dense = dense.reshape(-1, points.shape[1], 3)
    tones = np.stack([rgb(color) for color in colors])
    return Dots(dense.reshape(-1, 3), np.tile(tones, (len(dense), 1)), 0.0, _WAY_RADIUS)


def _palette(image: Image.Image, colors: Sequence[str]) -> Image.Image:
    """Return an image whose palette has the colours of another image, of robots, tags and text.

    One entry stays free, for pixels that do not change from image to image, which a GIF need not repeat.
    """
    own = np.array([rgb(c) for c in (INK, "#FFFFFF", LINK_COLOR, *colors[:32])], np.uint8)
    free = 255 - len(own)
    scene = image.quantize(free, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).getpalette() or []
    shared = Image.new("P", (1, 1))
    shared.putpalette(scene[: 3 * free] + own.ravel().tolist())
    return shared
