"""Pictures of a run, fit for a paper: metres, scale bar, legend, colours that everybody can tell apart."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from covey.errors import InvalidValueError, RunFolderError
from covey.results.figures import on_ground
from covey.results.figures.animation import animation_gif, save_animation
from covey.results.figures.belief import robot_maps, union_map
from covey.results.figures.curves import explored_curve
from covey.results.figures.heat import coverage_heat, exploration_heat
from covey.results.figures.overview import overview
from covey.results.figures.study import fleet_metrics, robot_metrics
from covey.results.figures.study_plots import box_plots, heat_map
from covey.results.figures.study_times import explored_bands, survival_curves
from covey.results.figures.style import Picture
from covey.results.figures.trajectories import trajectories
from covey.results.folder import FIGURES, write_whole
from covey.results.run import Run

PICTURES = {
    "overview": overview,
    "trajectories": trajectories,
    "union_map": union_map,
    "robot_maps": robot_maps,
    "exploration_heat": exploration_heat,
    "coverage_heat": coverage_heat,
    "explored_share": explored_curve,
    "belief": on_ground.belief_maps,
    "belief_error": on_ground.belief_curve,
}
"""Every still picture by its file name: a function of the run that returns a `Picture`, or None without its data."""


KINDS = ("png", "svg", "pdf")
"""Formats of still pictures."""


def save_all(run: Run, folder: Path | str | None = None, kinds: Sequence[str] = ("png", "svg")) -> list[Path]:
    """Write every picture of a run as PNG and SVG, and the animation as GIF, and as MP4 where ffmpeg is installed.

    Args:
        run: what to draw.
        folder: where to, default ``figures`` in the run folder.
        kinds: formats of the still pictures, of `KINDS`.

    Returns:
        The files written.

    Raises:
        RunFolderError: the folder cannot be written.
    """
    target = Path(folder) if folder is not None else run.folder / FIGURES
    written = save_pictures({name: draw(run) for name, draw in PICTURES.items()}, target, kinds)
    try:
        animations = [save_animation(run, target / f"animation.{kind}") for kind in ("gif", "mp4")]
        animations += on_ground.save_views(run, target)
    except OSError as error:
        raise RunFolderError(f"cannot write pictures into {str(target)!r}: {error.strerror or error}") from error
    return written + [path for path in animations if path is not None]


def save_pictures(
    pictures: Mapping[str, Picture | None], folder: Path | str, kinds: Sequence[str] = KINDS
) -> list[Path]:
    """Write pictures by name in each of some formats, leaving out those that are None, and return the files written.

    Raises:
        InvalidValueError: a format is none of `KINDS`.
        RunFolderError: the folder cannot be written.
    """
    target, written = Path(folder), []
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise InvalidValueError(f"pictures as {unknown[0]!r}; choose of {', '.join(KINDS)}")
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, picture in pictures.items():
            if picture is None:
                continue
            for kind in kinds:
                path = target / f"{name}.{kind}"
                write_whole(path, picture.to_bytes(kind))
                written.append(path)
    except OSError as error:
        raise RunFolderError(f"cannot write pictures into {str(target)!r}: {error.strerror or error}") from error
    return written


__all__ = [
    "KINDS",
    "PICTURES",
    "Picture",
    "animation_gif",
    "box_plots",
    "coverage_heat",
    "exploration_heat",
    "explored_bands",
    "explored_curve",
    "fleet_metrics",
    "heat_map",
    "overview",
    "robot_maps",
    "robot_metrics",
    "save_all",
    "save_animation",
    "save_pictures",
    "survival_curves",
    "trajectories",
    "union_map",
]
