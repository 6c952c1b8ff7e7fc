"""Pictures of a run on a ground: maps of truth, belief and error, a view in perspective, curves, and a film."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from covey.geometry.heightfield import altitudes_at
from covey.results.figures import landscape, style
from covey.results.figures.landscape_film import film_frames, overlooking, ways_as_dots
from covey.results.figures.scene import Dots, RobotShapes, still
from covey.results.landscape import Believed, Landscape

if TYPE_CHECKING:
    from covey.results.run import Run

_MEASURED = 1
_SIZE = (1280, 720)


def belief_maps(run: "Run") -> style.Picture | None:
    """Return truth, belief, error and interval of the robot with the most measurements; None without such beliefs."""
    found = _most(run)
    if found is None:
        return None
    ground, _, believed = found
    ways = landscape.PathPicture(run.poses[..., :2], run.names)
    return landscape.landscape_page(ground.truth, _frame(ground), believed, ways)


def belief_curve(run: "Run") -> style.Picture | None:
    """Return the measured share and the error of the beliefs over time; None without such beliefs."""
    found = _most(run)
    if found is None:
        return None
    changes = {float(run.times[min(max(change.step - 1, 0), len(run.times) - 1)]) for change in found[0].changes}
    share, rmse = (run.series(name)[:, None] for name in ("measured_share", "belief_rmse_m"))
    return landscape.knowledge_curve(run.times, share, rmse, ["mean of the robots"], sorted(changes))


def perspective(run: "Run") -> Image.Image | None:
    """Return the final ground, robots and paths, with the belief of one robot as markers.

    The markers are at the believed altitudes of the robot with the most measurements. None without ground or poses.
    """
    ground = run.landscape
    if ground is None or not len(run.poses):
        return None
    poses, found, n = _poses(run), _most(run), len(run.names)
    colors = [style.robot_color(i, n) for i in range(n)]
    dots = [ways_as_dots(poses[..., :3], colors), *_tags(run, int(run.steps[-1]))]
    if found is not None:
        dots.append(landscape.markers(found[2], ground.truth, _frame(ground)))
    stride = max(1, len(poses) // 500)
    camera = overlooking(np.concatenate((poses[::stride, :, :3], poses[-1:, :, :3])).reshape(-1, 3), _SIZE)
    return Image.fromarray(still(ground.altitude, ground.frame, camera, bodies=[robots_at(run, -1)], dots=dots))


def robots_at(run: "Run", k: int) -> RobotShapes:
    """Return the bodies of the robots at one of the recorded poses, -1 the last, for `scene.still`."""
    n = len(run.names)
    return RobotShapes(_poses(run)[k], _size(run), [style.robot_color(i, n) for i in range(n)])


def film(run: "Run", frames: int = 60) -> Iterator[Image.Image]:
    """Yield at most ``frames`` images of a film in perspective that follows the robots; none without ground.

    Markers are where the team has seen the ground by then. After the ground's last change, they are at the final
    believed altitudes of the robot with the most measurements. The last image marks drops and obstacles.
    """
    ground = run.landscape
    if ground is not None:
        steps = run.steps[run.has_pose]
        mapped = partial(_mapped_by, run, int(steps[-1])) if len(steps) and _most(run) is not None else None
        yield from film_frames(
            ground.at, ground.frame, steps, run.pose_times, _poses(run), _size(run), frames=frames,
            markers_at=lambda step: [*_tags(run, step), *(mapped(step) if mapped else ())],
        )  # fmt: skip


def _tags(run: "Run", step: int) -> list[Dots]:
    """Return a ball on the ground for each tag left up to a step."""
    ground, tags = run.landscape, run.tags_left
    tags = tags.filter(tags["step"] <= step)
    if ground is None or not len(tags):
        return []
    points = tags.select("x_m", "y_m").to_numpy()
    altitude = altitudes_at(ground.at(step), ground.frame, points)
    return [Dots(np.column_stack((points, altitude)), np.tile(style.rgb(style.LINK_COLOR), (len(points), 1)), 0.1, 5.0)]


def _mapped_by(run: "Run", last: int, step: int) -> list[Dots]:
    """Return a marker for each vertex mapped up to a step."""
    found, maps = _most(run), run.maps
    assert found is not None
    ground, _, known = found
    frame = _frame(ground)
    rows, columns = known.marks.shape
    x, y = np.meshgrid(frame[0] + np.arange(columns) * frame[2], frame[1] + np.arange(rows) * frame[2])
    points = np.stack((x, y), axis=-1)
    truth = altitudes_at(ground.at(step), ground.frame, points.reshape(-1, 2)).reshape(rows, columns)
    if step < last and maps is not None:
        cells = maps.truth.to_cells(points)
        inside = maps.truth.inside(cells)
        row, column = np.moveaxis(np.where(inside[..., None], cells, 0), -1, 0)
        first = np.where(inside, maps.first_explored[row, column], -1)
        shown = (known.marks == _MEASURED) & (first >= 0) & (first <= step)
        altitude = known.altitude if all(change.step <= step for change in ground.changes) else truth
        known = known._replace(marks=np.where(shown, _MEASURED, 0), altitude=altitude)
    return [landscape.markers(known, truth, frame)]


def _most(run: "Run") -> tuple[Landscape, str, Believed] | None:
    """Return the ground, and name and belief of the robot with the most measurements; None without one."""
    ground = run.landscape
    if ground is None or not ground.beliefs:
        return None
    name = max(ground.beliefs, key=lambda name: int((ground.beliefs[name].marks == _MEASURED).sum()))
    return (ground, name, ground.beliefs[name]) if (ground.beliefs[name].marks == _MEASURED).any() else None


def _frame(ground: Landscape) -> np.ndarray:
    """Return x, y of vertex [0, 0] and the spacing of the vertices of the beliefs [m]."""
    return np.array([*ground.frame[:2], ground.spacing_m])


def _poses(run: "Run") -> np.ndarray:
    """Return x, y, z [m], roll, pitch, yaw [rad] over time, (t, n, 6)."""
    plane = run.poses
    columns = [run.series(name)[run.has_pose] for name in ("altitude_m", "roll_rad", "pitch_rad")]
    return np.stack((plane[..., 0], plane[..., 1], *columns, plane[..., 2]), axis=-1)


def _size(run: "Run") -> tuple[float, float, float]:
    """Return length, width and height of a box of about the size of the largest robot [m]."""
    radius = max(run.manifest["radius_m"])
    return 1.6 * radius, 1.2 * radius, 0.8 * radius
