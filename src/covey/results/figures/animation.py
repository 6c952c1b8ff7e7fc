"""An animation of the exploration: the cells seen so far, and the robots with their paths."""

import io
import math
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import font_manager
from PIL import Image, ImageDraw, ImageFont

from covey.errors import CoveyError
from covey.geometry.grid import Grid
from covey.results.figures import ground, style
from covey.results.figures.caption import captioned
from covey.results.figures.film_legend import FilmLegend, LegendEntry
from covey.results.figures.search import (
    FALSE_COLOR,
    SEARCHED_COLOR,
    Cones,
    face_segments,
    false_reports,
    meetings,
    targets_of,
)
from covey.results.figures.trajectories import view_of
from covey.results.folder import new_part, part, write_whole
from covey.results.maps import FREE, UNKNOWN, WALL
from covey.results.metrics.headlines import measured

if TYPE_CHECKING:
    from covey.results.run import Run

_UNSEEN = "#B9C0C8"
_COLORS = (
    *(style.WALL_COLOR, style.FREE_COLOR, _UNSEEN, style.OPEN_COLOR, style.INK, style.LINK_COLOR),
    *(SEARCHED_COLOR, FALSE_COLOR),
)
_WALL, _SEEN, _HIDDEN, _OUTSIDE, _TEXT, _LINK, _FOUND, _FALSE = range(8)
_DIAMOND = [(0, -5), (5, 0), (0, 5), (-5, 0)]
_SQUARE = [(-5, -5), (5, -5), (5, 5), (-5, 5)]
_PLUS = [(-2, -6), (2, -6), (2, -2), (6, -2), (6, 2), (2, 2), (2, 6), (-2, 6), (-2, 2), (-6, 2), (-6, -2), (-2, -2)]
_STAR = [(r * math.sin(math.pi * k / 5), -r * math.cos(math.pi * k / 5)) for k, r in enumerate((9, 4) * 5)]
_OUTLINES = {"victim": _PLUS, "small_fire": [(0, -7), (6, 5), (-6, 5)], "big_fire": _STAR}
"""Targets by kind, as the markers of `covey.results.figures.search` [pixel]."""
FRAMES = 60
"""Default largest number of images of an animation."""
_SIZE = 640
"""Longest side of the world in the animation [pixel]."""
_HEADER = 26
_NOSE = 12
"""Length of the line of a robot's heading [pixel]."""
_NOTES, _NOTE_HEIGHT = 12, 18
"""Largest number of robots whose notes are shown under the picture (many in two columns); height of a line [pixel]."""


def animation_gif(run: "Run", frames: int = FRAMES, per_second: float = 12.0) -> bytes | None:
    """Return the run as an animated GIF; None if it kept no maps or no poses."""
    return gif_of(list(animation_images(run, frames)), per_second)


def gif_of(images: Sequence[Image.Image], per_second: float) -> bytes | None:
    """Return images as an animated GIF that shows the last one longer; None if there are none."""
    if not images:
        return None
    buffer = io.BytesIO()
    times = [round(1000 / per_second)] * (len(images) - 1) + [2500]
    images[0].save(buffer, format="GIF", save_all=True, append_images=images[1:], duration=times, loop=0, optimize=True)
    return buffer.getvalue()


def save_animation(
    run: "Run", path: Path, frames: int = FRAMES, per_second: float = 12.0, caption: str = ""
) -> Path | None:
    """Write the animation to a ``.gif`` or ``.mp4`` file atomically, and return its path.

    Returns None and writes nothing if the run kept no maps or poses.

    Raises:
        Mp4Error: an ``.mp4`` file is wanted, and there is no ``ffmpeg``, or it cannot write it.
    """
    return save_images(animation_images(run, frames), path, per_second, caption)


def save_images(images: Iterable[Image.Image], path: Path, per_second: float, caption: str = "") -> Path | None:
    """Write images, which are computed only if needed, to a ``.gif`` or ``.mp4`` file; see `save_animation`.

    Args:
        images: the images.
        path: the file.
        per_second: how many images are shown in a second.
        caption: text below them, see `captioned`.
    """
    images = captioned(images, caption)
    if path.suffix.lower() == ".mp4":
        return _save_mp4(images, path, per_second)
    data = gif_of(list(images), per_second)
    if data is not None:
        write_whole(path, data)
    return None if data is None else path


class Mp4Error(CoveyError):
    """An ``.mp4`` file cannot be written: the text says whether ffmpeg is missing, or what it said."""


def _save_mp4(source: Iterable[Image.Image], path: Path, per_second: float) -> Path | None:
    program = shutil.which("ffmpeg")
    if program is None:
        raise Mp4Error(
            f"{str(path)!r} cannot be written: an .mp4 file needs the program ffmpeg, and there is none in PATH; "
            "install it (apt install ffmpeg, brew install ffmpeg), or take a name that ends with .gif"
        )
    images = list(source)
    if not images:
        return None
    width, height = (side // 2 * 2 for side in images[0].size)  # H.264 needs even sides
    images += [images[-1]] * round(2.5 * per_second)
    raw = b"".join(image.convert("RGB").crop((0, 0, width, height)).tobytes() for image in images)
    form = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(per_second), "-i", "-"]
    coding = ["-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4"]
    command = [program, "-y", "-loglevel", "error", *form, *coding, str(new_part(path))]
    done = subprocess.run(command, input=raw, capture_output=True, check=False)
    if done.returncode != 0:
        part(path).unlink(missing_ok=True)
        said = " ".join(done.stderr.decode(errors="replace").split())[:300] or f"exit code {done.returncode}"
        raise Mp4Error(
            f"{str(path)!r} cannot be written: {program} failed: {said}. It needs libx264; or take a name that ends "
            "with .gif"
        )
    part(path).replace(path)
    return path


def animation_images(run: "Run", count: int = FRAMES) -> Iterator[Image.Image]:
    """Yield images at up to ``count`` times, evenly spread from the start to the end, with one common palette."""
    maps = run.maps
    if maps is None or not len(run.pose_times):
        return
    left, right, bottom, top = ground.bounds(maps.truth) if run.landscape is None else view_of(run)
    pixel_m = max(right - left, top - bottom) / _SIZE
    width, height = round((right - left) / pixel_m), round((top - bottom) / pixel_m)
    pixels = _pixels(maps.truth, left, top, pixel_m, width, height)
    base, first = _ground(maps.truth, pixels, bool(maps.explorable.any())), _at(pixels, maps.first_explored, -1)
    n = len(run.names)
    palette = np.concatenate([style.rgb(c) for c in (*_COLORS, *(style.robot_color(i, n) for i in range(n)))])
    font = ImageFont.truetype(font_manager.findfont("DejaVu Sans"), 15)
    ways = np.stack(((run.poses[..., 0] - left) / pixel_m, (top - run.poses[..., 1]) / pixel_m + _HEADER), axis=-1)
    rows = np.searchsorted(run.times, run.pose_times)
    steps = run.steps[rows]
    sums_up = _measure(run)
    tags = _tags(run, left, top, pixel_m)
    notes = _notes(run)
    search = _Search(run, lambda points: (points - (left, top)) * (1 / pixel_m, -1 / pixel_m) + (0, _HEADER))
    columns = 1 if len(notes) <= _NOTES // 2 else 2
    small, footer = ImageFont.truetype(font.path, 11), _NOTE_HEIGHT * -(-len(notes) // columns)
    linked = [LegendEntry("radio link", "line", _LINK)] * (run.links is not None and bool(run.links["up"].any()))
    left_tags = [LegendEntry("tag", _DIAMOND, _LINK, _TEXT)] * bool(tags)
    legend = FilmLegend([*search.entries(), *linked, *left_tags], width, small, _TEXT)
    for k in np.unique(np.linspace(0, len(ways) - 1, count).round().astype(int)):
        if len(maps.changed):
            base = _ground(maps.truth_at(int(steps[k])), pixels, bool(maps.explorable.any()))
        cells = base.copy()
        cells[(first >= 0) & (first <= steps[k]) & (base == _HIDDEN)] = _SEEN
        below = footer + legend.height
        image = Image.fromarray(np.pad(cells, ((_HEADER, below), (0, 0)), constant_values=_SEEN), mode="P")
        image.putpalette(palette.tobytes())
        draw = ImageDraw.Draw(image)
        search.draw_walls(draw, int(steps[k]), run.poses[k])
        for i, j in sorted(links_at(run, float(run.pose_times[k]))):
            draw.line([tuple(p) for p in ways[k, [i, j]].tolist()], fill=_LINK, width=1)
        for time_s, x, y in tags:
            if time_s <= run.pose_times[k] + 1e-9:
                draw.polygon([(x + dx, y + dy) for dx, dy in _DIAMOND], fill=_LINK, outline=_TEXT)
        search.draw_targets(draw, float(run.pose_times[k]) + 1e-9)
        _draw_robots(draw, ways[: k + 1], run.poses[k, :, 2], n)
        draw.text((6, 4), f"{run.pose_times[k]:7.1f} s", fill=_TEXT, font=font)
        text = _fitting(sums_up(int(rows[k])), "   ", width - 100, font)
        draw.text((width - 6, 4), text, fill=_TEXT, font=font, anchor="ra")
        for line, (robot, said) in enumerate(notes.items()):
            latest = [text for time_s, text in said if time_s <= run.pose_times[k] + 1e-9]
            at = (6 + line % columns * width // columns, height + _HEADER + 2 + line // columns * _NOTE_HEIGHT)
            text = shortened(f"{run.names[robot]}: {latest[-1] if latest else ''}", width // columns - 12, small)
            draw.text(at, text, fill=len(_COLORS) + robot, font=small)
        legend.draw(draw, height + _HEADER + footer)
        yield image


class _Search:
    """The searched walls, the views of cameras, and the targets of a run, drawn into a film.

    Args:
        run: the run.
        to_pixels: converts points (k, 2) [m] to pixels.
    """

    def __init__(self, run: "Run", to_pixels: Callable[[np.ndarray], np.ndarray]):
        maps = run.maps
        assert maps is not None
        self._maps, self._to_pixels, self._cones, self._n = maps, to_pixels, Cones(run), len(run.names)
        faces = np.zeros((0, 4), np.int32) if maps.faces is None else maps.faces
        self._first, self._faces = faces[:, 3], to_pixels(face_segments(maps.truth, faces)).reshape(-1, 4).tolist()
        self._targets = [(t, *to_pixels(np.array(t.place)).tolist()) for t in targets_of(run)]
        self._false, self._meetings = (
            [(mark.time_s, *to_pixels(np.array(mark.place)).tolist()) for mark in marks(run)]
            for marks in (false_reports, meetings)
        )

    def entries(self) -> list[LegendEntry]:
        """Return the legend of what the run has of all this."""
        searched = [LegendEntry("searched", "line", _FOUND)] * bool((self._first >= 0).any())
        views = [LegendEntry("view of a camera", "view", _TEXT)] * bool(self._cones)
        found = any(not math.isnan(target.found_s) for target, _, _ in self._targets)
        kinds = [
            LegendEntry(kind.replace("_", " "), _OUTLINES.get(kind, _SQUARE), _SEEN, _TEXT)
            for kind in dict.fromkeys(target.kind for target, _, _ in self._targets)
        ]
        kinds += [LegendEntry("found", _SQUARE, _FOUND, _TEXT)] * found
        wrong = [LegendEntry("false report", "cross", _FALSE)] * bool(self._false)
        meeting = [LegendEntry("meeting", "ring", _TEXT)] * bool(self._meetings)
        return [*kinds, *searched, *views, *meeting, *wrong]

    def draw_walls(self, draw: ImageDraw.ImageDraw, step: int, poses: np.ndarray) -> None:
        """Draw the walls searched until a step, and what the cameras see at poses (n, 3)."""
        for k in np.flatnonzero((self._first >= 0) & (self._first <= step)).tolist():
            draw.line(self._faces[k], fill=_FOUND, width=2)
        for robot, outline in self._cones.at(poses, self._maps.truth_at(step)) if self._cones else ():
            points = [tuple(p) for p in self._to_pixels(outline).tolist()]
            draw.line(points, fill=len(_COLORS) + robot, width=1)

    def draw_targets(self, draw: ImageDraw.ImageDraw, time_s: float) -> None:
        """Draw the targets, filled once they are found, false reports as crosses, and meetings as rings."""
        for target, x, y in self._targets:
            fill = _FOUND if target.found_s <= time_s else _SEEN
            outline = _OUTLINES.get(target.kind, _SQUARE)
            draw.polygon([(x + dx, y + dy) for dx, dy in outline], fill=fill, outline=_TEXT)
        for at_s, x, y in self._false:
            if at_s <= time_s:
                draw.line((x - 5, y - 5, x + 5, y + 5), fill=_FALSE, width=2)
                draw.line((x - 5, y + 5, x + 5, y - 5), fill=_FALSE, width=2)
        for at_s, x, y in self._meetings:
            if at_s <= time_s:
                draw.ellipse((x - 16, y - 16, x + 16, y + 16), outline=_TEXT, width=2)


def _measure(run: "Run") -> Callable[[int], list[str]]:
    """Return a function from a row of the team's table to texts on the mission's progress, most important first."""
    kind = run.mission["kind"]
    if kind in ("formation", "patrolling", "rescue"):
        names = ("score", "targets_found", "orders_met", "robots_arrived", "graph_idleness_s")
        chosen = [name for name in names if name in run.team_columns]
        series = {name: run.series(name) for name in chosen}
        return lambda row: measured({name: float(values[row]) for name, values in series.items()})
    word, column = ("covered", "covered_share") if kind == "coverage" else ("explored", "explored_share_union")
    shares = run.series(column)
    return lambda row: [f"{word} {100 * shares[row]:5.1f} %"] if shares[row] == shares[row] else []


def _fitting(parts: Sequence[str], between: str, most: float, font: ImageFont.FreeTypeFont) -> str:
    """Return the first parts that fit side by side into ``most`` [pixel]."""
    while parts and font.getlength(between.join(parts)) > most:
        parts = parts[:-1]
    return between.join(parts)


def shortened(text: str, most: float, font: ImageFont.FreeTypeFont) -> str:
    """Return a text; if it is wider than ``most`` [pixel], an ellipsis replaces its end."""
    if font.getlength(text) <= most:
        return text
    while text and font.getlength(text + "…") > most:
        text = text[:-1]
    return text.rstrip() + "…"


def links_at(run: "Run", time_s: float) -> set[tuple[int, int]]:
    """Return the pairs of robot indices with a radio link at a time [s]; none if nothing was sent."""
    if run.links is None:
        return set()
    up: set[tuple[int, int]] = set()
    index = {name: i for i, name in enumerate(run.names)}
    past = run.links.filter(run.links["time_s"] <= time_s + 1e-9)
    for robot, other, came in past.select("robot", "other", "up").iter_rows():
        (up.add if came else up.discard)((index[robot], index[other]))
    return up


def _notes(run: "Run") -> dict[int, list[tuple[float, str]]]:
    """Return notes and their times [s] of the first robots that have notes, by index in the team."""
    events = run.events
    said: dict[int, list[tuple[float, str]]] = {}
    for time_s, robot, text in events.filter(events["kind"] == "note").select("time_s", "robot", "text").rows():
        said.setdefault(run.names.index(robot), []).append((time_s, text))
    return {robot: said[robot] for robot in sorted(said)[:_NOTES]}


def _tags(run: "Run", left: float, top: float, pixel_m: float) -> list[tuple[float, float, float]]:
    """Return times [s] and places [pixel] of tags."""
    return [
        (time_s, (x - left) / pixel_m, (top - y) / pixel_m + _HEADER)
        for time_s, x, y, _text in run.tags_left.select("time_s", "x_m", "y_m", "text").rows()
    ]


def _draw_robots(draw: ImageDraw.ImageDraw, ways: np.ndarray, headings: np.ndarray, n: int) -> None:
    stride = max(1, len(ways) // 1000)
    for i in range(n):
        way = np.concatenate((ways[::stride, i], ways[-1:, i]))
        draw.line([tuple(p) for p in way.tolist()], fill=len(_COLORS) + i, width=2)
    for i in range(n):
        x, y = ways[-1, i]
        draw.ellipse((x - 6, y - 6, x + 6, y + 6), fill=len(_COLORS) + i, outline=_SEEN, width=1)
        ahead = x + _NOSE * np.cos(headings[i]), y - _NOSE * np.sin(headings[i])
        draw.line([(x, y), ahead], fill=len(_COLORS) + i, width=3)


def _pixels(grid: Grid, left: float, top: float, pixel_m: float, width: int, height: int):
    """Return which pixels lie in a grid, bool (height, width), and their rows and columns (0 outside)."""
    x, y = np.meshgrid(left + (np.arange(width) + 0.5) * pixel_m, top - (np.arange(height) + 0.5) * pixel_m)
    cells = grid.to_cells(np.stack((x, y), axis=-1))
    inside = grid.inside(cells)
    rows, columns = np.moveaxis(np.where(inside[..., None], cells, 0), -1, 0)
    return inside, rows, columns


def _at(pixels, values: np.ndarray, outside: int) -> np.ndarray:
    """Return the values of cells at pixels."""
    inside, rows, columns = pixels
    return np.where(inside, values[rows, columns], outside)


def _ground(truth: Grid, pixels, hides: bool) -> np.ndarray:
    """Return palette indices of the world, uint8 of the shape of the pixels."""
    value = _at(pixels, truth.cells, UNKNOWN)
    unseen = _HIDDEN if hides else _SEEN  # no robot can see: nothing is hidden either
    return np.select([value == FREE, value == WALL], [unseen, _WALL], _OUTSIDE).astype(np.uint8)
