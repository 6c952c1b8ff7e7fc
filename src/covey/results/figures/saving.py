"""The pictures of a run by name, and functions that write them."""

import io
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from covey.errors import InvalidValueError, UnknownNameError
from covey.results.figures import on_ground
from covey.results.figures.animation import FRAMES, Mp4Error, animation_images, save_images
from covey.results.figures.belief import robot_maps, union_map
from covey.results.figures.caption import captioned
from covey.results.figures.curves import explored_curve
from covey.results.figures.heat import coverage_heat, exploration_heat
from covey.results.figures.overview import overview
from covey.results.figures.search import finds
from covey.results.figures.style import KINDS, Picture
from covey.results.figures.trajectories import trajectories
from covey.results.folder import FIGURES, unwritable, within, write_whole

if TYPE_CHECKING:
    from covey.results.run import Run

PICTURES: dict[str, Callable[["Run"], Picture | None]] = {
    "overview": overview,
    "trajectories": trajectories,
    "union_map": union_map,
    "robot_maps": robot_maps,
    "exploration_heat": exploration_heat,
    "coverage_heat": coverage_heat,
    "explored_share": explored_curve,
    "finds": finds,
    "belief": on_ground.belief_maps,
    "belief_error": on_ground.belief_curve,
}
"""Every still picture by its file name: a function of the run that returns a `Picture`, or None without its data."""
VIEWS: dict[str, Callable[["Run"], Image.Image | None]] = {"perspective": on_ground.perspective}
"""Pixel pictures, which are written as PNG only."""
FILMS: dict[str, Callable[["Run"], Iterable[Image.Image]]] = {"animation": animation_images, "film": on_ground.film}
"""Moving pictures: a function of the run that yields images, none without their data."""
NAMES = (*PICTURES, *VIEWS, *FILMS)
ON_GROUND = ("belief", "belief_error", "perspective", "film")
"""Those that only a run on a ground has."""
_PER_SECOND = 12.0

Progress = Callable[[str, float], None]


def save_all(
    run: "Run",
    folder: Path | str | None = None,
    kinds: Sequence[str] = ("png", "svg"),
    *,
    names: Collection[str] = NAMES,
    caption: str = "",
    progress: Progress = lambda _text, _done: None,
) -> list[Path]:
    """Write pictures of a run: stills in some formats, films as GIF, and as MP4 where ffmpeg is installed.

    Args:
        run: what to draw.
        folder: folder to write, default ``figures`` in the run folder.
        kinds: formats of the still pictures, of `KINDS`.
        names: pictures to write, of `NAMES`; default, all. Those without data in the run are left out.
        caption: a text below films.
        progress: called with the current picture and the finished share, 0 to 1, at each picture and image of a film.

    Returns:
        The files written.

    Raises:
        InvalidValueError: a format is not in `KINDS`.
        UnknownNameError: a name is not in `NAMES`.
        RunFolderError: the folder cannot be written.
    """
    target, written = Path(folder) if folder is not None else within(run.folder, FIGURES), []
    for name in names:
        if name not in NAMES:
            raise UnknownNameError("picture", name, NAMES)
    chosen = [name for name in NAMES if name in names and (run.landscape is not None or name not in ON_GROUND)]
    for k, name in enumerate(chosen):

        def say(share: float, k: int = k, name: str = name) -> None:
            progress(f"drawing {name} ({k + 1} of {len(chosen)})", (k + share) / len(chosen))

        say(0.0)
        if name in PICTURES:
            written += save_pictures({name: PICTURES[name](run)}, target, kinds)
        else:
            with _writing(target):
                is_still = name in VIEWS
                written += _save_view(run, name, target) if is_still else _save_film(run, name, target, say, caption)
    return written


def save_pictures(
    pictures: Mapping[str, Picture | None], folder: Path | str, kinds: Sequence[str] = KINDS
) -> list[Path]:
    """Write pictures by name in each of some formats, leaving out those that are None, and return the files written.

    Raises:
        InvalidValueError: a format is not in `KINDS`.
        RunFolderError: the folder cannot be written.
    """
    target, written = Path(folder), []
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise InvalidValueError(f"cannot write pictures as {unknown[0]!r}; choose from {', '.join(KINDS)}")
    with _writing(target):
        for name, picture in pictures.items():
            if picture is None:
                continue
            for kind in kinds:
                path = target / f"{name}.{kind}"
                write_whole(path, picture.to_bytes(kind))
                written.append(path)
    return written


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Make the folder; an error in the block names it if it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise unwritable(f"pictures into {str(folder)!r}", error) from error


def _save_view(run: "Run", name: str, folder: Path) -> list[Path]:
    view, buffer = VIEWS[name](run), io.BytesIO()
    if view is None:
        return []
    view.save(buffer, "PNG", optimize=True)
    write_whole(folder / f"{name}.png", buffer.getvalue())
    return [folder / f"{name}.png"]


def _save_film(run: "Run", name: str, folder: Path, say: Callable[[float], None], caption: str) -> list[Path]:
    images = []
    for image in captioned(FILMS[name](run), caption):  # drawn once for both formats
        images.append(image)
        say(min(len(images) / FRAMES, 1.0))
    saved = [save_images(images, folder / f"{name}.gif", _PER_SECOND)]
    with suppress(Mp4Error):
        saved.append(save_images(images, folder / f"{name}.mp4", _PER_SECOND))
    return [path for path in saved if path is not None]
