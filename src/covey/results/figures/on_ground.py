"""Pictures of a run on a ground: maps of truth, belief and error, a view in perspective, curves, and a film."""

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from covey.results.figures import landscape, style
from covey.results.figures.animation import save_images
from covey.results.figures.landscape_film import film_frames, overlooking, ways_as_dots
from covey.results.figures.scene import Bodies, still
from covey.results.folder import write_whole
from covey.results.landscape import Believed, Landscape
from covey.results.run import Run

_MEASURED = 1
_SIZE = (1280, 720)


def belief_maps(run: Run) -> style.Picture | None:
    """Return truth, belief, error and interval of the robot that has measured most; None without such beliefs."""
    found = _most(run)
    if found is None:
        return None
    ground, _, believed = found
    ways = landscape.Ways(run.poses[..., :2], run.names)
    return landscape.landscape_page(ground.truth, _frame(ground), believed, ways)


def belief_curve(run: Run) -> style.Picture | None:
    """Return the measured share and the error of the beliefs over time; None without such beliefs."""
    found = _most(run)
    if found is None:
        return None
    changes = {float(run.times[min(max(change.step - 1, 0), len(run.times) - 1)]) for change in found[0].changes}
    share, rmse = (run.series(name)[:, None] for name in ("measured_share", "belief_rmse_m"))
    return landscape.knowledge_curve(run.times, share, rmse, ["mean of the robots"], sorted(changes))


def perspective(run: Run) -> Image.Image | None:
    """Return the ground, the robots and their ways as they are at the end, with what one robot believes as markers.

    The markers stand at the believed altitudes of the robot that has measured most. None without ground or poses.
    """
    ground = run.landscape
    if ground is None or not len(run.poses):
        return None
    poses, found, n = _poses(run), _most(run), len(run.names)
    colors = [style.robot_color(i, n) for i in range(n)]
    dots = [ways_as_dots(poses[..., :3], colors)]
    if found is not None:
        dots.append(landscape.markers(found[2], ground.truth, _frame(ground)))
    camera = overlooking(poses[..., :3].reshape(-1, 3), _SIZE)
    bodies = [Bodies(poses[-1], _size(run), colors)]
    return Image.fromarray(still(ground.altitude, ground.frame, camera, bodies=bodies, dots=dots))


def film(run: Run, frames: int = 60) -> Iterator[Image.Image]:
    """Yield the images of a film in perspective, at most so many; none without ground."""
    ground = run.landscape
    if ground is not None:
        steps = run.steps[run._has_pose]
        yield from film_frames(ground.at, ground.frame, steps, run.pose_times, _poses(run), _size(run), frames=frames)


def save_views(run: Run, folder: Path) -> list[Path | None]:
    """Write `perspective` as PNG and `film` as GIF, and as MP4 where ffmpeg is installed; return the files written."""
    view = perspective(run)
    if view is None:
        return []
    buffer = io.BytesIO()
    view.save(buffer, "PNG", optimize=True)
    write_whole(folder / "perspective.png", buffer.getvalue())
    films = [save_images(film(run), folder / f"film.{kind}", 12.0) for kind in ("gif", "mp4")]
    return [folder / "perspective.png", *films]


def _most(run: Run) -> tuple[Landscape, str, Believed] | None:
    """Return the ground, and the name and belief of the robot that has measured most; None without one."""
    ground = run.landscape
    if ground is None or not ground.beliefs:
        return None
    name = max(ground.beliefs, key=lambda name: int((ground.beliefs[name].marks == _MEASURED).sum()))
    return (ground, name, ground.beliefs[name]) if (ground.beliefs[name].marks == _MEASURED).any() else None


def _frame(ground: Landscape) -> np.ndarray:
    """Return x, y of vertex [0, 0] and the spacing of the vertices of the beliefs [m]."""
    return np.array([*ground.frame[:2], ground.spacing_m])


def _poses(run: Run) -> np.ndarray:
    """Return x, y, z [m], roll, pitch, yaw [rad] over time, (t, n, 6)."""
    plane = run.poses
    columns = [run.series(name)[run._has_pose] for name in ("altitude_m", "roll_rad", "pitch_rad")]
    return np.stack((plane[..., 0], plane[..., 1], *columns, plane[..., 2]), axis=-1)


def _size(run: Run) -> tuple[float, float, float]:
    """Return length, width and height of a box about as large as the largest robot [m]."""
    radius = max(run.manifest["radius_m"])
    return 1.6 * radius, 1.2 * radius, 0.8 * radius
