"""Pictures of a run, fit for a paper: metres, scale bar, legend, colours that everybody can tell apart."""

from collections.abc import Sequence
from pathlib import Path

from covey.errors import RunFolderError
from covey.results.figures.animation import animation_gif, save_animation
from covey.results.figures.belief import robot_maps, union_map
from covey.results.figures.curves import explored_curve
from covey.results.figures.heat import coverage_heat, exploration_heat
from covey.results.figures.overview import overview
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
}
"""Every still picture by its file name: a function of the run that returns a `Picture`, or None without its data."""


def save_all(run: Run, folder: Path | str | None = None, kinds: Sequence[str] = ("png", "svg")) -> list[Path]:
    """Write every picture of a run as PNG and SVG, and the animation as GIF, and as MP4 where ffmpeg is installed.

    Args:
        run: what to draw.
        folder: where to, default ``figures`` in the run folder.
        kinds: formats of the still pictures.

    Returns:
        The files written.

    Raises:
        RunFolderError: the folder cannot be written.
    """
    target = Path(folder) if folder is not None else run.folder / FIGURES
    written = []
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, draw in PICTURES.items():
            picture = draw(run)
            if picture is None:
                continue
            for kind in kinds:
                path = target / f"{name}.{kind}"
                write_whole(path, picture.to_bytes(kind))
                written.append(path)
        animations = (save_animation(run, target / f"animation.{kind}") for kind in ("gif", "mp4"))
        written += [path for path in animations if path is not None]
    except OSError as error:
        raise RunFolderError(f"cannot write pictures into {str(target)!r}: {error.strerror or error}") from error
    return written


__all__ = [
    "PICTURES",
    "Picture",
    "animation_gif",
    "coverage_heat",
    "exploration_heat",
    "explored_curve",
    "overview",
    "robot_maps",
    "save_all",
    "save_animation",
    "trajectories",
    "union_map",
]
